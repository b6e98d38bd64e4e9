"""Items on their way from one process to another."""

import multiprocessing
import os

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.readers import transfer


def across(item, **how):
    here, there = multiprocessing.Pipe()
    transfer.send(there, item, **how)
    return transfer.receive(here)


@pytest.mark.parametrize("rows", [3, 30_000])
@pytest.mark.parametrize("shared", [True, False])
def test_arrays_arrive_as_they_were_sent(rows, shared):
    if not shared and rows > 3:
        rows = 1000  # what a pipe holds, for there is nobody at its other end yet
    item = [np.arange(rows, dtype="int64"), {"x": np.ones([rows, 2], "float32")}, "text"]
    found = across(item, shared=shared)
    np.testing.assert_array_equal(found[0], item[0])
    np.testing.assert_array_equal(found[1]["x"], item[1]["x"])
    assert found[2] == "text" and found[0].dtype == "int64"


@pytest.mark.parametrize("rows", [3, 30_000])
def test_what_arrives_can_be_written_to(rows):
    found = across(np.zeros(rows))
    found += 1
    assert found[-1] == 1


def test_sequences_keep_their_lod():
    found = across(fluid.LoDTensor(np.ones([30_000, 1]), [[0, 2, 30_000]]))
    assert found.lod() == [[0, 2, 30_000]] and found.data.shape == (30_000, 1)


def test_arrays_that_are_not_contiguous_arrive():
    item = np.arange(60_000).reshape(200, 300)[:, ::2]
    np.testing.assert_array_equal(across(item), item)


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="the system does not list files")
def test_no_file_stays_open():
    across(np.zeros(30_000))
    files = os.listdir("/proc/self/fd")
    found = [across(np.zeros(30_000)) for _ in range(3)]
    assert len(os.listdir("/proc/self/fd")) == len(files) and len(found) == 3


def test_what_cannot_be_pickled_is_refused_before_anything_is_sent():
    here, there = multiprocessing.Pipe()
    with pytest.raises(Exception, match=r"pickle|local"):
        transfer.send(there, lambda: 1)
    assert not here.poll()
