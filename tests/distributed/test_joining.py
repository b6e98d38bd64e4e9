import sys

import pytest

import fluidlite as fluid
from fluidlite.distributed.timeouts import FIRST_WAITS, Timeouts
from fluidlite.errors import ArgumentError, UnsupportedError
from fluidlite.ground.process_group import OneProcess


@pytest.fixture
def alone(monkeypatch):
    """An environment without other processes."""
    for name in ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "MPI_WORLD_SIZE", "PMIX_SIZE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delitem(sys.modules, "mpi4py.MPI", raising=False)
    return monkeypatch


def test_a_process_that_was_started_alone_is_a_group_of_one(alone):
    assert isinstance(fluid.distributed.join(), OneProcess)
    alone.setenv("PMI_SIZE", "1")
    group = fluid.distributed.join()
    assert (group.rank, group.size) == (0, 1)


def test_several_processes_without_mpi4py_are_told_what_to_install(alone):
    alone.setenv("PMI_SIZE", "4")
    alone.setitem(sys.modules, "mpi4py", None)
    alone.setitem(sys.modules, "mpi4py.MPI", None)
    with pytest.raises(UnsupportedError) as failure:
        fluid.distributed.join()
    assert "4 processes were started together" in str(failure.value)
    assert 'pip install "fluidlite[mpi]"' in str(failure.value)


def test_the_first_waits_for_a_thing_may_take_longer():
    timeouts = Timeouts("2")
    for _ in range(FIRST_WAITS):
        assert timeouts.of("gradients") == 20
        timeouts.met("gradients")
    assert timeouts.of("gradients") == 2
    assert timeouts.of("something else") == 20
    assert Timeouts("2,7").of("gradients") == 7


def test_a_bound_is_one_or_two_numbers_of_seconds(monkeypatch):
    monkeypatch.setenv("FLUIDLITE_MPI_TIMEOUT", "soon")
    with pytest.raises(ArgumentError, match="expected FLUIDLITE_MPI_TIMEOUT to be seconds"):
        Timeouts()
    for text in ("0", "-1", "1,2,3", "1,"):
        with pytest.raises(ArgumentError, match="got"):
            Timeouts(text)
    monkeypatch.delenv("FLUIDLITE_MPI_TIMEOUT")
    assert Timeouts().of("gradients") == 3000
