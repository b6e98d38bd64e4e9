"""Random programs over sequences compute the same interpreted, compiled, and in the real system."""

import os
import subprocess
import warnings

import numpy as np
import pytest

import fluidlite as fluid

from . import ragged
from .real import HERE, PYTHON
from .ways import interpreting

PROGRAMS = 40


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # texts that are too long for their rows
        yield


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_a_random_program_over_sequences_computes_the_same_compiled(seed):
    with interpreting():
        wanted = ragged.ran(fluid, seed, runs=4)
    for found, right in zip(ragged.ran(fluid, seed, runs=4), wanted, strict=True):
        assert not ragged.differences(found, right, 1e-4)


def test_together_they_have_every_piece():
    types = set()
    for seed in range(PROGRAMS):
        main, _, _ = ragged.build(fluid, seed)
        types |= {op.type for op in main.global_block().ops}
    wanted = """
        sequence_pool sequence_conv sequence_expand sequence_expand_as sequence_reverse gru lstm
        lstmp sequence_pad sequence_unpad while linear_chain_crf crf_decoding warpctc im2sequence
        sequence_slice sequence_concat sequence_reshape sequence_scatter sequence_enumerate
        conditional_block array_to_lod_tensor
    """
    assert types >= set(wanted.split())


@pytest.mark.skipif(not PYTHON, reason="FLUIDLITE_PADDLE18 names no Python with paddlepaddle 1.8.5")
def test_random_programs_over_sequences_compute_what_they_do_in_the_real_system(tmp_path):
    count, file = int(os.environ.get("FLUIDLITE_RAGGED_PROGRAMS", "20")), tmp_path / "found.npz"
    subprocess.run(
        [PYTHON, "-m", "random_programs.ragged", str(file), "1000", str(count)],
        cwd=HERE.parent,
        env={**os.environ, "PYTHONPATH": "", "GLOG_v": "0", "OMP_NUM_THREADS": "1"},
        check=True,
        capture_output=True,
    )
    said = {}
    with np.load(file) as real:
        for seed in range(1000, 1000 + count):
            (mine,) = ragged.ran(fluid, seed)
            theirs = {name: real[f"{seed}/{name}"] for name in mine}
            if wrong := ragged.differences(mine, theirs):
                said[seed] = wrong
    assert not said
