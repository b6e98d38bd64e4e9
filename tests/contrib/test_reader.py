"""Readers of several trainers."""

import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError

share = fluid.contrib.reader.distributed_batch_reader


def batches():
    return iter([[k] for k in range(5)])


@pytest.mark.parametrize("number, own", [(0, [[0], [2]]), (1, [[1], [3]])])
def test_each_trainer_has_its_batches(monkeypatch, number, own):
    monkeypatch.setenv("PADDLE_TRAINERS_NUM", "2")
    monkeypatch.setenv("PADDLE_TRAINER_ID", str(number))
    assert list(share(batches)()) == own  # fluid 1.8.5 printed these


def test_one_trainer_has_all():
    assert len(list(share(batches)())) == 5


def test_a_trainer_that_is_none_is_refused(monkeypatch):
    monkeypatch.setenv("PADDLE_TRAINERS_NUM", "2")
    monkeypatch.setenv("PADDLE_TRAINER_ID", "2")
    with pytest.raises(ArgumentError, match="one of 2 trainers, 0 to 1"):
        share(batches)
    with pytest.raises(ArgumentError, match="expected a reader"):
        share(3)
