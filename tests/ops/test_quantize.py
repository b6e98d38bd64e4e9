"""Roundings to few bits against Python's own arithmetic."""

import math

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.eager.recording import eager
from fluidlite.errors import AttributeValueError, DTypeError, ShapeError
from fluidlite.opdef.definition import lookup

from gradcheck import evaluator
from infer import infer

f = evaluator()
rng = np.random.default_rng(0)
X = rng.normal(size=[3, 4, 2])


def whole(x, scale, top=127):
    """``x`` in whole numbers, halves away from zero."""
    number = max(min(x, scale), -scale) * top / scale
    return math.copysign(math.floor(abs(number) + 0.5), number)


def wholes(x, scale, top=127):
    return np.vectorize(lambda v: whole(v, scale, top))(x)


@pytest.mark.parametrize("bits", [8, 4])
def test_the_largest_number_gives_the_scale(bits):
    out, scale = f.fake_quantize_abs_max(X, bit_length=bits)
    assert scale == [abs(X).max()]
    np.testing.assert_array_equal(out, wholes(X, scale[0], 2 ** (bits - 1) - 1))


def test_numbers_below_the_least_scale_are_zeros():
    for scale, number in ((9e-31, 0), (1e-30, 127)):
        x = np.array([scale, -scale], "float32")
        zero = np.zeros(1, "float32")
        expected = [number, -number]
        np.testing.assert_array_equal(f.fake_quantize_abs_max(x)[0], expected)
        np.testing.assert_array_equal(f.fake_channel_wise_quantize_abs_max(x[None])[0][0], expected)
        np.testing.assert_array_equal(f.fake_quantize_moving_average_abs_max(x, zero)[0], expected)
        found = f.fake_quantize_dequantize_moving_average_abs_max(x, zero)[0]
        np.testing.assert_allclose(found, x if number else [0, 0], rtol=1e-6)


def test_halves_in_single_precision_are_those_of_the_scale_s_reciprocal():
    scale = np.float32(1.1)  # 127 * (1 / 1.1) * 0.55 is 63.499996
    out, _ = f.fake_quantize_abs_max(np.array([scale, scale / 2], "float32"))
    expected = np.floor(np.float32(127) * (np.float32(1) / scale) * (scale / 2) + np.float32(0.5))
    assert out[1] == expected


def test_a_window_of_scales_begins_empty_where_the_operator_runs_at_once():
    outs = eager.fake_quantize_range_abs_max.all(
        *map(fluid.to_tensor, (np.float32([1, -2]), np.float32([0.5]), np.array([1]))),
        window_size=3,
    )
    np.testing.assert_array_equal(outs["OutScales"].numpy(), [0, 2, 0])
    np.testing.assert_array_equal(outs["Out"].numpy(), [64, -127])


def test_halves_are_rounded_away_from_zero():
    out, _ = f.fake_quantize_abs_max(np.array([0.5, -0.5, 1.5, 127]))
    np.testing.assert_array_equal(out, [1, -1, 2, 127])


def test_zeros_stay_zeros():
    out, scale = f.fake_quantize_abs_max(np.zeros([2, 3]))
    assert not out.any()
    assert scale == [0]


def test_slices_have_scales_of_their_own():
    out, scales = f.fake_channel_wise_quantize_abs_max(X)
    for k in range(3):
        assert scales[k] == abs(X[k]).max()
        np.testing.assert_array_equal(out[k], wholes(X[k], scales[k]))


@pytest.mark.parametrize("back", [False, True])
def test_the_scale_is_a_mean_over_runs(back):
    kind = "quantize_dequantize" if back else "quantize"
    quantize = getattr(f, f"fake_{kind}_moving_average_abs_max")
    accum, state, largest = np.array([1.5]), np.array([2.0]), abs(X).max()
    outs = quantize.all(X, np.array([0.5]), accum, state, moving_rate=0.75)
    assert outs["OutState"] == pytest.approx([0.75 * 2 + 1])
    assert outs["OutAccum"] == pytest.approx([0.75 * 1.5 + largest])
    scale = outs["OutScale"][0]
    assert scale == pytest.approx((0.75 * 1.5 + largest) / 2.5)
    expected = wholes(X, scale) * (scale / 127 if back else 1)
    np.testing.assert_allclose(outs["Out"], expected)
    test = quantize.all(X, np.array([0.5]), accum, state, is_test=True)
    np.testing.assert_allclose(test["Out"], wholes(X, 0.5) * (0.5 / 127 if back else 1))
    assert test["OutScale"] == [0.5]


def test_a_scale_may_be_averaged_on_its_own():
    outs = f.moving_average_abs_max_scale.all(X, np.array([1.5]), np.array([2.0]), moving_rate=0.75)
    np.testing.assert_array_equal(outs["Out"], X)
    assert outs["OutScale"] == pytest.approx([(0.75 * 1.5 + abs(X).max()) / 2.5])


