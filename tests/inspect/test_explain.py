"""explain_gradient says where gradients come from, and where they stop."""

import inspect

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import unique_name
from fluidlite.errors import ArgumentError
from fluidlite.inspect import Explanation
from fluidlite.ir.program import Program

layers = fluid.layers


def fed(name="x", shape=(2,), dtype="float32", stops=False):
    x = fluid.data(name, list(shape), dtype)
    x.stop_gradient = stops
    return x


def block():
    return fluid.default_main_program().global_block()


def this_line(back=1):
    """The place of the line before this one in the test that calls."""
    frame = inspect.currentframe().f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno - back}"


def test_the_shortest_way_is_told_from_the_target_with_lines():
    x = fed()
    h = layers.tanh(x)
    made = this_line()
    y = layers.square(h) * layers.exp(layers.sigmoid(h))
    loss = layers.reduce_sum(y)
    found = fluid.explain_gradient(x, loss)
    assert found.flows and not found.reason and not found.stops
    types = ["tanh", "square", "elementwise_mul", "reduce_sum"]
    assert [passage.operator.partition("(")[0].split()[-1] for passage in found.path] == types
    assert [(p.reads, p.writes) for p in found.path[:2]] == [
        ("x", "tanh_0.tmp_0"),
        ("tanh_0.tmp_0", "square_0.tmp_0"),
    ]
    assert str(found.path[0].callsite) == made
    lines = str(found).splitlines()
    assert lines[0] == "the gradient of 'x' comes from 'reduce_sum_0.tmp_0', through"
    assert lines[4] == f"  tanh_0.tmp_0 = tanh(X=x), built at {made}"
    assert lines[5] == "at 'tanh_0.tmp_0' it is the sum of 2 contributions"
    assert lines[6] == "it has not been built: append_backward or gradients builds it"


def test_the_counts_at_forks_are_those_of_the_sums_that_backward_builds():
    x = fed()
    y = x * x + layers.tanh(x)
    z = layers.sums([y, y, layers.exp(y)])
    loss = layers.reduce_sum(z)
    found = fluid.explain_gradient(x, loss)
    fluid.append_backward(loss)
    sums = {op.output("Out")[0]: len(op.input("X")) for op in block().ops if op.type == "sum"}
    assert dict(found.contributions) == {"x": 3, y.name: 3}
    assert sums["x@GRAD"] == 3 and sums[y.grad_name] == 3


def test_the_gradient_variable_is_named_when_it_has_been_built():
    x = fed()
    loss = layers.reduce_sum(layers.square(x))
    fluid.append_backward(loss)
    found = fluid.explain_gradient("x")
    assert (found.targets, found.gradient) == ((loss.name,), "x@GRAD")
    assert str(found).endswith("it is in 'x@GRAD'")


def test_the_way_to_a_second_gradient_goes_through_gradient_operators():
    x = fed()
    (slope,) = fluid.gradients(layers.tanh(x), x)
    found = fluid.explain_gradient(x, slope)
    assert "tanh_grad" in found.path[-1].operator and found.gradient is None
    (second,) = fluid.gradients(slope, x)
    assert fluid.explain_gradient(x, slope).gradient == second.name == "grad/grad/x@GRAD"


def test_a_gradient_that_a_call_left_out_is_told():
    x, y = fed("x"), fed("y")
    loss = layers.reduce_sum(x * y)
    fluid.append_backward(loss, no_grad_set={"x"})
    found = fluid.explain_gradient(x)
    assert found.flows and found.gradient is None
    assert "the gradients that were built leave it out" in str(found)
    assert fluid.explain_gradient(y).gradient == "y@GRAD"


def test_a_parameter_that_is_not_trained_is_told():
    out = layers.fc(fed(shape=(2, 3)), 1, param_attr=fluid.ParamAttr(name="w"))
    w = block().var("w")
    loss = layers.mean(out)
    fluid.append_backward(loss)
    w.trainable = False
    assert "it is not trainable" in str(fluid.explain_gradient(w))


# -- why there is none -----------------------------------------------------------------------------


