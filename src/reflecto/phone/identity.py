"""Becoming one of the owner's devices: keys made here, a one-time code redeemed at the server."""

import uuid
from typing import Final, NamedTuple

import httpx
import msgspec
from nacl.signing import SigningKey

from reflecto.contract.devices import EnrollRequest, EnrollResponse
from reflecto.contract.ids import normalize_setup_code
from reflecto.contract.json_text import UnreadableJsonError, read_json
from reflecto.contract.links import read_web_link
from reflecto.contract.loopback import is_loopback
from reflecto.contract.wire import IDEMPOTENCY_KEY_HEADER
from reflecto.crypto.encoding import encode_base64
from reflecto.crypto.envelopes import BadKeyError, BoxKeys, shared_key
from reflecto.phone.effects import Enrolled
from reflecto.phone.inbox import hold_token
from reflecto.phone.keyring import raw_key
from reflecto.phone.replies import describe_failure, read_refusal, retry_after_seconds
from reflecto.phone.state import FEATURES, HeldToken, Identity, PhoneState

ENROLL_PATH: Final = "/v1/enroll"
LINK_PATH: Final = "/enroll"  # the page that a setup link opens
REDEEM_TRIES: Final = 3  # where the connection breaks before there is a reply


class EnrolmentError(Exception):
    """This phone could not be enrolled; the message says why and what helps."""

    exit_code = 7  # what the command line ends with: the server refused


class UnusableInvitationError(EnrolmentError):
    """The code is missing or wrong, or no server is named with it."""

    exit_code = 2


class UnreachableError(EnrolmentError):
    """The server cannot be reached, or what replies is no Reflecto server."""

    exit_code = 5


class Invitation(NamedTuple):
    """A setup code in its 16 significant characters, and the server that its link names."""

    code: str
    url: str | None


def read_invitation(text: str) -> Invitation:
    """Read a code (`XXXX-XXXX-XXXX-XXXX`) or a link (`<url>/enroll#<code>`). Raises: UnusableInvitationError."""
    head, fragment_mark, fragment = text.strip().partition("#")
    code = normalize_setup_code(fragment if fragment_mark else head)
    if code is None:
        raise UnusableInvitationError("that is neither a setup code (XXXX-XXXX-XXXX-XXXX) nor a setup link")
    if not fragment_mark:
        return Invitation(code, None)
    return Invitation(code, read_server_url(head.rstrip("/").removesuffix(LINK_PATH)))


def read_server_url(text: str) -> str:
    """Return the server's base URL without a trailing slash. Raises: UnusableInvitationError."""
    url = text.strip()
    if read_web_link(url) is None or "?" in url or "#" in url:
        raise UnusableInvitationError("the server's address must be a plain http:// or https:// URL")
    return url.rstrip("/")


def is_exposed(url: str) -> bool:
    """Tell whether tokens would cross a network in the clear: http to anything but this machine."""
    return url.lower().startswith("http:") and not is_loopback(url)


async def enroll(
    http: httpx.AsyncClient, invitation: Invitation, url: str, label: str
) -> tuple[Identity, HeldToken | None]:
    """Redeem the code; save what comes back at once, for the code is used up. The owner's first phone gets a token.

    Raises: EnrolmentError.
    """
    box, seed = BoxKeys.generate(), SigningKey.generate()
    request = EnrollRequest(
        code=invitation.code,
        public_key=encode_base64(box.public),
        signing_key=encode_base64(seed.verify_key.encode()),
        label=label,
        type="cli",
        device_class="phone",
        features=FEATURES,
    )
    reply = await _redeem(http, url, request)
    identity = Identity(
        url=url,
        owner_id=reply.owner_id,
        device_id=reply.device_id,
        label=label,
        device_token=reply.device_token,
        server_key=reply.server_key,
        box_secret=encode_base64(box.secret),
        signing_seed=encode_base64(seed.encode()),
    )
    _check_server_key(reply.server_key, box.secret)
    token = reply.default_token
    return identity, HeldToken(token.id, token.label, token.token) if token else None


def first_state(identity: Identity, token: HeldToken | None) -> PhoneState:
    """Return the state of a phone just enrolled. The token is held in it until it could be shown."""
    state = PhoneState(identity=identity, features=FEATURES)
    return hold_token(state, token).state if token else state


def enrolled(identity: Identity, *, founded: bool) -> Enrolled:
    """Return what the owner is told of an enrolment. Raises: BadKeyError if the stored seed is not one."""
    seed = raw_key(identity.signing_seed)
    return Enrolled(
        url=identity.url,
        owner_id=identity.owner_id,
        device_id=identity.device_id,
        label=identity.label,
        signing_key=encode_base64(SigningKey(seed).verify_key.encode()),
        founded=founded,
    )


async def _redeem(http: httpx.AsyncClient, url: str, request: EnrollRequest) -> EnrollResponse:
    body = msgspec.json.encode(request)
    # The code is used up once the server has it: where the reply is lost, the same request under its key gets it.
    headers = {"Content-Type": "application/json", IDEMPOTENCY_KEY_HEADER: str(uuid.uuid4())}
    for tries_left in reversed(range(REDEEM_TRIES)):
        try:
            response = await http.post(f"{url}{ENROLL_PATH}", content=body, headers=headers)
            break
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:  # the last: a name that cannot be encoded
            if not tries_left or not isinstance(error, (httpx.ReadError, httpx.RemoteProtocolError)):
                raise UnreachableError(f"{url}: {describe_failure(error)}") from None
    if response.status_code != httpx.codes.CREATED:
        refusal = read_refusal(response)
        if refusal is None:
            raise UnreachableError(f"{url}: HTTP {response.status_code}; is that a Reflecto server?")
        wait = f" (try again in {retry_after_seconds(response):.0f} s)" if retry_after_seconds(response) else ""
        raise EnrolmentError(f"{url}: {refusal.message}{wait}")
    try:
        return read_json(response.content, EnrollResponse)
    except UnreadableJsonError:
        raise UnreachableError(f"{url}: the reply is not a Reflecto server's") from None


def _check_server_key(server_key: str, box_secret: bytes) -> None:
    try:
        shared_key(raw_key(server_key), box_secret)
    except BadKeyError:
        raise EnrolmentError("the server's key is not one that messages can be sealed under") from None
