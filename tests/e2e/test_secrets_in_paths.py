"""A token in a path, and what was sent with it, stay out of the log, however talkative it is."""

from tests.e2e.conftest import StartServer
from tests.e2e.phones import HTTP, Phone


def test_a_token_in_the_path_is_in_no_log_line(start_server: StartServer):
    server = start_server("--log-level", "debug")
    phone = Phone.enrol(server.url, server.ready["code"])
    wrong = "rfk_live_" + "b" * 32
    secret = "the launch code is 0000"
    requests = [
        ("POST", f"/v1/send/{phone.token}", 200),
        ("POST", f"/v1/send/{wrong}", 401),
        ("PUT", f"/v1/send/{phone.token}", 405),
        ("POST", f"/v1/send/{phone.token}/more", 404),
        ("POST", f"/v1/sent/{phone.token}", 404),
        ("GET", f"/1/sounds.json?token={phone.token}", 200),
        ("POST", f"/1/messages.json?token={phone.token}", 200),
    ]
    for method, path, status in requests:
        headers = {"Content-Type": "text/plain"}
        assert HTTP.request(method, server.url + path, content=secret, headers=headers).status_code == status, path
    assert HTTP.post(f"{server.url}/v1/send/{phone.token}", content=b"\xff").status_code == 400
    assert server.stop() == 0
    assert phone.token.removeprefix("rfk_live_") not in server.log
    assert wrong not in server.log
    assert secret not in server.log
