"""Which devices a sender means. Source: api.md "POST /v1/send", field `device`."""

import unicodedata
from collections.abc import Sequence

from reflecto.contract.api_error import ApiError
from reflecto.contract.caveats import Caveat
from reflecto.contract.errors import INVALID_DEVICE
from reflecto.contract.limits import SELECTOR_MAX_CHARS, SELECTOR_NAMES_MAX
from reflecto.core.model import Device

_CLASSES = {"phone": "phone", "mobile": "phone", "desktop": "desktop"}


def check_selector(selector: str) -> None:
    """Refuse a selector that names nothing, or more than anybody has. Raises: ApiError `invalid_device`."""
    if len(selector) > SELECTOR_MAX_CHARS or len(names := _names_in(selector)) > SELECTOR_NAMES_MAX:
        raise ApiError(
            INVALID_DEVICE, f"device may name {SELECTOR_NAMES_MAX} devices in {SELECTOR_MAX_CHARS} characters"
        )
    if not names:
        raise ApiError(INVALID_DEVICE)


def select_devices(devices: Sequence[Device], selector: str) -> tuple[list[Device], list[Caveat]]:
    """Return the devices meant, each once and in their order, and a caveat for each name nobody has.

    A name is `all`, a class, a device id or a label (case does not matter; several devices may share one).
    The whole selector is tried as a label first, for labels that hold a comma.
    """
    if not devices:
        return [], [Caveat("no_devices", "No device is paired; nothing was delivered")]
    selector = selector[:SELECTOR_MAX_CHARS]  # Pushover's clients are refused nothing; theirs was not checked
    if whole := _named(devices, selector.strip()):
        return whole, []
    meant: dict[str, Device] = {}
    caveats = []
    for name in _names_in(selector)[:SELECTOR_NAMES_MAX]:
        found = _named(devices, name)
        if not found:
            caveats.append(Caveat("unknown_device", f"No device is called '{name}'"))
        meant |= {device.id: device for device in found}
    return [device for device in devices if device.id in meant], caveats


def _names_in(selector: str) -> list[str]:
    """Return the names of a selector, each once, in their order."""
    return list(dict.fromkeys(name for name in (part.strip() for part in selector.split(",")) if name))


def _named(devices: Sequence[Device], name: str) -> list[Device]:
    folded = _fold(name)
    if folded == "all":
        return list(devices)
    meant_class = _CLASSES.get(folded)
    return [
        device
        for device in devices
        if device.device_class == meant_class or device.id == name or _fold(device.label) == folded
    ]


def _fold(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()
