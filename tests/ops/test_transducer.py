"""The loss of a transducer, by going through all ways."""

import itertools

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import NoGradientError

from gradcheck import evaluator

f = evaluator()


def by_all_ways(part, labels, blank):
    """The loss of a row: the ways to place the labels among its steps."""
    steps, width = part.shape[0], len(labels)
    chances = []
    for places in itertools.combinations_with_replacement(range(steps), width):
        chance, written = 0.0, 0
        for t in range(steps):
            while written < width and places[written] == t:
                chance += part[t, written, labels[written]]
                written += 1
            chance += part[t, written, blank]
        chances.append(chance)
    return -np.log(np.exp(chances).sum())


def test_the_loss_is_that_of_all_ways_to_write_the_labels():
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=[2, 4, 3, 5])
    x = numbers - np.log(np.exp(numbers).sum(-1, keepdims=True))
    label, steps, widths = np.array([[1, 2], [3, 3]]), np.array([4, 3]), np.array([2, 1])
    loss = f.warprnnt(x, label, steps, widths, blank=4)
    for row in range(2):
        wanted = by_all_ways(x[row, : steps[row]], label[row, : widths[row]], 4)
        assert loss[row] == pytest.approx(wanted)


def test_a_second_derivative_is_refused():
    with fluid.program_guard(fluid.Program(), fluid.Program()):
        x = fluid.data("x", [1, 2, 2, 3])
        x.stop_gradient = False
        block = fluid.default_main_program().global_block()
        one = fluid.layers.fill_constant([1], "int32", 1)
        label = fluid.layers.fill_constant([1, 1], "int32", 1)
        loss, slopes = block.create_var(name="loss"), block.create_var(name="slopes")
        ins = dict(input=x, label=label, input_lengths=one, label_lengths=one)
        block.append_op("warprnnt", inputs=ins, outputs=dict(loss=loss, warprnntgrad=slopes))
        (first,) = fluid.gradients(loss, x)
        with pytest.raises(NoGradientError, match=r"rnnt_loss has one"):
            fluid.gradients(first, x)
            exe = fluid.Executor()
            exe.run(feed={"x": np.zeros([1, 2, 2, 3], "float32")}, fetch_list=[first])
