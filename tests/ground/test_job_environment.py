import os
import threading

import pytest

from fluidlite.contrib.reader import distributed_batch_reader
from fluidlite.errors import UnsupportedError
from fluidlite.ground import job_environment as module
from fluidlite.ground.job_environment import (
    FOLDER,
    answer,
    as_variables,
    launched,
    note,
    note_fault,
    notes,
)
from fluidlite.ground.process_group import joined
from fluidlite.kernels import threads


def test_one_process_is_alone():
    found = launched()
    assert (found.rank, found.size, found.on_machine, found.by_mpi) == (0, 1, 1, False)
    assert (found.endpoints, found.endpoint) == (("127.0.0.1:6170",), "127.0.0.1:6170")


@pytest.mark.parametrize("prefix", ["PMI", "OMPI_COMM_WORLD", "MPI_WORLD", "PMIX"])
def test_starters_of_mpi_are_known(prefix, monkeypatch):
    monkeypatch.setenv(f"{prefix}_SIZE", "4")
    monkeypatch.setenv(f"{prefix}_RANK", "3")
    monkeypatch.setenv("PADDLE_TRAINERS_NUM", "9")  # those of MPI go before
    found = launched()
    assert (found.rank, found.size, found.by_mpi) == (3, 4, True)
    assert found.endpoint == "127.0.0.1:6173"


def test_old_programs_find_what_paddles_launcher_would_say(monkeypatch):
    monkeypatch.setenv("PMI_SIZE", "2")
    monkeypatch.setenv("PMI_RANK", "1")
    said = as_variables(launched())
    assert (said["PADDLE_TRAINER_ID"], said["PADDLE_TRAINERS_NUM"]) == ("1", "2")
    assert said["PADDLE_TRAINER_ENDPOINTS"] == "127.0.0.1:6170,127.0.0.1:6171"
    assert list(distributed_batch_reader(lambda: iter([[1], [2], [3]]))()) == [[2]]


def test_processes_that_mpi_has_not_started_are_told_how_to_start(monkeypatch):
    monkeypatch.setenv("PADDLE_TRAINERS_NUM", "2")
    monkeypatch.setenv("PADDLE_TRAINER_ID", "1")
    with pytest.raises(UnsupportedError, match=r"expected 2 processes .* --nproc 2 SCRIPT"):
        joined()


def test_processors_are_divided_among_the_processes_of_a_machine(monkeypatch):
    monkeypatch.setattr(threads, "cores", lambda: 8)
    monkeypatch.delenv("FLUIDLITE_NUM_THREADS", raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", "8")  # the BLAS stays as it is
    assert threads.share() == 8
    before = threads._pool.get()
    threads.divide(3)
    try:
        assert (threads.share(), threads.count()) == (2, 2)
        threads.divide(100)
        assert threads.share() == 1
    finally:
        threads._sharing.reset()
        threads._pool.switch(before)


def test_the_launcher_is_told_what_a_process_does(monkeypatch, tmp_path):
    note("started")  # nobody listens
    monkeypatch.setenv(FOLDER, str(tmp_path))
    assert notes(str(tmp_path), 0) == []
    note("started")
    note("ended 3")
    first, second = notes(str(tmp_path), 0)
    assert (first.word, first.rest, first.pid) == ("started", "", os.getpid())
    assert (second.word, second.rest) == ("ended", "3")
    assert first.time <= second.time


def test_a_process_that_has_met_a_fault_waits_for_the_launcher(monkeypatch, tmp_path):
    monkeypatch.setenv(FOLDER, str(tmp_path))
    monkeypatch.setattr(module, "_MOST", 60.0)
    waiting = threading.Thread(target=note_fault, args=["waited\nlong"])
    waiting.start()
    assert waiting.is_alive()
    answer(str(tmp_path))
    waiting.join(30)
    assert not waiting.is_alive()
    assert notes(str(tmp_path), 0)[0].rest == "waited long"
