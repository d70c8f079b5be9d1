import asyncio
import os
from pathlib import Path

import pytest

from reflecto.api.operations import OPERATIONS
from reflecto.api.operations.operation import AnyOperation
from reflecto.crypto.encoding import encode_base64
from tests.actors import DeviceActor, enroll
from tests.builders import enrolment_body
from tests.fakes import BOUND_SECONDS
from tests.running import RunningServer

STREAM_SECONDS = 1  # after so long curl is told to leave a stream, and says so with its exit code
TIMED_OUT = 28
IDS = [operation.id for operation in OPERATIONS]


async def variables_of(server: RunningServer, operation: AnyOperation) -> dict[str, str]:
    """Set up what the page tells its reader to have, and return the variables a command may use."""
    phone = await enroll(server)
    asker = phone.default_program()
    tester = await phone.new_token(test=True)
    asked_by = tester if operation.id == "simulateAnswer" else asker
    at = int(server.clock.now()) + 3600
    reminder = await asker.call("POST", "/v1/reminders", json={"message": "Stand-up", "at": at})
    ring = await asker.call("POST", "/v1/ring", json={})
    alarm = await asker.http.post("/1/messages.json", json={"token": asker.token, "message": "Fire", "priority": 2})
    joining = enrolment_body(await server.invite())
    return {
        "REFLECTO_URL": f"http://127.0.0.1:{server.port}",
        "REFLECTO_TOKEN": asker.token,
        "REFLECTO_TEST_TOKEN": tester.token,
        "REFLECTO_DEVICE_TOKEN": phone.token,
        "RING_ID": ring.json()["id"],
        "RECEIPT": alarm.json()["receipt"],
        "ID": await asked_by.ask_id(expires_in=60),
        "REMINDER_ID": reminder.json()["reminder_id"],
        "DEVICE_ID": phone.id,
        "TOKEN_ID": tester.id,
        "CODE": joining["code"],
        "PUBLIC_KEY": joining["public_key"],
        "SIGNING_KEY": joining["signing_key"],
        "BLOB": encode_base64(b"\x01" + bytes(100)),
        **await pairing_variables(server, phone, operation),
    }


async def pairing_variables(server: RunningServer, phone: DeviceActor, operation: AnyOperation) -> dict[str, str]:
    """Open an invitation, take it to where the call is of use, and return the variables of pairing's commands."""
    proof = encode_base64(bytes(32))
    variables = {"PROOF": proof, "NONCE": proof, "APPROVAL": "[]", "SIGNATURE": encode_base64(bytes(64))}
    opened = await phone.call("POST", "/v1/pairings", json={})
    path = f"/v1/pairings/{opened.json()['pairing_id']}"
    variables["PAIRING_ID"] = opened.json()["pairing_id"]
    if operation.id not in {"claimPairing", "rejectPairing"}:
        by_code = {"commitment": proof} if operation.id in {"greetPairing", "revealPairing"} else {}
        claimed = await server.http.post(f"{path}/claim", json=enrolment_body("") | {"proof": proof} | by_code)
        variables["CLAIM_TOKEN"] = claimed.json()["claim_token"]
    if operation.id == "revealPairing":
        assert (await phone.call("POST", f"{path}/greet", json={"nonce": proof})).status_code == 204
    return variables


async def paste(command: str, variables: dict[str, str], home: Path, seconds: float = BOUND_SECONDS) -> tuple[int, int]:
    """Run the command in a shell as it is, and return curl's exit code and the status of the reply."""
    (home / ".curlrc").write_text(f'silent\noutput = /dev/null\nmax-time = {seconds}\nwrite-out = "%{{http_code}}"\n')
    kept = {name: os.environ[name] for name in ("PATH",)}
    shell = await asyncio.create_subprocess_exec(
        "sh", "-euc", command, env={**kept, **variables, "CURL_HOME": str(home)}, stdout=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(BOUND_SECONDS + 5):
        output, _ = await shell.communicate()
    assert shell.returncode is not None
    return shell.returncode, int(output)


@pytest.mark.parametrize("operation", OPERATIONS, ids=IDS)
async def test_the_command_of_each_call_works_as_it_is_pasted(
    operation: AnyOperation, server: RunningServer, tmp_path: Path
):
    variables = await variables_of(server, operation)
    if operation.id == "getInteraction":  # else it would wait for the tap
        asker_headers = {"authorization": f"Bearer {variables['REFLECTO_TOKEN']}"}
        await server.http.delete(f"/v1/interactions/{variables['ID']}", headers=asker_headers)
    is_stream = operation.id == "sync"
    exit_code, status = await paste(operation.curl, variables, tmp_path, STREAM_SECONDS if is_stream else BOUND_SECONDS)
    assert exit_code == (TIMED_OUT if is_stream else 0)
    assert status in {success.status for success in operation.successes}


async def test_asking_again_as_pasted_finds_the_first_question(server: RunningServer, tmp_path: Path):
    ask = next(operation for operation in OPERATIONS if operation.id == "createInteraction")
    variables = await variables_of(server, ask)
    assert await paste(ask.curl, variables, tmp_path) == (0, 201)
    assert await paste(ask.curl, variables, tmp_path) == (0, 200)
