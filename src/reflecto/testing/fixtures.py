"""What pytest takes from here: `pytest_plugins = ["reflecto.testing.fixtures"]` in the top-most conftest.py."""

from collections.abc import Iterator

import pytest

from reflecto.testing.fake_server import FakeReflecto


@pytest.fixture
def reflecto_fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeReflecto]:
    """A fake server of this test's own; REFLECTO_URL and REFLECTO_TOKEN name it while the test runs."""
    with FakeReflecto() as fake:
        monkeypatch.setenv("REFLECTO_URL", fake.url)
        monkeypatch.setenv("REFLECTO_TOKEN", fake.token)
        yield fake
