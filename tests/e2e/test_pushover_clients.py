"""Clients that were written for Pushover, unchanged but for the address: what they send arrives at a phone."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apprise
import pushover_complete  # type: ignore[import-untyped]
import pytest
from apprise.plugins.base import NotifyBase
from apprise.plugins.pushover import NotifyPushover
from pushover_complete import BadAPIRequestError, PushoverAPI

from tests.e2e.phones import HTTP, Phone, make_codes
from tests.e2e.server_process import ServerProcess

# Apprise loads the standard library's e-mail package with its plugins.
pytestmark = pytest.mark.filterwarnings("ignore:'imghdr' is deprecated:DeprecationWarning")

WRONG = "rfk_live_" + "b" * 32


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with ServerProcess(tmp_path_factory.mktemp("pushover") / "data") as process:
        yield process


@pytest.fixture
def phone(server: ServerProcess) -> Phone:
    return Phone.of_new_owner(server, "Pixel")


@pytest.fixture
def desk(server: ServerProcess, phone: Phone) -> Phone:
    [code] = make_codes(server.data, 1, owner_id=phone.owner_id)
    return Phone.enrol(server.url, code, "desk", "desktop")


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    """What a camera attaches."""
    path = tmp_path / "door.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 2_000)
    return path


def latest(server: ServerProcess, device: Phone) -> Any:
    """Return the payload of the newest notification in the device's queue."""
    mark = HTTP.post(f"{server.url}/v1/send/{device.token}", content=b"mark").json()["id"]
    return device.read_until("notification", mark)[-2][1]["payload"]


def messages(server: ServerProcess, phone: Phone, device: Phone) -> list[str]:
    """Return the texts of all notifications in the device's queue."""
    mark = HTTP.post(f"{server.url}/v1/send/{phone.token}", content=b"mark").json()["id"]
    entries = device.read_until("notification", mark)
    return [envelope["payload"]["message"] for _, envelope in entries if envelope["type"] == "notification"]


def apprise_client(server: ServerProcess, url: str) -> NotifyPushover:
    """Return Apprise's own client for an Apprise URL, with the address of this server."""
    client = apprise.Apprise.instantiate(url)
    assert isinstance(client, NotifyPushover)
    client.notify_url = f"{server.url}/1/messages.json"
    client.request_rate_per_sec = 0
    return client


def test_apprise_reaches_every_device(server: ServerProcess, phone: Phone, desk: Phone):
    link = "url=https%3A%2F%2Fnas.example%2F&url_title=Job"
    client = apprise_client(server, f"pover://me@{phone.token}?priority=high&sound=siren&{link}")
    assert client.notify(title="Backup", body="42 GB, 50% + ä \U0001f600")
    payload = latest(server, phone)
    assert payload == {
        "message": "42 GB, 50% + ä \U0001f600",
        "title": "Backup",
        "priority": "high",
        "url": "https://nas.example/",
        "url_title": "Job",
        "sound": "siren",
    }
    assert payload["message"] in messages(server, phone, desk)


def test_apprise_reaches_the_device_it_names(server: ServerProcess, phone: Phone, desk: Phone):
    assert apprise_client(server, f"pover://me@{phone.token}/desk").notify(body="For the desk")
    assert "For the desk" in messages(server, phone, desk)
    assert "For the desk" not in messages(server, phone, phone)
    # As with Pushover, a name that nobody has (any more) means everybody: better there than nowhere.
    assert apprise_client(server, f"pover://me@{phone.token}/retired").notify(body="For an old phone")
    assert "For an old phone" in messages(server, phone, phone)


@pytest.mark.parametrize(("level", "priority"), [("low", "min"), ("moderate", "low"), ("normal", None)])
def test_apprise_s_priorities(server: ServerProcess, phone: Phone, level: str, priority: str | None):
    assert apprise_client(server, f"pover://me@{phone.token}?priority={level}").notify(body=level)
    assert latest(server, phone).get("priority") == priority


def test_apprise_may_attach_a_picture(server: ServerProcess, phone: Phone, picture: Path):
    client = apprise_client(server, f"pover://me@{phone.token}")
    attachment = apprise.AppriseAttachment(str(picture))
    assert client.notify(body="Somebody is at the door", attach=attachment)
    assert latest(server, phone)["message"] == "Somebody is at the door"


def test_apprise_is_told_when_it_was_not_sent(server: ServerProcess):
    assert not apprise_client(server, f"pover://me@{WRONG}").notify(body="x")


def test_apprise_without_any_change_through_its_form_plugin(server: ServerProcess, phone: Phone):
    client = apprise.Apprise.instantiate(f"form://127.0.0.1:{server.port}/v1/send/{phone.token}")
    assert isinstance(client, NotifyBase)
    client.request_rate_per_sec = 0
    assert client.notify(title="Backup", body="As a form")
    assert latest(server, phone) == {"message": "As a form", "title": "Backup"}
    assert client.notify(body="Without a title")
    assert latest(server, phone) == {"message": "Without a title"}


@pytest.fixture
def complete(server: ServerProcess, phone: Phone, monkeypatch: pytest.MonkeyPatch) -> PushoverAPI:
    """The client of `pushover_complete`, with the address of this server."""
    monkeypatch.setattr(pushover_complete.pushover_api, "PUSHOVER_API_URL", f"{server.url}/1/")
    return PushoverAPI(phone.token)


