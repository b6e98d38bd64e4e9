"""What marks operators that came from a file or from bytes, and what keeps the mark."""

import copy
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError, ForeignEffectError
from fluidlite.ir import foreign
from fluidlite.ir.foreign import OWN
from fluidlite.opdef.attribute import REQUIRED
from fluidlite.opdef.definition import lookup, registered
from fluidlite.runtime import plan

FILES = """program (seed=0) {
  block 0 {
    data x: float32[2]
    var y: float32[2]
    y = scale(X=x, scale=2.0)
    save(X=y, file_path="PATH")
  }
}"""
CALLS = """program (seed=0) {
  block 0 {
    data x: float32[2]
    var y: float32[2]
    {Out=[y]} = py_func(X=[x])
  }
}"""
TALKS = """program (seed=0) {
  block 0 {
    data x: float32[2]
    var y: float32[2]
    y = c_allreduce_sum(X=x)
  }
}"""
INSIDE = """program (seed=0) {
  block 0 {
    data x: float32[2]
    data c: bool[1]
    var s: step_scopes
    {Out=[], Scope=[s]} = conditional_block(Cond=[c], Input=[x], sub_block=block 1, \
is_scalar_condition=true)
  }
  block 1 in 0 {
    save(X=x, file_path="PATH")
  }
}"""
FEED = {"x": np.ones(2, "float32")}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "written"


@pytest.fixture
def program(path):
    return fluid.Program.parse(FILES.replace("PATH", str(path)))


def saving(path):
    """A program of this process that writes a file."""
    made = fluid.Program()
    block = made.global_block()
    block.create_var(name="x", shape=[2], dtype="float32", is_data=True)
    block.append_op("save", {"X": "x"}, {}, {"file_path": str(path)})
    return made


def is_refused(program, path, **how):
    """Whether a run of a program is refused; it writes the file where it is not."""
    try:
        fluid.Executor(**how).run(program, feed=FEED)
    except ForeignEffectError:
        assert not path.exists()
        return True
    assert path.exists()
    path.unlink()
    return False


def changed(data, path):
    """Bytes of a program that nobody wrote: the path has another last letter."""
    found = str(path).encode()
    assert found in data
    return data.replace(found, found[:-1] + b"N")


# -- how a program comes in ------------------------------------------------------------------------


def test_a_text_makes_foreign_operators(program, path):
    assert is_refused(program, path)


def test_bytes_with_one_byte_changed_make_foreign_operators(path):
    data = changed(saving(path).to_bytes(), path)
    program = fluid.Program.parse_from_string(data)
    assert is_refused(program, path.with_name("writteN"))


def test_bytes_with_a_space_at_the_end_are_no_bytes_of_this_process(path):
    data = saving(path).to_bytes() + b"\x20\x20"  # field 4 of another kind
    assert is_refused(fluid.Program.parse_from_string(data), path)


def test_bytes_and_texts_of_this_process_are_its_own(path):
    own = saving(path)
    for again in (
        fluid.Program.parse_from_string(own.to_bytes()),
        fluid.Program.parse_from_string(own.desc.serialize_to_string()),
        fluid.Program.parse(str(own)),
        fluid.Program.parse(own.to_string(with_details=True) + "\n"),
    ):
        assert not is_refused(again, path)


