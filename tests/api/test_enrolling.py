"""POST /v1/enroll: codes, what founds an owner, what joins one."""

import base64
import re

import pytest

from reflecto.core.enrolment import OwnerChoiceError
from reflecto.crypto.encoding import encode_base64
from tests.actors import DeviceActor, Program, enroll
from tests.builders import NOW, enrolment_body
from tests.fakes import FakeClock
from tests.running import RunningServer
from tests.sync_reader import drain


async def test_the_first_phone_founds_an_owner_and_gets_the_default_token(server: RunningServer):
    enrolled = await server.http.post("/v1/enroll", json=enrolment_body(await server.invite()))
    assert enrolled.status_code == 201
    body = enrolled.json()
    assert set(body) == {"owner_id", "device_id", "device_token", "server_key", "default_token"}
    assert re.fullmatch(r"own_[0-9a-f]{32}", body["owner_id"])
    assert re.fullmatch(r"dev_[0-9a-f]{32}", body["device_id"])
    assert re.fullmatch(r"rfd_live_[A-Za-z0-9]{32}", body["device_token"])
    assert len(base64.b64decode(body["server_key"], validate=True)) == 32
    default = body["default_token"]
    assert set(default) == {"id", "label", "token"}
    assert default["label"] == "Default"
    assert re.fullmatch(r"rfk_live_[A-Za-z0-9]{32}", default["token"])
    assert (await Program(server.http, default["token"]).ask()).status_code == 201


async def test_the_default_token_also_waits_encrypted_in_the_phones_queue(phone: DeviceActor):
    (created,) = await drain(phone, 1)
    default = phone.enrolled["default_token"]
    assert (created.type, created.id, created.ts) == ("token.created", default["id"], NOW)
    assert created.payload == default


async def test_a_later_code_joins_the_owner_and_the_others_are_told(server: RunningServer, phone: DeviceActor):
    tablet = await enroll(server, label="Tablet")
    assert tablet.owner_id == phone.owner_id
    assert tablet.enrolled["default_token"] is None
    (notice,) = await drain(phone, 1, after=1)
    assert notice.type == "notification"
    assert "Tablet" in notice.payload["message"]
    assert await server.services.store.read_queue(tablet.id, 0, 10, NOW) == []


async def test_a_desktop_may_join(server: RunningServer, phone: DeviceActor):
    desktop = await enroll(server, type="extension", class_="desktop")
    assert desktop.owner_id == phone.owner_id


async def test_the_first_device_must_be_a_phone_and_the_code_stays_good(server: RunningServer):
    code = await server.invite()
    refused = await server.http.post("/v1/enroll", json=enrolment_body(code, class_="desktop", type="web"))
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "invalid_class")
    assert await server.services.store.list_owners() == []
    assert (await enroll(server, code)).enrolled["default_token"] is not None


async def test_of_two_codes_made_on_an_empty_store_the_second_joins(server: RunningServer):
    codes = [await server.invite() for _ in range(2)]
    founder, joiner = [await enroll(server, code) for code in codes]
    assert joiner.owner_id == founder.owner_id
    assert (founder.enrolled["default_token"] is None, joiner.enrolled["default_token"] is None) == (False, True)


async def test_a_code_for_a_new_owner_founds_one_beside_the_first(server: RunningServer, phone: DeviceActor):
    neighbour = await enroll(server, await server.invite(new_owner=True))
    assert neighbour.owner_id != phone.owner_id
    assert neighbour.enrolled["default_token"]["label"] == "Default"
    assert len((await neighbour.call("GET", "/v1/devices")).json()["devices"]) == 1


async def test_with_several_owners_an_invitation_says_whose_device_it_is_for(server: RunningServer, phone: DeviceActor):
    neighbour = await enroll(server, await server.invite(new_owner=True))
    with pytest.raises(OwnerChoiceError) as unclear:
        await server.invite()
    assert {owner.id for owner in unclear.value.owners} == {phone.owner_id, neighbour.owner_id}
    with pytest.raises(OwnerChoiceError):
        await server.invite(owner_id="own_" + "0" * 32)
    assert (await enroll(server, owner=neighbour)).owner_id == neighbour.owner_id


async def test_a_code_of_an_owner_who_left_is_worth_nothing(server: RunningServer, phone: DeviceActor):
    code = await server.invite()
    await phone.call("DELETE", "/v1/owner")
    refused = await server.http.post("/v1/enroll", json=enrolment_body(code))
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "invalid_code")


