"""What a record keeps secret is in no `repr`: a traceback that shows its locals would tell it."""

import pytest

from reflecto.api.mcp_exchanges import McpCaller
from reflecto.contract.secret_record import SecretRecord
from reflecto.core.enrolment import Invitation
from reflecto.core.sender import Sender
from reflecto.crypto.envelopes import BoxKeys
from reflecto.crypto.pairing import PairingSecret
from reflecto.crypto.tokens import TokenKeys
from reflecto.crypto.webpush import VapidKeys
from tests.builders import make_token

RECORDS = [
    BoxKeys(b"public", b"hush"),
    TokenKeys(b"hush", b"hush"),
    VapidKeys(b"hush"),
    PairingSecret("par_1", b"hush"),
    Invitation("hush", 1),
    McpCaller("tok_1", "hush", "127.0.0.1"),
    Sender(make_token("own_1"), "hush"),
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
def test_the_repr_of_a_record_tells_no_secret(record: SecretRecord):
    assert "hush" not in repr(record)
    assert "hush" not in repr([record])
    assert "hush" not in str(list(record.__rich_repr__()))
