"""Models of ONNX as programs."""

import json

import numpy as np
import pytest
from exported.graphs_of_nodes import ends, graph, helper, model, node, run
from exported.models import assert_same, onnx
from exported.models import run as run_by_onnx
from exported.node_cases import array_of, cases

import fluidlite as fluid
from fluidlite import layers
from fluidlite.command_line.cli import main as command
from fluidlite.errors import ArgumentError, UnsupportedError
from fluidlite.onnx.forms import NODE_BUILDERS
from fluidlite.onnx.functions import OLDEST

load = fluid.onnx.load
RNG = np.random.default_rng(0)
W = RNG.normal(size=(3, 2)).astype("float32")


@pytest.fixture(autouse=True)
def fresh():
    with fluid.program_guard(fluid.Program(), fluid.Program()), fluid.unique_name.guard():
        with fluid.scope_guard(fluid.Scope()):
            yield


def types(loaded):
    return [op.type for op in loaded.program.global_block().ops]


def test_a_file_gives_a_program_what_to_feed_and_what_to_fetch(tmp_path):
    made = model([node("MatMul", "x w", "y")], "x:float32[n,3]", "y:float32[n,2]", w=W)
    onnx.save(made, tmp_path / "m.onnx")
    program, feeds, fetches = loaded = load(tmp_path / "m.onnx")
    assert feeds == ["x"] and [v.name for v in fetches] == ["y"]
    assert [p.name for p in program.all_parameters()] == ["w"]
    assert fetches[0].shape == (-1, 2) and repr(loaded) == "Imported(x -> y, 1 operators)"
    x = RNG.normal(size=(4, 3)).astype("float32")
    np.testing.assert_allclose(run(loaded, x=x)[0], x @ W, rtol=1e-6)


def test_names_of_inner_values_stay():
    nodes = [node("Exp", "x", "grown"), node("Softplus", "grown", "y")]
    loaded = load(model(nodes, "x:float32[2]", "y:float32[2]"))
    assert {"x", "grown", "y"} <= set(loaded.program.global_block().vars)


def test_names_of_layers_that_follow_differ_from_those_of_the_model():
    made = model([node("MatMul", "x fc_0.w_0", "y")], "x:float32[n,3]", "y", **{"fc_0.w_0": W})
    loaded = load(made)
    with fluid.program_guard(loaded.program, loaded.startup):
        layers.fc(loaded.fetches[0], 2)
    assert [p.name for p in loaded.program.all_parameters()] == ["fc_0.w_0", "fc_1.w_0", "fc_1.b_0"]


def test_gradients_pass_and_a_step_of_an_optimizer_changes_the_parameters():
    nodes = [node("Gemm", "x w b", "h"), node("Tanh", "h", "y")]
    loaded = load(model(nodes, "x:float32[n,3]", "y", w=W, b=np.zeros(2, "float32")))
    with fluid.program_guard(loaded.program, loaded.startup):
        loss = layers.mean(loaded.fetches[0])
        slopes = {p.name: g for p, g in fluid.backward.append_backward(loss)}
        (dx,) = fluid.gradients(loss, [loaded.program.global_block().var("w")])
    assert sorted(slopes) == ["b", "w"]
    exe, x = fluid.Executor(), RNG.normal(size=(4, 3)).astype("float32")
    found = exe.run(loaded.program, {"x": x}, [slopes["w"], dx])
    right = x.T @ ((1 - np.tanh(x @ W) ** 2) / 8)
    for each in found:
        np.testing.assert_allclose(each, right, rtol=1e-5)


@pytest.mark.parametrize("wanted", [["w"], "w", lambda name: name == "w"])
def test_which_initializers_are_trained_can_be_said(wanted):
    made = model([node("Gemm", "x w b", "y")], "x:float32[n,3]", "y", w=W, b=np.ones(2, "float32"))
    assert [p.name for p in load(made, trainable=wanted).program.all_parameters()] == ["w"]
    with pytest.raises(ArgumentError, match="did you mean 'w'"):
        load(made, trainable=["W"])


