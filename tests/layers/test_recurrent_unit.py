"""Units of recurrent nets."""

from fluidlite import layers
from fluidlite.errors import ArgumentError, ShapeError

from building import data, refused, written


def test_a_gated_unit_makes_its_weights_and_returns_state_reset_and_gates():
    found = layers.gru_unit(data(shape=[None, 6]), data("h", [None, 2]), 6)
    assert [each.shape for each in found] == [(-1, 2), (-1, 2), (-1, 6)]
    assert "gru_unit(Input=x, HiddenPrev=h, Weight=gru_unit_0.w_0" in written()[-1]


def test_a_gated_unit_may_have_no_bias():
    layers.gru_unit(data(shape=[None, 6]), data("h", [None, 2]), 6, bias_attr=False)
    assert "Bias" not in written()[-1]


def test_a_gated_unit_refuses_sizes_and_activations():
    x, h = data(shape=[None, 6]), data("h", [None, 2])
    with refused(ArgumentError, "expected size to be 3 times that of the state, got 7"):
        layers.gru_unit(x, h, 7)
    with refused(ShapeError, "expected"):
        layers.gru_unit(x, h, 9)
    with refused(ArgumentError, "expected activation to be one of .*got 'nope'"):
        layers.gru_unit(x, h, 6, activation="nope")