def test_bytes_of_another_process_are_foreign(path):
    code = (
        "import sys, fluidlite as fluid\n"
        "block = fluid.Program().global_block()\n"
        "block.create_var(name='x', shape=[2], dtype='float32', is_data=True)\n"
        f"block.append_op('save', {{'X': 'x'}}, {{}}, {{'file_path': {str(path)!r}}})\n"
        "sys.stdout.buffer.write(block.program.to_bytes())\n"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert is_refused(fluid.Program.parse_from_string(found.stdout), path)


def test_a_model_that_another_one_changed_is_foreign(path, tmp_path):
    main = fluid.default_main_program()
    x = fluid.data("x", [2], "float32")
    y = fluid.layers.elementwise_add(x, fluid.layers.create_parameter([2], "float32"))
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    fluid.io.save_inference_model(str(tmp_path / "model"), ["x"], [y], exe, main)
    model = tmp_path / "model" / "__model__"
    program = fluid.Program.parse_from_string(model.read_bytes())
    program.global_block().append_op("save", {"X": "x"}, {}, {"file_path": str(path)})
    model.write_bytes(changed(program.to_bytes(), path))
    loaded, *_ = fluid.io.load_inference_model(str(tmp_path / "model"), exe)
    target = path.with_name("writteN")
    assert is_refused(loaded, target)
    assert is_refused(fluid.io.read(tmp_path / "model").program, target)


def test_a_foreign_program_that_this_process_writes_stays_foreign(program, path):
    assert is_refused(fluid.Program.parse_from_string(program.to_bytes()), path)
    assert is_refused(fluid.Program.parse(str(program)), path)


def test_what_two_programs_are_written_as_is_own_where_one_of_them_is(program, path):
    own = fluid.Program.parse(str(program))
    for op in own.global_block().ops:
        op.foreign = OWN
    data = own.to_bytes()
    program.to_bytes()  # the same
    assert not is_refused(fluid.Program.parse_from_string(data), path)


def test_marks_of_a_mixed_program_are_written_and_read_one_by_one(program, path):
    twin = path.with_name("own")
    program.global_block().append_op("save", {"X": "x"}, {}, {"file_path": str(twin)})
    again = fluid.Program.parse_from_string(program.to_bytes())
    assert [bool(op.foreign) for op in again.global_block().ops] == [True, True, False]


# -- what keeps the mark ---------------------------------------------------------------------------


def in_thread(program):
    found = []
    worker = threading.Thread(target=lambda: found.append(program.clone()))
    worker.start()
    worker.join()
    return found[0]


@pytest.mark.parametrize(
    "move",
    [
        lambda p: p.clone(),
        lambda p: p.clone(for_test=True),
        copy.deepcopy,
        lambda p: pickle.loads(pickle.dumps(p)),
        in_thread,
        lambda p: p.switched_to_test(),
        lambda p: p._inference_optimize(),
        lambda p: fluid.core.ProgramDesc(p.desc).program,
        lambda p: fluid.core.ProgramDesc(p.to_bytes()).program,
        lambda p: fluid.Program._construct_from_desc(p.desc),
    ],
)
def test_a_copy_of_a_program_keeps_the_mark(move, program, path):
    assert is_refused(move(program), path)


def by_attributes(block, op):
    block.append_op(op.type, {"X": "x"}, {}, op.all_attrs())


def by_one_attribute(block, op):
    block.append_op("save", {"X": "x"}, {}, {"file_path": op.attr("file_path")})


def by_mapping(block, op):
    block.append_op("save", {"X": "x"}, {}, op.attrs)


def by_description(block, op):
    block.desc.append_op().copy_from(op.desc)
    block.ops[-1].set_input("X", "x")


def by_parts(block, op):
    made = block.desc.append_op()
    made.set_type(op.desc.type())
    made.set_input("X", ["x"])
    for name in ("file_path", "overwrite"):
        made._set_attr(name, op.desc.attr(name))


def by_parts_the_type_last(block, op):
    made = block.desc._prepend_op()
    made._set_attr("file_path", op.desc.attr("file_path"))
    made.set_type("save")
    made.set_input("X", ["x"])


def by_setting(block, op):
    block.append_op("save", {"X": "x"}, {}, {"file_path": "elsewhere"})
    block.ops[-1]._set_attr("file_path", op.attr("file_path"))


def by_prepending(block, op):
    block._prepend_op("save", {"X": "x"}, {}, dict(op.all_attrs()))


def by_instance(block, op):
    block.set_ops([*block.ops, op])
    op.block = block
    op.set_input("X", "x")


@pytest.mark.parametrize(
    "move",
    [
        by_attributes,
        by_one_attribute,
        by_mapping,
        by_description,
        by_parts,
        by_parts_the_type_last,
        by_setting,
        by_prepending,
        by_instance,
    ],
)
def test_an_operator_that_is_copied_into_another_program_keeps_the_mark(move, program, path):
    fresh = fluid.Program()
    fresh.global_block().create_var(name="x", shape=[2], dtype="float32", is_data=True)
    move(fresh.global_block(), program.global_block().ops[1])
    assert is_refused(fresh, path)


def test_a_function_of_number_zero_keeps_its_mark_when_attributes_are_copied():
    fluid.layers.py_func(lambda x: x, fluid.data("a", [2], "float32"), _variable("b"))
    (op,) = fluid.Program.parse(CALLS).global_block().ops
    for attrs in (
        op.all_attrs(),
        op.attrs,
        {"forward_callable_id": op.attr("forward_callable_id")},
    ):
        fresh = fluid.Program()
        for name in ("x", "y"):
            fresh.global_block().create_var(name=name, shape=[2], dtype="float32")
        fresh.global_block().append_op("py_func", {"X": ["x"]}, {"Out": ["y"]}, attrs)
        with pytest.raises(ForeignEffectError, match="py_func calls the Python function of number"):
            fluid.Executor().run(fresh, feed=FEED)


def _variable(name):
    block = fluid.default_main_program().current_block()
    return block.create_var(name=name, shape=[2], dtype="float32")


WITH_EFFECTS = [d.type for d in registered() if d.effect is not None]


@pytest.mark.parametrize("type", WITH_EFFECTS)
@pytest.mark.parametrize("copied", [dict, dict.copy, lambda a: {**a}, lambda a: a | {}])
def test_attributes_that_all_have_their_default_carry_the_mark(type, copied):
    definition = lookup(type)
    needed = {a.name: "path" for a in definition.attributes.values() if a.default is REQUIRED}
    attrs = foreign.ForeignAttributes(definition, needed, frozenset({"python"}))
    assert foreign.mark_in(definition, copied(attrs)) == {"python"}


def test_gradients_of_a_foreign_function_are_foreign():
    main = fluid.default_main_program()
    x = fluid.data("x", [2], "float32")
    x.stop_gradient = False
    y = _variable("y")
    fluid.layers.py_func(lambda x: x, x, y, backward_func=lambda x, out, d: d)
    text = str(main).replace("# ", "#  ")  # not what this process wrote
    loaded = fluid.Program.parse(text)
    with fluid.program_guard(loaded):
        loss = fluid.layers.reduce_sum(loaded.global_block().var("y"))
        fluid.backward.append_backward(loss, parameter_list=["x"])
    functions = [op for op in loaded.global_block().ops if op.type == "py_func"]
    assert len(functions) == 2
    assert all(op.foreign for op in functions)


def test_a_pruned_program_keeps_marks_and_runs_where_it_only_computes(program, path):
    pruned = program.pruned(["x"], ["y"])
    (found,) = fluid.Executor().run(pruned, feed=FEED, fetch_list=["y"])
    assert found.tolist() == [2.0, 2.0]
    assert all(op.foreign for op in pruned.global_block().ops)


def test_a_path_that_is_set_anew_does_not_take_the_mark_away(program, path):
    program.global_block().ops[1]._set_attr("file_path", str(path))
    assert is_refused(program, path)


# -- what refuses ----------------------------------------------------------------------------------


def test_the_error_says_operator_path_lines_and_what_to_say(program, path):
    with pytest.raises(ForeignEffectError) as caught:
        fluid.Executor().run(program, feed=FEED)
    text = str(caught.value)
    assert f"save writes {str(path)!r}: operator 1 of block 0" in text
    assert f"run at {__file__}:" in text
    assert 'program.allow("files")' in text
    assert "fluidlite run --allow files" in text
    assert isinstance(caught.value, PermissionError)


def test_control_characters_of_a_path_are_escaped(path):
    program = fluid.Program.parse(FILES.replace("PATH", "a\\u001b[31m\\nb"))
    with pytest.raises(ForeignEffectError, match=r"writes 'a\\x1b\[31m\\nb'"):
        fluid.Executor().run(program, feed=FEED)


def test_a_refusal_comes_before_any_operator_runs(capsys):
    printing = (
        '    y = print(In=x, first_n=-1, message="ran", summarize=-1, print_tensor_name=true, \
print_tensor_type=true, print_tensor_shape=true, print_tensor_lod=true)\n    y = scale('
    )
    program = fluid.Program.parse(FILES.replace("    y = scale(", printing))
    with pytest.raises(ForeignEffectError):
        fluid.Executor().run(program, feed=FEED)
    assert capsys.readouterr().out == ""


def test_an_operator_of_a_block_inside_is_refused_though_the_block_does_not_run(path):
    program = fluid.Program.parse(INSIDE.replace("PATH", str(path)))
    with pytest.raises(ForeignEffectError, match="operator 0 of block 1"):
        fluid.Executor().run(program, feed={**FEED, "c": np.array([False])})


def test_all_refused_operators_are_named_up_to_ten(path):
    more = "\n".join(f'    save(X=y, file_path="f{k}")' for k in range(12))
    program = fluid.Program.parse(FILES.replace("  }\n}", f"{more}\n  }}\n}}"))
    with pytest.raises(ForeignEffectError) as caught:
        fluid.Executor().run(program, feed=FEED)
    assert str(caught.value).count("save writes") == 10
    assert "and 3 more" in str(caught.value)


@pytest.mark.parametrize("text, kind", [(FILES, "files"), (CALLS, "python"), (TALKS, "processes")])
def test_allow_is_for_the_kinds_that_it_names(text, kind):
    program = fluid.Program.parse(text)
    others = {"files", "python", "processes"} - {kind}
    with pytest.raises(ForeignEffectError, match=f"--allow {kind}$"):
        fluid.Executor().run(program.allow(*others), feed=FEED)


def test_what_was_allowed_stays_allowed_in_copies_bytes_and_texts(program, path):
    assert program.allow("files") is program
    assert not is_refused(program, path)
    assert not is_refused(program.clone(), path)
    assert not is_refused(fluid.Program.parse_from_string(program.to_bytes()), path)


@pytest.mark.parametrize("kinds", [("file",), ("",), ("files", "all"), (None,), ()])
def test_an_unknown_kind_is_an_error_and_allows_nothing(kinds, program, path):
    with pytest.raises(ArgumentError, match="expected kinds of effects"):
        program.allow(*kinds)
    assert is_refused(program, path)


def test_a_plan_that_was_kept_does_not_outlive_a_new_mark(program, path):
    own = saving(path)
    exe = fluid.Executor()
    for _ in range(4):
        exe.run(own, feed=FEED)
    path.unlink()
    own.global_block().ops[0]._set_attr(
        "file_path", program.global_block().ops[1].attr("file_path")
    )
    with pytest.raises(ForeignEffectError):
        exe.run(own, feed=FEED)
    assert not path.exists()


def test_functions_of_io_take_the_users_paths_for_a_foreign_program(tmp_path):
    text = """program (seed=0) {
      block 0 {
        data x: float32[2]
        param w: float32[2]
        var y: float32[2]
        y = elementwise_add(X=x, Y=w)
      }
    }"""
    program = fluid.Program.parse(text)
    fluid.global_scope().var("w").value = np.ones(2, "float32")
    exe = fluid.Executor()
    fluid.io.save_persistables(exe, str(tmp_path / "kept"), program)
    fluid.global_scope().var("w").value = np.zeros(2, "float32")
    fluid.io.load_persistables(exe, str(tmp_path / "kept"), program)
    (found,) = exe.run(program, feed=FEED, fetch_list=["y"])
    assert found.tolist() == [2.0, 2.0]


def test_tensors_do_not_run_an_operator_with_an_effect_at_once(program, path):
    op = program.global_block().ops[1]
    with fluid.dygraph.guard():
        x = fluid.dygraph.to_variable(FEED["x"])
        with pytest.raises(fluid.errors.FluidError):
            fluid.default_main_program().global_block().append_op(
                op.type, {"X": x}, {}, op.all_attrs()
            )
    assert not path.exists()


def test_operators_that_nobody_defined_are_marked_for_who_defines_them_later():
    text = FILES.replace("save(X=y, file_path", "{} = later(X=y, file_path")
    program = fluid.Program.parse(text)
    assert all(op.foreign for op in program.global_block().ops)


def on_jax(program):
    pytest.importorskip("jax")
    fluid.Executor(backend="jax").run(program, feed=FEED, fetch_list=["y"])


def on_two_devices(program):
    places = [fluid.CPUPlace(), fluid.CPUPlace()]
    compiled = fluid.CompiledProgram(program).with_data_parallel(places=places)
    fluid.Executor().run(compiled, feed=FEED, fetch_list=["y"])


def planned_only(program):
    fluid.Executor().plan(program, ["y"])


@pytest.mark.parametrize(
    "way",
    [
        on_jax,
        on_two_devices,
        planned_only,
        lambda p: fluid.Executor().run(fluid.CompiledProgram(p), feed=FEED, fetch_list=["y"]),
        lambda p: fluid.inspect.trace(fluid.Executor(), p, FEED),
        lambda p: fluid.inspect.Debugger(fluid.Executor(), p, FEED).go(),
        lambda p: fluid.Executor().run(p, feed=FEED, fetch_list=["y"], check_nan_inf=True),
    ],
)
def test_each_way_to_run_a_program_refuses(way, program, path):
    with pytest.raises(ForeignEffectError, match="save writes"):
        way(program)
    assert not path.exists()


def test_what_is_exported_has_no_operator_with_an_effect(program, tmp_path, path):
    target = tmp_path / "model.py"
    with pytest.raises(fluid.errors.UnsupportedError, match="save has no form"):
        fluid.export.numpy_source(program, target, feeds=["x"], fetches=["y"], updates=True)
    fluid.export.numpy_source(program, target, feeds=["x"], fetches=["y"])
    assert str(path) not in target.read_text()
    assert not path.exists()


def test_digests_are_forgotten_when_there_are_too_many(path, monkeypatch):
    monkeypatch.setattr(foreign, "_KEPT", 4)
    data = saving(path).to_bytes()
    assert not is_refused(fluid.Program.parse_from_string(data), path)
    for k in range(20):
        saving(f"{path}{k}").to_bytes()
    assert is_refused(fluid.Program.parse_from_string(data), path)


def test_a_loaded_program_that_computes_runs_as_often_as_its_builders():
    text = FILES.replace('    save(X=y, file_path="PATH")\n', "")
    exe, program = fluid.Executor(), fluid.Program.parse(text)
    for _ in range(5):
        (found,) = exe.run(program, feed=FEED, fetch_list=["y"])
    assert found.tolist() == [2.0, 2.0]


def test_a_run_that_is_planned_already_looks_at_no_operator_again(monkeypatch):
    text = FILES.replace('    save(X=y, file_path="PATH")\n', "")
    exe, program = fluid.Executor(), fluid.Program.parse(text)
    looked = []
    monkeypatch.setattr(plan, "admit", lambda ops: looked.append(len(ops)))
    for _ in range(5):
        exe.run(program, feed=FEED, fetch_list=["y"])
    assert looked == [1]