def test_the_scale_is_the_largest_of_a_window():
    window, scale, numbers = np.zeros(2), np.array([0.0]), []
    for run, largest in enumerate([3.0, 5.0, 1.0, 2.0]):
        x = np.array([largest, -0.5])
        op = lookup("fake_quantize_range_abs_max")(dict(window_size=2))
        ins = dict(X=x, InScale=scale, Iter=np.array([run]), OutScales=window)
        outs = f.apply(op, ins)
        scale, window = outs["OutScale"], outs["OutScales"]
        numbers.append(scale[0])
    assert numbers == [3, 5, 5, 2]  # 5 leaves the window of two at the fourth run


def test_whole_numbers_are_turned_back():
    whole = rng.integers(-127, 128, size=[2, 3]).astype("int8")
    scale = np.array([0.8])
    found = f.dequantize_abs_max(whole, scale, max_range=127.0)
    np.testing.assert_allclose(found, whole * 0.8 / 127)
    found = f.fake_dequantize_max_abs(whole.astype("float64"), scale, max_range=127.0)
    np.testing.assert_allclose(found, whole * 0.8 / 127)
    scales = np.array([0.5, 2.0])
    found = f.fake_channel_wise_dequantize_max_abs(whole.astype("float64"), [scales])
    np.testing.assert_allclose(found, whole * scales[:, None] / 127)
    more = [np.array([1.0, 2, 3]), np.array([0.5])]
    found = f.fake_channel_wise_dequantize_max_abs(whole.astype("float64"), more, quant_bits=[8, 4])
    np.testing.assert_allclose(found, whole * more[0] / 127 * 0.5 / 7)


def test_a_table_says_what_whole_numbers_stand_for():
    table = rng.uniform(size=128)
    found = f.dequantize_log(np.array([0, 5, -128, -1], "int8"), table)
    np.testing.assert_array_equal(found, [table[0], table[5], -table[0], -table[127]])


@pytest.mark.parametrize(
    "error, message, type, attrs, inputs",
    [
        (
            AttributeValueError,
            "bit_length from 2 to 16, got 1",
            "fake_quantize_abs_max",
            dict(bit_length=1),
            dict(X=((2, 3), "float32")),
        ),
        (
            ShapeError,
            "InScale to hold one number",
            "fake_quantize_moving_average_abs_max",
            dict(),
            dict(X=((2, 3), "float32"), InScale=((2,), "float32")),
        ),
        (
            ShapeError,
            "expected InAccum and InState",
            "moving_average_abs_max_scale",
            dict(),
            dict(X=((2, 3), "float32")),
        ),
        (
            AttributeValueError,
            "window_size of at least 1, got 0",
            "fake_quantize_range_abs_max",
            dict(window_size=0),
            dict(X=((2, 3), "float32"), InScale=((1,), "float32")),
        ),
        (
            AttributeValueError,
            "max_range above 0, got 0",
            "fake_dequantize_max_abs",
            dict(max_range=0.0),
            dict(X=((2, 3), "float32"), Scale=((1,), "float32")),
        ),
        (
            DTypeError,
            "X to be int8, got int32",
            "dequantize_log",
            dict(),
            dict(X=((2, 3), "int32"), Dict=((128,), "float32")),
        ),
        (
            ShapeError,
            "a scale for each slice along dimension 0",
            "fake_channel_wise_dequantize_max_abs",
            dict(),
            dict(X=((2, 3), "float32"), Scales=[((3,), "float32")]),
        ),
    ],
)
def test_what_does_not_fit_is_refused(error, message, type, attrs, inputs):
    with pytest.raises(error) as raised:
        infer(type, attrs, **inputs)
    assert message in str(raised.value)


STRAIGHT = {
    "fake_quantize_abs_max": ({}, {}),
    "fake_channel_wise_quantize_abs_max": ({}, {}),
    "fake_quantize_moving_average_abs_max": ({"InScale": [0.5]}, {}),
    "fake_quantize_dequantize_moving_average_abs_max": ({"InScale": [0.5]}, {"is_test": True}),
    "moving_average_abs_max_scale": ({"InAccum": [1.0], "InState": [1.0]}, {}),
    "fake_quantize_range_abs_max": ({"InScale": [0.5]}, {}),
    "fake_dequantize_max_abs": ({"Scale": [0.5]}, {"max_range": 127.0}),
    "fake_channel_wise_dequantize_max_abs": ({"Scales": [[0.5, 0.25, 1.0]]}, {}),
}


def appended(block, type, x, more, attrs):
    """Out of an operator that is appended to a block, which reads constants beside x."""
    constants = {}
    for slot, value in more.items():
        value = value[0] if isinstance(value[0], list) else value
        constants[slot] = fluid.layers.assign(np.array(value, "float32"))
    outputs = {
        slot.name: block.create_var(dtype="float32", shape=x.shape)
        for slot in lookup(type).outputs
        if slot.name in ("Out", "OutScale") or not slot.optional
    }
    block.append_op(type, {"X": x, **constants}, outputs, attrs)
    return outputs["Out"]