async def test_a_code_works_once(server: RunningServer):
    code = await server.invite()
    await enroll(server, code)
    refused = await server.http.post("/v1/enroll", json=enrolment_body(code))
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "invalid_code")


async def test_a_code_works_up_to_the_instant_it_expires(server: RunningServer, clock: FakeClock):
    in_time, late = await server.invite(), await server.invite()
    clock.advance_to(NOW + 599.999)
    assert (await server.http.post("/v1/enroll", json=enrolment_body(in_time))).status_code == 201
    clock.advance_to(NOW + 600)
    refused = await server.http.post("/v1/enroll", json=enrolment_body(late))
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "invalid_code")


async def test_a_code_may_be_typed_as_people_type(server: RunningServer):
    for disguise in (
        str.lower,
        lambda code: code.replace("-", ""),
        lambda code: f" {code.replace('-', ' ')} ",
        lambda code: code.replace("0", "O").replace("1", "l"),
    ):
        code = await server.invite()
        typed = await server.http.post("/v1/enroll", json=enrolment_body(disguise(code)))
        assert typed.status_code == 201


LOW_ORDER = base64.b64encode(bytes(32)).decode()


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"code": None}, "invalid_code"),
        ({"code": 1234}, "invalid_code"),
        ({"public_key": "x"}, "invalid_public_key"),
        ({"public_key": encode_base64(b"k" * 31)}, "invalid_public_key"),
        ({"public_key": encode_base64(b"k" * 32).rstrip("=")}, "invalid_public_key"),
        ({"public_key": LOW_ORDER}, "invalid_public_key"),
        ({"public_key": None}, "invalid_public_key"),
        ({"signing_key": "x"}, "invalid_signing_key"),
        ({"signing_key": LOW_ORDER}, "invalid_signing_key"),
        ({"signing_key": encode_base64(b"\x02" * 32)}, "invalid_signing_key"),
        ({"signing_key": 5}, "invalid_signing_key"),
        ({"label": ""}, "invalid_label"),
        ({"label": "   "}, "invalid_label"),
        ({"label": "x" * 61}, "invalid_label"),
        ({"type": "ios"}, "invalid_type"),
        ({"type": None}, "invalid_type"),
        ({"class": "tablet"}, "invalid_class"),
        ({"class": None}, "invalid_class"),
        ({"app_build": -1}, "invalid_app_build"),
        ({"app_build": 2**31}, "invalid_app_build"),
        ({"app_build": "7"}, "invalid_app_build"),
    ],
)
async def test_a_field_out_of_bounds_is_named_and_the_code_stays_good(
    server: RunningServer, fields: dict[str, object], code: str
):
    setup_code = await server.invite()
    refused = await server.http.post("/v1/enroll", json=enrolment_body(setup_code) | fields)
    expected_status = 403 if "code" in fields else 400
    assert (refused.status_code, refused.json()["error"]["code"]) == (expected_status, code)
    assert await server.services.store.list_owners() == []
    assert (await server.http.post("/v1/enroll", json=enrolment_body(setup_code))).status_code == 201


@pytest.mark.parametrize("missing", ["code", "public_key", "signing_key", "label", "type", "class"])
async def test_every_field_but_the_build_is_required(server: RunningServer, missing: str):
    body = enrolment_body(await server.invite())
    del body[missing]
    refused = await server.http.post("/v1/enroll", json=body)
    assert refused.json()["error"]["code"] == f"invalid_{missing}"


async def test_the_bounds_themselves_are_allowed(server: RunningServer):
    phone = await enroll(server, label="🚀" * 60, app_build=0)
    joined = await enroll(server, label="x", app_build=2**31 - 1)
    devices = (await phone.call("GET", "/v1/devices")).json()["devices"]
    assert {(each["label"], each["app_build"]) for each in devices} == {("🚀" * 60, 0), ("x", 2**31 - 1)}
    assert joined.owner_id == phone.owner_id


async def test_an_owner_has_32_devices_at_most(server: RunningServer, phone: DeviceActor):
    for _ in range(31):
        await enroll(server)
    code = await server.invite()
    refused = await server.http.post("/v1/enroll", json=enrolment_body(code))
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "too_many_devices")
    devices = (await phone.call("GET", "/v1/devices")).json()["devices"]
    await phone.call("DELETE", f"/v1/devices/{devices[-1]['device_id']}")
    assert (await server.http.post("/v1/enroll", json=enrolment_body(code))).status_code == 201
