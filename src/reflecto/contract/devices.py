"""Wire models of joining and of devices. Source: devices.md."""

from __future__ import annotations

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
)
from reflecto.contract.notes import (
    BASE64URL_OF_16_BYTES,
    BASE64URL_OF_A_POINT,
    KEY_EXAMPLE,
    PUSH_ENDPOINT,
    SETUP_CODE,
    TIME,
    Note,
    a_device_token,
    a_time,
    an_id,
    note,
    of_32_bytes,
)
from reflecto.contract.tokens import NewToken, TokenName
from reflecto.contract.wire import NOT_BLANK_NO_NUL, Request, is_not_blank

# Of RFC 8291, appendix A.
PUSH_KEY_EXAMPLE: Final = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
PUSH_SECRET_EXAMPLE: Final = "BTBZMqHH6r4Tts7J_aSIgg"
ANSWER_V2: Final = "answer_v2"  # of `features`: it shows all that a question may bring, and signs over it
LABEL: Final = note("The device's name, for people", "Pixel 9")
APP_BUILD: Final = note("The app's build number; null: never reported", 42)

COMMITMENT: Final = of_32_bytes("To the nonce, with a typed code; null otherwise")

PublicKey = Annotated[str, of_32_bytes("X25519 public key")]
SigningKey = Annotated[str, of_32_bytes("Ed25519 public key")]
ServerKey = Annotated[str, note("The server's X25519 public key, base64", KEY_EXAMPLE)]
Proof = Annotated[str, of_32_bytes("What proves the knowledge of the secret")]
DeviceId = Annotated[str, an_id("dev", "The device's id")]
DeviceType = Annotated[
    Literal["android", "extension", "web", "cli"],
    note("What kind of device it is", "android", enum=["android", "extension", "web", "cli"]),
]
DeviceClass = Annotated[
    Literal["phone", "desktop"],
    note("Phones are asked; desktops are only told", "phone", enum=["phone", "desktop"]),
]
Label = Annotated[str, Meta(min_length=1, max_length=LABEL_MAX_CHARS, pattern=NOT_BLANK_NO_NUL), LABEL]
Feature = Annotated[str, Meta(min_length=1, max_length=FEATURE_MAX_CHARS, pattern="^[a-z0-9_.-]+$")]
Features = Annotated[
    tuple[Feature, ...],
    Meta(max_length=FEATURES_MAX),
    note("What its app knows, such as `emergency`; names that the server does not know are kept too", ["emergency"]),
]
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

    field_errors: ClassVar = {"code": errors.INVALID_CODE, **_JOINING_ERRORS, "token_label": errors.INVALID_LABEL}
    field_checks: ClassVar = {
        "label": is_not_blank,
        "token_label": lambda label: label is None or is_not_blank(label),
    }

    code: Annotated[
        str,
        note("The setup code; case, spaces and dashes do not matter", "7F3K-Q2MA-9XTB-W4HD", pattern=SETUP_CODE),
    ]
    public_key: Annotated[str, of_32_bytes("The device's X25519 public key")]
    signing_key: Annotated[str, of_32_bytes("Its Ed25519 public key")]
    label: Label
    type: DeviceType
    device_class: DeviceClass = msgspec.field(name="class")
    app_build: Annotated[AppBuild | None, APP_BUILD] = None
    features: Features = ()
    token_label: Annotated[
        TokenName | None, Note("What to call the first sender token, where this phone is its owner's first")
    ] = None


class ClaimRequest(Request, frozen=True, kw_only=True):
    """Ask to join. With a typed code also a `commitment` to a nonce that is revealed later."""

    field_errors: ClassVar = {**_JOINING_ERRORS, "proof": errors.INVALID_PROOF, "commitment": errors.INVALID_PROOF}
    field_checks: ClassVar = {"label": is_not_blank}

    public_key: PublicKey
    signing_key: SigningKey
    label: Label
    type: DeviceType
    device_class: DeviceClass = msgspec.field(name="class")
    app_build: Annotated[AppBuild | None, APP_BUILD] = None
    features: Features = ()
    proof: Proof
    commitment: Annotated[str | None, COMMITMENT] = None


