"""The form of Pushover's replies. Source: api.md "POST /v1/messages.json"."""

import secrets

from reflecto.api.http import Reply


def pushover_shape(reply: Reply) -> Reply:
    """Return an error as Pushover's, with the status and headers of the underlying failure."""
    if reply.status < 300:
        return reply
    described = reply.body["error"]
    code = described if isinstance(described, str) else described["code"]
    return Reply(reply.status, {"status": 0, "errors": [code], "request": request_id()}, reply.headers)


def request_id() -> str:
    """Return a fresh `msg_` id for a reply to a call that stored no message."""
    return f"msg_{secrets.token_hex(16)}"
