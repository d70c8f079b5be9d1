"""Tokens of before: with `ask` although their cap is below a question's priority. None can be made so any more."""

from reflecto.contract.ids import new_id, new_sender_token
from reflecto.contract.tokens import Priority
from reflecto.core.ports.store import Store
from reflecto.core.rules.outcomes import Addition
from reflecto.crypto.tokens import token_hash
from tests.actors import DeviceActor, Program
from tests.builders import make_token


async def capped_as_once(store: Store, phone: DeviceActor, cap: Priority) -> Program:
    """Put a token with every scope and this cap into the store, as older versions made it."""
    plaintext = new_sender_token(test=False)
    token = make_token(phone.owner_id, id=new_id("tok"), hash=token_hash(plaintext), priority_cap=cap)
    assert await store.add_token(token) is Addition.ADDED
    return Program(phone.http, plaintext, token.id)
