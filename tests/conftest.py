"""What holds for every test; the rest of the strictness is in pyproject.toml."""

from hypothesis import settings

# How fast this machine is today proves nothing; pytest-timeout bounds each test as a whole.
settings.register_profile("reflecto", settings(), deadline=None)
settings.load_profile("reflecto")
