"""The alias for one test at a time."""

import sys

import pytest

from fluidlite import compat


@pytest.fixture
def alias():
    """``paddle`` 1.8 is served while the test runs."""
    compat.install(force=True, paddle="1.8")
    yield
    compat.uninstall()


@pytest.fixture
def here():
    """What running a script in this process changes."""
    before = sys.argv, list(sys.path), sys.modules["__main__"]
    yield
    compat.uninstall()
    sys.argv, sys.path[:], sys.modules["__main__"] = before
