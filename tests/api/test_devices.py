"""GET, PATCH and DELETE of devices, and DELETE /v1/owner."""

import pytest

from tests.actors import DeviceActor, Program, enroll
from tests.builders import NOW, enrolment_body
from tests.fakes import FakeClock
from tests.running import RunningServer
from tests.sync_reader import open_sync

STATUS_KEYS = {"device_id", "label", "type", "class", "reachable", "last_seen_at", "app_build"}


@pytest.fixture
async def desktop(server: RunningServer, phone: DeviceActor) -> DeviceActor:
    """A browser of the same owner."""
    return await enroll(server, owner=phone, label="Browser", type="extension", class_="desktop")


async def test_a_sender_sees_the_owners_devices_and_their_status(
    server: RunningServer, phone: DeviceActor, sender: Program, clock: FakeClock
):
    clock.advance(1)
    browser = await enroll(server, owner=phone, label="Browser", type="extension", class_="desktop", app_build=3)
    await enroll(server, await server.invite(new_owner=True))
    async with open_sync(phone, after=0) as stream:
        await stream.event()
        listed = await sender.call("GET", "/v1/devices")
    assert listed.status_code == 200
    assert listed.json() == {
        "devices": [
            {
                "device_id": phone.id,
                "label": "Pixel",
                "type": "android",
                "class": "phone",
                "reachable": True,
                "last_seen_at": NOW + 1,
                "app_build": None,
            },
            {
                "device_id": browser.id,
                "label": "Browser",
                "type": "extension",
                "class": "desktop",
                "reachable": False,
                "last_seen_at": None,
                "app_build": 3,
            },
        ]
    }


async def test_a_device_sees_them_too(phone: DeviceActor, desktop: DeviceActor):
    listed = await desktop.call("GET", "/v1/devices")
    assert [set(each) >= STATUS_KEYS for each in listed.json()["devices"]] == [True, True]
    assert {each["device_id"] for each in listed.json()["devices"]} == {phone.id, desktop.id}


async def test_a_device_is_unreachable_once_its_stream_is_closed(phone: DeviceActor, sender: Program):
    async with open_sync(phone) as first:
        async with open_sync(phone) as second:
            await second.event()
        await first.event()
    for _ in range(100):
        (listed,) = (await sender.call("GET", "/v1/devices")).json()["devices"]
        if not listed["reachable"]:
            return
    pytest.fail("still reachable")


async def test_a_device_says_what_it_knows_when_it_enrols_and_later(server: RunningServer, phone: DeviceActor):
    knowing = await enroll(server, owner=phone, label="Fold", features=["emergency", "answer_v2"])

    async def features() -> dict[str, tuple[str, ...]]:
        return {each.label: each.features for each in await server.services.store.list_devices(phone.owner_id)}

    assert await features() == {"Pixel": (), "Fold": ("emergency", "answer_v2")}
    reported = await phone.call("PATCH", "/v1/devices/self", json={"features": ["emergency"]})
    await knowing.call("PATCH", "/v1/devices/self", json={"app_build": 9})
    assert reported.status_code == 200
    assert await features() == {"Pixel": ("emergency",), "Fold": ("emergency", "answer_v2")}


async def test_a_device_reports_its_label_and_build(phone: DeviceActor, sender: Program):
    changed = await phone.call("PATCH", "/v1/devices/self", json={"label": "Fold", "app_build": 9})
    assert changed.status_code == 200
    assert set(changed.json()) == STATUS_KEYS
    assert (changed.json()["label"], changed.json()["app_build"]) == ("Fold", 9)
    partly = await phone.call("PATCH", "/v1/devices/self", json={"app_build": 10})
    assert (partly.json()["label"], partly.json()["app_build"]) == ("Fold", 10)
    nothing = await phone.call("PATCH", "/v1/devices/self", json={})
    assert nothing.json() == partly.json()
    (listed,) = (await sender.call("GET", "/v1/devices")).json()["devices"]
    assert (listed["label"], listed["app_build"]) == ("Fold", 10)


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"label": ""}, "invalid_label"),
        ({"label": "\n"}, "invalid_label"),
        ({"label": "x" * 61}, "invalid_label"),
        ({"label": None}, "invalid_label"),
        ({"app_build": -1}, "invalid_app_build"),
        ({"app_build": 2**31}, "invalid_app_build"),
        ({"app_build": None}, "invalid_app_build"),
        ({"app_build": 1.5}, "invalid_app_build"),
        ({"features": "emergency"}, "invalid_features"),
        ({"features": None}, "invalid_features"),
        ({"features": ["two words"]}, "invalid_features"),
        ({"features": [""]}, "invalid_features"),
        ({"features": ["f" * 41]}, "invalid_features"),
        ({"features": ["f"] * 33}, "invalid_features"),
    ],
)
async def test_a_report_out_of_bounds_is_refused_whole(phone: DeviceActor, fields: dict[str, object], code: str):
    refused = await phone.call("PATCH", "/v1/devices/self", json={"label": "Fold", "app_build": 9} | fields)
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, code)
    (listed,) = (await phone.call("GET", "/v1/devices")).json()["devices"]
    assert (listed["label"], listed["app_build"]) == ("Pixel", None)


