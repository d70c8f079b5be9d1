"""The suite leaves no verb out: a new one comes with its promise as tests."""

import inspect
import re
from pathlib import Path

from reflecto.core.ports.store import Store


def test_every_verb_of_the_store_is_called_by_the_suite():
    verbs = [name for name, member in vars(Store).items() if inspect.isfunction(member) and not name.startswith("_")]
    suite = "\n".join(path.read_text("utf-8") for path in Path(__file__).parent.glob("*.py"))
    assert len(verbs) > 20
    assert [verb for verb in verbs if not re.search(rf'\.{verb}\(|"{verb}"', suite)] == []