def test_data_variables_stop_gradients_unless_told_otherwise():
    x = fed(stops=True)
    loss = layers.reduce_sum(layers.square(x))
    found = fluid.explain_gradient(x, loss)
    assert not found.flows and found.path == () and found.stops == ()
    assert str(found) == (
        f"'x' gets no gradient from '{loss.name}': it is fed, and gradients stop at data variables "
        f"unless told otherwise: set x.stop_gradient = False before building gradients"
    )
    x.stop_gradient = False
    assert fluid.explain_gradient(x, loss).flows


def test_what_stops_gradients_besides_is_told_only_where_no_way_is_open():
    x = fed(stops=True)
    h = layers.tanh(x)
    h.stop_gradient = True
    closed = fluid.explain_gradient(x, layers.reduce_sum(h * 2.0))
    assert "\nbesides, every way to it is closed:\n  'tanh_0.tmp_0': gradients stop" in str(closed)
    open_ = fluid.explain_gradient(x, layers.reduce_sum(h * x))
    assert not open_.flows and open_.stops == () and "besides" not in str(open_)


def test_integers_have_no_gradients():
    ids = fed("ids", (2, 1), "int64")
    loss = layers.reduce_sum(layers.embedding(ids, [4, 3]))
    assert "it is int64, and only floats have gradients" in str(fluid.explain_gradient(ids, loss))


def test_the_target_may_not_depend_on_it():
    x, y = fed("x"), fed("y", stops=True)
    loss = layers.reduce_sum(layers.square(x))
    layers.square(y)
    assert fluid.explain_gradient(y, loss).reason == "the target does not depend on it"


def test_arguments_the_wrong_way_round_are_told():
    x = fed("x")
    loss = layers.reduce_sum(layers.square(x))
    found = fluid.explain_gradient(loss, x)
    assert found.reason == "the target does not depend on it"
    assert found.note == f"'x' gets one from {loss.name!r}: the target is the second argument"


def test_a_variable_on_the_way_that_stops_gradients_is_told_with_its_line():
    x = fed()
    h = layers.tanh(x)
    made = this_line()
    h.stop_gradient = True
    loss = layers.reduce_sum(layers.square(h))
    found = fluid.explain_gradient(x, loss)
    assert found.reason == "every way to it is closed"
    (stop,) = found.stops
    assert stop.variable == h.name and stop.reason == "gradients stop at it (stop_gradient)"
    assert f"tanh_0.tmp_0 = tanh(X=x), built at {made}" in str(found)


def test_every_closed_way_is_told():
    x = fed()
    stopped, open_ = layers.tanh(x), layers.exp(x)
    stopped.stop_gradient = True
    rounded = layers.cast(layers.cast(open_, "int32"), "float32")
    loss = layers.reduce_sum(stopped + rounded)
    found = fluid.explain_gradient(x, loss)
    assert {stop.variable: stop.reason for stop in found.stops} == {
        stopped.name: "gradients stop at it (stop_gradient)",
        "cast_0.tmp_0": "it is int32, and only floats have gradients",
    }


def test_ways_that_are_closed_beside_an_open_one_are_told():
    x = fed()
    h = layers.tanh(x)
    h.stop_gradient = True
    found = fluid.explain_gradient(x, layers.reduce_sum(x * h))
    assert found.flows and [stop.variable for stop in found.stops] == [h.name]
    assert "other ways are closed:\n  'tanh_0.tmp_0': gradients stop" in str(found)


def test_nothing_flows_through_argmax():
    x = fed(shape=(2, 3))
    best = layers.argmax(x, axis=1)
    made = this_line()
    loss = layers.reduce_sum(layers.cast(best, "float32"))
    (stop,) = fluid.explain_gradient(x, loss).stops
    assert "arg_max(X=x" in stop.operator and str(stop.callsite) == made
    assert stop.reason == "it is int64, and only floats have gradients"


def test_nothing_flows_through_operators_that_are_constant_by_nature():
    x = fed()
    loss = layers.reduce_sum(layers.ones_like(x))
    (stop,) = fluid.explain_gradient(x, loss).stops
    assert stop.reason == "the operator that makes it has no gradient"


def test_slots_to_which_nothing_flows_are_told():
    x = fed(shape=(1,))
    n = layers.fill_constant([1], "float32", 3.0)
    loss = layers.reduce_sum(layers.linspace(x, n, 5, "float32"))
    stops = fluid.explain_gradient(x, loss).stops
    assert any("linspace" in stop.operator for stop in stops)


