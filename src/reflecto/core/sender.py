"""The caller of the public API, and what its token allows. Source: api.md "Identities"."""

from functools import cached_property

from reflecto.contract.api_error import ApiError
from reflecto.contract.errors import PRIORITY_CAPPED, SCOPE_DENIED
from reflecto.contract.secret_record import SecretRecord
from reflecto.contract.tokens import Priority, Scope, is_above
from reflecto.core.model import Token
from reflecto.crypto.tokens import TokenKeys


class Sender(SecretRecord, frozen=True, dict=True):
    """The caller of the public API while its request is in flight; only then is the plaintext token known."""

    token: Token
    bearer: str

    @cached_property
    def keys(self) -> TokenKeys:
        """The keys its plaintext token yields."""
        return TokenKeys.derive(self.bearer)

    def require(self, scope: Scope, priority: Priority | None = None) -> None:
        """Refuse what the token may not do. Raises: ApiError `scope_denied`, `priority_capped`."""
        if scope not in self.token.scopes:
            raise ApiError(SCOPE_DENIED, f"This token lacks the scope '{scope}'")
        cap = self.token.priority_cap
        if priority is not None and cap is not None and is_above(priority, cap):
            raise ApiError(PRIORITY_CAPPED, f"Token's priority_cap is '{cap}'; requested '{priority}'")
