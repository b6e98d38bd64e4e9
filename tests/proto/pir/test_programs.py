"""Programs of Paddle 3 compute here what they compute there."""

import base64
import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from recorded_models import array_of

import fluidlite as fluid
from fluidlite.errors import FileFormatError, UnknownOperatorError
from fluidlite.proto.pir.operands import HeldNumbers

DATA = Path(__file__).parents[2] / "data" / "paddle_3" / "programs.json.gz"
MODELS = json.loads(gzip.decompress(DATA.read_bytes()))


def files_of(model):
    held = model["values"]
    return model["program"].encode(), held and base64.b64decode(held)


def fetched(model):
    """What a model computes of its recorded inputs."""
    exe = fluid.Executor()
    with fluid.scope_guard(fluid.Scope()):
        program, feeds, fetches = fluid.io.load_inference_model(None, exe, *files_of(model))
        fed = dict(zip(feeds, map(array_of, model["fed"]), strict=True))
        return exe.run(program, fed, fetches)


def differences(model):
    for k, (found, recorded) in enumerate(zip(fetched(model), model["fetched"], strict=True)):
        right, found = array_of(recorded), np.asarray(found)
        if (found.shape, found.dtype) != (right.shape, right.dtype):
            yield f"{k}: {found.dtype}{found.shape} for {right.dtype}{right.shape}"
        elif not np.allclose(found, right, 1e-5, 1e-6, equal_nan=True):
            yield f"{k}: off by {np.abs(found - right).max()}"


def test_every_operation_computes_what_it_computes_there():
    found = {name: list(differences(model)) for name, model in MODELS.items()}
    assert not {name: differ for name, differ in found.items() if differ}


def written(folder, name):
    program, values = files_of(MODELS[name])
    (folder / f"{name}.json").write_bytes(program)
    (folder / f"{name}.pdiparams").write_bytes(values)
    return folder / name


def test_a_model_is_found_by_what_stands_in_front_of_the_ending(tmp_path):
    exe, prefix = fluid.Executor(), written(tmp_path, "nn_LSTMCell")
    _, feeds, fetches = fluid.io.load_inference_model(prefix, exe)
    assert len(feeds) == 1
    assert len(fetches) == 2
    contents = fluid.io.read(tmp_path)
    assert contents.kind == "inference model"
    assert "matmul_v2(" in str(contents.program)
    assert sorted(fluid.io.read(f"{prefix}.pdiparams").variables) == sorted(
        fluid.io.read(prefix).variables
    )


def test_a_layer_is_made_of_it(tmp_path):
    model = MODELS["nn_LSTMCell"]
    layer = fluid.paddle.jit.load(str(written(tmp_path, "nn_LSTMCell")))
    found = layer(*[fluid.to_tensor(array_of(each)) for each in model["fed"]])
    for mine, recorded in zip(found, model["fetched"], strict=True):
        np.testing.assert_allclose(mine.numpy(), array_of(recorded), 1e-5, 1e-6)


def test_gradients_flow_through_a_loop_that_writes_over_its_condition(tmp_path):
    layer = fluid.paddle.jit.load(str(written(tmp_path, "nn_RNN")))
    layer.train()
    x = array_of(MODELS["nn_RNN"]["fed"][0])
    along = np.random.default_rng(0).normal(size=x.shape).astype("float32")
    ends = [float(layer(fluid.to_tensor(x + step * along)).sum()) for step in (0.02, -0.02)]
    leaf = fluid.to_tensor(x, stop_gradient=False)
    layer(leaf).sum().backward()
    np.testing.assert_allclose((leaf.grad.numpy() * along).sum(), np.diff(ends)[0] / -0.04, 1e-3)


def test_it_is_converted_to_a_model_of_paddle_2(tmp_path):
    prefix, target = written(tmp_path, "nn_LSTMCell"), tmp_path / "older" / "net.pdmodel"
    fluid.io.convert(prefix, target)
    exe, model = fluid.Executor(), MODELS["nn_LSTMCell"]
    program, feeds, fetches = fluid.io.load_inference_model(tmp_path / "older" / "net", exe)
    fed = dict(zip(feeds, map(array_of, model["fed"]), strict=True))
    for mine, recorded in zip(exe.run(program, fed, fetches), model["fetched"], strict=True):
        np.testing.assert_allclose(mine, array_of(recorded), 1e-5, 1e-6)


def test_operators_came_from_a_file():
    program = fluid.Program.parse_from_string(files_of(MODELS["abs"])[0])
    assert all(op.foreign for op in program.global_block().ops)
    assert {op.type for op in program.global_block().ops} == {"feed", "abs", "fetch"}


