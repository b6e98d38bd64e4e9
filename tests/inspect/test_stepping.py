"""Every value of a run, and runs that stop."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError, FluidError, UnknownVariableError
from fluidlite.inspect import Debugger, debug, is_infinite, is_nan, trace

from specimens import lenet, lenet_feed, loop


def main():
    return fluid.default_main_program()


@pytest.fixture
def trained():
    """An executor of a net that is ready to be trained."""
    lenet()
    main().random_seed = 3
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    return exe


# -- trace -----------------------------------------------------------------------------------------


def test_a_trace_has_the_values_that_the_next_run_computes(trained):
    names = [n for op in main().global_block().ops for n in op.output_arg_names]
    wanted = [n for n in dict.fromkeys(names) if not main().global_block().var(n).persistable]
    found = trained.trace(main(), lenet_feed())
    values = trained.run(feed=lenet_feed(), fetch_list=wanted)
    for name, value in zip(wanted, values):
        np.testing.assert_array_equal(found[name], value, err_msg=name)


def test_a_trace_keeps_nothing_and_counts_for_nothing(trained):
    scope = fluid.global_scope()
    before = {v.name: np.array(v.value) for v in scope}
    first = trained.trace(main(), lenet_feed())
    second = trained.trace(main(), lenet_feed())
    for held in scope:
        np.testing.assert_array_equal(held.value, before[held.name])
    np.testing.assert_array_equal(first["dropout_0.tmp_0"], second["dropout_0.tmp_0"])


def test_later_runs_do_not_change_a_trace(trained):
    for _ in range(3):  # plans are specialised when they have been used
        trained.run(feed=lenet_feed())
    found = trained.trace(main(), lenet_feed())
    kept = np.array(found.records[0].inputs["conv2d_0.w_0"])
    for _ in range(2):
        trained.run(feed=lenet_feed())
    np.testing.assert_array_equal(found.records[0].inputs["conv2d_0.w_0"], kept)


def test_records_say_what_an_operator_read_and_wrote(trained):
    found = trained.trace(main(), lenet_feed())
    op = main().global_block().ops[0]
    (record,) = found.of(op)
    assert list(record.inputs) == ["image", "conv2d_0.w_0"]
    assert list(record.outputs) == ["conv2d_0.tmp_0"]
    assert "conv2d_0.tmp_0: float32[6, 4, 12, 12]" in str(record)
    assert len(found) == len(main().global_block().ops)
    assert str(found).splitlines()[1].split()[1:3] == ["conv2d", "conv2d_0.tmp_0"]


def test_passes_of_a_loop_are_told_apart():
    loss = loop()
    found = fluid.Executor().trace(feed={"x": np.array([5.0], "float32")})
    halved = [r.outputs for r in found if r.op.type == "scale" and r.op.block.idx == 1]
    assert [float(next(iter(o.values()))[0]) for o in halved] == [2.5, 1.25, 0.625]
    assert found[loss] == pytest.approx(0.625**2)


def test_the_first_bad_value_is_found():
    x = fluid.data("x", [1, 2], "float32")
    y = fluid.layers.exp(fluid.layers.sqrt(fluid.layers.scale(x, scale=-1.0)))
    found = fluid.Executor().trace(feed={"x": np.ones([1, 2], "float32")})
    assert found.first(is_nan).op.type == "sqrt"
    assert found.first(is_infinite) is None
    assert y.name in found and "nothing" not in found


def test_an_error_holds_what_was_run_before():
    x = fluid.data("x", [None, None], "float32")
    y = fluid.layers.relu(x)
    fluid.layers.matmul(y, y)
    with pytest.raises(FluidError) as caught:
        fluid.Executor().trace(feed={"x": np.ones([2, 3], "float32")})
    assert [r.op.type for r in caught.value.trace] == ["relu"]


def test_unknown_names_and_programs_are_refused(trained):
    found = trained.trace(main(), lenet_feed())
    with pytest.raises(UnknownVariableError, match="'fc_0.tmp_9'; did you mean"):
        found["fc_0.tmp_9"]
    with pytest.raises(ArgumentError, match="expected a Program to run, got 3"):
        trace(trained, 3)


# -- the debugger ----------------------------------------------------------------------------------


def test_a_run_goes_on_operator_by_operator(trained):
    with Debugger(trained, feed=lenet_feed()) as debugger:
        assert debugger.step().op.type == "elementwise_add"
        assert [r.op.type for r in debugger.trace] == ["conv2d"]
        assert debugger.step(2).op.type == "pool2d"
        assert debugger["conv2d_0.tmp_2"].min() == 0.0
        with pytest.raises(UnknownVariableError, match="'fc_0.tmp_0' has no value yet"):
            debugger["fc_0.tmp_0"]
        assert "->    3  pool2d_0.tmp_0 = pool2d(" in debugger.listing()
        assert debugger.go() is None and debugger.is_over and debugger.step() is None


@pytest.mark.parametrize(
    "place, stops, when",
    [
        ("tanh", "tanh", "before"),
        ("fc_0.tmp_0", "mul", "after"),
        (lambda value: getattr(value, "shape", ()) == (6, 20), "mul", "after"),
    ],
)
def test_breakpoints_by_type_name_and_predicate(trained, place, stops, when):
    with Debugger(trained, feed=lenet_feed()) as debugger:
        debugger.stop_at(place)
        stop = debugger.go()
        assert stop.op.type == stops and stop.is_before is (when == "before")
        assert f"{when} " in str(stop) and "breakpoint" in stop.reason


@pytest.mark.parametrize("given", [(main, None), (None, 3)], ids=["executor", "program"])
def test_a_debugger_of_something_else_says_what_it_expects(trained, given):
    executor, program = given
    with pytest.raises(ArgumentError, match="expected .* to be an? (executor|program)"):
        Debugger(executor or trained, program)


def test_breakpoints_by_line_operator_and_variable(trained):
    op = next(op for op in main().global_block().ops if op.type == "dropout")
    site = f"specimens.py:{op.callsite.line}"
    for place in (site, op):
        with Debugger(trained, feed=lenet_feed()) as debugger:
            debugger.stop_at(place)
            assert debugger.go().op is op
    with Debugger(trained, feed=lenet_feed()) as debugger:
        assert debugger.until(main().global_block().var("fc_1.tmp_1")).op.type == "elementwise_add"
        assert debugger.breakpoints == []


def test_a_run_stops_inside_a_loop_in_each_pass():
    loop()
    with Debugger(fluid.Executor(), feed={"x": np.array([5.0], "float32")}) as debugger:
        debugger.stop_at("scale")
        inside = [debugger.go() for _ in range(3)]
        assert {stop.op.block.idx for stop in inside} == {1}
        debugger.clear()
        assert debugger.go() is None


def test_a_run_that_is_left_keeps_nothing(trained):
    before = {v.name: np.array(v.value) for v in fluid.global_scope()}
    with Debugger(trained, feed=lenet_feed()) as debugger:
        debugger.step(10)
    for held in fluid.global_scope():
        np.testing.assert_array_equal(held.value, before[held.name])


def test_a_failing_operator_is_raised_where_the_run_is_told_to_go_on():
    x = fluid.data("x", [None, None], "float32")
    fluid.layers.matmul(x, x)
    with Debugger(fluid.Executor(), feed={"x": np.ones([2, 3], "float32")}) as debugger:
        with pytest.raises(FluidError, match="matmul"):
            debugger.go()
        assert debugger.is_over


def test_places_that_are_not_there_are_refused(trained):
    debugger = Debugger(trained)
    with pytest.raises(
        ArgumentError, match="no variable and no operator 'tnah'; did you mean 'tanh'"
    ):
        debugger.stop_at("tnah")
    with pytest.raises(ArgumentError, match="a name, a line, a variable"):
        debugger.stop_at(3)
    with pytest.raises(ArgumentError, match="at least one step, got 0"):
        debugger.step(0)
    debugger.close()


def test_a_terminal_steps_prints_and_leaves(trained):
    lines = iter(
        ["step", "s 2", "stop nan", "stop nothing", "clear", "until tanh", "p fc_0.b_0", "p no"]
        + ["where", "list", "trace", "help", "", "go"]
    )
    said = []
    found = debug(trained, main(), lenet_feed(), ask=lambda _: next(lines), tell=said.append)
    text = "\n".join(said)
    assert "step: before conv2d_0.tmp_0 = conv2d(" in said[0]
    assert "ArgumentError: the program has no variable and no operator 'nothing'" in text
    assert "UnknownVariableError" in text and "run to the next breakpoint" in text
    assert said[-1] == "the run is over"
    assert len(found) == len(main().global_block().ops)


def test_a_terminal_writes_the_page_of_what_has_been_run(trained, tmp_path):
    path = tmp_path / "run.html"
    lines, said = iter(["step", f"page {path}", f"page {path}/no", "quit"]), []
    debug(trained, main(), lenet_feed(), ask=lambda _: next(lines), tell=said.append)
    assert f"wrote {path}" in said and "Error: " in said[-1]
    assert 'id="step"' in path.read_text()


def test_the_end_of_the_input_leaves_the_run(trained):
    def ask(prompt):
        raise EOFError

    assert len(debug(trained, main(), lenet_feed(), ask=ask, tell=lambda text: None)) == 0


def test_a_notebook_may_print_where_the_run_stands(trained):
    with Debugger(trained, feed=lenet_feed()) as debugger:
        assert "has not begun" in str(debugger)
        debugger.step()
        assert "conv2d_0.tmp_0: float32[6, 4, 12, 12]" in str(debugger)
        assert repr(debugger).startswith("<Debugger: step: before conv2d_0.tmp_1")


def looped():
    """A program with a loop that counts, and a gradient."""
    w = fluid.layers.create_parameter([2], "float32", name="w")
    h = fluid.layers.tanh(w)
    count = fluid.layers.fill_constant([1], "float32", 0.0)
    total = fluid.layers.fill_constant([1], "float32", 0.0)
    fluid.layers.while_loop(lambda i, t: i < 3.0, lambda i, t: [i + 1.0, t + i], [count, total])
    loss = fluid.layers.reduce_sum(h * h)
    fluid.append_backward(loss)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    return exe, fluid.default_main_program()


def test_a_debugger_goes_back_to_every_state_it_was_in():
    exe, main = looped()
    names = [v.name for v in main.list_vars()]

    def state(debugger):
        return [str(debugger._value(name)) for name in names]

    with Debugger(exe, main) as debugger:
        debugger.begin()
        states = {}
        while not debugger.is_over:
            states.setdefault(len(debugger.trace), state(debugger))
            debugger.step()
        while len(states) > 1:
            pause = debugger.back()
            number = debugger._position
            if number in states:  # operators within a loop end before the loop does
                pairs = zip(states.pop(number), state(debugger))
                assert all(live in ("None", past) for live, past in pairs) and pause.is_before
            if not number:
                break
        assert len(states) == 0 or min(states) == 0


def test_a_debugger_goes_on_through_what_it_remembers():
    exe, main = looped()
    with Debugger(exe, main) as debugger:
        debugger.step(4)
        here, value = str(debugger), np.array(debugger["w"])
        assert debugger.back(3).reason == "back"
        np.testing.assert_array_equal(debugger["w"], value)
        debugger.step(3)
        assert str(debugger) == here
        debugger.back(2)
        assert debugger.go() is debugger.stopped and debugger._past is None
        with pytest.raises(ArgumentError, match="at least one step, got 0"):
            debugger.back(0)


def test_a_debugger_says_who_made_a_gradient():
    exe, main = looped()
    with Debugger(exe, main) as debugger:
        debugger.go()
        assert debugger.is_over
        made = debugger.made_by("w@GRAD")
        assert made.op.type == "tanh_grad" and "test_stepping" in str(made)
        pause = debugger.back_until("w@GRAD")
        assert pause.op.type == "tanh_grad" and pause.is_before and not debugger.is_over
        assert debugger.back_until("elementwise_mul_grad").is_before
        with pytest.raises(UnknownVariableError, match="'w@GRAD' has no value yet"):
            debugger["w@GRAD"]
        assert debugger.made_by("w") is None
        assert debugger.until("w@GRAD").op.type == "tanh_grad"
        assert debugger.back_until("w").reason == "the begin"


def test_a_debugger_runs_until_a_value_changes():
    exe, main = looped()
    writer = next(op for op in main.blocks[1].ops if op.type == "assign")
    (name,) = writer.output_arg_names
    with Debugger(exe, main) as debugger:
        debugger.until("while")
        first = np.array(debugger[name])
        pause = debugger.until_changed(name)
        assert pause.reason == f"breakpoint a change of {name!r}" and not pause.is_before
        assert not np.array_equal(debugger[name], first)
        debugger.back_until(name)
        np.testing.assert_array_equal(debugger[name], first)
        with pytest.raises(ArgumentError, match="no variable and no operator"):
            debugger.until_changed("nothing")


def test_a_run_that_failed_is_looked_back_at():
    x = fluid.data("x", [2])
    y = fluid.layers.scale(x, 2.0)
    fluid.layers.reshape(y, fluid.layers.assign(np.array([3], "int32")))
    feed = {"x": np.ones(2, "float32")}
    said = []
    lines = iter(
        ["go", "back", "p " + y.name, "who " + y.name, "rewind scale", "changed " + y.name, "quit"]
    )
    fluid.inspect.debug(
        fluid.Executor(), feed=feed, ask=lambda prompt: next(lines), tell=said.append
    )
    assert any("[2. 2.]" in line for line in said)
    assert any(line.startswith("0: ") and "scale(X=x" in line for line in said)


@pytest.mark.parametrize("predicate", [lambda v: v > 0.5, lambda v: None])
def test_a_predicate_that_gives_no_single_bool_is_refused(predicate):
    y = fluid.layers.scale(fluid.data("x", [3], "float32"), 2.0)
    feed = {"x": np.ones(3, "float32")}
    with Debugger(fluid.Executor(), feed=feed) as debugger:
        debugger.stop_at(predicate)
        with pytest.raises(ArgumentError, match=r"gives one bool, .*got .* for") as refused:
            debugger.go()
    assert y.name in str(refused.value)


def test_a_name_that_the_program_lacks_has_no_value_ever():
    y = fluid.layers.scale(fluid.data("x", [3], "float32"), 2.0, name="wide")
    with Debugger(fluid.Executor(), feed={"x": np.ones(3, "float32")}) as debugger:
        with pytest.raises(UnknownVariableError, match="no variable 'wide.tmp'; did you mean"):
            debugger["wide.tmp"]
        with pytest.raises(UnknownVariableError, match="has no value yet"):
            debugger[y]
