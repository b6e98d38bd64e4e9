"""Tensors, element types and shapes as OneFlow writes them: texts of OneFlow 0.9."""

import numpy as np
import pytest

from fluidlite import flow

INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize(
    "values, text",
    [
        ([1.0, 2.5], "[1.0000, 2.5000]"),
        ([1, 2, 30], "[ 1,  2, 30]"),
        ([True, False], "[ True, False]"),
        ([1e-5, 1.0], "[1.0000e-05, 1.0000e+00]"),
        ([1e5, 1.0], "[1.0000e+05, 1.0000e+00]"),
        ([1e8], "[100000000.]"),
        ([1e9], "[1.0000e+09]"),
        ([-1.5, 222.25], "[ -1.5000, 222.2500]"),
        ([INF, 1.0], "[       inf, 1.0000e+00]"),
        ([NAN, 2.5], "[   nan, 2.5000]"),
        ([NAN, 0.0], "[nan, 0.0000]"),
        ([0.0, 0.0], "[0., 0.]"),
        ([[1.0, 2.0], [3.0, 4.0]], "[[1., 2.],\n        [3., 4.]]"),
    ],
)
def test_elements_have_as_many_digits_as_they_need(values, text):
    dtype = flow.tensor(values).dtype
    assert repr(flow.tensor(values)) == f"tensor({text}, dtype={dtype})"


def test_notes_go_to_a_line_of_their_own_where_they_do_not_fit():
    long = flow.tensor([1.5, 2] * 4, requires_grad=True)
    assert repr(long) == (
        "tensor([1.5000, 2.0000, 1.5000, 2.0000, 1.5000, 2.0000, 1.5000, 2.0000],\n"
        "       dtype=oneflow.float32, requires_grad=True)"
    )
    assert repr(flow.zeros(0, 3)) == "tensor([], size=(0, 3), dtype=oneflow.float32)"
    assert repr(flow.ones(1, 1, 1, 2)) == "tensor([[[[1., 1.]]]], dtype=oneflow.float32)"


def test_large_tensors_show_their_ends():
    assert repr(flow.arange(2000)) == (
        "tensor([   0,    1,    2,  ..., 1997, 1998, 1999], dtype=oneflow.int64)"
    )
    lines = repr(flow.ones(40, 40)).splitlines()
    assert len(lines) == 7 and lines[3].strip() == "...,"
    assert lines[0] == "tensor([[1., 1., 1.,  ..., 1., 1., 1.],"


def test_results_say_which_operator_gave_them():
    x = flow.ones(3, 3, requires_grad=True)
    names = {
        "scalar_add": x + 1,
        "scalar_mul": x * 2,
        "add_n": x + x,
        "broadcast_mul": x * x,
        "scalar_div": x / 2,
        "reduce_sum": x.sum(),
        "matmul": x @ x,
        "view::reshape": x.reshape(9),
        "view::transpose": x.t(),
        "concat": flow.cat([x, x]),
        "negative": -x,
    }
    for name, result in names.items():
        assert f"grad_fn=<{name}_backward>)" in repr(result)
    assert f"{x.sum():.1f}" == "9.0" and f"{x.sum()}" == "9.0"


def test_places_print_beside_their_elements():
    assert repr(flow.max(flow.tensor([[1.0, 3.0]]), 1)) == (
        "oneflow.return_types.max(\nvalues=tensor([3.], dtype=oneflow.float32),\n"
        "indices=tensor([1], dtype=oneflow.int64))"
    )
    values, places = flow.sort(flow.tensor([2.0, 1.0]))
    assert values.tolist() == [1.0, 2.0] and places.dtype == flow.int32


def test_options_change_how_tensors_are_written():
    x = flow.tensor([1.5, 2.0])
    flow.set_printoptions(precision=2)
    assert repr(x).startswith("tensor([1.50, 2.00]")
    flow.set_printoptions(profile="full", sci_mode=True)
    assert repr(x).startswith("tensor([1.5000e+00, 2.0000e+00]")
    assert "..." not in repr(flow.zeros(2000))


def test_element_types_and_shapes_have_oneflow_s_names():
    assert [str(each) for each in (flow.float32, flow.bool, flow.int8)] == [
        "oneflow.float32", "oneflow.bool", "oneflow.int8",
    ]  # fmt: skip
    x = flow.ones(2, 3, dtype=flow.int8)
    assert x.dtype == flow.int8 and x.dtype.bytes == 1 and x.dtype.is_signed
    assert not x.dtype.is_floating_point and not flow.float32.is_complex
    assert np.zeros(1, flow.float64.dtype).dtype == "float64" and bool(flow.bool)
    assert repr(x.shape) == "oneflow.Size([2, 3])" and x.shape.numel() == 6
    assert repr(x.shape[1:] + (4,)) == "oneflow.Size([3, 4])" and x.shape == (2, 3)
    assert [1, *x.shape] == [1, 2, 3] and repr((1,) + x.shape) == "oneflow.Size([1, 2, 3])"


def test_limits_of_element_types():
    assert repr(flow.finfo(flow.float32)) == (
        "finfo(resolution=1e-06, min=-3.40282e+38, max=3.40282e+38, eps=1.19209e-07, "
        "tiny=1.17549e-38, dtype=oneflow.float32, bits=32)"
    )
    assert repr(flow.iinfo(flow.int32)) == (
        "iinfo(min=-2147483648, max=2147483647, dtype=oneflow.int32, bits=32)"
    )
    with pytest.raises(TypeError, match="use iinfo"):
        flow.finfo(flow.int8)
    with pytest.raises(AttributeError, match="has no attribute 'foo'"):
        flow.iinfo(flow.int8).foo  # noqa: B018


def test_zeros_fill_their_lines_as_other_numbers_do():
    row = ", ".join(["0."] * 24)
    assert repr(flow.zeros(25)) == f"tensor([{row},\n        0.], dtype=oneflow.float32)"


def test_the_type_begins_a_line_where_one_place_of_it_would_not_fit():
    shown = repr(flow.full((2, 2, 5), -0.25))
    assert shown.splitlines()[-2:] == [
        "         [-0.2500, -0.2500, -0.2500, -0.2500, -0.2500]]],",
        "       dtype=oneflow.float32)",
    ]
