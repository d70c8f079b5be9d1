"""A subscription cannot make the server connect to where its subscriber could not."""

import asyncio
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpcore
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from reflecto.bootstrap import PushOptions
from reflecto.core.public_addresses import is_public
from reflecto.crypto.webpush import VapidKeys
from reflecto.push.addresses import resolve
from reflecto.push.failures import ForbiddenAddressError
from reflecto.push.https import CheckedBackend, tls_context
from tests.actors import enroll
from tests.builders import NOW
from tests.fakes import BOUND_SECONDS, FakeClock
from tests.push.push_service import PushServiceOnLoopback
from tests.push.subscriber import Subscriber
from tests.running import run_server


@pytest.mark.parametrize(
    "address", ["1.1.1.1", "17.188.143.36", "2606:4700::1111", "64:ff9b::101:101", "::ffff:8.8.8.8"]
)
def test_addresses_of_the_public_internet_are_public(address: str):
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1",  # noqa: S104
        "255.255.255.255", "240.0.0.1", "::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "fd12:3456::1", "fec0::1",
        "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::7f00:1", "64:ff9b::7f00:1", "64:ff9b::a00:1",
        "64:ff9b:1::101:101", "2002:7f00:1::", "2002:c0a8:101::1", "2001:db8::1", "localhost", "",
    ],
)  # fmt: skip
def test_addresses_within_a_network_are_not_whatever_form_they_take(address: str):
    assert not is_public(address)


def backend(addresses: list[str], *, allow_private: bool = False) -> CheckedBackend:
    """A backend for which every name has these addresses."""

    async def resolve(_host: str, _port: int) -> list[str]:
        return addresses

    return CheckedBackend(allow_private=allow_private, resolve=resolve)


@pytest.mark.parametrize("host", ["push.example", "127.0.0.1"])
async def test_a_name_that_points_into_the_network_is_not_connected_to(host: str, push_service: PushServiceOnLoopback):
    port = int(push_service.url.rpartition(":")[2])
    with pytest.raises(ForbiddenAddressError):
        await backend(["127.0.0.1", "::1"]).connect_tcp(host, port)
    assert push_service.accepted_connections == 0


async def test_a_name_is_resolved_once_and_what_was_checked_is_connected_to(push_service: PushServiceOnLoopback):
    asked = []

    async def rebinding(host: str, _port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["10.0.0.1"]

    port = int(push_service.url.rpartition(":")[2])
    stream = await CheckedBackend(allow_private=True, resolve=rebinding).connect_tcp("push.example", port)
    assert stream.get_extra_info("server_addr")[0] == "127.0.0.1"
    assert asked == ["push.example"]
    await stream.aclose()


async def test_the_next_address_of_a_name_is_tried_when_the_first_does_not_answer(push_service: PushServiceOnLoopback):
    port = int(push_service.url.rpartition(":")[2])
    stream = await backend(["127.9.9.9", "127.0.0.1"], allow_private=True).connect_tcp("push.example", port)
    assert stream.get_extra_info("server_addr")[0] == "127.0.0.1"
    await stream.aclose()


class Unreachable(httpcore.AsyncNetworkBackend):
    """Sockets that never connect; it remembers how long each was given."""

    def __init__(self) -> None:
        self.given: list[tuple[str, float | None]] = []

    async def connect_tcp(self, host: str, port: int, timeout: float | None = None, *_: object, **__: object):  # noqa: ASYNC109
        self.given.append((host, timeout))
        raise httpcore.ConnectTimeout(f"{host}:{port}")


async def test_an_address_that_leads_nowhere_leaves_time_for_the_next():
    async def resolve(_host: str, _port: int) -> list[str]:
        return [f"127.0.0.{number}" for number in range(1, 9)]

    sockets = Unreachable()
    with pytest.raises(httpcore.ConnectTimeout):
        await CheckedBackend(allow_private=True, resolve=resolve, sockets=sockets).connect_tcp("push.example", 443)
    assert sockets.given == [(f"127.0.0.{number}", 3.0) for number in range(1, 5)]


async def test_names_and_addresses_are_resolved_for_real_and_failures_are_told():
    assert "127.0.0.1" in await resolve("localhost", 443)
    assert await resolve("127.0.0.1", 443) == ["127.0.0.1"]
    for broken in ("a" * 64 + ".example", ""):
        with pytest.raises((OSError, UnicodeError)):
            await resolve(broken, 443)
    with pytest.raises(httpcore.ConnectError):
        await CheckedBackend(allow_private=False).connect_tcp("a" * 64 + ".example", 443)


async def test_a_name_without_an_address_is_no_connection():
    with pytest.raises(httpcore.ConnectError):
        await backend([]).connect_tcp("push.example", 443)


async def test_a_private_endpoint_is_refused_in_the_log_and_nothing_is_sent(
    tmp_path: Path, clock: FakeClock, push_service: PushServiceOnLoopback, caplog: pytest.LogCaptureFixture
):
    async def resolve(_host: str, _port: int) -> list[str]:
        return ["127.0.0.1"]

    port = push_service.url.rpartition(":")[2]
    options = PushOptions(VapidKeys.generate(), resolve=resolve)
    async with run_server(tmp_path, clock, push=options) as server:
        phone = await enroll(server)
        for host in ("push.example", "127.0.0.1", "[::1]"):
            state = Subscriber(f"https://{host}:{port}/capability").state()
            assert (await phone.call("PATCH", "/v1/devices/self", json={"push": state})).status_code == 200
            await phone.default_program().call("POST", "/v1/send", json={"message": "Hi"})
            async with asyncio.timeout(BOUND_SECONDS):
                while f"push_refused service=https://{host}:{port} " not in caplog.text:
                    assert (await phone.call("GET", "/v1/push/key")).status_code == 200
    assert push_service.accepted_connections == 0
    assert "private address" in caplog.text
    assert "/capability" not in caplog.text


def certificate_for(name: str, folder: Path) -> tuple[Path, ssl.SSLContext]:
    """Return a self-signed certificate's file, and the context of a server that has it."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.fromtimestamp(0, UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now)
        .not_valid_after(now + timedelta(days=36_500))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, SHA256())
    )
    file = folder / f"{name}.pem"
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    file.write_bytes(made.public_bytes(Encoding.PEM) + private)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return file, context


@pytest.mark.parametrize(("certified", "delivered"), [("push.example", True), ("evil.example", False)])
async def test_the_certificate_is_checked_for_the_endpoints_name_although_an_address_is_connected_to(
    tmp_path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch, certified: str, *, delivered: bool
):
    file, context = certificate_for(certified, tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    tls_context.cache_clear()

    async def resolve(_host: str, _port: int) -> list[str]:
        return ["127.0.0.1"]

    options = PushOptions(VapidKeys.generate(), allow_private=True, resolve=resolve)
    async with PushServiceOnLoopback.run(context) as push_service, run_server(tmp_path, clock, push=options) as server:
        phone = await enroll(server)
        port = push_service.url.rpartition(":")[2]
        subscriber = Subscriber(f"https://push.example:{port}/send/abc")
        await phone.call("PATCH", "/v1/devices/self", json={"push": subscriber.state()})
        await phone.default_program().call("POST", "/v1/send", json={"message": "Hi"})
        if delivered:
            push = await push_service.next()
            assert push.headers["host"] == f"push.example:{port}"
            assert push.open(subscriber)["seq"] == 2
        else:
            await clock.until_waited_for(NOW + 2)  # it will be tried again
            assert push_service.waiting == 0
    tls_context.cache_clear()