def test_statistics_of_a_batch_normalisation_are_no_parameters():
    one = np.ones(3, "float32")
    made = model(
        [node("BatchNormalization", "x s b m v", "y")],
        "x:float32[n,3,2,2]",
        "y",
        s=one,
        b=one,
        m=one,
        v=one,
    )
    trained = {p.name: p.trainable for p in load(made).program.all_parameters()}
    assert trained == {"s": True, "b": True, "m": False, "v": False}


def test_what_depends_on_constants_is_computed_when_the_model_is_loaded():
    nodes = [
        node("Shape", "x", "sizes"),
        node("Gather", "sizes first", "rows"),
        node("Unsqueeze", "rows axes", "row"),
        node("Concat", "row rest", "shape", axis=0),
        node("Reshape", "x shape", "y"),
    ]
    arrays = dict(first=np.array(0), axes=np.array([0]), rest=np.array([6]))
    fixed = load(model(nodes, "x:float32[4,2,3]", "y:float32[4,6]", **arrays))
    assert types(fixed) == ["reshape2"] and fixed.fetches[0].shape == (4, 6)
    loaded = load(model(nodes, "x:float32[n,2,3]", "y:float32[n,6]", **arrays))
    reshape = loaded.program.global_block().ops[-1]
    assert reshape.attrs["shape"] == (-1, 6) and not reshape.input("Shape")
    assert run(loaded, x=np.zeros((5, 2, 3), "float32"))[0].shape == (5, 6)


def test_shapes_that_are_computed_when_the_program_runs():
    nodes = [
        node("Shape", "x", "sizes"),
        node("ConstantOfShape", "sizes", "zeros"),
        node("Slice", "sizes one two", "width"),
        node("Mul", "width two", "twice"),
        node("Concat", "twice minus", "shape", axis=0),
        node("Reshape", "x shape", "y"),
        node("Expand", "row shape2", "wide"),
        node("Concat", "twice width", "shape2", axis=0),
    ]
    nodes[6], nodes[7] = nodes[7], nodes[6]
    arrays = dict(
        one=np.array([1]), two=np.array([2]), minus=np.array([-1]), row=np.ones(1, "float32")
    )
    loaded = load(model(nodes, "x:float32[n,m]", "zeros y wide", **arrays))
    x = np.arange(24, dtype="float32").reshape(8, 3)
    zeros, y, wide = run(loaded, x=x)
    assert zeros.shape == (8, 3) and not zeros.any()
    np.testing.assert_array_equal(y, x.reshape(6, 4))
    assert wide.shape == (6, 3) and wide.all()


def test_a_size_that_is_unknown_may_be_one():
    nodes = [
        node("MatMul", "x w", "h"),
        node("Greater", "h zero", "holds"),
        node("Where", "holds h row", "y"),
    ]
    arrays = dict(w=W, zero=np.array(0, "float32"), row=np.array([5, 6], "float32"))
    loaded = load(model(nodes, "x:float32[a,b,3]", "y:float32[a,b,2]", **arrays))
    for shape in ((1, 1, 3), (2, 1, 3), (1, 4, 3)):
        x = RNG.normal(size=shape).astype("float32")
        right = np.where(x @ W > 0, x @ W, arrays["row"])
        np.testing.assert_allclose(run(loaded, x=x)[0], right, rtol=1e-5)


def test_sequences_of_unknown_length_go_backwards():
    made = model([node("ReverseSequence", "x n", "y")], "x:float32[t,b] n:int64[b]", "y")
    x = np.arange(8, dtype="float32").reshape(4, 2)
    (found,) = run(load(made), x=x, n=np.array([3, 1]))
    assert found.tolist() == [[4, 1], [2, 3], [0, 5], [6, 7]]


def test_an_input_can_be_made_a_constant_and_a_shape_be_said():
    made = model([node("ReduceSum", "x axes", "y")], "x:float32[n,3] axes:int64[1]", "y")
    with pytest.raises(UnsupportedError, match=r"constants=\{name: array\}"):
        load(made)
    loaded = load(made, feeds={"x": [4, 3]}, constants={"axes": np.array([0])})
    assert loaded.feeds == ["x"] and loaded.fetches[0].shape == (1, 3)
    with pytest.raises(ArgumentError, match=r"like \[-1, 3\].*got \[4, 2\]"):
        load(made, feeds={"x": [4, 2]})
    with pytest.raises(ArgumentError, match="int64, got float64"):
        load(made, constants={"axes": np.array([0.0])})
    for wrong in ({"feeds": {"axe": [1]}}, {"constants": {"axe": [1]}}):
        with pytest.raises(ArgumentError, match="did you mean 'axes'"):
            load(made, **wrong)


