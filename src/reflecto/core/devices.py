"""The owner's devices: who they are, what they report, how they leave, and what waits for them. Source: devices.md."""

import hmac
from collections.abc import Sequence

import msgspec
from msgspec import UNSET

from reflecto.contract.api_error import ApiError
from reflecto.contract.devices import DeviceList, DeviceState, PeerList, PeerState, PushState, UpdateDeviceRequest
from reflecto.contract.errors import INVALID_SEQ, INVALID_TOKEN, NOT_FOUND, SCOPE_DENIED
from reflecto.contract.ids import is_id
from reflecto.contract.limits import SYNC_PAGE_ENTRIES
from reflecto.core.clock import Clock
from reflecto.core.events import DEVICE_REMOVED, OWNER_REMOVED
from reflecto.core.last_seen import LastSeen
from reflecto.core.model import Device, DeviceChanges, QueueEntry
from reflecto.core.ports.presence import Presence
from reflecto.core.ports.store import Store
from reflecto.core.ports.wakeups import News, Wakeups
from reflecto.core.push import check_subscription
from reflecto.crypto.encoding import encode_base64
from reflecto.crypto.tokens import token_hash


def require_phone(device: Device) -> None:
    """Let a phone pass. Raises: ApiError `scope_denied` for a desktop."""
    if device.device_class != "phone":
        raise ApiError(SCOPE_DENIED, "Only a phone may do that")


def can_show_questions(phone: Device, min_build: int | None) -> bool:
    """Tell whether the phone's app is new enough; one that never reported its build is taken to be."""
    return min_build is None or phone.app_build is None or phone.app_build >= min_build


def sync_start(device: Device, cursor: int | None) -> int:
    """Return the sequence number behind which a stream starts.

    A cursor beyond the queue comes from before a restored backup: start over, for the device drops what it has seen,
    while waiting for its number to come round would lose everything until then.
    """
    return cursor if cursor is not None and cursor <= device.last_seq else 0


class Devices:
    """Authenticates devices and serves what is theirs."""

    def __init__(
        self,
        store: Store,
        wakeups: Wakeups,
        presence: Presence,
        last_seen: LastSeen,
        clock: Clock,
        *,
        allow_private_push: bool = False,
    ) -> None:
        self._store = store
        self._wakeups = wakeups
        self._presence = presence
        self._last_seen = last_seen
        self._clock = clock
        self._allow_private_push = allow_private_push

    async def authenticate(self, bearer: str) -> Device:
        """Return the device with this token. Raises: ApiError `invalid_token`."""
        presented = token_hash(bearer)
        device = await self._store.find_device_by_token(presented)
        if device is None or not hmac.compare_digest(device.token_hash, presented):
            raise ApiError(INVALID_TOKEN)
        self._last_seen.device_seen(device.id, self._clock.now())
        return device

    async def list_of_owner(self, owner_id: str) -> DeviceList:
        """Return the status of all devices of the owner."""
        return DeviceList(tuple(await self._states_of(await self._store.list_devices(owner_id))))

    async def list_for_device(self, device: Device) -> PeerList:
        """Return the same with each device's public keys, for what devices send each other."""
        devices = await self._store.list_devices(device.owner_id)
        return PeerList(
            tuple(
                PeerState(
                    **msgspec.structs.asdict(state),
                    public_key=encode_base64(each.public_key),
                    signing_key=encode_base64(each.signing_key),
                )
                for each, state in zip(devices, await self._states_of(devices), strict=True)
            )
        )

    async def update(self, device: Device, request: UpdateDeviceRequest) -> DeviceState:
        """Change what the device reports of itself.

        Raises: ApiError `invalid_push`; `invalid_token` if it was removed meanwhile.
        """
        if request.push is not UNSET:
            await self._subscribe(device, request.push)
        given = {name: getattr(request, name) for name in DeviceChanges.__struct_fields__}
        changes = DeviceChanges(**{name: value for name, value in given.items() if value is not UNSET})
        updated = await self._store.update_device(device.id, changes)
        if updated is None:
            raise ApiError(INVALID_TOKEN)
        (state,) = await self._states_of([updated])
        return state

    async def remove(self, device: Device, device_id: str) -> None:
        """Unpair `device_id`; a desktop may unpair itself only. Raises: ApiError `scope_denied`, `not_found`."""
        if device_id != device.id:
            require_phone(device)
        if not is_id(device_id, "dev") or not await self._store.remove_device(device.owner_id, device_id):
            raise ApiError(NOT_FOUND)
        self._wakeups.tell(News(ended_ids=[device_id]))
        DEVICE_REMOVED.log(device=device_id, owner=device.owner_id, by=device.id)

    async def disconnect(self, device: Device) -> None:
        """Delete the owner and everything of theirs. Raises: ApiError `scope_denied` for a desktop."""
        require_phone(device)
        devices = await self._store.list_devices(device.owner_id)
        await self._store.delete_owner(device.owner_id)
        # Everything: long polls of the owner's tokens, whose questions are gone.
        self._wakeups.tell(News(ended_ids=[each.id for each in devices], everything=True))
        OWNER_REMOVED.log(owner=device.owner_id, by=device.id)

    async def read_queue(self, device_id: str, after: int) -> list[QueueEntry]:
        """Return the next page of entries behind `after`, in order; empty when there are none.

        Raises: ApiError `invalid_token` once the device was removed.
        """
        page = await self._store.read_queue(device_id, after, SYNC_PAGE_ENTRIES, self._clock.now())
        if page is None:
            raise ApiError(INVALID_TOKEN)
        return page

    async def ack(self, device: Device, seq: int) -> None:
        """Drop the entries up to `seq`. Raises: ApiError `invalid_seq` for a number the queue never reached."""
        if not await self._store.ack_queue(device.id, seq):
            raise ApiError(INVALID_SEQ)

    async def _subscribe(self, device: Device, push: PushState | None) -> None:
        subscription = check_subscription(push, allow_private=self._allow_private_push) if push else None
        if not await self._store.set_push_subscription(device.id, subscription):
            raise ApiError(INVALID_TOKEN)

    async def _states_of(self, devices: Sequence[Device]) -> list[DeviceState]:
        connected = await self._presence.connected([device.id for device in devices])
        return [
            DeviceState(
                device_id=device.id,
                label=device.label,
                type=device.type,
                device_class=device.device_class,
                reachable=device.id in connected,
                last_seen_at=self._last_seen.last_seen_at(device.id, device.last_seen_at),
                app_build=device.app_build,
            )
            for device in devices
        ]
