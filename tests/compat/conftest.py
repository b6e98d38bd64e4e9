"""The alias for one test at a time."""

import pytest

from fluidlite import compat


@pytest.fixture
def alias():
    """``paddle`` is served while the test runs."""
    compat.install(force=True)
    yield
    compat.uninstall()
