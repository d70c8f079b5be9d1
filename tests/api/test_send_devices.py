"""Whom a sender means: classes, labels, ids, lists of them, and names that nobody has."""

from dataclasses import dataclass
from typing import Any

import pytest

from tests.actors import DeviceActor, Program, enroll
from tests.api.sent import waiting
from tests.fakes import FakeClock
from tests.running import RunningServer


@dataclass(frozen=True, slots=True)
class Household:
    """An owner with two phones and two desktops; three of them share two labels."""

    pixel: DeviceActor
    tablet: DeviceActor
    laptop: DeviceActor
    desk: DeviceActor

    def named(self, ids: list[str]) -> list[str]:
        names = {
            self.pixel.id: "pixel",
            self.tablet.id: "tablet",
            self.laptop.id: "laptop",
            self.desk.id: "desk",
        }
        return [names[each] for each in ids]


@pytest.fixture
async def household(server: RunningServer, clock: FakeClock) -> Household:
    async def next_one(**fields: Any) -> DeviceActor:
        clock.advance(1)  # so that they have an order
        return await enroll(server, **fields)

    return Household(
        await next_one(label="Pixel"),
        await next_one(label="Küche, oben"),
        await next_one(label="Work", class_="desktop", type="extension"),
        await next_one(label="work", class_="desktop", type="web"),
    )


@pytest.mark.parametrize(
    ("selector", "meant"),
    [
        ("all", ["pixel", "tablet", "laptop", "desk"]),
        ("ALL", ["pixel", "tablet", "laptop", "desk"]),
        ("phone", ["pixel", "tablet"]),
        ("mobile", ["pixel", "tablet"]),
        ("desktop", ["laptop", "desk"]),
        ("Pixel", ["pixel"]),
        ("pIXEL", ["pixel"]),
        (" Pixel ", ["pixel"]),
        ("work", ["laptop", "desk"]),
        ("Küche, oben", ["tablet"]),
        ("KU\u0308CHE, oben", ["tablet"]),  # the same letter in two code points
        ("Pixel,work", ["pixel", "laptop", "desk"]),
        ("work, Pixel", ["pixel", "laptop", "desk"]),
        ("Pixel,Pixel,phone", ["pixel", "tablet"]),
        ("Pixel,,", ["pixel"]),
    ],
)
async def test_a_name_means_these(household: Household, selector: str, meant: list[str]):
    sender = household.pixel.default_program()
    reply = await sender.send(device=selector)
    assert (reply.status_code, reply.json()["warnings"]) == (200, [])
    assert household.named([each["device_id"] for each in reply.json()["delivered_to"]]) == meant


async def test_ids_mean_their_device_in_their_exact_form(household: Household):
    sender = household.pixel.default_program()
    both = await sender.send(device=f"{household.desk.id},{household.tablet.id}")
    assert household.named([each["device_id"] for each in both.json()["delivered_to"]]) == ["tablet", "desk"]
    assert {each["type"] for each in both.json()["delivered_to"]} == {"android", "web"}
    upper = await sender.send(device=household.desk.id.upper())
    assert [warning["code"] for warning in upper.json()["warnings"]] == ["unknown_device"]


async def test_only_those_meant_have_it_in_their_queue(server: RunningServer, household: Household):
    await household.pixel.default_program().send("For the desks", device="desktop")
    devices = (household.pixel, household.tablet, household.laptop, household.desk)
    texts = [[envelope.payload["message"] for envelope in await waiting(server, each)] for each in devices]
    assert ["For the desks" in each for each in texts] == [False, False, True, True]


async def test_each_name_that_nobody_has_is_a_warning_and_the_rest_get_it(household: Household):
    reply = await household.pixel.default_program().send(device="Pixle,Pixel,Dekstop")
    assert household.named([each["device_id"] for each in reply.json()["delivered_to"]]) == ["pixel"]
    assert reply.json()["warnings"] == [
        {"code": "unknown_device", "message": "No device is called 'Pixle'"},
        {"code": "unknown_device", "message": "No device is called 'Dekstop'"},
    ]


async def test_another_owner_s_devices_are_nobody(server: RunningServer, household: Household):
    neighbour = await enroll(server, await server.invite(new_owner=True), label="Neighbour")
    for name in (neighbour.id, "Neighbour"):
        reply = await household.pixel.default_program().send(device=name)
        assert (reply.json()["delivered_to"], reply.json()["warnings"][0]["code"]) == ([], "unknown_device")
    assert await waiting(server, neighbour) == []


async def test_without_any_device_it_is_accepted_with_one_warning(phone: DeviceActor, sender: Program):
    await phone.call("DELETE", "/v1/devices/self")
    for selector in ("all", "Pixel"):
        reply = await sender.send(device=selector)
        assert (reply.status_code, reply.json()["delivered_to"]) == (200, [])
        assert [warning["code"] for warning in reply.json()["warnings"]] == ["no_devices"]