def test_operators_that_nobody_defined_close_the_way():
    program = Program.parse("""program (seed=0) {
  block 0 {
    var x: float32[2]
    var y: float32[2]
    var z: float32[2]
    {Out=y} = magic(X=x)
    z = tanh(X=y)
  }
}""")
    x, z = (program.global_block().var(name) for name in "xz")
    (stop,) = fluid.explain_gradient(x, z).stops
    assert stop.reason == "the operator that makes it is not defined"


# -- names that hold several values, and blocks ----------------------------------------------------


def test_a_name_that_is_written_again_is_told_apart():
    x = fed()
    h = layers.tanh(x)
    loss = layers.reduce_sum(layers.square(h))
    layers.assign(layers.exp(x), h)
    found = fluid.explain_gradient(x, loss)
    assert [p.writes for p in found.path] == ["tanh_0.tmp_0", "square_0.tmp_0", loss.name]


def test_a_way_through_a_branch_names_the_driving_operator_and_those_inside():
    x = fed(shape=(1,))
    zero = layers.fill_constant([1], "float32", 0.0)
    y = layers.cond(layers.less_than(x, zero), lambda: layers.square(x), lambda: layers.tanh(x))
    found = fluid.explain_gradient(x, layers.reduce_sum(y))
    assert found.flows
    text = "\n".join(passage.operator for passage in found.path)
    assert "conditional_block(" in text and "select_input(" in text
    assert "square(X=x)" in text or "tanh(X=x)" in text


def test_a_condition_gets_no_gradient():
    x, y = fed("x", (1,)), fed("y", (1,))
    zero = layers.fill_constant([1], "float32", 0.0)
    out = layers.cond(layers.less_than(x, zero), lambda: layers.square(y), lambda: y * 2.0)
    found = fluid.explain_gradient(x, layers.reduce_sum(out))
    assert not found.flows and found.stops
    assert fluid.explain_gradient(y, layers.reduce_sum(out)).flows


def loop(x, step):
    count = layers.fill_constant([1], "int64", 0)
    limit = layers.fill_constant([1], "int64", 3)
    return layers.while_loop(
        lambda k, y: layers.less_than(k, limit),
        lambda k, y: [k + 1, step(y)],
        [count, layers.tanh(x)],
    )[1]


def test_a_way_through_a_loop():
    x, w = fed("x"), fed("w")
    loss = layers.reduce_sum(loop(x, lambda y: y * w))
    for variable in (x, w):
        found = fluid.explain_gradient(variable, loss)
        assert found.flows and any("while(" in p.operator for p in found.path)


def test_what_stops_a_gradient_inside_a_block_is_told():
    x, w = fed("x"), fed("w")

    def step(y):
        factor = layers.exp(w)
        factor.stop_gradient = True
        return y * factor

    loss = layers.reduce_sum(loop(x, step))
    (stop,) = fluid.explain_gradient(w, loss).stops
    assert stop.variable == "exp_0.tmp_0" and "exp(X=w)" in stop.operator
    assert fluid.explain_gradient(x, loss).flows


def test_a_variable_of_a_block_can_be_explained():
    inner = []

    def step(y):
        inner.append(layers.exp(y))
        return inner[0] * 0.5

    loss = layers.reduce_sum(loop(fed(), step))
    fluid.append_backward(loss)
    found = fluid.explain_gradient(inner[0], loss)
    assert found.flows and found.gradient == inner[0].grad_name


def test_a_way_through_a_recurrent_network():
    x, h = fed("x", (3, 2, 4)), fed("h", (2, 4))
    rnn = layers.StaticRNN()
    with rnn.step():
        word, state = rnn.step_input(x), rnn.memory(init=h)
        after = layers.tanh(word * state)
        rnn.update_memory(state, after)
        rnn.step_output(after)
    loss = layers.reduce_sum(rnn())
    for variable in (x, h):
        found = fluid.explain_gradient(variable, loss)
        assert found.flows and any("tanh(" in p.operator for p in found.path)


# -- targets ---------------------------------------------------------------------------------------


