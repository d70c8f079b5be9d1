"""Fields of questions. Source: interactions.openapi.yaml, api.md."""

from typing import Final

from reflecto.api.fields.note import (
    CHOICE_INDEX,
    DEVICE_LABEL,
    KEY_EXAMPLE,
    TIME,
    Notes,
    a_signature,
    a_time,
    an_id,
    note,
)
from reflecto.contract import interactions, limits

QUESTIONS: Final[Notes] = {
    interactions.CreateInteractionRequest: {
        "question": note(
            "What to ask; counted in characters (code points), not blank", "Deploy build 42 to production?"
        ),
        "choices": note(
            f"The labels to choose from, each 1 to {limits.CHOICE_MAX_CHARS} characters, not blank and no two alike",
            ["Approve", "Deny"],
            uniqueItems=True,
        ),
        "expires_in": note("How long it may be answered, in seconds", 600),
        "idempotency_key": note("Makes a retry find the first try, whatever else it asks", "deploy-42"),
        "tether": note(
            "Ends the question, as cancelled, when nobody has waited for it for so many seconds: for a program that "
            "can be killed without a word",
            30,
        ),
    },
    interactions.CreateInteractionResponse: {
        "id": an_id("int", "The question's id"),
        "expires_at": note("Unix epoch seconds", TIME + 600),
    },
    interactions.AnsweredBy: {
        "device_id": an_id("dev", "The device's id"),
        "label": DEVICE_LABEL,
    },
    interactions.Receipt: {
        "device_id": an_id("dev", "The device that signed"),
        "signing_key": note("Its Ed25519 public key, base64", KEY_EXAMPLE),
        "choice_index": CHOICE_INDEX,
        "answered_at": a_time("The phone's own clock, as it was signed", 42),
        "signature": a_signature("Ed25519 over the answer message"),
    },
    interactions.InteractionState: {
        "id": an_id("int", "The question's id"),
        "status": note(
            "Only `answered` is an answer; silence never is",
            "answered",
            enum=["pending", "answered", "expired", "cancelled"],
        ),
        "question": note("What was asked", "Deploy build 42 to production?"),
        "choices": note("The labels, as they were given", ["Approve", "Deny"]),
        "choice": note("The chosen label; null unless answered", "Approve"),
        "choice_index": note("The place of `choice` in `choices`, from 0; null unless answered", 0),
        "created_at": a_time("When it was asked"),
        "expires_at": a_time("When it stops being open", 600),
        "answered_at": note("When the answer was recorded, in Unix seconds; null unless answered", TIME + 42),
        "answered_by": {"description": "The device whose tap won; null unless a device answered"},
        "receipt": {"description": "What proves the tap; null unless the device signed"},
        "reason": note(
            "Only of a cancelled question, why: its asker withdrew it, nobody waited for it (`tether`), or its token "
            "was revoked",
            "withdrawn",
            enum=["withdrawn", "abandoned", "revoked"],
        ),
    },
    interactions.SimulateRequest: {
        "choice": note(
            "One of the question's choices, to the letter", "Approve", minLength=1, maxLength=limits.CHOICE_MAX_CHARS
        )
    },
    interactions.AnswerRequest: {
        "choice_index": CHOICE_INDEX,
        "answered_at": a_time("The phone's clock", 42),
        "signature": a_signature("Ed25519 over the answer message"),
    },
    interactions.AnswerResponse: {
        "id": an_id("int", "The question's id"),
        "status": note("It is answered", "answered"),
        "choice_index": CHOICE_INDEX,
        "answered_at": a_time("When the answer was recorded", 42),
    },
}
