"""Sender tokens, listed, made and revoked in the name of this phone. Source: docs/protocol.md "Devices and tokens"."""

import uuid
from typing import Any, Final, TypeVar

import httpx
import msgspec

from reflecto.contract.json_text import UnreadableJsonError, read_json
from reflecto.contract.refusals import Refusal
from reflecto.contract.tokens import CreateTokenRequest, NewToken, TokenList, TokenState
from reflecto.contract.wire import IDEMPOTENCY_KEY_HEADER
from reflecto.phone.replies import describe_failure, read_refusal
from reflecto.phone.state import Identity

TIMEOUT_SECONDS: Final = 15.0
_EXIT_CODES: Final = {400: 2, 401: 6, 500: 9, 503: 9}  # docs/cli.md

M = TypeVar("M", bound=msgspec.Struct)


class TokenCallError(Exception):
    """The call failed; the message says why."""

    exit_code: int = 9
    code: str = "failed"


class UnreachableError(TokenCallError):
    """The server cannot be reached, so nothing was done."""

    exit_code = 5
    code = "unreachable"


class RefusedError(TokenCallError):
    """The server refused; `code` is its own."""

    def __init__(self, refusal: Refusal) -> None:
        unknown = refusal.status == httpx.codes.UNAUTHORIZED
        super().__init__("the server does not know this phone any more" if unknown else refusal.message)
        self.exit_code = _EXIT_CODES.get(refusal.status, 7)
        self.code = refusal.code
        self.details = refusal.details


class LostReplyError(TokenCallError):
    """The reply was lost: the call may have been carried out, or not."""

    exit_code = 10
    code = "outcome_unknown"


class TokenCalls:
    """Calls with the device token. Each raises TokenCallError."""

    def __init__(self, http: httpx.Client, identity: Identity) -> None:
        self._http = http
        self._base = identity.url
        self._auth = {"Authorization": f"Bearer {identity.device_token}"}

    def list(self) -> tuple[TokenState, ...]:
        """Return the owner's live tokens, oldest first."""
        return self._read(self._call("GET", "/v1/tokens"), httpx.codes.OK, TokenList).tokens

    def create(self, request: CreateTokenRequest) -> NewToken:
        """Make a token; its plaintext is in this reply only."""
        fields = {name: value for name, value in msgspec.to_builtins(request).items() if value is not None}
        key = str(uuid.uuid4())
        try:
            response = self._call("POST", "/v1/tokens", fields, key)
        except LostReplyError:
            if not self._knows_keys():
                raise
            response = self._call("POST", "/v1/tokens", fields, key)
        return self._read(response, httpx.codes.CREATED, NewToken)

    def revoke(self, token_id: str) -> None:
        """Revoke a token for the very next request, and withdraw its questions."""
        response = self._call("DELETE", f"/v1/tokens/{token_id}")
        if response.status_code != httpx.codes.NO_CONTENT:
            self._refuse(response)

    def _knows_keys(self) -> bool:
        """Tell whether the server recognises a repeat by its key; an older one does not."""
        try:
            health = read_json(self._call("GET", "/healthz").content, dict[str, Any])
        except (UnreachableError, UnreadableJsonError):
            return False
        return health.get("repeats") == IDEMPOTENCY_KEY_HEADER

    def _call(
        self, method: str, path: str, body: dict[str, Any] | None = None, key: str | None = None
    ) -> httpx.Response:
        headers = self._auth if key is None else {**self._auth, IDEMPOTENCY_KEY_HEADER: key}
        try:
            return self._http.request(
                method, f"{self._base}{path}", json=body, headers=headers, timeout=TIMEOUT_SECONDS
            )
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.InvalidURL) as error:
            raise UnreachableError(f"{self._base}: {describe_failure(error)}") from None
        except httpx.HTTPError as error:
            if method == "GET":
                raise UnreachableError(f"{self._base}: {describe_failure(error)}") from None
            reason = describe_failure(error)
            raise LostReplyError(
                f"{self._base}: {reason}; it may be done or not, `reflecto tokens list` shows"
            ) from None

    def _read(self, response: httpx.Response, expected: int, model: type[M]) -> M:
        if response.status_code != expected:
            self._refuse(response)
        try:
            return read_json(response.content, model)
        except UnreadableJsonError:
            raise TokenCallError(f"{self._base}: the reply is not a Reflecto server's") from None

    def _refuse(self, response: httpx.Response) -> None:
        refusal = read_refusal(response)
        if refusal is None:
            raise TokenCallError(f"{self._base}: HTTP {response.status_code}, not from a Reflecto server")
        if refusal.code == "outcome_unknown":
            raise LostReplyError(f"{refusal.message}; `reflecto tokens list` shows")
        raise RefusedError(refusal)
