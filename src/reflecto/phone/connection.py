"""The phone's side of the wire: the stream, acknowledgements and answers. It keeps nothing and decides nothing.

Source: docs/protocol.md "Sync", "Answering".
"""

import email.utils
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any, Final, NamedTuple

import httpx
import httpx_sse
import msgspec

from reflecto.contract import errors
from reflecto.contract.answering import AnswerResponse
from reflecto.contract.json_text import UnreadableJsonError, read_json
from reflecto.contract.refusals import Refusal
from reflecto.contract.sync import SyncEntry
from reflecto.phone.alarms import AlarmVerdict
from reflecto.phone.lifecycle import Verdict, WrongNumber
from reflecto.phone.muting import Until
from reflecto.phone.replies import describe_failure, read_refusal, retry_after_seconds
from reflecto.phone.state import Answer, Identity, OpenEmergency

SILENCE_MAX_SECONDS: Final = 45.0  # the server sends a comment every 20 s; after two of them missed, the line is dead
REQUEST_SECONDS: Final = 15.0
CONNECT_SECONDS: Final = 10.0

_RETRYABLE: Final = frozenset({408, 425, 429})


class NoReplyError(Exception):
    """The server could not be asked, or gave no verdict; try again."""

    def __init__(self, reason: str, retry_after: float | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retry_after_seconds = retry_after


class RevokedError(Exception):
    """The server does not know this device's token any more."""


class Stream(NamedTuple):
    """An open stream. `server_time` (Unix seconds) is from its reply's head, None if that has none."""

    server_time: float | None
    entries: AsyncIterator[SyncEntry]


class Connection:
    """Calls to one server in the name of one device."""

    def __init__(
        self, http: httpx.AsyncClient, identity: Identity, *, silence_max_seconds: float = SILENCE_MAX_SECONDS
    ) -> None:
        self._http = http
        self._base = identity.url
        self._auth = {"Authorization": f"Bearer {identity.device_token}"}
        self._request_timeout = httpx.Timeout(REQUEST_SECONDS, connect=CONNECT_SECONDS)
        self._stream_timeout = httpx.Timeout(REQUEST_SECONDS, connect=CONNECT_SECONDS, read=silence_max_seconds)

    @asynccontextmanager
    async def open_stream(self, cursor: int) -> AsyncIterator[Stream]:
        """Open the stream behind `cursor`. Its entries end when the server ends it.

        Raises: NoReplyError, also while reading; RevokedError.
        """
        headers = self._auth | ({"Last-Event-ID": str(cursor)} if cursor else {})
        try:
            async with httpx_sse.aconnect_sse(
                self._http, "GET", f"{self._base}/v1/sync", headers=headers, timeout=self._stream_timeout
            ) as source:
                if source.response.status_code != httpx.codes.OK:
                    await source.response.aread()
                    _raise_for(source.response)
                if not source.response.headers.get("Content-Type", "").startswith("text/event-stream"):
                    raise _not_definite(source.response)  # a sign-in page; its Date is not the server's either
                async with aclosing(_entries(source)) as entries:
                    yield Stream(_date_of(source.response), entries)
        except httpx.HTTPError as error:
            raise NoReplyError(_describe_stream(error)) from None
        except httpx_sse.SSEError:
            raise NoReplyError("the reply is not a Reflecto server's") from None

    async def acknowledge(self, seq: int) -> None:
        """Tell the server that everything up to `seq` is stored here. Raises: NoReplyError, RevokedError."""
        response = await self._post("/v1/sync/ack", {"seq": seq})
        if response.status_code == httpx.codes.NO_CONTENT:
            return
        refusal = read_refusal(response)
        if (
            refusal is None or refusal.code != errors.INVALID_SEQ.code
        ):  # it counts anew after a restore: nothing to drop
            _raise_for(response)

    async def send_answer(self, interaction_id: str, answer: Answer) -> Verdict | WrongNumber:
        """Send a tap and return the server's verdict on it. Raises: NoReplyError, RevokedError."""
        response = await self._post(f"/v1/interactions/{interaction_id}/answer", msgspec.to_builtins(answer))
        if response.status_code == httpx.codes.OK and _is_acceptance(response, interaction_id):
            return Verdict(interaction_id, "accepted", answer.choice_index)
        return _verdict(interaction_id, _definite_refusal(response))

    async def acknowledge_emergency(self, emergency: OpenEmergency) -> AlarmVerdict:
        """Tell the server and return its verdict. Raises: NoReplyError, RevokedError."""
        response = await self._post(f"/v1/emergencies/{emergency.receipt}/acknowledge", {})
        if response.status_code == httpx.codes.NO_CONTENT:
            return AlarmVerdict(emergency.id, "acknowledged")
        refusal = _definite_refusal(response)
        if refusal.code == errors.EMERGENCY_CLOSED.code:
            return AlarmVerdict(
                emergency.id, "cancelled" if refusal.details.get("status") == "cancelled" else "expired"
            )
        return AlarmVerdict(emergency.id, "not_recorded")

    async def stop_ring(self, ring_id: str) -> None:
        """Silence a ring on all devices. Raises: NoReplyError, RevokedError."""
        response = await self._post(f"/v1/rings/{ring_id}/stop", {})
        if response.status_code != httpx.codes.NO_CONTENT:
            _definite_refusal(response)  # an older server, or no id of a ring: there is nothing else to try

    async def dismiss(self, interaction_id: str) -> str | None:
        """End a question without an answer. Returns the code of a refusal. Raises: NoReplyError, RevokedError."""
        return _refused(await self._post(f"/v1/interactions/{interaction_id}/dismiss", {"reason": "dismissed"}))

    async def dismiss_all(self, token_id: str) -> str | None:
        """End all open questions of a token; returns and raises as `dismiss`."""
        return _refused(await self._post(f"/v1/tokens/{token_id}/dismiss", {}))

    async def mute(self, token_id: str, until: Until | None) -> str | None:
        """Mute a token until then (Unix seconds), or no longer (None); returns and raises as `dismiss`."""
        return _refused(await self._send("PATCH", f"/v1/tokens/{token_id}", {"muted_until": until}))

    async def report_features(self, features: tuple[str, ...]) -> None:
        """Tell the server what this phone knows. Raises: NoReplyError, RevokedError."""
        response = await self._send("PATCH", "/v1/devices/self", {"features": features})
        if response.status_code != httpx.codes.OK:
            _definite_refusal(response)

    async def _post(self, path: str, body: dict[str, Any]) -> httpx.Response:
        return await self._send("POST", path, body)

    async def _send(self, method: str, path: str, body: dict[str, Any]) -> httpx.Response:
        try:
            return await self._http.request(
                method, f"{self._base}{path}", json=body, headers=self._auth, timeout=self._request_timeout
            )
        except httpx.HTTPError as error:
            raise NoReplyError(describe_failure(error)) from None


async def _entries(source: httpx_sse.EventSource) -> AsyncGenerator[SyncEntry, None]:
    async for event in source.aiter_sse():
        if event.event == "message" and event.data:  # httpx-sse makes an empty event of a comment behind an id
            try:
                yield read_json(event.data, SyncEntry)
            except UnreadableJsonError:
                raise NoReplyError("the stream is not in the form of a Reflecto server's") from None


def _is_acceptance(response: httpx.Response, interaction_id: str) -> bool:
    """Tell the server's acceptance from a sign-in page, which is 200 as well."""
    try:
        accepted = read_json(response.content, AnswerResponse)
    except UnreadableJsonError:
        return False
    return accepted.id == interaction_id


def _verdict(interaction_id: str, refusal: Refusal) -> Verdict | WrongNumber:
    if refusal.code == errors.WRONG_NUMBER.code:
        tries_left = refusal.details.get("tries_left")
        if isinstance(tries_left, int) and tries_left > 0:
            return WrongNumber(interaction_id, tries_left)
        return Verdict(interaction_id, "cancelled", reason="wrong_number")
    if refusal.code == errors.ALREADY_ANSWERED.code:
        winner = refusal.details.get("answered_by")
        winner = winner if isinstance(winner, dict) else {}
        index = refusal.details.get("choice_index")
        return Verdict(
            interaction_id,
            "answered",
            index if isinstance(index, int) else None,
            _text(winner.get("label")),
            _text(winner.get("device_id")),
        )
    if refusal.code == errors.INTERACTION_CLOSED.code:
        return Verdict(interaction_id, "cancelled" if refusal.details.get("status") == "cancelled" else "expired")
    return Verdict(interaction_id, "refused", code=refusal.code)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _definite_refusal(response: httpx.Response) -> Refusal:
    """Return what the server itself refuses for good. Raises: NoReplyError for anything else, RevokedError."""
    refusal = read_refusal(response)
    if refusal is None or refusal.status >= httpx.codes.INTERNAL_SERVER_ERROR or refusal.status in _RETRYABLE:
        raise _not_definite(response)
    if refusal.code == errors.INVALID_TOKEN.code:
        raise RevokedError
    return refusal


def _refused(response: httpx.Response) -> str | None:
    return None if response.is_success and _is_ours(response) else _definite_refusal(response).code


def _is_ours(response: httpx.Response) -> bool:
    """Tell a success of the server from a page of something in between."""
    if response.status_code == httpx.codes.NO_CONTENT:
        return True
    try:
        read_json(response.content, dict[str, Any])
    except UnreadableJsonError:
        return False
    return True


def _raise_for(response: httpx.Response) -> None:
    refusal = read_refusal(response)
    if refusal is not None and refusal.code == errors.INVALID_TOKEN.code:
        raise RevokedError
    raise _not_definite(response)


def _not_definite(response: httpx.Response) -> NoReplyError:
    refusal = None if response.is_success else read_refusal(response)
    reason = refusal.message if refusal else f"HTTP {response.status_code}, not from a Reflecto server"
    return NoReplyError(reason, retry_after_seconds(response))


def _describe_stream(error: httpx.HTTPError) -> str:
    return "nothing was heard from it for too long" if isinstance(error, httpx.ReadTimeout) else describe_failure(error)


def _date_of(response: httpx.Response) -> float | None:
    try:
        return email.utils.parsedate_to_datetime(response.headers.get("Date", "")).timestamp()
    except ValueError:
        return None
