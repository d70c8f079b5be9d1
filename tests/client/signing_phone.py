"""A phone that signs what it answers, on the asker's small server."""

import base64
from typing import Any

from reflecto.crypto.answers import answer_message, sign_answer
from tests.builders import DeviceKeys
from tests.client.asker_server import AskerServer

SIGNED_AT = 1_800_000_004


class SigningPhone:
    """`key` is its public signing key, base64."""

    def __init__(self) -> None:
        self._keys = DeviceKeys()
        self.key = base64.b64encode(self._keys.signing_key).decode()

    def answers(self, server: AskerServer, index: int = 0) -> None:
        """Tap a choice of the latest question."""
        server.answer(index, receipt=self._receipt(server.latest, index))

    def answers_all(self, server: AskerServer) -> None:
        """Tap the first choice of every question that is open."""
        for state in server.pending:
            server.answer(0, state, receipt=self._receipt(state, 0))

    def _receipt(self, state: dict[str, Any], index: int) -> dict[str, Any]:
        message = answer_message(state["id"], state["question"], state["choices"], index, SIGNED_AT)
        return {
            "device_id": "dev_1",
            "signing_key": self.key,
            "choice_index": index,
            "answered_at": SIGNED_AT,
            "signature": base64.b64encode(sign_answer(self._keys.signing_seed, message)).decode(),
        }
