import pytest
from mpi_jobs import need_mpi, run_job, succeeded

#: seconds: the bound of the job, and what starting and ending processes may take besides
BOUND, MARGIN = 2, 30


def failed(fault, count):
    need_mpi()
    job = run_job("faulty_job.py", count, fault, FLUIDLITE_MPI_TIMEOUT=f"{BOUND},20")
    assert job.code != 0
    assert job.seconds < BOUND + MARGIN
    assert "done" not in job.out
    return job.err + job.out


def test_an_error_that_nobody_catches_ends_all_processes():
    said = failed("raises", 2)
    assert "ValueError: a mistake of the user's" in said
    assert "rank 1 of 2 ends all processes: ValueError was raised" in said


@pytest.mark.parametrize("count", [2, 3])
def test_a_process_that_is_killed_ends_the_others(count):
    failed("is killed", count)


def test_a_process_that_hangs_ends_the_others_and_they_say_what_they_waited_for():
    said = failed("hangs", 3)
    assert "of 3 waited 2 s for the sum of fc_0.b_0@GRAD, fc_0.w_0@GRAD over ring 0" in said
    assert "FLUIDLITE_MPI_TIMEOUT=2,20" in said


def test_a_process_that_ends_too_early_ends_the_others():
    said = failed("ends", 2)
    assert "rank 0 of 2 waits for the sum of fc_0.b_0@GRAD" in said
    assert "rank 1 has ended" in said


def test_processes_with_other_programs_are_refused_before_anything_runs():
    said = failed("another program", 3)
    assert "got another one on rank 2 than on rank 0; the first difference" in said
    assert "rank 2: " in said
    assert "(3, 5)" in said


def test_a_first_step_that_is_slow_is_no_stall():
    need_mpi()
    succeeded(run_job("faulty_job.py", 2, "is slow at first", FLUIDLITE_MPI_TIMEOUT="1,20"))
