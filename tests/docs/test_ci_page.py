"""What docs/ci.md shows works: its commands run, and what each system sends is taken by a real server."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import httpx
import jinja2
import msgspec
import pytest

from tests.e2e.phones import HTTP, Phone, make_codes
from tests.e2e.server_process import ServerProcess, environment
from tests.phone.programs import script

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = (ROOT / "docs" / "ci.md").read_text("utf-8")
SECTIONS: Final = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
WAIT_SECONDS: Final = 30

APPRISE = """
import sys, urllib.parse, urllib.request
options, url = dict(zip(sys.argv[1:-1:2], sys.argv[2:-1:2])), urllib.parse.urlsplit(sys.argv[-1])
query = urllib.parse.parse_qsl(url.query.replace("+", "%2B"))
fields = {"version": "1.0", "title": options.get("-t", ""), "message": options["-b"], "type": "info"}
fields |= {name[1:]: value for name, value in query if name.startswith(":")}
headers = {name[1:]: value for name, value in query if name.startswith("+")}
target = f"http://{url.netloc}{url.path}"
urllib.request.urlopen(urllib.request.Request(target, urllib.parse.urlencode(fields).encode(), headers))
"""


class Place:
    """A server, a phone that taps the first choice, and a shell that knows both."""

    def __init__(self, server: ServerProcess, phone: Phone, folder: Path) -> None:
        self.url = server.url
        self.phone = phone
        self.folder = folder
        self.programs = folder / "bin"
        self.programs.mkdir()
        self.seen = 0

    def program(self, name: str, text: str) -> None:
        """Put a program of this name on the shell's path."""
        path = self.programs / name
        path.write_text(text)
        path.chmod(0o755)

    def run(self, command: list[str], env: Mapping[str, str] | None = None) -> "subprocess.CompletedProcess[str]":
        path = f"{self.programs}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        variables = {"PATH": path, "REFLECTO_URL": self.url, "REFLECTO_TOKEN": self.phone.token}
        return subprocess.run(
            command,
            env=environment(variables | dict(env or {})),
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=WAIT_SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
        )

    def post(self, body: Any, headers: Mapping[str, str]) -> httpx.Response:
        """POST to /v1/send as the system of that section would."""
        content = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        return HTTP.post(f"{self.url}/v1/send", content=content, headers=dict(headers))

    def last_payload(self, message_id: str) -> dict[str, Any]:
        """Return what the phone was sent."""
        payload: dict[str, Any] = self.phone.read_until("notification", message_id)[-1][1]["payload"]
        return payload

    @property
    def bearer(self) -> str:
        return f"Bearer {self.phone.token}"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("ci")
    with ServerProcess(folder / "data") as server:
        phone = Phone.of_new_owner(server)
        (code,) = make_codes(server.data, 1, owner_id=phone.owner_id)
        with script(
            "phone", code, "--url", server.url, "--state", folder / "phone.json", "--json", "--answer", "first"
        ) as thumb:
            thumb.event("enrolled")
            yield Place(server, phone, folder)


def blocks(section: str, language: str) -> list[str]:
    found = re.findall(rf"^```{language}\n(.*?)^```$", SECTIONS[section], re.MULTILINE | re.DOTALL)
    assert found, section
    return found


def test_every_section_is_covered_here():
    assert set(SECTIONS) == {
        "GitHub Actions",
        "GitLab",
        "Jenkins",
        "Plain bash, with curl and jq",
        "cron",
        "systemd: tell when a unit fails",
        "Home Assistant",
        "Grafana",
        "Uptime Kuma",
        "Apprise",
        "Anything that calls a URL",
    }


def test_the_github_workflow_uses_inputs_and_outputs_that_there_are():
    action = msgspec.yaml.decode((ROOT / "action.yml").read_bytes())
    (text,) = blocks("GitHub Actions", "yaml")
    steps = msgspec.yaml.decode(text)["jobs"]["deploy"]["steps"]
    for step in (step for step in steps if "uses" in step):
        required = {name for name, spec in action["inputs"].items() if spec.get("required")}
        assert required <= set(step["with"]) <= set(action["inputs"])
    table = re.findall(r"^\| ((?:`[a-z-]+`(?:, )?)+) \|", SECTIONS["GitHub Actions"], re.MULTILINE)
    named = {name for row in table for name in re.findall(r"`([a-z-]+)`", row)}
    assert named == {*action["inputs"], *action["outputs"]}