def test_all_nodes_without_a_form_are_listed_with_name_and_reason():
    nodes = [
        node("RegexFullMatch", "x", "a", name="match"),
        node("Relu", "a", "b", name="behind"),
        node("Tanhh", "x", "c"),
        node("Softmax", "x", "d", name="odd", axis=1, strange=1),
        node("Gelu", "x", "e", domain="com.example"),
        node("Cast", "x", "f", to=13),
    ]
    with pytest.raises(UnsupportedError) as raised:
        load(model(nodes, "x:float32[2,2]", "b c d e f"))
    lines = str(raised.value).splitlines()
    assert lines[0] == "the model cannot be loaded:" and len(lines) == 6
    for line, part in zip(
        lines[1:],
        (
            "'match' (RegexFullMatch): there is no form",
            "node 2 (Tanhh)",
            "'odd' (Softmax): the attribute 'strange'",
            "domain 'com.example'",
            "no element type uint64",
        ),
        strict=True,
    ):
        assert part in line


def behind():
    """A model whose nodes without a form stand behind each other, in bodies and in functions."""
    body = graph([node("Twisted", "x", "t")], "", "t")
    inner = node("Inside", "a", "b", domain="odd")
    local = helper.make_function(
        "own", "Local", ["a"], ["b"], [inner], [helper.make_opsetid("odd", 1)]
    )
    nodes = [
        node("Flor", "x", "a"),
        node("Ciel", "a", "b"),
        node("Ciel", "b", "c"),
        node("Local", "c", "d", domain="own"),
        node("If", "d", "e", then_branch=body, else_branch=body),
    ]
    made = model(nodes, "x:float32[2]", "e")
    made.functions.append(local)
    made.opset_import.append(helper.make_opsetid("own", 1))
    return made


def test_nodes_without_a_form_behind_others_are_listed_too():
    with pytest.raises(UnsupportedError) as raised:
        load(behind())
    for type in ("Flor", "Ciel", "Inside", "Twisted"):
        assert f"({type}): " in str(raised.value)
    assert str(raised.value).count("(Ciel)") == 2


def test_scan_lists_nodes_without_a_form_as_unknown(tmp_path, capsys):
    path = str(tmp_path / "m.onnx")
    onnx.save(behind(), path)
    assert command(["scan", path]) == 3
    said = capsys.readouterr().out
    assert "ONNX model of opset" in said and "'Ciel', 2 times (node 1 (Ciel)" in said
    assert command(["scan", path, "--json"]) == 3
    told = json.loads(capsys.readouterr().out)
    assert sorted(each["type"] for each in told["unknown"]) == ["Ciel", "Flor", "Inside", "Twisted"]
    for words in (["show", path], ["summary", path], ["draw", path, "-o", f"{path}.html"]):
        assert command(words) == 1
        said = capsys.readouterr().err
        assert all(type in said for type in ("Flor", "Ciel", "Inside", "Twisted")), said


def test_a_type_with_an_end_of_a_line_makes_no_line_of_an_error():
    with pytest.raises(UnsupportedError) as raised:
        load(model([node("Flor\nall is well", "x", "y")], "x:float32[2]", "y"))
    assert "(Flor\\nall is well)" in str(raised.value)


def test_scan_of_a_model_that_can_be_read_is_that_of_its_program(tmp_path, capsys):
    path = str(tmp_path / "m.onnx")
    onnx.save(model([node("Relu", "x", "y")], "x:float32[2]", "y:float32[2]"), path)
    assert command(["scan", path]) == 0
    made = model([node("SequenceConstruct", "x", "y")], "x:float32[2]", "y")
    onnx.save(made, path)
    assert command(["scan", path]) == 3
    assert "output 'y'" in capsys.readouterr().out
    (tmp_path / "m.onnx").write_bytes(b"\xff" * 50)
    assert command(["scan", path]) == 1


