"""Wire models of joining, devices and sync. Source: devices.md."""

from typing import Annotated, ClassVar, Final, Literal

import msgspec
from msgspec import Meta

from reflecto.contract import errors
from reflecto.contract.limits import (
    APP_BUILD_MAX,
    ENDPOINT_MAX_CHARS,
    FEATURE_MAX_CHARS,
    FEATURES_MAX,
    LABEL_MAX_CHARS,
    SEQ_MAX,
)
from reflecto.contract.tokens import NewToken
from reflecto.contract.wire import NOT_BLANK, Request, is_not_blank

DeviceType = Literal["android", "extension", "web", "cli"]
DeviceClass = Literal["phone", "desktop"]
Label = Annotated[str, Meta(min_length=1, max_length=LABEL_MAX_CHARS, pattern=NOT_BLANK)]
Feature = Annotated[str, Meta(min_length=1, max_length=FEATURE_MAX_CHARS, pattern="^[a-z0-9_.-]+$")]
Features = Annotated[tuple[Feature, ...], Meta(max_length=FEATURES_MAX)]
AppBuild = Annotated[int, Meta(ge=0, le=APP_BUILD_MAX)]


_JOINING_ERRORS: Final = {
    "public_key": errors.INVALID_PUBLIC_KEY,
    "signing_key": errors.INVALID_SIGNING_KEY,
    "label": errors.INVALID_LABEL,
    "type": errors.INVALID_TYPE,
    "class": errors.INVALID_CLASS,
    "app_build": errors.INVALID_APP_BUILD,
    "features": errors.INVALID_FEATURES,
}


class EnrollRequest(Request, frozen=True, kw_only=True):
    """Redeem a setup code. Keys are raw 32-byte public keys in standard base64."""

    field_errors: ClassVar = {"code": errors.INVALID_CODE, **_JOINING_ERRORS}
    field_checks: ClassVar = {"label": is_not_blank}

    code: str
    public_key: str
    signing_key: str
    label: Label
    type: DeviceType
    device_class: DeviceClass = msgspec.field(name="class")
    app_build: AppBuild | None = None
    features: Features = ()


class ClaimRequest(Request, frozen=True, kw_only=True):
    """Ask to join. With a typed code also a `commitment` to a nonce that is revealed later."""

    field_errors: ClassVar = {**_JOINING_ERRORS, "proof": errors.INVALID_PROOF, "commitment": errors.INVALID_PROOF}
    field_checks: ClassVar = {"label": is_not_blank}

    public_key: str
    signing_key: str
    label: Label
    type: DeviceType
    device_class: DeviceClass = msgspec.field(name="class")
    app_build: AppBuild | None = None
    features: Features = ()
    proof: str
    commitment: str | None = None


class EnrollResponse(msgspec.Struct, frozen=True):
    """`default_token` is there only when this phone is its owner's first; it is shown this once."""

    owner_id: str
    device_id: str
    device_token: str
    server_key: str
    default_token: NewToken | None


class DeviceState(msgspec.Struct, frozen=True):
    """A device's status, no content. `reachable`: a stream of it is open now. Times are Unix seconds."""

    device_id: str
    label: str
    type: DeviceType
    device_class: DeviceClass = msgspec.field(name="class")
    reachable: bool
    last_seen_at: int | None
    app_build: int | None


class DeviceList(msgspec.Struct, frozen=True):
    """All devices of the owner."""

    devices: tuple[DeviceState, ...]


class PeerState(DeviceState, frozen=True):
    """A device as the owner's other devices see it: with the keys to seal for it and to check what it signed."""

    public_key: str
    signing_key: str


class PeerList(msgspec.Struct, frozen=True):
    """All devices of the owner, for one of them."""

    devices: tuple[PeerState, ...]


class PushKeys(msgspec.Struct, frozen=True):
    """A subscription's keys in base64url: a P-256 public key (65 bytes) and a secret (16 bytes)."""

    p256dh: str
    auth: str


class PushState(msgspec.Struct, frozen=True):
    """A push subscription in the form a browser's `toJSON()` gives it."""

    endpoint: Annotated[str, Meta(max_length=ENDPOINT_MAX_CHARS)]
    keys: PushKeys


class PushKeyResponse(msgspec.Struct, frozen=True):
    """The server's VAPID key, base64url of an uncompressed point of P-256: the `applicationServerKey`."""

    public_key: str


class UpdateDeviceRequest(Request, frozen=True, kw_only=True):
    """What a device reports of itself; absent fields stay as they are. `push` null ends its pushes."""

    field_errors: ClassVar = {
        "label": errors.INVALID_LABEL,
        "app_build": errors.INVALID_APP_BUILD,
        "features": errors.INVALID_FEATURES,
        "push": errors.INVALID_PUSH,
    }

    field_checks: ClassVar = {"label": is_not_blank}

    label: Label | msgspec.UnsetType = msgspec.UNSET
    app_build: AppBuild | msgspec.UnsetType = msgspec.UNSET
    features: Features | msgspec.UnsetType = msgspec.UNSET
    push: PushState | msgspec.UnsetType | None = msgspec.UNSET


class SyncEntry(msgspec.Struct, frozen=True):
    """The data of one `message` event: `blob` is the wire blob in base64, `expires_at` Unix seconds."""

    seq: int
    sender: str = msgspec.field(name="from")
    blob: str
    expires_at: int


class AckRequest(Request, frozen=True, kw_only=True):
    """Everything up to and including `seq` is safely stored on the device."""

    field_errors: ClassVar = {"seq": errors.INVALID_SEQ}

    seq: Annotated[int, Meta(ge=0, le=SEQ_MAX)]


class SyncPage(msgspec.Struct, frozen=True):
    """Some of what waits in the device's queue, in order; empty when nothing does."""

    entries: tuple[SyncEntry, ...]


class InvitationResponse(msgspec.Struct, frozen=True):
    """A setup code for one more device, its link, and when it expires (Unix seconds)."""

    code: str
    url: str
    expires_at: int