class EnrollResponse(msgspec.Struct, frozen=True):
    """`default_token` is there only when this phone is its owner's first; it is shown this once."""

    owner_id: Annotated[str, an_id("own", "Whose device it now is")]
    device_id: DeviceId
    device_token: Annotated[str, a_device_token("Its own token, shown this once")]
    server_key: ServerKey
    default_token: Annotated[
        NewToken | None,
        Note("The owner's first sender token, shown this once; null when joining an owner"),
    ]


class DeviceState(msgspec.Struct, frozen=True):
    """A device's status, no content. `reachable`: a stream of it is open now. Times are Unix seconds."""

    device_id: DeviceId
    label: Annotated[str, LABEL]
    type: DeviceType
    device_class: DeviceClass = msgspec.field(name="class")
    reachable: Annotated[bool, note("A stream of it is open now", True)]
    last_seen_at: Annotated[int | None, note("When it last called, in Unix seconds; null: never", TIME)]
    app_build: Annotated[int | None, APP_BUILD]


class DeviceList(msgspec.Struct, frozen=True):
    """All devices of the owner."""

    devices: Annotated[tuple[DeviceState, ...], Note("All devices of the owner")]


class PeerState(DeviceState, frozen=True):
    """A device as the owner's other devices see it: with the keys to seal for it and to check what it signed."""

    public_key: Annotated[str, note("Its X25519 public key in base64, to seal for it", KEY_EXAMPLE)]
    signing_key: Annotated[str, note("Its Ed25519 public key in base64, to check what it signed", KEY_EXAMPLE)]


class PeerList(msgspec.Struct, frozen=True):
    """All devices of the owner, for one of them."""

    devices: Annotated[tuple[PeerState, ...], Note("All devices of the owner")]


class PushKeys(msgspec.Struct, frozen=True):
    """A subscription's keys in base64url: a P-256 public key (65 bytes) and a secret (16 bytes)."""

    p256dh: Annotated[
        str,
        note("A P-256 public key: 65 bytes in base64url", PUSH_KEY_EXAMPLE, pattern=BASE64URL_OF_A_POINT),
    ]
    auth: Annotated[
        str,
        note("A secret: 16 bytes in base64url", PUSH_SECRET_EXAMPLE, pattern=BASE64URL_OF_16_BYTES),
    ]


class PushState(msgspec.Struct, frozen=True):
    """A push subscription in the form a browser's `toJSON()` gives it."""

    endpoint: Annotated[
        str,
        Meta(max_length=ENDPOINT_MAX_CHARS),
        note(
            "The push service's address for this device; https",
            "https://push.example/send/abc",
            pattern=PUSH_ENDPOINT,
        ),
    ]
    keys: Annotated[PushKeys, Note("What pushes are encrypted for")]


class PushKeyResponse(msgspec.Struct, frozen=True):
    """The server's VAPID key, base64url of an uncompressed point of P-256: the `applicationServerKey`."""

    public_key: Annotated[
        str,
        note("The `applicationServerKey`: a P-256 public key in base64url", PUSH_KEY_EXAMPLE),
    ]


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
    app_build: Annotated[AppBuild | msgspec.UnsetType, note("The app's build number", 42)] = msgspec.UNSET
    features: Features | msgspec.UnsetType = msgspec.UNSET
    push: Annotated[
        PushState | msgspec.UnsetType | None,
        Note("Where pushes reach the device; null: nowhere"),
    ] = msgspec.UNSET


class InvitationResponse(msgspec.Struct, frozen=True):
    """A setup code for one more device, its link, and when it expires (Unix seconds)."""

    code: Annotated[str, note("The setup code; works once", "7F3K-Q2MA-9XTB-W4HD")]
    url: Annotated[
        str,
        note("A link that carries the code in its fragment", "https://reflecto.example/enroll#7F3K-Q2MA-9XTB-W4HD"),
    ]
    expires_at: Annotated[int, a_time("When it stops working", 600)]
