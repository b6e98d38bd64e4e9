import numpy as np
from mpi_jobs import need_mpi, run_job, succeeded
from normalized_job import normalized, run

import fluidlite as fluid


def test_statistics_of_batch_norm_are_those_of_each_process(tmp_path):
    """As of several devices of one process, which this is held against; the scope has those of the
    first.  The same job overflows in 16 bits, and looks for what is not finite.
    """
    need_mpi()
    loss = normalized()
    compiled = fluid.CompiledProgram(fluid.default_main_program()).with_data_parallel(
        loss_name=loss.name, places=fluid.cpu_places(2)
    )
    losses, kept = run(compiled, loss)
    succeeded(run_job("normalized_job.py", 2, tmp_path / "made.npz"))
    with np.load(tmp_path / "made.npz") as made:
        np.testing.assert_allclose(made["losses"], np.array(losses), rtol=1e-9)
        for name, want in kept.items():
            np.testing.assert_allclose(made[name], want, rtol=1e-9, atol=1e-12, err_msg=name)
