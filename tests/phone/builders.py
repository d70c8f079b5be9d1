"""Phones, questions and envelopes for tests; every id and key is made up."""

from typing import Any

import msgspec
from nacl.signing import SigningKey

from reflecto.contract.envelopes import Envelope
from reflecto.crypto.encoding import encode_base64
from reflecto.crypto.envelopes import BoxKeys
from reflecto.phone.inbox import Arrived
from reflecto.phone.state import FEATURES, Answer, Identity, OpenEmergency, PhoneState, Question

NOW = 1_754_800_000.0
END = 1_754_800_600
ANSWER = Answer(choice_index=1, answered_at=1_754_800_010, signature="c2lnbmVk")
BOX = BoxKeys.generate()
SERVER_BOX = BoxKeys.generate()
SEED = SigningKey.generate()


def id_of(kind: str, number: int) -> str:
    return f"{kind}_{number:032x}"


THIS_PHONE = id_of("dev", 1)
OTHER_PHONE = id_of("dev", 2)


def identity(url: str = "http://127.0.0.1:9", **changes: Any) -> Identity:
    made = Identity(
        url=url,
        owner_id=id_of("own", 1),
        device_id=THIS_PHONE,
        label="This phone",
        device_token="rfd_live_" + "a" * 32,
        server_key=encode_base64(SERVER_BOX.public),
        box_secret=encode_base64(BOX.secret),
        signing_seed=encode_base64(SEED.encode()),
    )
    return msgspec.structs.replace(made, **changes)


def question(number: int = 1, *, answer: Answer | None = None, **changes: Any) -> Question:
    made = Question(
        id=id_of("int", number),
        source="CI",
        text=f"Deploy {number}?",
        choices=("Approve", "Deny"),
        expires_at=END,
        answer=answer,
    )
    return msgspec.structs.replace(made, **changes)


def phone(*questions: Question, **changes: Any) -> PhoneState:
    made = PhoneState(identity=identity(), questions=questions, features=FEATURES)
    return msgspec.structs.replace(made, **changes)


def arrived(kind: str, envelope_id: str, payload: dict[str, Any], *, seq: int = 1, **source: str) -> Arrived:
    return Arrived(seq, END, Envelope(kind, envelope_id, int(NOW), dict(source), payload))


def asked(number: int = 1, *, seq: int = 1, **changes: Any) -> Arrived:
    payload = {"question": f"Deploy {number}?", "choices": ["Approve", "Deny"], "expires_at": END} | changes
    return arrived("interaction", id_of("int", number), payload, seq=seq, token="CI")


def closed(number: int = 1, *, seq: int = 2, status: str = "answered", **changes: Any) -> Arrived:
    won = {"choice_index": 0, "answered_by": "Pixel", "answered_by_id": OTHER_PHONE} if status == "answered" else {}
    return arrived("interaction.closed", id_of("int", number), {"status": status} | won | changes, seq=seq)


def emergency(**changes: Any) -> OpenEmergency:
    made = OpenEmergency(
        id=id_of("msg", 9),
        receipt="r" * 30,
        source="CI",
        message="Fire",
        retry=60,
        expires_at=int(NOW) + 3_600,
        rang_at=NOW,
    )
    return msgspec.structs.replace(made, **changes)
