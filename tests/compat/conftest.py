"""The alias for one test at a time."""

import pytest

from fluidlite import compat


@pytest.fixture
def alias():
    """``paddle`` 1.8 is served while the test runs."""
    compat.install(force=True, paddle="1.8")
    yield
    compat.uninstall()