# -- what is no program of Paddle 3 ----------------------------------------------------------------


def changed(old, new, name="abs"):
    text = MODELS[name]["program"]
    assert old in text
    return text.replace(old, new).encode()


@pytest.mark.parametrize(
    "data, message",
    [
        (b"{", "expected JSON"),
        (b'{"a": 1}', "JSON of another form"),
        (b"[" * 100_000, "expected"),
        (b'{"a":' * 100_000, "expected JSON"),
        (b'{"x": \xff}', "expected JSON, found something else at byte 6"),
        (b'{"base_code": {"mag', "found the end of the file at byte 19: a part of it is missing"),
        (b'{"x": ' + b"9" * 5000 + b"}", "expected JSON"),
        (changed('"pir"', '"pdf"'), "the magic word 'pir', found 'pdf'"),
        (changed('"1.abs"', "7"), "a text, found 7"),
        (changed('"%":1}', '"%":77}'), "a whole operation pd_op.abs"),
        (changed('"blocks":[', '"blocks":[],"others":['), "one block in a region"),
        (changed('"A":[', '"A":{},"B":['), "expected"),
        (changed('"0.t_dtensor"', '"NULL"'), "a whole operation pd_op.data"),
        (changed('"1.abs"', '"0.slice"'), "a list for builtin.slice, found 'one value'"),
    ],
)
def test_what_is_damaged_is_refused_and_named(data, message):
    with pytest.raises(FileFormatError) as caught:
        fluid.io.load_inference_model(None, fluid.Executor(), data)
    assert message in str(caught.value)


def test_an_operation_that_is_not_known_is_named_with_dialect_and_version():
    with pytest.warns(UserWarning, match=r"the operation my_op\.abs2 \(PIR version 4"):
        program = fluid.Program.parse_from_string(changed('"1.abs"', '"my_op.abs2"'))
    assert "my_op.abs2(operand_0=x0)" in str(program)
    with pytest.raises(UnknownOperatorError, match=r"my_op\.abs2"):
        fluid.Executor().run(program, {"x0": np.ones([2, 3, 4], "float32")}, ["abs2_2.tmp_0"])


def test_an_attribute_that_means_something_else_is_named():
    data = changed('"D":false},"N":"approximate"', '"D":true},"N":"rounded"', "F_gelu")
    told = r"the attribute rounded of pd_op\.gelu .*; the program runs without them"
    with pytest.warns(UserWarning, match=told):
        fluid.Program.parse_from_string(data)


def test_an_operation_that_has_to_be_on_is_not_taken_for_another():
    name = next(name for name in MODELS if '"N":"use_softmax"' in MODELS[name]["program"])
    data = changed('"D":true},"N":"use_softmax"', '"D":false},"N":"use_softmax"', name)
    with pytest.warns(UserWarning, match="the operation pd_op.cross_entropy_with_softmax"):
        fluid.Program.parse_from_string(data)


def test_names_of_a_file_do_not_steer_the_terminal():
    with pytest.warns(UserWarning, match="does not know the operation") as caught:
        fluid.Program.parse_from_string(changed('"1.abs"', '"x.\\u001b[31m"'))
    assert "\x1b" not in str(caught[0].message)


def test_a_number_that_stands_for_more_than_the_file_holds_is_not_spread_out():
    block = fluid.Program().global_block()
    assert HeldNumbers(block, 1.0, [10**15], fluid.core.VarDesc.VarType.FP32, "c").numbers() is None


def test_gradients_flow_through_the_branch_that_is_taken():
    model = next(each for each in MODELS.values() if '"1.if"' in each["program"])
    exe = fluid.Executor()
    program, feeds, fetches = fluid.io.load_inference_model(None, exe, *files_of(model))
    inputs = [program.global_block().var(name) for name in feeds]
    for each in inputs:
        each.stop_gradient = False
    with fluid.program_guard(program):
        gradients = [g for g in fluid.gradients(fetches[:1], inputs) if g is not None]
    fed = dict(zip(feeds, map(array_of, model["fed"]), strict=True))
    found = exe.run(program, fed, [*fetches[:1], *gradients])
    np.testing.assert_allclose(found[0], array_of(model["fetched"][0]), 1e-5, 1e-6)
    assert len(found) > 1 and np.isfinite(found[1]).all()
    for sign in (-1, 0):
        others = {name: (value * sign).astype(value.dtype) for name, value in fed.items()}
        assert np.isfinite(exe.run(program, others, gradients[:1])[0]).all()
