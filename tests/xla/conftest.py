"""Tests of the JAX backend; without JAX they are skipped, and pytest says so."""

import os

import pytest

# before JAX is read for the first time: eight devices, for programs on several of them
os.environ["XLA_FLAGS"] = (
    os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8"
)
os.environ.setdefault("JAX_PLATFORMS", "cpu")


@pytest.fixture(autouse=True)
def jax():
    return pytest.importorskip("jax", reason='the backend "jax" needs fluidlite[jax]')
