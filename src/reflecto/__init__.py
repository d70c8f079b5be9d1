"""Reflecto: notifications and questions on your own screens, self-hosted.

    from reflecto import Reflecto

What asks is imported at its first use: a program that only needs the version pays for no HTTP library.
"""

from typing import TYPE_CHECKING

RELEASE = "0.1.0"  # `__version__` is this and, in a clone or a build of one, the commit

if TYPE_CHECKING:
    __version__: str

    from reflecto.client.aio import AsyncReflecto
    from reflecto.client.approval import Denied, approve
    from reflecto.client.details import diff_details, file_details, fit_details
    from reflecto.client.errors import (
        AlreadyAnswered,
        AnswerTimeout,
        ApiError,
        AuthenticationError,
        BrokenContract,
        Conflict,
        IdempotencyMismatch,
        InvalidFile,
        InvalidKey,
        InvalidReceipt,
        InvalidRequest,
        InvalidSettings,
        KeyReused,
        NotFound,
        OutcomeUnknown,
        PermissionDenied,
        QuestionCancelled,
        QuestionClosed,
        QuestionExpired,
        ReflectoError,
        ServerError,
        TooManyRequests,
        Unreachable,
    )
    from reflecto.client.given import Given
    from reflecto.client.proofs import verify
    from reflecto.client.results import (
        Answer,
        Caveat,
        Delivery,
        Device,
        DeviceStatus,
        Question,
        QuestionState,
        Receipt,
        Reminder,
        ReminderSet,
        Sent,
        SentFile,
        SignedComment,
    )
    from reflecto.client.sync import Reflecto
    from reflecto.contract.details import CodeBlock, DetailField, DiffBlock, FieldsBlock, TextBlock

__all__ = [
    "AlreadyAnswered",
    "Answer",
    "AnswerTimeout",
    "ApiError",
    "AsyncReflecto",
    "AuthenticationError",
    "BrokenContract",
    "Caveat",
    "CodeBlock",
    "Conflict",
    "Delivery",
    "Denied",
    "DetailField",
    "Device",
    "DeviceStatus",
    "DiffBlock",
    "FieldsBlock",
    "Given",
    "IdempotencyMismatch",
    "InvalidFile",
    "InvalidKey",
    "InvalidReceipt",
    "InvalidRequest",
    "InvalidSettings",
    "KeyReused",
    "NotFound",
    "OutcomeUnknown",
    "PermissionDenied",
    "Question",
    "QuestionCancelled",
    "QuestionClosed",
    "QuestionExpired",
    "QuestionState",
    "Receipt",
    "Reflecto",
    "ReflectoError",
    "Reminder",
    "ReminderSet",
    "Sent",
    "SentFile",
    "ServerError",
    "SignedComment",
    "TextBlock",
    "TooManyRequests",
    "Unreachable",
    "__version__",
    "approve",
    "diff_details",
    "file_details",
    "fit_details",
    "verify",
]

_MODULES = {  # whatever is not here is an error
    "AsyncReflecto": "client.aio",
    "CodeBlock": "contract.details",
    "Denied": "client.approval",
    "DetailField": "contract.details",
    "DiffBlock": "contract.details",
    "FieldsBlock": "contract.details",
    "Given": "client.given",
    "Reflecto": "client.sync",
    "TextBlock": "contract.details",
    "approve": "client.approval",
    "diff_details": "client.details",
    "file_details": "client.details",
    "fit_details": "client.details",
    "verify": "client.proofs",
} | dict.fromkeys(
    (
        "Answer",
        "Caveat",
        "Delivery",
        "Device",
        "DeviceStatus",
        "Question",
        "QuestionState",
        "Receipt",
        "Reminder",
        "ReminderSet",
        "Sent",
        "SentFile",
        "SignedComment",
    ),
    "client.results",
)


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 -- see the module's docstring

    if name == "__version__":
        return import_module("reflecto.version").version()
    module = import_module(f"reflecto.{_MODULES.get(name, 'client.errors')}")
    found: object = getattr(module, name)
    globals()[name] = found  # the next use does not come here
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
