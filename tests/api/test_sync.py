"""GET /v1/sync: the backlog, then live, in order."""

import base64

import pytest

from tests.actors import DeviceActor, Program, enroll
from tests.builders import NOW
from tests.fakes import FakeClock
from tests.running import RunningServer
from tests.sync_reader import open_sync, put


async def test_the_stream_is_an_event_stream_nothing_may_buffer_or_store(phone: DeviceActor):
    async with open_sync(phone) as stream:
        headers = stream.response.headers
        assert headers["content-type"].startswith("text/event-stream")
        assert headers["cache-control"] == "no-store"
        assert headers["x-accel-buffering"] == "no"


async def test_an_event_looks_as_documented(server: RunningServer, phone: DeviceActor):
    await put(server, phone, b"\x01blob")
    async with open_sync(phone, after=1) as stream:
        frame = await stream.frame()
    blob = base64.b64encode(b"\x01blob").decode()
    data = f'{{"seq":2,"from":"server","blob":"{blob}","expires_at":{NOW + 259_200}}}'
    assert frame == f"id: 2\nevent: message\ndata: {data}".encode()


async def test_the_backlog_comes_first_then_live_with_rising_numbers(server: RunningServer, phone: DeviceActor):
    await put(server, phone, *(b"old %d" % number for number in range(40)))
    async with open_sync(phone, after=1) as stream:
        backlog = await stream.events(40)
        await put(server, phone, b"new 0", b"new 1")
        live = await stream.events(2)
    assert [event.blob for event in backlog] == [b"old %d" % number for number in range(40)]
    assert [event.blob for event in live] == [b"new 0", b"new 1"]
    assert [event.id for event in backlog + live] == list(range(2, 44))
    assert [event.data["seq"] for event in backlog + live] == list(range(2, 44))


async def test_an_empty_backlog_begins_with_a_comment(phone: DeviceActor):
    async with open_sync(phone, after=1) as stream:
        await stream.comment()


async def test_a_question_arrives_live_on_every_stream_of_every_phone(server: RunningServer, phone: DeviceActor):
    sender = phone.default_program()
    tablet = await enroll(server, owner=phone, label="Tablet")
    async with (
        open_sync(phone, after=2) as page,
        open_sync(phone, after=2) as worker,
        open_sync(tablet) as other,
    ):
        question = await sender.ask_id()
        assert {(await stream.envelope()).id for stream in (page, worker, other)} == {question}


async def test_the_envelope_is_sealed_for_its_device_alone(server: RunningServer, phone: DeviceActor, sender: Program):
    tablet = await enroll(server, owner=phone)
    await sender.ask_id("Deploy the secret project?")
    async with open_sync(phone, after=2) as first, open_sync(tablet) as second:
        event, other = await first.event(), await second.event()
    assert event.blob != other.blob
    for blob in (event.blob, other.blob):
        assert blob[0] == 1
        assert b"secret" not in blob
    with pytest.raises(Exception, match="another key"):
        tablet.open(event.blob)


async def test_entries_stay_until_acknowledged(server: RunningServer, phone: DeviceActor):
    await put(server, phone, b"a", b"b", b"c")
    async with open_sync(phone) as stream:
        await stream.events(4)
    acked = await phone.ack(2)
    assert (acked.status_code, acked.content) == (204, b"")
    async with open_sync(phone, after=0) as stream:
        assert [event.id for event in await stream.events(2)] == [3, 4]


@pytest.mark.parametrize("seq", [5, 2**53 - 1])
async def test_an_ack_of_a_number_the_device_was_never_sent_is_refused(
    server: RunningServer, phone: DeviceActor, seq: int
):
    await put(server, phone, b"a", b"b", b"c")
    refused = await phone.ack(seq)
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "invalid_seq")
    async with open_sync(phone) as stream:
        assert len(await stream.events(4)) == 4


@pytest.mark.parametrize("seq", [-1, 2**53, 1.5, "1", None, True, [1]])
async def test_an_ack_that_is_no_number_is_refused(phone: DeviceActor, seq: object):
    refused = await phone.call("POST", "/v1/sync/ack", json={"seq": seq})
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "invalid_seq")


async def test_numbers_go_on_after_everything_was_acknowledged(server: RunningServer, phone: DeviceActor):
    await put(server, phone, b"a")
    await phone.ack(2)
    await put(server, phone, b"b")
    async with open_sync(phone) as stream:
        assert (await stream.event()).id == 3


async def test_an_entry_waits_72_hours_and_not_longer(server: RunningServer, phone: DeviceActor, clock: FakeClock):
    await enroll(server, owner=phone)  # the phone is told, by a notification
    clock.advance_to(NOW + 259_200 - 0.001)
    async with open_sync(phone, after=1) as stream:
        event = await stream.event()
    assert (event.id, event.data["expires_at"]) == (2, NOW + 259_200)
    clock.advance_to(NOW + 259_200)
    async with open_sync(phone) as stream:
        await stream.comment()


async def test_an_entry_expires_in_its_time(phone: DeviceActor, sender: Program, clock: FakeClock):
    await sender.send("Short", ttl=60)
    await sender.send("Long", ttl=120)
    clock.advance_to(NOW + 59.999)
    async with open_sync(phone, after=1) as stream:
        short, long = await stream.events(2)
    assert (short.data["expires_at"], long.data["expires_at"]) == (NOW + 60, NOW + 120)
    clock.advance_to(NOW + 60)
    async with open_sync(phone, after=1) as stream:
        assert (await stream.event()).id == 3  # a gap where the first one was


async def test_a_page_of_the_queue_can_be_fetched_without_a_stream(server: RunningServer, phone: DeviceActor):
    await put(server, phone, b"a", b"b")
    page = await phone.call("GET", "/v1/sync/entries", params={"after": 1})
    assert page.status_code == 200
    assert [(each["seq"], base64.b64decode(each["blob"])) for each in page.json()["entries"]] == [(2, b"a"), (3, b"b")]
    assert (await phone.call("GET", "/v1/sync/entries", params={"after": 3})).json() == {"entries": []}


async def test_head_tells_the_headers_and_opens_no_stream(server: RunningServer, phone: DeviceActor):
    head = await phone.call("HEAD", "/v1/sync")
    assert head.status_code == 200
    assert head.headers["content-type"].startswith("text/event-stream")
    assert head.headers["cache-control"] == "no-store"
    assert (await phone.call("GET", "/v1/devices")).status_code == 200  # on the same connection
    assert not await server.services.presence.connected([phone.id])
