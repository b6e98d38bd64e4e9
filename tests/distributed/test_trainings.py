import numpy as np
import pytest
from mpi_jobs import need_mpi, run_job, succeeded
from shared_training import NETS, trained

from fluidlite.ground.process_group import OneProcess

WANTED = [f"{name}:float64" for name in NETS] + ["mlp:float32", "lenet:float32"]


@pytest.fixture(scope="module")
def alone():
    """What one process makes of the whole batch, without any rewriting."""
    found = {}
    for each in WANTED:
        name, dtype = each.split(":")
        made = trained(name, dtype, OneProcess(), rewrite=False)
        found.update((f"{each}:{key}", value) for key, value in made.items())
    return found


def assert_like(found, alone):
    assert set(alone) <= set(found)
    for key, want in alone.items():
        double = ":float64:" in key
        if not double and not key.endswith(":losses"):
            continue
        scale = max(1.0, float(np.abs(want).max(initial=0.0)))
        far = float(np.abs(found[key] - want).max(initial=0.0))
        assert far <= (1e-9 if double else 1e-5) * scale, f"{key}: {far}"


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_processes_with_shares_of_a_batch_train_as_one_with_all_of_it(count, alone, tmp_path):
    need_mpi()
    succeeded(run_job("shared_training.py", count, tmp_path / "made.npz", *WANTED))
    with np.load(tmp_path / "made.npz") as made:
        assert_like(dict(made), alone)


def test_a_program_that_was_rewritten_trains_as_before_on_one_process(alone):
    for each in WANTED:
        name, dtype = each.split(":")
        made = trained(name, dtype, OneProcess())
        found = {f"{each}:{key}": value for key, value in made.items()}
        assert_like(found, {key: v for key, v in alone.items() if key.startswith(f"{each}:")})


def test_the_losses_fall(alone):
    for each in WANTED:
        losses = alone[f"{each}:losses"]
        assert losses[-3:].mean() < 0.9 * losses[:3].mean(), each
