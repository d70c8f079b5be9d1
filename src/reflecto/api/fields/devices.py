"""Fields of enrolment, devices, sync and tokens. Source: devices.md, api.md."""

from typing import Final

from reflecto.api.fields import patterns
from reflecto.api.fields.note import (
    APP_BUILD,
    DEVICE_CLASS,
    DEVICE_LABEL,
    DEVICE_TYPE,
    FEATURES,
    KEY_EXAMPLE,
    PRIORITY_CAP,
    PUSH_KEY_EXAMPLE,
    PUSH_SECRET_EXAMPLE,
    SCOPES,
    TEST,
    TIME,
    TOKEN_LABEL,
    Notes,
    a_time,
    an_id,
    note,
    of_32_bytes,
)
from reflecto.contract import devices, limits, tokens

DEVICE_STATE: Final = {
    "device_id": an_id("dev", "The device's id"),
    "label": DEVICE_LABEL,
    "type": DEVICE_TYPE,
    "class": DEVICE_CLASS,
    "reachable": note("A stream of it is open now", True),
    "last_seen_at": note("When it last called, in Unix seconds; null: never", TIME),
    "app_build": APP_BUILD,
}
DEVICES: Final[Notes] = {
    devices.EnrollRequest: {
        "code": note(
            "The setup code; case, spaces and dashes do not matter", "7F3K-Q2MA-9XTB-W4HD", pattern=patterns.SETUP_CODE
        ),
        "public_key": of_32_bytes("The device's X25519 public key"),
        "signing_key": of_32_bytes("Its Ed25519 public key"),
        "label": DEVICE_LABEL,
        "type": DEVICE_TYPE,
        "class": DEVICE_CLASS,
        "app_build": APP_BUILD,
        "features": FEATURES,
    },
    devices.EnrollResponse: {
        "owner_id": an_id("own", "Whose device it now is"),
        "device_id": an_id("dev", "The device's id"),
        "device_token": note("Its own token, shown this once", "rfd_live_…", pattern="^rfd_live_[A-Za-z0-9]{32}$"),
        "server_key": note("The server's X25519 public key, base64", KEY_EXAMPLE),
        "default_token": {"description": "The owner's first sender token, shown this once; null when joining an owner"},
    },
    devices.InvitationResponse: {
        "code": note("The setup code; works once", "7F3K-Q2MA-9XTB-W4HD"),
        "url": note(
            "A link that carries the code in its fragment", "https://reflecto.example/enroll#7F3K-Q2MA-9XTB-W4HD"
        ),
        "expires_at": a_time("When it stops working", 600),
    },
    devices.DeviceState: DEVICE_STATE,
    devices.DeviceList: {"devices": {"description": "All devices of the owner"}},
    devices.PeerState: {
        **DEVICE_STATE,
        "public_key": note("Its X25519 public key in base64, to seal for it", KEY_EXAMPLE),
        "signing_key": note("Its Ed25519 public key in base64, to check what it signed", KEY_EXAMPLE),
    },
    devices.PeerList: {"devices": {"description": "All devices of the owner"}},
    devices.UpdateDeviceRequest: {
        "label": DEVICE_LABEL,
        "app_build": note("The app's build number", 42),
        "features": FEATURES,
        "push": {"description": "Where pushes reach the device; null: nowhere"},
    },
    devices.PushKeyResponse: {
        "public_key": note("The `applicationServerKey`: a P-256 public key in base64url", PUSH_KEY_EXAMPLE)
    },
    devices.PushState: {
        "endpoint": note(
            "The push service's address for this device; https",
            "https://push.example/send/abc",
            pattern=patterns.PUSH_ENDPOINT,
        ),
        "keys": {"description": "What pushes are encrypted for"},
    },
    devices.PushKeys: {
        "p256dh": note(
            "A P-256 public key: 65 bytes in base64url", PUSH_KEY_EXAMPLE, pattern=patterns.BASE64URL_OF_A_POINT
        ),
        "auth": note("A secret: 16 bytes in base64url", PUSH_SECRET_EXAMPLE, pattern=patterns.BASE64URL_OF_16_BYTES),
    },
    devices.SyncEntry: {
        "seq": note("The entry's number in this device's queue; rises strictly", 7),
        "from": note("The id of the device that sent it, or `server`", "server"),
        "blob": note("The wire blob, base64", "AaWf…"),
        "expires_at": a_time("When it is dropped", limits.QUEUE_TTL_MAX_SECONDS),
    },
    devices.SyncPage: {"entries": {"description": "In order; empty when nothing waits"}},
    devices.AckRequest: {"seq": note("The device has everything up to this number", 7)},
    tokens.CreateTokenRequest: {
        "label": TOKEN_LABEL,
        "priority_cap": PRIORITY_CAP,
        "scopes": {**SCOPES, "uniqueItems": True},
        "test": TEST,
    },
    tokens.NewToken: {
        "id": an_id("tok", "The token's id"),
        "label": TOKEN_LABEL,
        "token": note("The token itself, shown this once", "rfk_live_…", pattern="^rfk_(live|test)_[A-Za-z0-9]{32}$"),
    },
    tokens.TokenState: {
        "id": an_id("tok", "The token's id"),
        "label": TOKEN_LABEL,
        "test": TEST,
        "priority_cap": PRIORITY_CAP,
        "scopes": SCOPES,
        "created_at": a_time("When it was made"),
        "last_used_at": note("When it was last used, in Unix seconds, up to a minute behind; null: never", TIME),
    },
    tokens.TokenLabel: {"id": an_id("tok", "The token's id"), "label": TOKEN_LABEL},
    tokens.TokenList: {"tokens": {"description": "The oldest first"}},
    tokens.TokenLabelList: {"tokens": {"description": "The oldest first"}},
}
