"""What the wire models' types cannot say: each field's meaning, an example, and bounds checked elsewhere.

`api.openapi` adds these to the schemas it draws from the models. A test walks both ways: no field without its note,
no note without its field.
"""

from typing import Final

from reflecto.api.fields.devices import DEVICES
from reflecto.api.fields.note import Notes
from reflecto.api.fields.pairing import PAIRING
from reflecto.api.fields.questions import QUESTIONS
from reflecto.api.fields.sending import SENDING

NOTES: Final[Notes] = {**QUESTIONS, **SENDING, **DEVICES, **PAIRING}