def test_the_gitlab_job_asks_and_goes_on(place: Place):
    (text,) = blocks("GitLab", "yaml")
    commands = msgspec.yaml.decode(text)["approve"]["script"]
    ran = place.run(
        ["bash", "-eo", "pipefail", "-c", "\n".join(commands)],
        {"CI_COMMIT_SHORT_SHA": "1a2b3c4d", "CI_PROJECT_NAME": "shop", "CI_JOB_ID": "77"},
    )
    assert (ran.returncode, ran.stdout) == (0, "Deploy\n"), ran.stderr


def test_the_jenkins_stage_asks_and_goes_on(place: Place):
    (text,) = blocks("Jenkins", "groovy")
    command = re.search(r"sh '(.+)'", text)
    assert command is not None
    ran = place.run(["sh", "-xe", "-c", command[1]], {"JOB_NAME": "shop", "BUILD_NUMBER": "7", "BUILD_TAG": "shop-7"})
    assert (ran.returncode, ran.stdout) == (0, "Approve\n"), ran.stderr


@pytest.mark.skipif(shutil.which("jq") is None, reason="the recipe needs jq")
def test_the_bash_function_asks_and_goes_on(place: Place):
    (text,) = blocks("Plain bash, with curl and jq", "sh")
    ran = place.run(["bash", "-euo", "pipefail", "-c", text])
    assert (ran.returncode, ran.stdout) == (0, "restarting\n"), ran.stderr
    refused = place.run(["bash", "-euo", "pipefail", "-c", text], {"REFLECTO_TOKEN": "rfk_live_" + "b" * 32})
    assert (refused.returncode, refused.stdout) == (0, "")


def test_the_cron_lines_run(place: Place):
    (text,) = blocks("cron", "crontab")
    commands = [re.sub(r"^(\S+\s+){5}", "", line) for line in text.splitlines() if re.match(r"[\d*]", line)]
    backup, snapshots = (command.replace("/var/log/", f"{place.folder}/") for command in commands)
    place.program("backup", "#!/bin/sh\nexit 1\n")
    place.program("delete-snapshots", "#!/bin/sh\necho deleting\n")
    failed = place.run(["sh", "-c", backup])
    assert (failed.returncode, failed.stdout) == (0, ""), failed.stderr
    asked = place.run(["sh", "-c", snapshots])
    assert (asked.returncode, asked.stdout) == (0, "deleting\n"), asked.stderr


def test_the_systemd_unit_tells_what_the_journal_says(place: Place):
    (unit, _) = blocks("systemd: tell when a unit fails", "ini")
    start = re.search(r"^ExecStart=(.+)$", unit, re.MULTILINE)
    assert start is not None
    place.program("journalctl", f'#!/bin/sh\n[ "$2" = backup.service ] && printf "{"ü" * 600}\\ndisk full"\n')
    command = start[1].replace("%i", "backup.service").replace("%H", "nas")
    ran = place.run([*shlex.split(command)[:2], f"{shlex.split(command)[2]} --json"])
    assert ran.returncode == 0, ran.stderr
    payload = place.last_payload(json.loads(ran.stdout)["id"])
    assert payload["title"] == "backup.service failed on nas"
    assert payload["message"].endswith("ü\ndisk full")
    assert payload["priority"] == "high"


def rendered(template: str, **names: Any) -> str:
    """Return what Home Assistant's and Uptime Kuma's templates make of it; both leave quotes as they are."""
    engine = jinja2.Environment(autoescape=False)  # noqa: S701
    engine.filters["to_json"] = json.dumps
    return engine.from_string(template).render(**names)


def home_assistant(place: Place, number: int) -> Any:
    text = blocks("Home Assistant", "yaml")[number]
    local = text.replace("!secret reflecto_authorization", place.bearer).replace("https://reflecto.example", place.url)
    return msgspec.yaml.decode(local)


def test_home_assistants_rest_notification_is_taken(place: Place):
    (config,) = home_assistant(place, 0)["notify"]
    assert (config["platform"], config["method"]) == ("rest", "POST_JSON")
    body = {"message": "The washing is done", config["title_param_name"]: "Home Assistant"} | config["data"]
    reply = HTTP.post(config["resource"], json=body, headers=config["headers"])
    assert reply.status_code == 200, reply.text
    payload = place.last_payload(reply.json()["id"])
    assert (payload["title"], payload["message"], payload["tags"]) == (
        "Home Assistant",
        "The washing is done",
        ["home"],
    )