def test_the_loss_is_found_by_its_role():
    x = fed(shape=(2, 3))
    loss = layers.mean(layers.fc(x, 1))
    other = layers.mean(layers.exp(x))
    with pytest.raises(ArgumentError, match="append_backward, minimize or gradients first"):
        fluid.explain_gradient(x)
    fluid.optimizer.SGD(0.1).minimize(loss)
    found = fluid.explain_gradient(block().all_parameters()[0])
    assert found.targets == (loss.name,) and found.gradient == "fc_0.w_0@GRAD"
    fluid.append_backward(other)
    assert fluid.explain_gradient(x).targets == (loss.name, other.name)


def test_targets_of_gradients_are_found_where_there_is_no_loss():
    x = fluid.data("x", [3])
    x.stop_gradient = False
    doubled, squared = layers.scale(x, 2.0), layers.square(x)
    (gradient,) = fluid.gradients([doubled, squared], [x])
    explanation = fluid.explain_gradient(x)
    assert explanation.targets == (doubled.name, squared.name)
    assert explanation.gradient == gradient.name


def test_a_loss_that_nothing_flows_from_is_found_too():
    x = fed(stops=True)
    loss = layers.mean(layers.square(x))
    loss.stop_gradient = True
    fluid.append_backward(loss)
    found = fluid.explain_gradient(x)
    assert found.targets == (loss.name,) and not found.flows


def test_the_target_explains_itself():
    x = fed()
    found = fluid.explain_gradient(x, x)
    assert isinstance(found, Explanation) and found.flows and found.path == ()
    assert str(found).startswith("the gradient of 'x' comes from 'x' itself\n")


def test_arguments_that_do_not_fit_are_refused():
    x = fed()
    with fluid.program_guard(fluid.Program()), unique_name.guard():
        other = layers.square(fed())
    with pytest.raises(ArgumentError, match="are of different programs"):
        fluid.explain_gradient(x, other)
    with pytest.raises(ArgumentError, match="expected a variable or its name, got 3 of type int"):
        fluid.explain_gradient(3)
    with pytest.raises(ArgumentError, match="expected at least one target"):
        fluid.explain_gradient(x, [])


def test_none_of_it_changes_the_program():
    x = fed()
    loss = layers.reduce_sum(layers.tanh(x) * layers.exp(x))
    before = str(fluid.default_main_program()), fluid.default_main_program().revision
    fluid.explain_gradient(x, loss)
    assert (str(fluid.default_main_program()), fluid.default_main_program().revision) == before


def test_a_long_program_is_explained():
    h = x = fed()
    for _ in range(3000):
        h = layers.tanh(h)
    found = fluid.explain_gradient(x, h)
    assert len(found.path) == 3000 and np.all([p.reads != p.writes for p in found.path])


def test_a_loss_of_a_branch_is_explained_through_the_blocks_around_it():
    x = fluid.data("x", [2, 3], "float32")
    h = layers.fc(x, 3, param_attr="w", bias_attr=False)
    flag = fluid.data("flag", [1], "bool")
    losses = []

    def taken():
        losses.append(layers.mean(layers.elementwise_mul(layers.square(h), h)))
        return losses[0]

    layers.cond(flag, taken, lambda: layers.mean(h))
    parameter = fluid.default_main_program().global_block().var("w")
    found = fluid.explain_gradient(parameter, losses[0])
    assert found.flows and found.path[0].writes == h.name
    assert (h.name, 2) in found.contributions
    assert found.gradient is None
    fluid.backward.append_backward(losses[0])
    assert fluid.explain_gradient(parameter, losses[0]).gradient == "w@GRAD"


def test_a_loss_that_is_computed_from_gradients_is_explained():
    x = fluid.data("x", [3, 2], "float32")
    x.stop_gradient = False
    w = fluid.layers.create_parameter([2, 1], "float32")
    (slope,) = fluid.gradients(fluid.layers.tanh(fluid.layers.matmul(x, w)), x)
    penalty = fluid.layers.reduce_mean(slope * slope)
    assert fluid.explain_gradient(w, penalty).flows
    fluid.append_backward(penalty)
    explained = fluid.explain_gradient(w)
    assert explained.flows
    assert "matmul_grad" in str(explained)
    assert explained.gradient is not None


def test_a_loss_behind_an_inner_step_is_explained():
    w = fluid.layers.create_parameter([2], "float32")
    (inner,) = fluid.gradients(fluid.layers.reduce_sum(w * w * w), w)
    outer = fluid.layers.reduce_sum(fluid.layers.square(w - 0.1 * inner))
    assert fluid.explain_gradient(w, outer).flows
