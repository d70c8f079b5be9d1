"""Everything the client raises. `Denied` is in `approval`, since it carries an answer; all else is here.

ReflectoError
├── InvalidSettings         the URL or the token cannot be used; nothing was sent
├── InvalidFile             the file cannot be sent as a document; nothing was sent
├── InvalidKey              the idempotency key is none that a request can carry; nothing was sent
├── Unreachable             no connection, or it was lost, until there was no time left to try again
├── OutcomeUnknown          the request was sent, and nobody knows whether the server accepted it
├── BrokenContract          a reply that the contract does not allow; never taken for an answer
│   ├── ForeignReply        a redirect, or a page: something between here and the server replied
│   └── InvalidReceipt      a signature that does not prove the answer it came with
├── ApiError                a refusal: `code`, `status`, `retry_after`, `details`
│   ├── InvalidRequest      400, 413  the request breaks a rule
│   ├── AuthenticationError 401       the token is missing, malformed, unknown or revoked
│   ├── PermissionDenied    403       the token may not do that
│   ├── NotFound            404
│   ├── Conflict            409, 426  no phone, or none whose app is recent enough
│   │   └── AlreadyAnswered           the answer came before the withdrawal
│   ├── KeyReused           422       the idempotency key belongs to another call
│   ├── TooManyRequests     429       a limit, or ten questions pending
│   └── ServerError         5xx, and any status that something else than Reflecto replied with
├── IdempotencyMismatch     the key belongs to another question
├── Denied                  another than the first choice was tapped, so the guarded function did not run
├── QuestionClosed          the question ended without an answer
│   ├── QuestionExpired
│   └── QuestionCancelled
└── AnswerTimeout           the caller's own timeout; the question is still open

None of these is an answer, so none is an approval.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from reflecto.contract.limits import IDEMPOTENCY_KEY_MAX_CHARS


class ReflectoError(Exception):
    """The root of the tree.

    `code` is stable. `retry_after` is how many seconds the server asked to wait, where it did. `idempotency_key`
    is set where a question may have been stored although its asker got no reply: asking again with it finds it.
    """

    exit_code: ClassVar[int] = 9  # what the commands exit with; docs/cli.md has the table
    code: str = "error"
    retry_after: float | None = None
    idempotency_key: str | None = None


class InvalidSettings(ReflectoError, ValueError):
    """The URL or the token cannot be used; nothing was sent."""

    exit_code = 2
    code = "invalid_settings"


class InvalidFile(ReflectoError, ValueError):
    """It is not UTF-8 text, or above the limit; nothing was sent. `details` as the server would give them."""

    exit_code = 2

    def __init__(self, message: str, *, code: str, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.details = dict(details or {})


class InvalidKey(ReflectoError, ValueError):
    """What is sent needs a key that a header can carry, of ASCII characters that show; nothing was sent."""

    exit_code = 2
    code = "invalid_idempotency_key"

    def __init__(self) -> None:
        super().__init__(f"idempotency_key must be 1 to {IDEMPOTENCY_KEY_MAX_CHARS} characters of ASCII, on one line")


class Unreachable(ReflectoError):
    """No reply. `may_have_arrived`: the request was sent, so the server may have acted on it.

    `passing` is false for what no second try can mend, such as a certificate that is not trusted.
    """

    exit_code = 5
    code = "unreachable"

    def __init__(self, message: str, *, may_have_arrived: bool = True, passing: bool = True) -> None:
        super().__init__(message)
        self.may_have_arrived = may_have_arrived
        self.passing = passing


class OutcomeUnknown(ReflectoError):
    """The reply was lost, or something failed behind it: what was sent may have been accepted, or not.

    It was not sent again, for it might have arrived twice. `__cause__` is the failure.
    """

    exit_code = 10
    code = "outcome_unknown"


class BrokenContract(ReflectoError):
    """The reply is not one that the contract allows."""

    code = "broken_contract"


class ForeignReply(BrokenContract):
    """No error, but not from Reflecto either: a redirect, a sign-in page."""


class InvalidReceipt(BrokenContract):
    """The receipt does not prove this answer to this question; there is none where there has to be one."""

    exit_code = 11
    code = "invalid_receipt"


class ApiError(ReflectoError):
    """The server refused. `code` is its own, or `http_<status>` where something else than Reflecto replied."""

    def __init__(
        self,
        message: str,
        *,
        code: str = "error",
        status: int = 0,
        retry_after: float | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.status = status
        self.retry_after = retry_after
        self.details = dict(details or {})


class InvalidRequest(ApiError):
    """The request breaks a rule; `code` names the first offending field."""

    exit_code = 2


class AuthenticationError(ApiError):
    """The token is missing, malformed, unknown or revoked."""

    exit_code = 6


class PermissionDenied(ApiError):
    """The token's scopes or its priority cap do not allow it."""

    exit_code = 7


class NotFound(ApiError):
    """There is nothing under this address for this token."""


class Conflict(ApiError):
    """The state of things does not allow it."""

    exit_code = 7


class AlreadyAnswered(Conflict):
    """The question was answered before it could be withdrawn."""

    @property
    def choice(self) -> str | None:
        """The label that was tapped, where the server told."""
        choice = self.details.get("choice")
        return choice if isinstance(choice, str) else None


class KeyReused(ApiError):
    """Something else was sent under this idempotency key in the last 24 hours; this was not sent."""

    exit_code = 8


class TooManyRequests(ApiError):
    """A limit was hit (`rate_limit_exceeded`), ten questions are pending, or nobody takes any more (`queue_full`)."""

    exit_code = 7


class ServerError(ApiError):
    """The server failed, or something before it replied in its place: of that, `status` may be any and says little."""


class IdempotencyMismatch(ReflectoError):
    """The idempotency key was used for another question; its answer is not an answer to this one."""

    exit_code = 8
    code = "idempotency_mismatch"


class QuestionClosed(ReflectoError):
    """The question ended without an answer. `question_id` names it."""

    def __init__(self, message: str, *, question_id: str = "") -> None:
        super().__init__(message)
        self.question_id = question_id


class QuestionExpired(QuestionClosed):
    """Nobody answered in time."""

    exit_code = 3
    code = "expired"


class QuestionCancelled(QuestionClosed):
    """The question was ended without an answer.

    `reason` is `withdrawn`, `abandoned` (nobody waited for it, see `tether`), `revoked` (its token was), `dismissed`
    (refused on the phone), `wrong_number` (typed wrong twice), or one that this version does not know; None where the
    server told none.
    """

    exit_code = 4
    code = "cancelled"

    def __init__(self, message: str, *, question_id: str = "", reason: str | None = None) -> None:
        super().__init__(message, question_id=question_id)
        self.reason = reason


class AnswerTimeout(ReflectoError):
    """The caller's timeout ended before the question did. `question_id` can be waited for again, or cancelled."""

    code = "answer_timeout"

    def __init__(self, message: str, *, question_id: str = "") -> None:
        super().__init__(message)
        self.question_id = question_id
