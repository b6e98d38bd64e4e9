"""Programs and variables as the text of messages, as programs of 1.8 print them."""

import importlib

import pytest

import fluidlite as fluid

VARIABLE = """name: "x"
type {
  type: LOD_TENSOR
  lod_tensor {
    tensor {
      data_type: FP32
      dims: -1
      dims: 3
    }
    lod_level: 0
  }
}
persistable: false
need_check_feed: true
"""


@pytest.fixture
def served(alias):
    return importlib.import_module("paddle.fluid")


def indented(text):
    return "".join(f"  {line}\n" for line in text.splitlines())


def test_a_variable_is_printed_as_its_message(served):
    x = served.data("x", [None, 3])
    assert str(x) == x.to_string(True) == VARIABLE
    assert x.to_string(True, True) == VARIABLE + "error_clip: None\nstop_gradient: True\n"


def test_a_parameter_says_how_it_is_trained(served):
    served.layers.fc(served.data("x", [None, 3]), 2, bias_attr=False)
    (weight,) = served.default_main_program().all_parameters()
    text = weight.to_string(True, True)
    assert "lod_level" not in text and "\npersistable: true\n" in text
    assert "\ntrainable: True\noptimize_attr: {'learning_rate': 1.0}\nregularizer: None\n" in text


def test_a_variable_that_nothing_writes_says_no_more_than_its_form(served):
    block = served.Program().global_block()
    text = str(block.create_var(name="X", shape=[-1, 23], dtype="float32"))
    assert "lod_level" not in text and "persistable" not in text
    array = str(served.layers.create_array("float32"))
    assert "type: LOD_TENSOR_ARRAY\n  tensor_array {" in array


def test_a_program_is_printed_as_its_message(served):
    served.data("x", [None, 3])
    program = served.default_main_program()
    block = "idx: 0\nparent_idx: -1\nvars {\n" + indented(VARIABLE) + "}\n"
    assert str(program.block(0)) == program.block(0).to_string(True) == block
    whole = "blocks {\n" + indented(block) + "}\nversion {\n  version: 1008005\n}\n"
    assert str(program) == program.to_string(True) == whole


def test_an_operator_says_its_slots_and_attributes(served):
    served.layers.scale(served.data("x", [None, 3]), 2.0, bias_after_scale=False)
    (op,) = served.default_main_program().global_block().ops
    text = op.to_string(True)
    assert text.startswith('inputs {\n  parameter: "X"\n  arguments: "x"\n}\noutputs {\n')
    assert '\ntype: "scale"\n' in text
    assert 'attrs {\n  name: "scale"\n  type: FLOAT\n  f: 2.0\n}\n' in text
    assert 'attrs {\n  name: "bias_after_scale"\n  type: BOOLEAN\n  b: false\n}\n' in text
    assert "scale(X=x" in str(op)


def test_the_texts_are_those_of_fluidlite_without_the_alias():
    x = fluid.data("x", [None, 3])
    assert str(x) == repr(x) == x.to_string()
    assert str(fluid.default_main_program()).startswith("program (seed=0)")


def test_variables_of_layers_say_levels_where_they_share_them(served):
    x = served.data("x", [None, 3])
    hidden = served.layers.fc(x, 2)
    dropped = served.layers.dropout(hidden, 0.5)
    block = served.default_main_program().global_block()
    (mask,) = next(op.output("Mask") for op in block.ops if op.type == "dropout")
    assert "lod_level: 0" in str(dropped) and "persistable: false" in str(dropped)
    assert "lod_level" not in str(block.var(mask))
    assert "lod_level: 0" in str(x + x) and "persistable" not in str(x + x)
