"""`reflecto invite` makes codes in a store that is being served and in one that is not."""

import json
import os
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import StartServer
from tests.e2e.phones import HTTP, DeviceKeys, Phone, ask, make_codes
from tests.e2e.server_process import ServerProcess, run_reflecto


def invite(data: Path, *options: str) -> dict[str, Any]:
    """Run `reflecto invite --json` and return what it printed."""
    invited = run_reflecto("invite", "--data", data, "--json", *options)
    assert (invited.returncode, invited.stderr) == (0, "")
    made: dict[str, Any] = json.loads(invited.stdout)
    return made


def test_a_code_made_beside_a_running_server_enrols_at_once(server: ServerProcess, data: Path, phone: Phone):
    invited = invite(data)

    assert set(invited) == {"code", "url", "expires_at"}
    assert invited["url"] == f"{server.url}/enroll#{invited['code']}"
    second = Phone.enrol(server.url, invited["code"], "Second")
    assert second.owner_id == phone.owner_id
    assert second.default_token is None
    asked = ask(server.url, phone.token, "For both?").json()["id"]
    assert second.read_until("interaction", asked)[-1][1]["payload"]["question"] == "For both?"


def test_a_code_made_while_the_server_is_stopped_enrols_after_the_start(
    server: ServerProcess, data: Path, phone: Phone, start_server: StartServer
):
    assert server.stop() == 0
    code = invite(data)["code"]

    again = start_server()

    assert Phone.enrol(again.url, code).owner_id == phone.owner_id


@pytest.mark.parametrize("exists", [False, True])
def test_where_no_server_has_run_it_makes_nothing_and_says_where_it_looked(data: Path, *, exists: bool):
    if exists:
        data.mkdir()

    refused = run_reflecto("invite", "--data", data)

    assert (refused.returncode, refused.stdout) == (2, "")
    assert len(refused.stderr.splitlines()) == 1
    assert f"no server has run in {data}" in refused.stderr
    assert "--data or REFLECTO_DATA" in refused.stderr
    assert (list(data.iterdir()) == []) if exists else not data.exists()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root meets folders of others")
def test_root_leaves_nothing_that_the_folders_owner_cannot_open(data: Path, start_server: StartServer):
    data.mkdir(0o700)
    os.chown(data, 12_345, 12_346)
    server = start_server()
    code = invite(data)["code"]
    Phone.enrol(server.url, code)

    owners = {path.name: (path.stat().st_uid, path.stat().st_gid) for path in data.iterdir() if path.name != "reserve"}
    assert set(owners.values()) == {(12_345, 12_346)}, owners
    assert server.stop() == 0
    invite(data)
    owners = {path.name: (path.stat().st_uid, path.stat().st_gid) for path in data.iterdir() if path.name != "reserve"}
    assert set(owners.values()) == {(12_345, 12_346)}, owners


def test_a_code_works_once(server: ServerProcess, data: Path, phone: Phone):
    code = invite(data)["code"]
    assert Phone.enrol(server.url, code).owner_id == phone.owner_id

    again = HTTP.post(f"{server.url}/v1/enroll", json=DeviceKeys().enrolment(code))

    assert (again.status_code, again.json()["error"]["code"]) == (403, "invalid_code")


def test_the_link_names_the_public_address(server: ServerProcess, data: Path):
    assert invite(data)["url"].startswith(f"{server.url}/enroll#")
    assert invite(data, "--public-url", "https://reflecto.example/")["url"].startswith(
        "https://reflecto.example/enroll#"
    )


def test_with_several_owners_the_error_lists_them(server: ServerProcess, data: Path, phone: Phone):
    other = Phone.enrol(server.url, invite(data, "--new-owner")["code"], "Ann’s phone")
    assert other.owner_id != phone.owner_id

    refused = run_reflecto("invite", "--data", data, "--json")

    assert refused.returncode == 2
    assert refused.stdout == ""
    assert f"--owner {phone.owner_id}  (Phone)" in refused.stderr
    assert f"--owner {other.owner_id}  (Ann’s phone)" in refused.stderr
    assert "--new-owner" in refused.stderr
    joining = invite(data, "--owner", other.owner_id)
    assert Phone.enrol(server.url, joining["code"]).owner_id == other.owner_id


def test_it_says_who_can_answer_what(server: ServerProcess, data: Path):
    first = run_reflecto("invite", "--data", data).stdout
    assert "This is the server's first phone" in first
    Phone.enrol(server.url, invite(data)["code"], "Ada’s phone")

    joining = run_reflecto("invite", "--data", data).stdout
    assert "This phone joins an owner who has: Ada’s phone." in joining
    assert "a tap on it counts like one of theirs" in joining
    told = f"For another person, who must not answer your questions:  reflecto invite --data {shlex.quote(str(data))}"
    assert f"{told} --new-owner" in joining

    other = run_reflecto("invite", "--data", data, "--new-owner").stdout
    assert "This phone is another person's." in other
    assert "sees and answers nothing of anybody else's" in other
    assert "joins" not in other


def test_an_unknown_owner_is_refused_with_the_known_ones(server: ServerProcess, data: Path, phone: Phone):
    refused = run_reflecto("invite", "--data", data, "--owner", "own_" + "0" * 32)

    assert refused.returncode == 2
    assert phone.owner_id in refused.stderr
    assert server.is_running


def test_two_owners_never_see_each_others_things(server: ServerProcess, data: Path, phone: Phone):
    (code,) = make_codes(data, 1, new_owner=True)
    other = Phone.enrol(server.url, code, "Other")
    asked = ask(server.url, phone.token, "Mine?").json()["id"]
    theirs = ask(server.url, other.token, "Theirs?").json()["id"]

    # Questions
    for token in (other.token, other.create_token("Another")["token"]):
        headers = {"Authorization": f"Bearer {token}"}
        assert HTTP.get(f"{server.url}/v1/interactions/{asked}", headers=headers).status_code == 404
        assert HTTP.delete(f"{server.url}/v1/interactions/{asked}", headers=headers).status_code == 404
    assert other.answer(asked, 0).status_code == 404
    # Queues: what either has seen ends with its own question
    assert [envelope["id"] for _, envelope in phone.read_until("interaction", asked)].count(theirs) == 0
    assert [envelope["id"] for _, envelope in other.read_until("interaction", theirs)].count(asked) == 0
    # Devices and tokens
    assert [device["device_id"] for device in other.call("GET", "/v1/devices").json()["devices"]] == [other.device_id]
    assert other.call("DELETE", f"/v1/devices/{phone.device_id}").status_code == 404
    token_id = phone.default_token["id"]
    assert token_id not in other.call("GET", "/v1/tokens").text
    assert other.call("DELETE", f"/v1/tokens/{token_id}").status_code == 404
    # Leaving takes one's own things only
    assert other.call("DELETE", "/v1/owner").status_code == 204
    assert phone.answer(asked, 1).status_code == 200
    assert ask(server.url, phone.token, "Still here?").status_code == 201