def test_pushover_complete_sends_with_all_its_arguments(server: ServerProcess, phone: Phone, complete: PushoverAPI):
    reply = complete.send_message(
        "me",
        "<b>42 GB</b>",
        device="pixel",
        title="Backup",
        url="https://nas.example/",
        url_title="Job",
        priority=-1,
        timestamp=1_754_800_000,
        sound="siren",
        html=1,
        ttl=3600,
    )
    assert reply["status"] == 1
    payload = phone.read_until("notification", reply["request"])[-1][1]["payload"]
    assert payload.pop("delete_at") > 1_754_800_000
    assert payload == {
        "message": "<b>42 GB</b>",
        "title": "Backup",
        "priority": "low",
        "url": "https://nas.example/",
        "url_title": "Job",
        "html": True,
        "timestamp": 1_754_800_000,
        "sound": "siren",
    }
    assert [each["status"] for each in complete.send_messages([{"user": "me", "message": text} for text in "ab"])] == [
        1,
        1,
    ]
    assert latest(server, phone) == {"message": "b"}


def test_pushover_complete_s_checks_at_set_up_pass(phone: Phone, desk: Phone, complete: PushoverAPI):
    assert desk.owner_id == phone.owner_id
    assert "pushover" in complete.get_sounds()
    checked = complete.validate("me", "Pixel")
    assert (checked["status"], checked["group"]) == (1, 0)
    assert sorted(checked["devices"]) == ["Pixel", "desk"]


def test_pushover_complete_may_attach_a_picture(
    server: ServerProcess, phone: Phone, complete: PushoverAPI, picture: Path
):
    assert complete.send_message("me", "Door", image=picture)["status"] == 1
    assert latest(server, phone) == {"message": "Door"}


def test_pushover_complete_follows_an_emergency_over_a_kill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A server that is killed goes on ringing when it is started again, and knows the receipt."""
    data = tmp_path / "data"
    with ServerProcess(data) as server:
        owner = Phone.enrol(server.url, server.ready["code"], "Pixel")
        monkeypatch.setattr(pushover_complete.pushover_api, "PUSHOVER_API_URL", f"{server.url}/1/")
        raised = PushoverAPI(owner.token).send_message("me", "Fire", priority=2, retry=30, expire=3600)
        server.kill()
    with ServerProcess(data) as server:
        monkeypatch.setattr(pushover_complete.pushover_api, "PUSHOVER_API_URL", f"{server.url}/1/")
        client = PushoverAPI(owner.token)
        before = client.check_receipt(raised["receipt"])
        assert (before["status"], before["acknowledged"], before["expired"]) == (1, 0, 0)
        headers = {"authorization": f"Bearer {owner.device_token}"}
        for _ in range(2):
            done = HTTP.post(f"{server.url}/v1/emergencies/{raised['receipt']}/acknowledge", headers=headers)
            assert done.status_code == 204
        after = client.check_receipt(raised["receipt"])
        assert (after["acknowledged"], after["acknowledged_by_device"]) == (1, "Pixel")
        assert client.cancel_receipt(raised["receipt"])["status"] == 1


def test_pushover_complete_is_told_why_it_was_not_sent(complete: PushoverAPI):
    with pytest.raises(BadAPIRequestError, match="400: invalid_priority"):
        complete.send_message("me", "Fire", priority=3)
    with pytest.raises(BadAPIRequestError, match="404: not_found"):
        complete.check_receipt("r" * 30)
    complete.token = WRONG
    for call in (complete.get_sounds, lambda: complete.validate("me"), lambda: complete.send_message("me", "x")):
        with pytest.raises(BadAPIRequestError, match="401: invalid_token"):
            call()


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
@pytest.mark.parametrize("path", ["/1/messages.json", "/v1/messages.json"])
def test_curl_as_pushover_s_own_page_writes_it(server: ServerProcess, phone: Phone, path: str):
    form = [
        ("token", f"{phone.token}\n"),
        ("user", "me"),
        ("message", "50% + a&b = ä"),
        ("title", ""),
        ("priority", "1"),
    ]
    options = [option for name, value in form for option in ("--form-string", f"{name}={value}")]
    ran = subprocess.run(
        ["curl", "--silent", "--include", "--noproxy", "*", *options, server.url + path],
        capture_output=True,
        check=True,
        timeout=20,
    )
    head, _, body = ran.stdout.decode().partition("\r\n\r\n")
    assert head.startswith("HTTP/1.1 200")
    assert "x-limit-app-remaining: " in head.lower()
    reply = json.loads(body)
    assert reply["status"] == 1
    assert phone.read_until("notification", reply["request"])[-1][1]["payload"] == {
        "message": "50% + a&b = ä",
        "priority": "high",
    }


def test_the_calls_at_set_up_have_pushover_s_shapes(server: ServerProcess, phone: Phone):
    limits = HTTP.get(f"{server.url}/1/apps/limits.json", params={"token": phone.token}).json()
    assert limits.keys() == {"limit", "remaining", "reset", "status", "request"}
    assert limits["status"] == 1
    assert limits["remaining"] <= limits["limit"]
    sounds = HTTP.get(f"{server.url}/1/sounds.json", params={"token": phone.token}).json()
    assert sounds["sounds"]["pushover"]
    for path in ("/1/sounds.json", "/1/apps/limits.json"):
        refused = HTTP.get(server.url + path)
        assert (refused.status_code, refused.json()["status"], refused.json()["errors"]) == (401, 0, ["missing_token"])
