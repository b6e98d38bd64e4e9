"""Programs under the names that scripts of fluid 1.8's time use, and what scripts may write."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import core, framework, layers
from fluidlite.errors import AttributeValueError, FileFormatError, SlotError
from fluidlite.ir.program import Program


@pytest.fixture
def block():
    """A block with data x, y = scale(x) and z = relu(y)."""
    with fluid.program_guard(Program()):  # not one of those whose text is read after each test
        x = fluid.data("x", [2, 3], "float32")
        layers.relu(layers.scale(x, 2.0, name="y"), name="z")
        yield x.block


# -- what an operator does not have ----------------------------------------------------------------


def append(block, **more):
    out = block.create_var(name="o", dtype="float32")
    return block.append_op("scale", **{"inputs": {"X": "x"}, "outputs": {"Out": out}, **more})


def test_an_unknown_attribute_is_left_out_with_a_warning_of_the_users_line(block):
    with pytest.warns(UserWarning, match="no attribute 'scael'; did you mean 'scale'") as caught:
        op = append(block, attrs={"scael": object(), "bias": 1})
    assert caught[0].filename == __file__
    assert (op.has_attr("scael"), op.attr("bias")) == (False, 1.0)


def test_unknown_slots_are_left_out_with_a_warning_whatever_is_in_them(block):
    out = block.create_var(name="o", dtype="float32")
    with pytest.warns(UserWarning, match="is left out") as caught:
        op = append(block, inputs={"X": "x", "Y": 3}, outputs={"Out": out, "Outt": "nobody"})
    assert [w.filename for w in caught] == [__file__] * 2
    assert "has no input slot 'Y'; it has X, ScaleTensor; Y is left out" in str(caught[0].message)
    assert "'Outt'; did you mean 'Out'" in str(caught[1].message)
    assert (op.input_arg_names, op.output_arg_names) == (["x"], ["o"])


def test_where_a_slot_is_missing_the_error_names_the_one_that_was_given(block):
    with pytest.raises(SlotError, match=r"slot Out; scale has no output slot 'Outt'; did you mean"):
        append(block, outputs={"Outt": "y"})
    assert len(block.ops) == 2


def test_an_attribute_of_none_has_its_default(block):
    assert append(block, attrs={"scale": None}).attr("scale") == 1.0


def test_an_operator_runs_with_an_attribute_that_it_does_not_have(block):
    block.ops[0].mark("out_threshold", np.float64(1.5))
    feed = {"x": np.ones([2, 3], "float32")}
    (got,) = fluid.Executor().run(feed=feed, fetch_list=["y.tmp_0"])
    assert got.tolist() == [[2.0] * 3] * 2
    assert block.ops[0].attr("out_threshold") == 1.5


def test_an_attribute_that_was_set_on_purpose_stays_in_copies_texts_and_files(block):
    op = block.ops[0]
    op._set_attr("seen", [1, 2])
    op._set_attr("scale", 3.0)
    program = block.program
    with pytest.warns(UserWarning, match="neither a slot nor an attribute 'seen'; it is kept"):
        parsed = Program.parse(str(program))
    written = program.to_bytes()
    assert b"seen" in written
    for made in (parsed, program.clone()):
        assert made.global_block().ops[0].attr("seen") == [1, 2]
        assert made.global_block().ops[0].attr("scale") == 3.0


def test_a_text_may_give_an_operator_variables_that_it_does_not_take(block):
    text = str(block.program).replace("relu(X=", "relu(Nope=x, X=")
    with pytest.warns(UserWarning, match=r"line \d+, column \d+: relu .* 'Nope'; it is left out"):
        made = Program.parse(text)
    assert made.global_block().ops[1].inputs == {"X": ("y.tmp_0",)}


def test_an_attribute_cannot_be_anything(block):
    with pytest.raises(AttributeValueError, match="'note' takes a number, a truth value, a text"):
        block.ops[0]._set_attr("note", object())
    with pytest.raises(AttributeValueError, match="'scale' takes a number"):
        block.ops[0]._set_attr("scale", "much")
    assert block.ops[0].attr("scale") == 2.0


def test_objects_of_a_program_take_notes(block):
    block.var("x").note = block.ops[0].note = block.note = block.program.note = "kept"
    assert {block.vars["x"].note, block.ops[0].note, block.note, block.program.note} == {"kept"}
    assert not hasattr(block.program.clone(), "note")


# -- names of blocks, operators and programs -------------------------------------------------------


def test_variables_are_renamed_and_removed_while_operators_use_them(block):
    renamed = block._rename_var(b"y.tmp_0", "new")
    assert (renamed.name, block.ops[0].output("Out"), block.ops[1].input("X")) == (
        "new",
        ["new"],
        ["new"],
    )
    block._remove_var("new")
    assert not block.has_var("new")
    assert len(block.ops) == 2


def test_operators_are_put_in_and_taken_out_at_a_position(block):
    out = block.create_var(name="o", dtype="float32")
    block._prepend_op(type="relu", inputs={"X": ["x"]}, outputs={"Out": [out]})
    block._insert_op(1, type="abs", inputs={"X": ["x"]}, outputs={"Out": [out]})
    assert [op.type for op in block._slice_ops(0, 3)] == ["relu", "abs", "scale"]
    block._remove_op(0)
    assert [op.type for op in block.ops] == ["abs", "scale", "relu"]


def test_operators_are_changed_under_old_names(block):
    op = block.ops[0]
    op._rename_input("x", "y.tmp_0")
    op._rename_output("y.tmp_0", "z.tmp_0")
    op._update_desc_attr("bias", 1)
    op._remove_attr("scale")
    assert (op.input("X"), op.output("Out")) == (["y.tmp_0"], ["z.tmp_0"])
    assert (op.attr("bias"), op.attr("scale")) == (1.0, 1.0)
    assert (op._has_kernel("scale"), op._is_optimize_op()) == (True, False)


def test_blocks_are_made_and_left_under_old_names():
    program = Program()
    made = program._create_block()
    assert (made.idx, made.parent_idx, program.current_block_idx) == (1, 0, 1)
    program._rollback()
    assert program.current_block_idx == 0


def test_guards_give_operators_their_roles():
    program = fluid.default_main_program()
    guards = [
        program._lr_schedule_guard(),
        program._lr_schedule_guard(is_with_opt=True),
        program._backward_role_guard(),
        program._optimized_guard(["w", "w@GRAD"]),
    ]
    for guard in guards:
        with guard:
            layers.fill_constant([1], "float32", 0.1)
    found = [(op.attr("op_role"), op.attr("op_role_var")) for op in program.global_block().ops]
    assert found == [(16, []), (18, []), (1, []), (2, ["w", "w@GRAD"])]


def test_a_program_is_pruned_to_variables_names_or_operators(block):
    program = block.program
    for targets in (["y.tmp_0"], block.var("y.tmp_0"), [block.ops[0]]):
        assert [op.type for op in program._prune(targets).global_block().ops] == ["scale"]
    within = program._prune_with_input(["y.tmp_0"], ["z.tmp_0"])
    assert [op.type for op in within.global_block().ops] == ["relu"]
    assert len(block.ops) == 2


def test_a_program_is_switched_to_testing_whole():
    x = fluid.data("x", [2, 3], "float32")
    fluid.optimizer.SGD(0.1).minimize(layers.mean(layers.dropout(layers.fc(x, 2), 0.5)))
    program = fluid.default_main_program()
    made = program._inference_optimize()
    assert [op.type for op in made.global_block().ops] == [
        op.type for op in program.global_block().ops
    ]
    assert made.global_block().ops[2].attr("is_test")
    assert not program.global_block().ops[2].attr("is_test")


def test_a_global_seed_holds_for_the_programs_there_are_and_for_new_ones():
    Program.global_seed(7)
    assert fluid.default_main_program().random_seed == Program().random_seed == 7


def test_parameters_and_data_are_taken_over_from_another_program():
    x = fluid.layers.data("x", [3])
    layers.fc(x, 2, param_attr=fluid.ParamAttr(learning_rate=0.5))
    program = fluid.default_main_program()
    text = (
        str(program).replace("param ", "var ").replace(" rate=0.5", "").replace("data x", "var x")
    )
    made = Program.parse(text.replace(" average", ""))
    assert not made.all_parameters()
    made._copy_param_info_from(program)
    made._copy_data_info_from(program)
    weight, _ = made.all_parameters()
    assert weight.optimize_attr == {"learning_rate": 0.5}
    assert weight.block is made.global_block()
    assert made.global_block().var("x").is_data


# -- descriptions ----------------------------------------------------------------------------------


def test_a_callback_reads_descriptions():
    seen = []

    def callback(block, context):
        desc = context["__current_op_desc__"]
        names = [n for n in desc.output_arg_names() if block.desc.find_var_recursive(n.encode())]
        seen.append((desc.type(), block.desc.op(block.desc.op_size() - 1).type(), len(names)))

    loss = layers.mean(layers.scale(layers.fc(fluid.data("x", [2, 3], "float32"), 1), 2.0))
    fluid.append_backward(loss, callbacks=[callback])
    assert [kind for kind, _, _ in seen] == [last for _, last, _ in seen]
    assert seen[0] == ("mean_grad", "mean_grad", 1)


def test_a_description_is_a_view_of_the_operator(block):
    desc = block.ops[0].desc
    desc._rename_input("x", "z.tmp_0")
    desc.set_output("Out", ["x"])
    desc._set_attr("scale", 5.0)
    assert str(block.ops[0]) == "x = scale(X=z.tmp_0, scale=5.0)"
    assert desc.inputs() == {"X": ["z.tmp_0"], "ScaleTensor": []}
    assert desc.block().id == 0


def test_a_description_keeps_slots_that_the_operator_lacks(block):
    desc = block.ops[0].desc
    desc.set_input("MeanOut", ["x"])
    desc.set_output("Mask", ["x"])
    assert (desc.input_names(), desc.input("MeanOut")) == (["MeanOut", "ScaleTensor", "X"], ["x"])
    with pytest.warns(UserWarning, match="input slot 'MeanOut' of scale"):
        again = fluid.Program.parse_from_string(block.program.desc.serialize_to_string())
    assert again.global_block().ops[0].desc.output("Mask") == ["x"]
    desc.remove_output("Mask")
    assert desc.output_names() == ["Out"]


def in_half_precision(program):
    w = layers.create_parameter([3], "float32")
    loss = layers.mean(program.global_block().var("z.tmp_0") * w)
    half = fluid.contrib.mixed_precision
    lists = half.AutoMixedPrecisionLists(custom_white_list={"relu"})
    half.decorate(fluid.optimizer.SGD(0.1), amp_lists=lists).minimize(loss)


@pytest.mark.parametrize(
    "change",
    [
        lambda program: fluid.transform.jvp(program, "z.tmp_0", "x"),
        lambda program: fluid.transform.specialize(program, {"x": np.ones([2, 3], "float32")}),
        lambda program: program.global_block().ops[1].desc.infer_shape(program.global_block().desc),
        in_half_precision,
    ],
)
def test_slots_that_an_operator_lacks_are_passed_over(block, change):
    x = block.var("x")
    x.stop_gradient = False
    block.ops[1].desc.set_input("Mask", ["x"])
    block.ops[1].desc.set_output("Sum", ["no_such_variable"])
    change(block.program)


def test_a_description_is_a_view_of_the_variable(block):
    desc = block.var("x").desc
    assert (desc.name(), desc.shape(), desc.dtype(), desc.need_check_feed()) == (
        "x",
        [2, 3],
        core.VarDesc.VarType.FP32,
        True,
    )
    desc.set_shape([4, 5])
    desc.set_dtype(core.VarDesc.VarType.FP64)
    desc.set_persistable(True)
    x = block.var("x")
    assert (x.shape, str(x.dtype), x.persistable) == ((4, 5), "float64", True)
    assert (desc.is_parameter(), desc.stop_gradient()) == (False, True)


@pytest.mark.parametrize("name", ["shape", "dtype", "grad_name"])
def test_a_variable_says_what_it_is_and_is_not_told(block, name):
    with pytest.raises(AttributeError):
        setattr(block.var("x"), name, getattr(block.var("y.tmp_0"), name))


def test_shapes_are_inferred_again_when_what_is_read_has_another_one():
    main = Program()
    with fluid.program_guard(main, Program()):
        x = fluid.data("x", [-1, 3, 8, 8], "float32")
        y = layers.conv2d(x, 4, 3, param_attr="w", bias_attr=False)
        y = layers.batch_norm(y, param_attr="s", bias_attr="b", moving_mean_name="m")
        fluid.optimizer.Momentum(0.1, 0.9).minimize(layers.mean(y))
    names = main.global_block().vars
    names["w"].desc.set_shape([2, 3, 5, 5])
    for name in ("s", "b", "m", y.block.ops[1].input("Variance")[0]):
        names[name].desc.set_shape([2])
    for op in main.global_block().ops:
        if op.type != "momentum":
            op.desc.infer_shape(op.block.desc)
    assert (y.shape, names[y.name + "@GRAD"].shape) == ((-1, 2, 4, 4), (-1, 2, 4, 4))
    assert [names[n + "@GRAD"].shape for n in "wsb"] == [(2, 3, 5, 5), (2,), (2,)]
    assert names["w"].shape == (2, 3, 5, 5)
    with pytest.raises(core.EnforceNotMet, match="momentum"):  # its velocity is as it was
        main.global_block().ops[-1].desc.infer_shape(main.global_block().desc)
    names["x"].desc.set_dtype("float64")
    names["w"].desc.set_dtype("float64")
    names["x"].desc.set_shape([5, 3, 8, 8])
    main.global_block().ops[0].desc.infer_var_type(main.global_block().desc)
    conv = names[main.global_block().ops[0].output("Output")[0]]
    assert (str(conv.dtype), conv.shape) == ("float64", (-1, 2, 4, 4))


def test_shapes_that_do_not_fit_leave_what_is_declared():
    main = Program()
    with fluid.program_guard(main, Program()):
        out = layers.fc(fluid.data("x", [2, 3], "float32"), 4, param_attr="w", bias_attr=False)
    main.global_block().var("w").desc.set_shape([5, 6])
    op = main.global_block().ops[0].desc
    with pytest.raises(core.EnforceNotMet, match=r"mul.*\n"):
        op.infer_shape(main.global_block().desc)
    assert out.shape == (2, 4)
    main.global_block().var("w").desc.set_shape([3, 6])
    op.infer_shape(main.global_block().desc)
    assert out.shape == (2, 6)


def test_operators_are_made_of_descriptions(block):
    block.create_var(name="o", dtype="float32", shape=[2, 3])
    made = block.desc.append_op()
    made.set_type("scale")
    made.set_input("X", ["x"])
    made.set_output("Out", ["o"])
    made._set_attr("scale", 4.0)
    copy = block.desc._insert_op(0)
    copy.copy_from(block.ops[1].desc)
    block.desc._remove_op(1, 2)
    block._sync_with_cpp()
    assert [op.type for op in block.ops] == ["scale", "relu", "scale"]
    (got,) = fluid.Executor().run(feed={"x": np.ones([2, 3], "float32")}, fetch_list=["o"])
    assert got.tolist() == [[4.0] * 3] * 2


def test_a_programs_description_is_copied_by_its_bytes(block):
    desc = block.program.desc
    for made in (core.ProgramDesc(desc), core.ProgramDesc(desc.serialize_to_string())):
        assert (made.num_blocks(), made.block(0).op(1).type()) == (1, "relu")
    assert framework.Program._construct_from_desc(desc) is block.program


def test_a_description_becomes_the_program_of_bytes(block):
    program = framework.Program()
    data = block.program.desc.serialize_to_string()
    program.desc.parse_from_string(data)
    assert program.to_bytes() == data
    assert program.block(0).var("x").block.program is program
    with pytest.raises(FileFormatError):
        program.desc.parse_from_string(b"\x0a\xff")
    assert program.to_bytes() == data


def test_parts_of_a_program_are_bytes_that_its_bytes_hold(block):
    whole = block.desc.serialize_to_string()
    assert whole in block.program.to_bytes()
    parts = [block.ops[0].desc, block.var("x").desc]
    assert [type(part).__name__ for part in parts] == ["OpDesc", "VarDesc"]
    for part in parts:
        assert part.serialize_to_string() in whole


def test_an_attribute_names_several_blocks(block):
    program = block.program
    inner = [program.add_block(0), program.add_block(0)]
    desc = block.desc.append_op()
    desc.set_type("listen")
    desc.set_blocks_attr("optimize_blocks", [each.desc for each in inner])
    assert desc._blocks_attr_ids("optimize_blocks") == [1, 2]
    assert desc.attr_type("optimize_blocks") == core.AttrType.BLOCKS


# -- constants -------------------------------------------------------------------------------------


def test_types_are_instances_of_their_class(block):
    types = core.VarDesc.VarType
    x = block.var("x")
    assert isinstance(x.dtype, types) and isinstance(x.type, types)
    assert not isinstance(5, types)
    assert types(5) == types.FP32 == x.dtype
    assert x.type == types.LOD_TENSOR


def test_types_of_attributes_have_names(block):
    assert block.ops[0].attr_type("scale") == core.AttrType.FLOAT
    assert block.ops[0].attr_type("bias_after_scale") == core.AttrType.BOOL


def test_roles_have_names():
    maker = core.op_proto_and_checker_maker
    assert [int(maker.OpRole.Optimize), int(maker.OpRole.LRSched)] == [2, 16]
    assert (maker.kOpRoleVarAttrName(), framework.grad_var_name("x")) == ("op_role_var", "x@GRAD")
