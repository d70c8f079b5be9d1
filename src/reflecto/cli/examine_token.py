"""Checks of the token, and of who gets what is sent with it. Each yields findings."""

from collections.abc import Generator, Iterator

from reflecto.cli.findings import Finding, failed, ok, warning
from reflecto.client.errors import (
    AuthenticationError,
    InvalidSettings,
    PermissionDenied,
    ReflectoError,
    TooManyRequests,
)
from reflecto.client.results import DeviceStatus
from reflecto.client.sync import Reflecto
from reflecto.contract.visibility import visible
from reflecto.terminal.times import local_time


def check_token(url: str, token: str) -> Generator[Finding, None, bool]:
    """Check that the server takes it; return whether it does."""
    advice = "make another one on the phone (or with `reflecto tokens create`), and `reflecto login` with it"
    try:
        with Reflecto(url, token, retry_for=0) as reflecto:
            reflecto.check()
    except InvalidSettings as error:
        yield failed("token", str(error), advice)
        return False
    except AuthenticationError:
        yield failed("token", "the server does not know it: mistyped, revoked, or another server's", advice)
        return False
    except PermissionDenied:
        yield warning("token", "it is valid, but may not ask questions", "make one with the scope `ask` if it should")
        return True
    except TooManyRequests as error:
        yield failed("token", str(error), "wait; many programs behind one address may need higher limits at the server")
        return False
    except ReflectoError as error:
        yield failed("token", str(error), "see the server's log")
        return False
    if token.strip().startswith("rfk_test_"):
        yield warning("token", "it is a test token", "nothing it sends reaches a device; take a live one for that")
    else:
        yield ok("token", "the server takes it")
    return True


def check_phone(url: str, token: str) -> Iterator[Finding]:
    """Check that a phone is paired, and connected."""
    try:
        with Reflecto(url, token, retry_for=0) as reflecto:
            devices = reflecto.devices()
    except ReflectoError as error:
        yield failed("phone", str(error), "see the server's log")
        return
    phones = [device for device in devices if device.device_class == "phone"]
    if not phones:
        yield failed("phone", "none is paired", "`reflecto invite` at the server makes a setup code for one")
        return
    connected = [device for device in phones if device.reachable]
    if connected:
        yield ok("phone", f"connected: {', '.join(visible(device.label) for device in connected)}")
        return
    latest = max(phones, key=_last_seen)
    seen = local_time(latest.last_seen_at) if latest.last_seen_at is not None else "never"
    yield warning(
        "phone",
        f"none is connected now; {visible(latest.label)} was seen last: {seen}",
        "what is sent waits for it; open the app to see whether it connects, and allow it notifications",
    )


def _last_seen(device: DeviceStatus) -> int:
    return device.last_seen_at or 0
