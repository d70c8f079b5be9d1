"""What PostgreSQL takes into no column never gets as far as the database: it is an error of the caller's."""

from typing import Final

from tests.actors import DeviceActor, Program
from tests.builders import NOW

TEXTS: Final = ("%00", "a%00b", "int_0000000000000000000000000000000%00", "%ED%A0%80", "x" * 9_000)
NUMBERS: Final = (2**63, 2**64 - 1, 2**70, -(2**63))


async def test_an_id_that_is_none_is_not_found(phone: DeviceActor, sender: Program):
    for text in TEXTS:
        replies = [
            await phone.call("POST", f"/v1/interactions/{text}/answer", json={"choice_index": 0, "answered_at": NOW}),
            await phone.call("DELETE", f"/v1/tokens/{text}"),
            await phone.call("DELETE", f"/v1/devices/{text}"),
            await phone.call("GET", f"/v1/pairings/{text}"),
            await phone.call("DELETE", f"/v1/pairings/{text}"),
            await sender.call("GET", f"/v1/interactions/{text}"),
            await sender.call("DELETE", f"/v1/interactions/{text}"),
            await sender.call("DELETE", f"/v1/reminders/{text}"),
        ]
        assert [each.status_code for each in replies] == [404] * 8, text


async def test_a_number_that_no_column_holds_is_the_callers_error(phone: DeviceActor, sender: Program):
    for number in NUMBERS:
        replies = [
            await phone.ack(number),
            await phone.call("PATCH", "/v1/devices/self", json={"app_build": number}),
            await sender.ask(expires_in=number),
            await sender.ask(tether=number),
        ]
        assert [each.status_code for each in replies] == [400] * 4, number