def test_old_versions_of_operators_mean_what_they_meant():
    x = RNG.normal(size=(2, 3, 4)).astype("float32")
    old = load(model([node("Softmax", "x", "y")], "x:float32[2,3,4]", "y", opset=11))
    power = np.exp(x)
    np.testing.assert_allclose(
        run(old, x=x)[0], power / power.sum((1, 2), keepdims=True), rtol=1e-5
    )
    nodes = [
        node("Clip", "x", "a", min=-0.5, max=0.5),
        node("Squeeze", "a", "b", axes=[0]),
        node("Slice", "b", "c", starts=[1], ends=[9]),
        node("Dropout", "c", "d", ratio=0.3),
        node("Pad", "d", "y", pads=[1, 0, 0, 0], value=2.0),
    ]
    one = x[:1]
    found = run(load(model(nodes, "x:float32[1,3,4]", "y", opset=9)), x=one)[0]
    right = np.pad(one.clip(-0.5, 0.5)[0, 1:], ((1, 0), (0, 0)), constant_values=2)
    np.testing.assert_allclose(found, right)
    with pytest.raises(
        UnsupportedError, match=r"\(Relu\): expected operators of version 6 or later"
    ):
        load(model([node("Relu", "x", "y")], "x:float32[2]", "y", opset=5))


def test_operands_of_version_6_are_aligned_at_an_axis():
    made = model(
        [node("Add", "x b", "y", axis=0, broadcast=1)],
        "x:float32[2,3]",
        "y",
        opset=6,
        b=np.array([1, 2], "float32"),
    )
    assert run(load(made), x=np.zeros((2, 3), "float32"))[0].tolist() == [[1] * 3, [2] * 3]


#: attributes that are refused where a node has them: texts, and those of an older "Upsample"
REFUSED = {"value_string", "value_strings", "width_scale", "height_scale"}


def test_every_version_of_an_operator_finds_its_attributes_and_inputs():
    versions = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        versions.setdefault((schema.domain, schema.name), []).append(schema)
    assert NODE_BUILDERS.keys() <= versions.keys()
    for key, form in NODE_BUILDERS.items():
        known = sorted(versions[key], key=lambda schema: schema.since_version)
        oldest = max([s.since_version for s in known if s.since_version <= OLDEST], default=0)
        for schema in known:
            if schema.since_version < oldest:
                continue
            assert set(schema.attributes) - form.attributes <= REFUSED, schema.name
            assert form.most == -1 or form.most >= schema.max_input, schema.name


def test_functions_of_the_model_are_written_out():
    inner = helper.make_function(
        "mine", "twice", ["a"], ["b"], [node("Add", "a a", "b")], [helper.make_opsetid("", 21)]
    )
    outer = helper.make_function(
        "mine",
        "leaky",
        ["a"],
        ["c"],
        [
            helper.make_node("twice", ["a"], ["b"], domain="mine"),
            _with_reference("LeakyRelu", "b", "c", alpha="slope"),
        ],
        [helper.make_opsetid("", 21), helper.make_opsetid("mine", 1)],
        attributes=["slope"],
    )
    call = helper.make_node("leaky", ["x"], ["y"], domain="mine", slope=0.5)
    loaded = load(model([call], "x:float32[2]", "y", functions=[inner, outer]))
    assert run(loaded, x=np.array([1, -2], "float32"))[0].tolist() == [2, -2]


def _with_reference(type, ins, outs, **references):
    made = node(type, ins, outs)
    for name, of in references.items():
        made.attribute.append(onnx.AttributeProto(name=name, ref_attr_name=of, type=1))
    return made


def test_an_operator_without_a_form_here_is_built_from_its_definition():
    made = model(
        [node("GroupNormalization", "x s b", "y", num_groups=2)],
        "x:float32[2,4,3]",
        "y",
        s=np.ones(4, "float32"),
        b=np.zeros(4, "float32"),
    )
    x = RNG.normal(size=(2, 4, 3)).astype("float32")
    rows = x.reshape(2, 2, -1)
    right = (rows - rows.mean(2, keepdims=True)) / np.sqrt(rows.var(2, keepdims=True) + 1e-5)
    np.testing.assert_allclose(run(load(made), x=x)[0], right.reshape(x.shape), rtol=1e-4)


