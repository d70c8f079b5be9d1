"""What a phone does with its keys: opening queue entries, signing answers. Pure. Source: docs/protocol.md."""

import base64
import binascii
import os
from typing import Final

import msgspec

from reflecto.contract.envelopes import Envelope
from reflecto.contract.json_text import UnreadableJsonError, read_json
from reflecto.contract.sync import SyncEntry
from reflecto.crypto.answers import (
    answer_message,
    answer_message_v2,
    comment_digest,
    question_digest,
    sign_answer,
)
from reflecto.crypto.encoding import decode_base64, encode_base64, encode_base64url
from reflecto.crypto.envelopes import KEY_BYTES, BadBlobError, BadKeyError, open_blob, shared_key
from reflecto.phone.inbox import Arrived, Unopened
from reflecto.phone.state import Answer, Identity, Question, SaidWord

SERVER: Final = "server"
COMMENT_SALT_BYTES: Final = 16


class Keyring:
    """The keys of one phone, ready to use."""

    def __init__(self, identity: Identity) -> None:
        """Raises: BadKeyError if a stored key is none."""
        self._server_box_key = shared_key(raw_key(identity.server_key), raw_key(identity.box_secret))
        self._signing_seed = raw_key(identity.signing_seed)

    def unseal(self, entry: SyncEntry) -> Arrived | Unopened:
        """Open one entry; never fails."""
        if entry.sender != SERVER:
            return Unopened(entry.seq, "it was sealed by another device, and this phone has only the server's key")
        try:
            plaintext = open_blob(self._server_box_key, base64.b64decode(entry.blob, validate=True))
            envelope = read_json(plaintext, Envelope)
        except (BadBlobError, binascii.Error):
            return Unopened(entry.seq, "it does not open with this phone's keys")
        except UnreadableJsonError:
            return Unopened(entry.seq, "what is inside is not an envelope")
        return Arrived(entry.seq, entry.expires_at, envelope)

    def sign(
        self, question: Question, choice_index: int, answered_at: int, *, number: str = "", comment: str = ""
    ) -> Answer:
        """Return the tap, signed over exactly what was shown. `answered_at` is Unix seconds.

        `number` is two digits, `comment` the owner's word; empty: none. They are signed where the question has one of
        the fields that ask for the second form.
        """
        if not question.given:
            message = answer_message(question.id, question.text, question.choices, choice_index, answered_at)
            return Answer(choice_index, answered_at, encode_base64(sign_answer(self._signing_seed, message)))
        said = SaidWord(comment, encode_base64url(os.urandom(COMMENT_SALT_BYTES))) if comment else None
        message = answer_message_v2(
            question.id,
            question_digest(question.text, question.choices, **question.given),
            choice_index,
            answered_at,
            number=number or None,
            comment_sha256=comment_digest(said.text, said.salt) if said else None,
        )
        return Answer(
            choice_index,
            answered_at,
            encode_base64(sign_answer(self._signing_seed, message)),
            v=2,
            number=number or msgspec.UNSET,
            comment=said or msgspec.UNSET,
        )


def raw_key(text: str) -> bytes:
    """Return the 32 bytes of a key in base64. Raises: BadKeyError."""
    raw = decode_base64(text, length=KEY_BYTES)
    if raw is None:
        raise BadKeyError("not 32 bytes in base64")
    return raw
