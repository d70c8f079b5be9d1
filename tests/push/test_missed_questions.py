"""Nobody is woken for a question past its end, nor told by a push that it expired."""

from tests.actors import DeviceActor, Program
from tests.builders import NOW
from tests.fakes import FakeClock
from tests.push.push_service import PushServiceOnLoopback, reply
from tests.push.subscriber import Subscriber
from tests.running import RunningServer
from tests.sync_reader import drain


async def test_a_push_of_a_prompt_is_of_no_use_after_the_end_of_the_question(
    subscriber: Subscriber, sender: Program, push_service: PushServiceOnLoopback
):
    await sender.ask_id(expires_in=90)
    push = await push_service.next()
    assert push.open(subscriber)["seq"] == 2
    assert push.headers["ttl"] == "90"


async def test_that_it_expired_is_not_pushed(
    server: RunningServer,
    phone: DeviceActor,
    subscriber: Subscriber,
    sender: Program,
    push_service: PushServiceOnLoopback,
    clock: FakeClock,
):
    await sender.ask_id(expires_in=60)
    assert (await push_service.next()).open(subscriber)["seq"] == 2
    clock.advance(60)
    await server.services.interactions.settle_expired()
    assert [each.type for each in await drain(phone, 2, after=1)] == ["interaction", "interaction.closed"]
    await sender.send("Next")
    assert (await push_service.next()).open(subscriber)["seq"] == 4
    assert push_service.waiting == 0


async def test_a_push_that_could_not_be_made_is_given_up_at_the_end_of_the_question(
    server: RunningServer,
    phone: DeviceActor,
    subscriber: Subscriber,
    sender: Program,
    push_service: PushServiceOnLoopback,
    clock: FakeClock,
):
    push_service.answer_next(reply(503))
    await sender.ask_id(expires_in=60)
    await push_service.next()
    clock.advance(NOW + 60 - clock.now())
    await server.services.interactions.settle_expired()
    await drain(phone, 2, after=1)
    await sender.send("Next")
    assert (await push_service.next()).open(subscriber)["seq"] == 4
    assert push_service.waiting == 0
