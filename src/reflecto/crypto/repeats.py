"""What is derived from an Idempotency-Key while its request is in flight.

Source: api.md "Repeats of everything else".
"""

from dataclasses import dataclass, field
from typing import Final

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

HKDF_INFO: Final = b"reflecto idempotency v1"


@dataclass(frozen=True, slots=True)
class RepeatKeys:
    """Two independent values of 32 bytes: `mark` names the kept reply, under `sealing` it is sealed."""

    mark: bytes
    sealing: bytes = field(repr=False)

    @classmethod
    def derive(cls, secret: str, key: str) -> "RepeatKeys":
        """Derive them from the caller's secret, which has no line break, and the Idempotency-Key.

        Neither can be had from what a store holds: it knows neither.
        """
        stream = HKDF(algorithm=SHA256(), length=64, salt=None, info=HKDF_INFO).derive(f"{secret}\n{key}".encode())
        return cls(mark=stream[:32], sealing=stream[32:])
