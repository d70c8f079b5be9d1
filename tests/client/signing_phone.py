"""A phone that signs what it answers, on the asker's small server."""

import base64
from typing import Any

from reflecto.crypto.answers import answer_message, answer_message_v2, comment_digest, question_digest, sign_answer
from tests.builders import DeviceKeys
from tests.client.asker_server import AskerServer

SIGNED_AT = 1_800_000_004
SALT = "AAECAwQFBgcICQoLDA0ODw"


class SigningPhone:
    """`key` is its public signing key, base64."""

    def __init__(self) -> None:
        self._keys = DeviceKeys()
        self.key = base64.b64encode(self._keys.signing_key).decode()

    def answers(
        self, server: AskerServer, index: int = 0, *, number: str | None = None, comment: str | None = None
    ) -> None:
        """Tap a choice of the latest question, with what is typed for it."""
        self._answer(server, server.latest, index, number, comment)

    def answers_all(self, server: AskerServer) -> None:
        """Tap the first choice of every question that is open, with its number where it has one."""
        for state in server.pending:
            has_number = server.given[state["id"]].get("confirm") == "number"
            self._answer(server, state, 0, server.confirm_number if has_number else None, None)

    def _answer(
        self, server: AskerServer, state: dict[str, Any], index: int, number: str | None, comment: str | None
    ) -> None:
        said = {"comment": {"text": comment}} if comment else {}
        receipt = self.receipt(state, server.given[state["id"]], index, number=number, comment=comment)
        server.answer(index, state, receipt=receipt, **said)

    def receipt(
        self,
        state: dict[str, Any],
        given: dict[str, Any],
        index: int,
        *,
        number: str | None = None,
        comment: str | None = None,
    ) -> dict[str, Any]:
        """Return the signed answer to this question, in the second form where it was asked with any of `given`."""
        receipt: dict[str, Any] = {
            "device_id": "dev_1",
            "signing_key": self.key,
            "choice_index": index,
            "answered_at": SIGNED_AT,
        }
        if not given:
            message = answer_message(state["id"], state["question"], state["choices"], index, SIGNED_AT)
            return receipt | {"signature": self.sign(message)}
        sha256 = comment_digest(comment, SALT) if comment else None
        digest = question_digest(state["question"], state["choices"], **given)
        message = answer_message_v2(state["id"], digest, index, SIGNED_AT, number=number, comment_sha256=sha256)
        receipt |= {"v": 2, "signature": self.sign(message)}
        receipt |= {"number": number} if number else {}
        return receipt | ({"comment": {"sha256": sha256, "text": comment, "salt": SALT}} if comment else {})

    def sign(self, message: bytes) -> str:
        """Return the signature, base64."""
        return base64.b64encode(sign_answer(self._keys.signing_seed, message)).decode()
