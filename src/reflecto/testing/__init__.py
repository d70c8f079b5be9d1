"""For tests of programs that ask and send: a server that is none, and clients that tap their own questions.

    pytest_plugins = ["reflecto.testing.fixtures"]  # in conftest.py, for the fixture `reflecto_fake`

Needs nothing but the client; pytest only for the fixture.
"""

from reflecto.testing.fake_api import Asked, SentOut
from reflecto.testing.fake_server import FakeReflecto
from reflecto.testing.tapping import AsyncTappingReflecto, TappingReflecto

__all__ = ["Asked", "AsyncTappingReflecto", "FakeReflecto", "SentOut", "TappingReflecto"]
