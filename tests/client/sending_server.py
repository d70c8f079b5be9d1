"""The asker's small server with the sending half of the API, and what a good server never does to it."""

from typing import Any

from tests.client.asker_server import OPENED_AT, TOKEN, AskerServer, Received, Reply

DEVICE = {"device_id": "dev_" + "1" * 32, "type": "android"}
STATUS = {
    "device_id": "dev_" + "1" * 32,
    "label": "Pixel",
    "type": "android",
    "class": "phone",
    "reachable": True,
    "last_seen_at": OPENED_AT,
    "app_build": None,
}


class SendingServer(AskerServer):
    """`accepted` is what it has taken to send, as (path, fields)."""

    def __init__(self) -> None:
        super().__init__()
        self.accepted: list[tuple[str, dict[str, Any]]] = []
        self.reminders: dict[str, dict[str, Any]] = {}
        self.warnings: list[dict[str, str]] = []
        self.reached = [DEVICE]
        self.health_app = "current"
        self.knows_keys = True
        self.kept: dict[str, tuple[str, dict[str, Any], Reply]] = {}

    def _handle(self, request: Received) -> Reply:
        if request.path.startswith("/v1/interactions"):
            return super()._handle(request)
        if request.path == "/healthz":
            repeats = {"repeats": "Idempotency-Key"} if self.knows_keys else {}
            return Reply.json(200, {"status": "ok", "version": "0.1.0", "app": self.health_app, **repeats})
        if request.headers.get("authorization") != f"Bearer {TOKEN}":
            return Reply.json(401, {"error": "invalid_token"})
        if request.method == "POST":
            key = request.headers.get("idempotency-key", "")
            if not (self.knows_keys and key):
                return self._accept(request.path, request.json)
            if key not in self.kept:
                self.kept[key] = (request.path, request.json, self._accept(request.path, request.json))
            *same, reply = self.kept[key]
            assert same == [request.path, request.json]
            return reply
        if request.method == "DELETE":
            known = self.reminders.pop(request.path.removeprefix("/v1/reminders/"), None)
            return Reply(204, b"") if known else Reply.error(404, "not_found")
        if request.path == "/v1/reminders":
            return Reply.json(200, {"reminders": list(self.reminders.values())})
        return Reply.json(200, {"devices": [STATUS]})

    def _accept(self, path: str, fields: dict[str, Any]) -> Reply:
        self.accepted.append((path, fields))
        number = f"{len(self.accepted):032x}"
        ends: dict[str, Any] = {"delivered_to": self.reached, "warnings": self.warnings}
        if path == "/v1/documents":
            length = len(fields["content"].encode())
            return Reply.json(201, {"document_id": f"doc_{number}", "byte_length": length, **ends})
        if path == "/v1/reminders":
            reminder = {"reminder_id": f"rem_{number}", "title": None, "created_at": OPENED_AT, **fields}
            self.reminders[f"rem_{number}"] = reminder | {"fire_at": fields["at"]}
            made = {"reminder_id": f"rem_{number}", "fire_at": fields["at"], "warnings": self.warnings}
            return Reply.json(201, made)
        return Reply.json(200, {"id": f"msg_{number}", **ends})


def not_from_reflecto(status: int) -> Reply:
    """What a proxy says in the server's place."""
    return Reply(status, b"<html>Bad gateway</html>", {"Content-Type": "text/html"})
