"""Programs as paddle 2 prints them, under the alias."""

import importlib

import numpy as np
import pytest

from fluidlite import compat
from fluidlite import paddle as own


@pytest.fixture
def paddle():
    compat.install(force=True, paddle="2.6")
    module = importlib.import_module("paddle")
    module.enable_static()
    yield module
    compat.uninstall()


def test_a_variable_is_one_line(paddle):
    block = paddle.static.default_main_program().current_block()
    x = block.create_var(name="V", shape=[-1, 4], dtype="float32")
    text = "var V : LOD_TENSOR.shape(-1, 4).dtype(float32).stop_gradient(False)"
    assert str(x) == repr(x) == text and str([x]) == f"[{text}]"
    w = paddle.static.create_parameter([3], "float64", name="w")
    assert str(w) == (
        "persist trainable param w : LOD_TENSOR.shape(3,).dtype(float64).stop_gradient(False)"
    )
    frozen = paddle.static.create_parameter(
        [3], "float32", attr=paddle.ParamAttr("f", trainable=False)
    )
    assert str(frozen).startswith("persist param f : LOD_TENSOR.shape(3,).dtype(float32)")
    plain = block.create_var(name="plain")
    assert str(plain) == "var plain : LOD_TENSOR.shape().dtype(bool).stop_gradient(False)"
    assert str(paddle.tensor.create_array("float32")) == "var array_0.out : LOD_TENSOR_ARRAY)"


def test_a_program_is_its_blocks_with_a_line_for_each_operator(paddle):
    main = paddle.static.Program()
    assert str(main) == "{ // block_idx:0  parent_idx:-1  forward_idx:-1  backward_idx:-1\n\n}\n"
    with paddle.static.program_guard(main):
        i = paddle.full([1], 0.1, "float32")
        paddle.static.nn.cond(i < 3.0, lambda: i * 2.0, lambda: i * 3.0)
    block = main.global_block()
    fill, *_ = block.ops
    assert str(fill) == repr(fill) and f"\n    {fill}\n" in str(main)
    begin = f"{{Out=['{i.name}']}} = fill_constant(inputs={{ShapeTensor=[]"
    assert str(fill).startswith(begin)
    assert str(fill).endswith("value = 0.10000000149011612, with_quant_attr = False)")
    branch = next(op for op in block.ops if op.type == "conditional_block")
    assert "sub_block = block[1]" in str(branch) and "op_callstack" not in str(branch)
    heads = [line for line in str(main).split("\n") if line.startswith("{ //")]
    assert heads[1] == "{ // block_idx:1  parent_idx:0  forward_idx:-1  backward_idx:-1"
    assert str(main) == "".join(f"{each}\n" for each in main.blocks)


def test_element_types_are_printed_with_the_name_of_the_package(paddle):
    x = paddle.static.data("x", [2], "int64")
    assert str(x.dtype) == f"{x.dtype}" == "paddle.int64"
    assert ".dtype(int64)." in str(x)
    paddle.disable_static()
    assert f"{paddle.ones([1]).dtype}" == "paddle.float32"
    assert repr(paddle.nn.Linear(2, 3)) == "Linear(in_features=2, out_features=3, dtype=float32)"


def test_values_with_sequences_are_printed_as_there(paddle):
    rows = np.arange(6).reshape(6, 1) / 3
    value = paddle.base.create_lod_tensor(rows, [[2, 1], [1, 2, 3]], paddle.CPUPlace())
    assert str(value) == (
        "  - lod: {{0, 2, 3}{0, 1, 3, 6}}\n  - shape: [6, 1]\n  - layout: NCHW\n"
        "  - place: Place(cpu)\n  - dtype: float64\n"
        "  - data: [0 0.333333 0.666667 1 1.33333 1.66667]"
    )
    empty = paddle.base.core.LoDTensor()
    assert str(empty) == "  - shape: []\n  - layout: NCHW\nuninited\n"
    empty.set(np.array([True, False]), paddle.CPUPlace())
    assert str(empty).endswith("  - dtype: bool\n  - data: [1 0]")
    assert str(empty).startswith("  - shape: [2]\n")


def test_messages_of_paddle_2_say_what_is_a_parameter_and_stops_gradients(paddle):
    w = paddle.static.create_parameter([3], "float32", name="w")
    a = paddle.static.data("a", [2])
    assert w.to_string(True).endswith(
        "persistable: true\nis_parameter: true\nstop_gradient: false\n"
    )
    assert a.to_string(True).endswith("need_check_feed: true\nstop_gradient: true\n")
    assert a.to_string(True, True).endswith("stop_gradient: true\nerror_clip: None\n")
    program = paddle.static.default_main_program().to_string(True)
    assert program.index('name: "a"') < program.index('name: "w"')


def test_what_1_8_prints_stays_messages():
    compat.install(force=True)
    try:
        fluid = importlib.import_module("paddle.fluid")
        x = fluid.data("x", [2], "float32")
        assert str(x.dtype) == "float32"
        assert str(x).startswith('name: "x"\n') and "stop_gradient" not in str(x)
        assert str(fluid.default_main_program()).startswith("blocks {")
    finally:
        compat.uninstall()


def test_without_the_alias_variables_say_where_they_are_made():

    own.enable_static()
    assert repr(own.static.data("x", [2])).startswith("<Variable x: ")
