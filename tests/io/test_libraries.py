"""Models that are written for a library have its operators, and a warning names those it lacks."""

import gzip
import json
from pathlib import Path

import pytest

import fluidlite as fluid
from fluidlite import layers, paddle
from fluidlite.errors import FluidWarning
from fluidlite.opdef.definition import registered
from fluidlite.paddle.static.saved_operators import in_form
from fluidlite.proto.libraries import LACKING
from fluidlite.proto.newer_programs import TYPES_IN_FILES
from fluidlite.proto.program import set_version, version

DATA = Path(__file__).parents[1] / "data"
PROTOS = {"fluid 1.8": "op_schema.json.gz", "paddle 2.6": "paddle_2/op_protos.json.gz"}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("library", PROTOS)
def test_every_operator_is_there_or_listed(library):
    theirs = json.loads(gzip.decompress((DATA / PROTOS[library]).read_bytes())).keys()
    if library == "paddle 2.6":
        theirs |= TYPES_IN_FILES.keys()
    types = {op.type for op in registered() if op.__module__.startswith("fluidlite.ops.")}
    lacking = {t for t in types if t not in theirs and not t.endswith("_grad")}
    assert sorted(lacking ^ LACKING[library]) == []


@pytest.fixture
def fed():
    x = fluid.data("x", [2, 1, 3], "float32")
    y = fluid.data("y", [2, 1, 3], "float32")
    fluid.io.prepend_feed_ops(fluid.default_main_program(), ["y", "x"])
    return x, y


def fetch(out):
    fluid.io.append_fetch_ops(fluid.default_main_program(), [out.name])
    return fluid.default_main_program()


def test_a_model_for_paddle_26_has_the_outputs_and_attributes_that_it_reads(fed):
    x, y = fed
    block = x.block
    out = block.create_var(name="out", dtype="float32")
    block.append_op("squeeze2", {"X": [x * y]}, {"Out": [out]}, {"axes": [1]})
    feeds = block.ops[0], block.ops[1]
    block.set_ops([*feeds[::-1], *block.ops[2:]])
    program = in_form(fetch(layers.cast(out, "int64")))
    assert version(program) == 2_006_002
    ops = program.global_block().ops
    assert [op.attr("col") for op in ops[:2]] == [1, 0]
    by_type = {op.type: op for op in ops}
    assert program.global_block().var(*by_type["squeeze2"].output("XShape")).shape == (0, 2, 1, 3)
    assert by_type["cast"].attr("use_mkldnn") is False
    assert "XShape" not in block.ops[3].outputs


def test_copies_of_results_are_made_by_scale_in_paddle_26(fed):
    block = fed[0].block
    name = "save_infer_model/scale_0.tmp_0"
    out = block.create_var(name=name, shape=[2, 1, 3], dtype="float32")
    block.append_op("assign", {"X": [layers.relu(fed[0])]}, {"Out": [out]})
    program = fetch(out)
    set_version(program, 2_006_002)
    assert [op.type for op in in_form(program).global_block().ops[2:]] == ["relu", "scale", "fetch"]


def test_a_program_of_fluid_18_stays_as_it_is(fed):
    program = fetch(layers.squeeze(layers.cast(fed[0], "int64"), [1]))
    set_version(program, 1_008_005)
    assert in_form(program).to_bytes() == program.to_bytes()


def test_a_warning_names_what_fluid_18_lacks(fed):
    program = fetch(paddle.maximum(*fed))
    program.global_block().ops[2].type = "maximum"
    Path("net.program").write_bytes(program.to_bytes())
    with pytest.warns(FluidWarning, match="fluid 1.8, which reads __model__, has no.* 'maximum'"):
        fluid.io.convert("net.program", "folder/")


def test_a_warning_names_what_paddle_26_lacks(fed):
    program = fetch(layers.cos_sim(layers.squeeze(fed[0], [1]), layers.squeeze(fed[1], [1])))
    with pytest.warns(FluidWarning, match="paddle 2.6 has no operator 'cos_sim'.*only fluidlite"):
        in_form(program)