def test_home_assistants_question_is_asked_and_its_answer_opens_the_garage(place: Place):
    config = home_assistant(place, 1)
    ask, wait = config["rest_command"]["reflecto_ask"], config["rest_command"]["reflecto_wait"]
    sequence = config["script"]["ask_to_open_the_garage"]["sequence"]
    body = rendered(ask["payload"], **sequence[0]["data"])
    asked = HTTP.post(ask["url"], content=body, headers=ask["headers"] | {"Content-Type": ask["content_type"]})
    assert asked.status_code == 201, asked.text
    answer = {"status": "pending"}
    while answer["status"] == "pending":
        url = rendered(wait["url"], id=asked.json()["id"])
        answer = HTTP.get(url, headers=wait["headers"], timeout=wait["timeout"]).json()
    assert answer["choice"] == "Open"
    assert rendered(sequence[2]["condition"], answer={"content": answer}) == "True"
    assert rendered(sequence[1]["repeat"]["until"], answer={"content": answer}) == "True"


def grafana(alerts: int, title: str, message: str) -> dict[str, Any]:
    """Return what a Webhook contact point sends."""
    alert = {
        "status": "firing",
        "labels": {"alertname": "DiskFull", "instance": "nas"},
        "annotations": {"summary": "Disk of nas is full"},
        "startsAt": "2026-02-01T09:51:03+01:00",
        "endsAt": "0001-01-01T00:00:00Z",
        "generatorURL": "https://grafana.example/alerting/1/edit",
        "fingerprint": "c6eadffa33fcdf37",
        "values": {"B": 99.1},
    }
    common = {"alertname": "DiskFull"}
    return {
        "receiver": "Reflecto",
        "status": "firing",
        "orgId": 1,
        "alerts": [alert] * alerts,
        "groupLabels": common,
        "commonLabels": common,
        "commonAnnotations": {},
        "externalURL": "https://grafana.example/",
        "version": "1",
        "groupKey": '{}:{alertname="DiskFull"}',
        "truncatedAlerts": 0,
        "title": title,
        "state": "alerting",
        "message": message,
    }


def test_grafanas_payload_is_taken_with_the_texts_of_the_page_and_refused_where_they_are_too_long(place: Place):
    headers = {"Authorization": place.bearer, "Content-Type": "application/json"}
    fits = place.post(grafana(3, "[firing] 3 × DiskFull", "firing: Disk of nas is full\n" * 3), headers)
    assert fits.status_code == 200, fits.text
    assert place.last_payload(fits.json()["id"])["title"] == "[firing] 3 × DiskFull"
    long_title = place.post(grafana(3, "[FIRING:3] " + "DiskFull nas " * 10, "x"), headers)
    assert (long_title.status_code, long_title.json()["error"]["code"]) == (400, "invalid_title")
    long_message = place.post(grafana(60, "x", "firing: Disk of nas is full\n" * 60), headers)
    assert (long_message.status_code, long_message.json()["error"]["code"]) == (400, "message_too_long")


def test_uptime_kumas_own_body_is_refused_and_that_of_the_page_is_the_message(place: Place):
    preset = {"heartbeat": {"status": 0}, "monitor": {"name": "NAS"}, "msg": "[NAS] [Down] timeout"}
    headers = {"Authorization": place.bearer, "Content-Type": "application/json"}
    refused = place.post(preset, headers)
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "invalid_message")
    (body,) = blocks("Uptime Kuma", "text")
    (more,) = blocks("Uptime Kuma", "json")
    nasty = '[NAS] [🔴 Down] "timeout" & title=x\nmessage={1}'
    taken = place.post(rendered(body, msg=nasty), json.loads(more) | {"Authorization": place.bearer})
    assert taken.status_code == 200, taken.text
    assert place.last_payload(taken.json()["id"]) == {"message": nasty}


def test_apprises_form_is_taken(place: Place):
    place.program("apprise", f"#!{sys.executable}\n{APPRISE}")
    (text,) = blocks("Apprise", "sh")
    local = text.replace("forms://reflecto.example", place.url.replace("http", "form"))
    for command in (local, local.replace('-t "NAS" ', "")):
        ran = place.run(["bash", "-euo", "pipefail", "-c", command])
        assert ran.returncode == 0, ran.stderr


def test_curl_alone_is_enough(place: Place):
    (text,) = blocks("Anything that calls a URL", "sh")
    ran = place.run(["bash", "-euo", "pipefail", "-c", text])
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.count('"id":"msg_') == text.count("curl")