def branch(type, outs):
    return graph([node(type, "x", outs)], "", outs)


def test_a_branch_runs_where_its_condition_holds_and_gradients_pass():
    made = model(
        [node("If", "c", "y", then_branch=branch("Exp", "a"), else_branch=branch("Neg", "b"))],
        "c:bool[] x:float32[3]",
        "y:float32[3]",
    )
    loaded = load(made)
    x = np.array([1, 2, 3], "float32")
    with fluid.program_guard(loaded.program, loaded.startup):
        (slope,) = fluid.gradients(
            loaded.fetches[0], [_differentiable(loaded.program.global_block().var("x"))]
        )
    for holds, value, by_x in ((True, np.exp(x), np.exp(x)), (False, -x, -np.ones(3))):
        found = fluid.Executor().run(
            loaded.program, {"c": np.array(holds), "x": x}, [*loaded.fetches, slope]
        )
        np.testing.assert_allclose(found[0], value, rtol=1e-6)
        np.testing.assert_allclose(found[1], by_x, rtol=1e-6)


def _differentiable(variable):
    variable.stop_gradient = False
    return variable


def doubling():
    """A body that doubles, and gives what it had."""
    nodes = [
        node("Add", "state state", "after"),
        node("Identity", "state", "seen"),
        node("Less", "i limit", "on"),
    ]
    return graph(
        nodes,
        "i:int64[] go:bool[] state:float32[2]",
        "on:bool[] after:float32[2] seen:float32[2]",
        limit=np.array(2),
    )


def test_a_loop_carries_values_and_stacks_what_its_passes_give():
    made = model(
        [node("Loop", "most go x", "y all", body=doubling())],
        "most:int64[] go:bool[] x:float32[2]",
        "y:float32[2] all:float32[n,2]",
    )
    loaded = load(made)
    x = np.array([1, -2], "float32")
    for most, passes in ((2, 2), (0, 0), (9, 3), (1, 1)):
        y, every = run(loaded, most=np.array(most), go=np.array(True), x=x)
        np.testing.assert_array_equal(y, x * 2**passes)
        np.testing.assert_array_equal(every, np.reshape([x * 2**i for i in range(passes)], (-1, 2)))
    y, every = run(loaded, most=np.array(3), go=np.array(False), x=x)
    np.testing.assert_array_equal(y, x)
    assert every.shape == (0, 2)


def test_a_model_is_a_program_where_operators_run_at_once_too():
    made = model(
        [node("Loop", "most go x", "y all", body=doubling())],
        "most:int64[] go:bool[] x:float32[2]",
        "y:float32[2] all:float32[n,2]",
    )
    with fluid.dygraph.guard():
        loaded = load(made)
    assert "while" in types(loaded)


SMOOTH = [
    "Asinh AveragePool CausalConvWithState Conv ConvTranspose CumProd CumSum Einsum Gelu Gemm",
    "GRU GroupNormalization InstanceNormalization LayerNormalization LRN LSTM LinearAttention",
    "MatMul Mish ReduceLogSumExp RMSNormalization RNN RotaryEmbedding Softmax Softplus Swish",
]


@pytest.mark.parametrize("type", " ".join(SMOOTH).split())
def test_gradients_are_those_of_finite_differences(type):
    case = next(c for c in cases()[type] if "fp16" not in c.name)
    given = [array_of(v) for v in case.data_sets[0][0]]
    feed = dict(zip([each.name for each in case.model.graph.input], given))
    known = {n: v for n, v in list(feed.items())[1:] if v.dtype.kind != "f"}
    loaded = load(case.model, constants=known)
    block = loaded.program.global_block()
    taken = [_differentiable(block.var(n)) for n in loaded.feeds if feed[n].dtype.kind == "f"]
    given = [v for v in loaded.fetches if v.dtype.is_float]
    with fluid.program_guard(loaded.program, loaded.startup):
        slopes = fluid.gradients(given, taken)
    taken, slopes = zip(*[(x, g) for x, g in zip(taken, slopes) if g is not None])
    exe, feed = fluid.Executor(), {n: feed[n] for n in loaded.feeds}
    way = {x.name: RNG.normal(size=feed[x.name].shape).astype("float32") for x in taken}

    def total(step):
        moved = {n: v + step * way[n] if n in way else v for n, v in feed.items()}
        moved = {n: np.asarray(v, feed[n].dtype) for n, v in moved.items()}
        return sum(v.sum(dtype="float64") for v in exe.run(loaded.program, moved, given))

    found = exe.run(loaded.program, feed, list(slopes))
    slope = sum((g * way[x.name]).sum(dtype="float64") for g, x in zip(found, taken))
    np.testing.assert_allclose(slope, (total(5e-3) - total(-5e-3)) / 1e-2, rtol=0.02, atol=0.02)


