"""paddle 2's calls among processes."""

import pytest
from mpi_jobs import need_mpi, run_job, succeeded


@pytest.mark.parametrize("count", [2, 3])
def test_tensors_of_all_processes_are_computed_together(count):
    need_mpi()
    job = succeeded(run_job("paddle_job.py", count))
    assert job.out.count("all is well") == count
