"""Every test begins with recording switched on."""

import pytest

from fluidlite.eager.mode import set_grad_enabled


@pytest.fixture(autouse=True)
def recording():
    set_grad_enabled(True)
    yield
    set_grad_enabled(True)