def test_a_scan_goes_through_its_inputs_backwards_too_and_gradients_pass():
    body = graph(
        [node("Add", "s a", "t"), node("Identity", "t", "seen")],
        "s:float32[2] a:float32[2]",
        "t:float32[2] seen:float32[2]",
    )
    made = model(
        [
            node(
                "Scan",
                "s0 x",
                "s y",
                body=body,
                num_scan_inputs=1,
                scan_input_directions=[1],
                scan_output_directions=[1],
            )
        ],
        "s0:float32[2] x:float32[n,2]",
        "s:float32[2] y:float32[n,2]",
    )
    loaded, x = load(made), RNG.normal(size=(4, 2)).astype("float32")
    with fluid.program_guard(loaded.program, loaded.startup):
        (slope,) = fluid.gradients(
            loaded.fetches[1], [_differentiable(loaded.program.global_block().var("x"))]
        )
    found = fluid.Executor().run(
        loaded.program, {"s0": np.zeros(2, "float32"), "x": x}, [*loaded.fetches, slope]
    )
    np.testing.assert_allclose(found[0], x.sum(0), rtol=1e-5)
    np.testing.assert_allclose(found[1], x[::-1].cumsum(0)[::-1], rtol=1e-5)
    np.testing.assert_allclose(found[2], np.arange(1, 5)[:, None] * np.ones((1, 2)), rtol=1e-5)


@pytest.mark.parametrize("type, gates", [("RNN", 1), ("GRU", 3), ("LSTM", 4)])
def test_recurrent_networks_of_unknown_sizes_can_be_trained(type, gates, tmp_path):
    w = RNG.normal(size=(2, gates * 4, 3)).astype("float32")
    r = RNG.normal(size=(2, gates * 4, 4)).astype("float32")
    made = model(
        [node(type, "x w r", "y", hidden_size=4, direction="bidirectional")],
        "x:float32[steps,batch,3]",
        "y:float32[steps,2,batch,4]",
        w=w,
        r=r,
    )
    loaded, x = load(made), RNG.normal(size=(5, 2, 3)).astype("float32")
    onnx.save(made, tmp_path / "m.onnx")
    assert_same(run(loaded, x=x)[0], run_by_onnx(str(tmp_path / "m.onnx"), {"x": x})["y"])
    with fluid.program_guard(loaded.program, loaded.startup):
        loss = layers.mean(layers.square(loaded.fetches[0]))
        fluid.optimizer.Adam(0.05).minimize(loss)
    exe = fluid.Executor()
    exe.run(loaded.startup)
    losses = [exe.run(loaded.program, {"x": x}, [loss])[0].item() for _ in range(8)]
    assert losses[-1] < 0.9 * losses[0]


def test_quantised_weights_are_numbers_again():
    weights = np.array([[1, -2], [3, 4], [-128, 127]], "int8")
    nodes = [
        node("DequantizeLinear", "q scale zero", "w", axis=1),
        node("MatMul", "x w", "h"),
        node("QuantizeLinear", "h s", "hq"),
        node("DequantizeLinear", "hq s", "y"),
    ]
    arrays = dict(
        q=weights,
        scale=np.array([0.5, 0.25], "float32"),
        zero=np.array([1, -1], "int8"),
        s=np.array(0.125, "float32"),
    )
    loaded = load(model(nodes, "x:float32[n,3]", "y:float32[n,2]", **arrays))
    x = np.array([[1, 2, 0.01]], "float32")
    plain = x @ ((weights.astype("float32") - [1, -1]) * [0.5, 0.25])
    right = np.clip(np.rint(plain / 0.125), 0, 255) * 0.125
    np.testing.assert_allclose(run(loaded, x=x)[0], right, rtol=1e-6)
    assert not loaded.program.all_parameters()


