import pytest
from mpi_jobs import need_mpi, run_job, succeeded


@pytest.mark.parametrize("count", [1, 2, 3])
def test_collective_operators_compute_what_numpy_makes_of_all_inputs(count):
    need_mpi()
    job = succeeded(run_job("collective_job.py", count))
    assert job.out.count("all is well") == count


def test_they_do_so_where_runs_are_compared_and_where_plans_are_not_rewritten():
    need_mpi()
    succeeded(run_job("collective_job.py", 2, FLUIDLITE_CHECK="1"))
    succeeded(run_job("collective_job.py", 2, FLUIDLITE_PASSES="none"))
