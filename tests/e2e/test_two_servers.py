"""Two server processes on one store: what happens in one is heard in the other."""

from concurrent.futures import ThreadPoolExecutor

from tests.e2e.conftest import StartServer
from tests.e2e.phones import HTTP, Phone, bearer
from tests.e2e.server_process import ServerProcess

HEARD_SECONDS = 10  # a bound for a busy machine; the store looks four times a second


def test_a_question_asked_at_one_is_answered_at_the_other(
    server: ServerProcess, start_server: StartServer, phone: Phone
):
    other = start_server()
    elsewhere = Phone(other.url, phone.keys, vars(phone))
    headers = bearer(phone.token)
    with ThreadPoolExecutor() as pool:
        asked = HTTP.post(f"{server.url}/v1/interactions", headers=headers, json={"question": "Deploy?"}).json()["id"]
        entry = pool.submit(elsewhere.read_until, "interaction", asked).result(HEARD_SECONDS)[-1][1]
        assert entry["payload"]["question"] == "Deploy?"
        poll = pool.submit(HTTP.get, f"{server.url}/v1/interactions/{asked}?wait=60", headers=headers)
        assert elsewhere.answer(asked, 1).status_code == 200
        state = poll.result(HEARD_SECONDS).json()
    assert (state["status"], state["choice"]) == ("answered", "Deny")


def test_a_phone_unpaired_at_one_loses_its_stream_at_the_other(start_server: StartServer, phone: Phone):
    other = start_server()
    with HTTP.stream("GET", f"{other.url}/v1/sync", headers=bearer(phone.device_token)) as stream:
        lines = stream.iter_lines()
        assert next(lines).startswith("id: ")  # the Default token
        assert phone.call("DELETE", "/v1/devices/self").status_code == 204
        rest = list(lines)  # ends, or the client's own time limit fails the test
    assert not any(line.startswith("id: ") for line in rest)
    assert HTTP.get(f"{other.url}/v1/tokens", headers=bearer(phone.device_token)).status_code == 401