async def test_unpairing_ends_token_stream_and_queue_at_once(server: RunningServer, phone: DeviceActor):
    tablet = await enroll(server, owner=phone)
    async with open_sync(tablet) as stream:
        await stream.comment()
        removed = await phone.call("DELETE", f"/v1/devices/{tablet.id}")
        assert (removed.status_code, removed.content) == (204, b"")
        await stream.end()
    for refused in (
        await tablet.call("GET", "/v1/sync"),
        await tablet.call("GET", "/v1/devices"),
        await tablet.ack(0),
    ):
        assert (refused.status_code, refused.json()) == (401, {"error": "invalid_token"})
    assert await server.services.store.read_queue(tablet.id, 0, 10, NOW) is None


@pytest.mark.parametrize("path", ["self", "its id"])
async def test_any_device_may_unpair_itself(phone: DeviceActor, desktop: DeviceActor, path: str):
    removed = await desktop.call("DELETE", f"/v1/devices/{'self' if path == 'self' else desktop.id}")
    assert removed.status_code == 204
    assert len((await phone.call("GET", "/v1/devices")).json()["devices"]) == 1


async def test_a_desktop_may_unpair_nobody_else(phone: DeviceActor, desktop: DeviceActor):
    for device_id in (phone.id, "dev_" + "0" * 32, "nonsense"):
        refused = await desktop.call("DELETE", f"/v1/devices/{device_id}")
        assert (refused.status_code, refused.json()["error"]["code"]) == (403, "scope_denied")
    assert (await phone.call("GET", "/v1/devices")).status_code == 200


async def test_foreign_unknown_and_malformed_devices_are_not_found(server: RunningServer, phone: DeviceActor):
    neighbour = await enroll(server, await server.invite(new_owner=True))
    for device_id in (neighbour.id, f"dev_{'0' * 32}", "dev_x", phone.enrolled["default_token"]["id"]):
        refused = await phone.call("DELETE", f"/v1/devices/{device_id}")
        assert (refused.status_code, refused.json()["error"]["code"]) == (404, "not_found")
    assert (await neighbour.call("GET", "/v1/devices")).status_code == 200


async def test_disconnecting_deletes_the_owner_and_everything_of_theirs(
    server: RunningServer, phone: DeviceActor, desktop: DeviceActor, sender: Program
):
    question = await sender.ask_id()
    async with open_sync(phone) as first, open_sync(desktop) as second:
        gone = await phone.call("DELETE", "/v1/owner")
        assert (gone.status_code, gone.content) == (204, b"")
        await first.end()
        await second.end()
    for refused in (
        await phone.call("GET", "/v1/devices"),
        await desktop.call("GET", "/v1/devices"),
        await sender.ask(),
        await sender.read(question),
    ):
        assert (refused.status_code, refused.json()) == (401, {"error": "invalid_token"})
    store = server.services.store
    assert await store.list_owners() == []
    assert await store.find_interaction(question, NOW) is None


async def test_disconnecting_touches_no_other_owner(server: RunningServer, phone: DeviceActor):
    neighbour = await enroll(server, await server.invite(new_owner=True))
    await phone.call("DELETE", "/v1/owner")
    assert (await neighbour.default_program().ask()).status_code == 201


async def test_a_desktop_may_not_disconnect(phone: DeviceActor, desktop: DeviceActor):
    refused = await desktop.call("DELETE", "/v1/owner")
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "scope_denied")
    assert (await phone.call("GET", "/v1/devices")).status_code == 200


async def test_after_disconnecting_the_next_code_founds_a_new_owner(server: RunningServer, phone: DeviceActor):
    await phone.call("DELETE", "/v1/owner")
    enrolled = await server.http.post("/v1/enroll", json=enrolment_body(await server.invite()))
    assert enrolled.json()["default_token"] is not None
    assert enrolled.json()["owner_id"] != phone.owner_id