@pytest.mark.parametrize("type", STRAIGHT)
def test_the_gradient_of_the_result_passes_straight_through(type):
    """As Paddle 2.6.2 has it, also where a number lies beyond the scale."""
    more, attrs = STRAIGHT[type]
    x = rng.normal(size=[3, 4]).astype("float32")
    weight = rng.normal(size=[3, 4]).astype("float32")
    tensor = fluid.to_tensor(x, stop_gradient=False)
    constants = {
        k: [fluid.to_tensor(np.float32(v[0]))] if k == "Scales" else fluid.to_tensor(np.float32(v))
        for k, v in more.items()
    }
    out = getattr(eager, type).all(tensor, **constants, **attrs)["Out"]
    (out * fluid.to_tensor(weight)).sum().backward()
    np.testing.assert_array_equal(tensor.grad.numpy(), weight)

    program = fluid.Program()
    with fluid.program_guard(program, fluid.Program()):
        data = fluid.data("x", [3, 4])
        data.stop_gradient = False
        built = appended(program.global_block(), type, data, more, attrs)
        loss = fluid.layers.reduce_sum(built * fluid.layers.assign(weight))
        (gradient,) = fluid.gradients(loss, data)
    found = fluid.Executor().run(program, feed={"x": x}, fetch_list=[gradient, built])
    np.testing.assert_array_equal(found[0], weight)
    np.testing.assert_array_equal(found[1], out.numpy())


def rounded_by_hand(x):
    """Rounded to 8 bits by the largest number, in NumPy."""
    scale = abs(x).max()
    return wholes(x, scale) * scale / 127


def test_a_network_is_trained_as_if_its_weights_were_rounded():
    """Weights and activations of a layer are rounded; every step is that of NumPy, where the
    gradient by what was rounded is that by what it was rounded to.
    """
    draw = np.random.default_rng(7)
    data, target = draw.normal(size=[32, 5]), draw.normal(size=[5, 1])
    labels = data @ target
    start = draw.normal(size=[5, 1])

    program, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(program, startup):
        x, y = fluid.data("x", [32, 5], "float64"), fluid.data("y", [32, 1], "float64")
        w = fluid.layers.create_parameter([5, 1], "float64", attr=fluid.ParamAttr(name="w"))
        block = program.global_block()

        def rounded(v):
            whole, scale, back = (block.create_var(dtype="float64", shape=v.shape) for _ in "abc")
            outputs = {"Out": whole, "OutScale": scale}
            block.append_op("fake_quantize_abs_max", {"X": v}, outputs, {"bit_length": 8})
            inputs = {"X": whole, "Scale": scale}
            block.append_op("fake_dequantize_max_abs", inputs, {"Out": back}, {"max_range": 127.0})
            return back

        loss = fluid.layers.mean(fluid.layers.square(fluid.layers.mul(rounded(x), rounded(w)) - y))
        fluid.optimizer.SGD(0.1).minimize(loss)
    executor = fluid.Executor()
    executor.run(startup)
    fluid.global_scope().find_var("w").get_tensor().set(start, fluid.CPUPlace())

    weights = start.copy()
    losses = []
    for _ in range(20):
        (found,) = executor.run(program, feed={"x": data, "y": labels}, fetch_list=[loss])
        inputs = rounded_by_hand(data)
        error = inputs @ rounded_by_hand(weights) - labels
        np.testing.assert_allclose(found, (error**2).mean(), rtol=1e-6)
        weights -= 0.1 * inputs.T @ (2 * error / len(error))
        losses.append(float(found[0]))
    np.testing.assert_allclose(fluid.global_scope().find_var("w").get_tensor(), weights, rtol=1e-6)
    assert losses[-1] < losses[0] / 50


def test_scales_of_slices_stay_those_of_training_in_a_test():
    program = fluid.Program()
    with fluid.program_guard(program), fluid.scope_guard(fluid.Scope()):
        x = fluid.data("x", [2, 4], "float32")
        block = program.global_block()
        scale = block.create_var(name="scale", shape=[4], dtype="float32", persistable=True)
        out = block.create_var(name="out", shape=[2, 4], dtype="float32")
        fluid.global_scope().var("scale").get_tensor().set(np.full(4, 63.5, "float32"))
        attrs = {"quant_axis": 1, "is_test": True}
        outputs = {"Out": out, "OutScale": scale}
        block.append_op("fake_channel_wise_quantize_abs_max", {"X": x}, outputs, attrs)
        feed = {"x": np.array([[-127, 0.5, 1.5, 2.5], [3.5, -0.5, -2.5, 254]], "float32")}
        (whole,) = fluid.Executor().run(program, feed, [out])
    assert whole.tolist() == [[-127, 1, 3, 5], [7, -1, -5, 127]]