def test_sequences_inside_a_model_are_taken_apart_when_it_is_loaded():
    nodes = [
        node("SplitToSequence", "x", "parts", axis=1, keepdims=0),
        node("SequenceAt", "parts last", "a"),
        node("SequenceInsert", "parts a first", "more"),
        node("SequenceErase", "more", "less"),
        node("ConcatFromSequence", "less", "y", axis=1, new_axis=1),
        node("SequenceLength", "less", "n"),
    ]
    arrays = dict(last=np.array(-1), first=np.array(0))
    loaded = load(model(nodes, "x:float32[n,3]", "y n", **arrays))
    y, n = run(loaded, x=np.array([[1, 2, 3]], "float32"))
    assert y.tolist() == [[3, 1, 2]] and n.tolist() == 3
    with pytest.raises(UnsupportedError, match="output 'parts': it is no tensor"):
        load(model(nodes[:1], "x:float32[n,3]", "parts"))


def test_random_operators_draw_when_the_program_runs():
    nodes = [node("RandomNormal", "", "a", shape=[400]), node("Bernoulli", "x", "b")]
    loaded = load(model(nodes, "x:float32[200]", "a b"))
    first, again = (run(loaded, x=np.full(200, 0.5, "float32")) for _ in range(2))
    assert abs(first[0].std() - 1) < 0.3 and (first[0] != again[0]).any()
    assert set(first[1]) == {0, 1}


def test_outputs_that_are_inputs_or_constants_are_variables_of_their_names():
    made = model(
        [node("Identity", "x", "y"), node("Constant", "", "z", value_ints=[3, 4])],
        "x:float32[2]",
        "y z:int64[2]",
    )
    loaded = load(made)
    assert [v.name for v in loaded.fetches] == ["y", "z"]
    y, z = run(loaded, x=np.ones(2, "float32"))
    assert y.tolist() == [1, 1] and z.tolist() == [3, 4]


def test_an_input_of_unknown_rank_is_refused_until_its_shape_is_said():
    made = model([node("Relu", "x", "y")], "x:float32[1]", "y")
    made.graph.input[0].type.tensor_type.ClearField("shape")
    with pytest.raises(UnsupportedError, match=r"input 'x': the model does not tell its shape"):
        load(made)
    assert load(made, feeds={"x": [None, 2]}).fetches[0].shape == (-1, 2)


def test_the_command_writes_a_model_to_be_served(tmp_path, capsys):
    made = model([node("MatMul", "x w", "h"), node("Relu", "h", "y")], "x:float32[n,3]", "y", w=W)
    source, folder = str(tmp_path / "m.onnx"), str(tmp_path / "served")
    onnx.save(made, source)
    assert command(["show", source]) == 0
    assert "ONNX model of opset 21" in capsys.readouterr().out
    assert command(["vars", source, "w"]) == 0
    assert "float32[3, 2]" in capsys.readouterr().out
    assert command(["convert", source, f"{folder}/"]) == 0
    exe = fluid.Executor()
    program, feeds, fetches = fluid.io.load_inference_model(folder, exe)
    x = RNG.normal(size=(4, 3)).astype("float32")
    (found,) = exe.run(program, {feeds[0]: x}, fetches)
    np.testing.assert_allclose(found, np.maximum(x @ W, 0), rtol=1e-6)
    assert command(["convert", source, str(tmp_path / "w.npz")]) == 0
    np.testing.assert_array_equal(np.load(tmp_path / "w.npz")["w"], W)
    older = str(tmp_path / "older.onnx")
    assert command(["convert", source, older, "--opset", "19"]) == 0
    np.testing.assert_allclose(run_by_onnx(older, {"x": x})["y"], found, rtol=1e-6)
    assert onnx.load(older).opset_import[0].version == 19
    assert command(["convert", source, str(tmp_path / "m.py")]) == 0
    assert "def predict" in (tmp_path / "m.py").read_text(encoding="utf-8")
    assert command(["convert", source, str(tmp_path / "m.strange")]) == 1
    assert ends("a:int64[2]")[0].name == "a"
