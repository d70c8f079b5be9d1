"""Notifications: checked, sealed for each device meant, queued. Source: api.md "POST /v1/send"."""

import msgspec

from reflecto.contract.api_error import ApiError
from reflecto.contract.caveats import Caveat
from reflecto.contract.envelopes import ActionPayload, NotificationPayload
from reflecto.contract.errors import (
    INVALID_ACTION,
    INVALID_MESSAGE,
    INVALID_TITLE,
    INVALID_URL,
    INVALID_URL_TITLE,
    MESSAGE_TOO_LONG,
    PAYLOAD_TOO_LARGE,
)
from reflecto.contract.ids import new_id
from reflecto.contract.limits import (
    ACTION_LABEL_MAX_BYTES,
    ACTIONS_MAX,
    CONNECTED_ONLY_SECONDS,
    ENVELOPE_MAX_BYTES,
    MESSAGE_MAX_BYTES,
    TAG_MAX_BYTES,
    TAGS_MAX,
    TITLE_MAX_BYTES,
    TTL_MAX_SECONDS,
    URL_MAX_BYTES,
    URL_TITLE_MAX_BYTES,
)
from reflecto.contract.messages import SendRequest, SendResponse
from reflecto.core.checks import check_bytes, check_web_url
from reflecto.core.clock import Clock
from reflecto.core.delivery import Dispatcher
from reflecto.core.muting import hush
from reflecto.core.ports.presence import Presence
from reflecto.core.pushover import PushoverMessage
from reflecto.core.quotas import Quotas
from reflecto.core.repeats import Keeping
from reflecto.core.sealing import make_envelope, source_of
from reflecto.core.sender import Sender
from reflecto.core.targets import check_selector


def check_message(request: SendRequest) -> None:
    """Check the bounds in bytes and the web addresses, field by field. Raises: ApiError."""
    check_bytes(request.message, MESSAGE_MAX_BYTES, MESSAGE_TOO_LONG, empty=INVALID_MESSAGE)
    if request.title is not None:
        check_bytes(request.title, TITLE_MAX_BYTES, INVALID_TITLE)
    if request.url is not None:
        check_web_url(request.url, URL_MAX_BYTES, INVALID_URL)
    if request.url_title is not None:
        if request.url is None:
            raise ApiError(INVALID_URL_TITLE)
        check_bytes(request.url_title, URL_TITLE_MAX_BYTES, INVALID_URL_TITLE)
    if len(request.actions) > ACTIONS_MAX:
        raise ApiError(INVALID_ACTION)
    for action in request.actions:
        check_bytes(action.label, ACTION_LABEL_MAX_BYTES, INVALID_ACTION)
        check_web_url(action.url, URL_MAX_BYTES, INVALID_ACTION)
    check_selector(request.device)


def trim_tags(tags: tuple[str, ...]) -> tuple[tuple[str, ...], list[Caveat]]:
    """Return at most five tags of at most 32 bytes, cut between code points, and caveats for what was trimmed."""
    named = [tag for tag in (tag.strip() for tag in tags) if tag]
    caveats = []
    if len(named) > TAGS_MAX:
        caveats.append(Caveat("tags_trimmed", f"Only the first {TAGS_MAX} tags are kept"))
    kept = [tag.encode()[:TAG_MAX_BYTES].decode(errors="ignore") for tag in named[:TAGS_MAX]]
    if kept != named[:TAGS_MAX]:
        caveats.append(Caveat("tag_too_long", f"Tags are cut to {TAG_MAX_BYTES} bytes"))
    return tuple(kept), caveats


def clamp_ttl(ttl_seconds: float | None) -> int:
    """Return whole seconds from 0 to 259,200: floored, then clamped; the most where none is given."""
    return TTL_MAX_SECONDS if ttl_seconds is None else int(min(max(ttl_seconds, 0), TTL_MAX_SECONDS))


class Messages:
    """Notifications, in this API's form and in Pushover's, queued for the devices meant."""

    def __init__(self, dispatcher: Dispatcher, presence: Presence, quotas: Quotas, clock: Clock) -> None:
        self._dispatcher = dispatcher
        self._presence = presence
        self._quotas = quotas
        self._clock = clock

    async def send(
        self, sender: Sender, request: SendRequest, keeping: Keeping[SendResponse] | None = None
    ) -> SendResponse:
        """Queue the message for the devices meant; no device at all is a caveat, not an error.

        Raises: ApiError for a field out of bounds, `scope_denied`, `priority_capped`, `payload_too_large`,
        `rate_limit_exceeded`, `queue_full`, in this order.
        """
        check_message(request)
        sender.require("send", request.priority)
        now = self._clock.now()
        tags, caveats = trim_tags(request.tags)
        priority, muted = hush(sender.token, request.priority, now)
        payload = NotificationPayload(
            message=request.message,
            title=request.title,
            priority=priority,
            tags=tags,
            url=request.url,
            url_title=request.url_title,
            actions=tuple(ActionPayload(action.label, action.url) for action in request.actions),
            markdown=request.markdown,
        )
        # Without the token's id, so that no message is refused that was taken before envelopes had it.
        bounded = make_envelope("notification", new_id("msg"), now, payload, token=sender.token.label)
        size = len(msgspec.json.encode(bounded))
        if size > ENVELOPE_MAX_BYTES:
            raise ApiError(PAYLOAD_TOO_LARGE, details={"size": size, "max": ENVELOPE_MAX_BYTES})
        return await self._deliver(
            sender, payload, request.device, clamp_ttl(request.ttl), [*caveats, *muted], keeping, or_to_all=False
        )

    async def send_like_pushover(
        self, sender: Sender, prepared: PushoverMessage, keeping: Keeping[SendResponse] | None = None
    ) -> SendResponse:
        """Queue a message of a Pushover client; where nobody has any of the names it is for, all devices are meant.

        Raises: ApiError `scope_denied`, `priority_capped`, `rate_limit_exceeded`.
        """
        sender.require("send", prepared.priority)
        priority, muted = hush(sender.token, prepared.priority, self._clock.now())
        delete_at = None
        if prepared.ttl_seconds is not None:
            delete_at = int(self._clock.now()) + prepared.ttl_seconds
        payload = NotificationPayload(**prepared.body, priority=priority, delete_at=delete_at)
        ttl_seconds = clamp_ttl(prepared.ttl_seconds)
        return await self._deliver(
            sender, payload, prepared.device, ttl_seconds, [*prepared.caveats, *muted], keeping, or_to_all=True
        )

    async def _deliver(
        self,
        sender: Sender,
        payload: NotificationPayload,
        selector: str,
        ttl_seconds: int,
        caveats: list[Caveat],
        keeping: Keeping[SendResponse] | None,
        *,
        or_to_all: bool,
    ) -> SendResponse:
        now = self._clock.now()
        envelope = make_envelope("notification", new_id("msg"), now, payload, **source_of(sender.token))
        async with self._quotas.spend_burst(sender.token), self._quotas.spend_delivery(sender.token):
            meant, unknown = await self._dispatcher.devices_meant(sender, selector, or_all=or_to_all)
            if ttl_seconds == 0:
                connected = await self._presence.connected([device.id for device in meant])
                meant = [device for device in meant if device.id in connected]
            expires_at = int(now) + (ttl_seconds or CONNECTED_ONLY_SECONDS)
            return await self._dispatcher.dispatch(
                sender,
                meant,
                envelope,
                expires_at,
                lambda delivered_to, full: SendResponse(envelope.id, delivered_to, (*caveats, *unknown, *full)),
                keeping,
            )
