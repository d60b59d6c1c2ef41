"""Settings of the property tests: no time limit per example, because the machine may be shared."""

from hypothesis import settings

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
