"""Programs of derivatives: along directions, backward, of the second order, and taken apart."""

import derivative_programs
import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import layers, transform
from fluidlite.errors import (
    ArgumentError,
    FluidWarning,
    NoGradientError,
    ShapeError,
    UnknownVariableError,
    UnsupportedError,
)

D = "float64"
STEP = 1e-5
VECTOR = np.array([0.5, -0.2, 0.9])
RNG = np.random.default_rng(3)


def weight(name, shape=(3, 3)):
    start = fluid.initializer.Normal(0.0, 0.5, seed=4)
    return layers.create_parameter(list(shape), D, name=name, default_initializer=start)


def branch():
    x = fluid.data("x", [3], D)
    positive = layers.reduce_sum(x) > 0.0
    y = layers.cond(positive, lambda: layers.tanh(x) * x, lambda: layers.exp(x))
    return [y * x], ["x"]


def branch_that_writes():
    x = fluid.data("x", [3], D)
    y = layers.create_global_var([3], 2.0, D, name="y", persistable=True)
    y.stop_gradient = False
    with layers.Switch() as switch, switch.case(layers.reduce_sum(x) > 0.0):
        layers.assign(x * x, y)
    return [y * layers.sin(x)], ["x"]


def loop():
    x = fluid.data("x", [3], D)
    i, end = (layers.fill_constant([1], "int64", n) for n in (0, 4))
    going = lambda i, h: layers.less_than(i, end)
    _, h = layers.while_loop(going, lambda i, h: [i + 1, layers.tanh(h * x) + h], [i, x * 1.0])
    return [h * h], ["x"]


def loop_of_what_is_no_input():
    x = fluid.data("x", [3], D)
    i, end = (layers.fill_constant([1], "int64", n) for n in (0, 3))
    start = layers.fill_constant([3], D, 0.5)
    start.stop_gradient = False
    going = lambda i, h: layers.less_than(i, end)
    _, h = layers.while_loop(going, lambda i, h: [i + 1, layers.sin(h + x) * h], [i, start])
    return [h], ["x"]


def arrays():
    x = fluid.data("x", [3], D)
    w = weight("w", [3])
    i, end = (layers.fill_constant([1], "int64", n) for n in (0, 3))
    array = layers.create_array(D)
    layers.array_write(x * 1.0, i, array)
    going = layers.less_than(i, end)
    with layers.While(going).block():
        h = layers.array_read(array, i)
        after = layers.tanh(h * w) + h
        layers.increment(i, 1, in_place=True)
        layers.array_write(after, i, array)
        layers.less_than(i, end, cond=going)
    return [layers.array_read(array, end)], ["x", "w"]


def recurrence(reads_state=True):
    x, h0 = fluid.data("x", [4, 2, 3], D), fluid.data("h0", [2, 3], D)
    w, u = weight("w"), weight("u")
    rnn = layers.StaticRNN()
    with rnn.step():
        step, before = rnn.step_input(x), rnn.memory(init=h0)
        state = layers.matmul(before, u) if reads_state else before
        after = layers.tanh(layers.matmul(step, w) + state)
        rnn.update_memory(before, after)
        rnn.output(after, after * step)
    return list(rnn()), ["x", "w", "u", "h0"] if reads_state else ["w"]


def recurrence_from_what_is_no_input():
    return recurrence(reads_state=False)


def in_place():
    x = fluid.data("x", [3], D)
    y = layers.increment(layers.reduce_sum(x * 2.0, keep_dim=True), 1.0)
    z = layers.square(y)
    layers.assign(layers.sin(z), y)
    return [y * z * x], ["x"]


def normalized():
    x = fluid.data("x", [5, 3], D)
    y = layers.batch_norm(layers.fc(x, 4, param_attr="w"), act="relu", param_attr="scale")
    return [layers.reduce_sum(layers.square(y) * y)], ["x", "w", "scale"]


def computed():
    x = fluid.data("x", [3], D)
    h = layers.exp(x)
    return [layers.sin(h) * x], ["x", h.name]


def joined():
    x = fluid.data("x", [3], D)
    ones = layers.fill_constant([3], D, 1.0)
    return [layers.tanh(layers.concat([ones, x * x, ones]))], ["x"]


FEEDS = {"x": VECTOR}
SEQUENCE = {"x": RNG.normal(size=(4, 2, 3)), "h0": RNG.normal(size=(2, 3))}
PROGRAMS = [
    pytest.param(branch, FEEDS, id="branch taken"),
    pytest.param(branch, {"x": -VECTOR}, id="branch not taken"),
    pytest.param(branch_that_writes, FEEDS, id="branch that writes"),
    pytest.param(branch_that_writes, {"x": -VECTOR}, id="branch that would write"),
    pytest.param(loop, FEEDS, id="loop"),
    pytest.param(loop_of_what_is_no_input, FEEDS, id="loop of what is no input"),
    pytest.param(arrays, FEEDS, id="arrays"),
    pytest.param(recurrence, SEQUENCE, id="recurrence"),
    pytest.param(recurrence_from_what_is_no_input, SEQUENCE, id="state is no input"),
    pytest.param(in_place, FEEDS, id="in place"),
    pytest.param(normalized, {"x": RNG.normal(size=(5, 3))}, id="normalized"),
    pytest.param(computed, FEEDS, id="computed"),
    pytest.param(joined, FEEDS, id="joined"),
]


class Built:
    """A program, what it is fed, and a direction of its inputs."""

    def __init__(self, build, feeds):
        self.outputs, self.inputs = build()
        self.outputs = [v.name for v in self.outputs]
        self.program, self.feeds, self.exe = fluid.default_main_program(), feeds, fluid.Executor()
        startup = fluid.default_startup_program()
        if startup.global_block().ops:
            self.exe.run(startup)
        self.start = {p.name: p.get_value() for p in self.program.all_parameters()}
        self.start = {name: np.array(value) for name, value in self.start.items()}
        rng = np.random.default_rng(0)
        self.direction = {
            n: rng.normal(size=self.program.blocks[0].var(n).shape) for n in self.inputs
        }

    def run(self, made, given=()):
        """What a transformed program gives."""
        fed = {v.name: value for v, value in zip(made.inputs, given, strict=True)}
        return self.exe.run(made.program, {**self.feeds, **fed}, list(made.outputs))

    def along(self, made):
        return self.run(made, list(self.direction.values()))


@pytest.fixture
def built(request):
    return Built(*request.param)


every_program = pytest.mark.parametrize(
    "built", [pytest.param(p.values, id=p.id) for p in PROGRAMS], indirect=True
)


@every_program
def test_forward_mode_gives_what_backward_gives(built):
    text = str(built.program)
    forward = transform.jvp(built.program, built.outputs, built.inputs)
    backward = transform.vjp(built.program, built.outputs, built.inputs)
    assert str(built.program) == text
    for _ in range(3):  # interpreted, compiled, bound
        changes = built.along(forward)
    weights = [np.random.default_rng(5).normal(size=v.shape) for v in changes]
    slopes = built.run(backward, weights)
    for change, output in zip(changes, built.outputs, strict=True):
        assert change.shape == tuple(built.program.blocks[0].var(output).shape)
    np.testing.assert_allclose(
        sum(np.sum(c * w) for c, w in zip(changes, weights)),
        sum(np.sum(g * d) for g, d in zip(slopes, built.direction.values())),
        1e-7,
    )


@every_program
def test_second_derivatives_are_those_of_differences_through_loops_too(built):
    loss = layers.reduce_sum(layers.concat([layers.reshape(o, [-1]) for o in _variables(built)]))
    found = built.along(transform.hvp(built.program, loss, built.inputs))
    slopes = transform.vjp(built.program, loss, built.inputs)

    def slopes_at(step):
        feed = {slopes.inputs[0].name: np.ones(loss.shape), **built.feeds}
        for name, direction in built.direction.items():
            if name in feed:
                feed[name] = feed[name] + step * direction
            else:
                built.program.global_block().var(name).set_value(
                    built.start[name] + step * direction
                )
        return built.exe.run(slopes.program, feed, list(slopes.outputs))

    if len(built.inputs) == len({*built.inputs} & {*built.feeds, *built.start}):
        for mine, plus, minus in zip(found, slopes_at(STEP), slopes_at(-STEP), strict=True):
            np.testing.assert_allclose(mine, (plus - minus) / (2 * STEP), 1e-5, 1e-6)


@every_program
def test_second_derivatives_are_the_same_in_both_modes(built):
    loss = layers.reduce_sum(layers.concat([layers.reshape(o, [-1]) for o in _variables(built)]))
    found = built.along(transform.hvp(built.program, loss, built.inputs))
    slopes = transform.vjp(built.program, loss, built.inputs)
    pulled = transform.vjp(slopes.program, [v.name for v in slopes.outputs], built.inputs)
    feed = {slopes.inputs[0].name: np.ones(loss.shape), **built.feeds}
    weights = [np.random.default_rng(5).normal(size=v.shape) for v in found]
    feed |= {v.name: w for v, w in zip(pulled.inputs, weights, strict=True)}
    backward = built.exe.run(pulled.program, feed, list(pulled.outputs))
    np.testing.assert_allclose(
        sum(np.sum(v * w) for v, w in zip(found, weights, strict=True)),
        sum(np.sum(g * d) for g, d in zip(backward, built.direction.values(), strict=True)),
        1e-6,
    )


def _variables(built):
    return [built.program.global_block().var(name) for name in built.outputs]


@every_program
def test_a_linear_map_gives_the_changes_from_what_the_values_left(built):
    if any("array" in name for name in built.program.global_block().vars):
        with pytest.raises(UnsupportedError, match="'array_0.out'.* cannot be fed"):
            transform.linearize(built.program, built.outputs, built.inputs)
        return
    values, residuals, linear = transform.linearize(built.program, built.outputs, built.inputs)
    expected = built.along(transform.jvp(built.program, built.outputs, built.inputs))
    names = [v.name for v in residuals]
    kept = built.exe.run(values, built.feeds, [*names, *built.outputs])[: len(names)]
    fed = {v.name: d for v, d in zip(linear.inputs, built.direction.values(), strict=True)}
    found = built.exe.run(linear.program, {**dict(zip(names, kept)), **fed}, list(linear.outputs))
    for mine, right in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, right, 1e-12)


def test_derivatives_are_derived_again():
    x = fluid.data("x", [1], D)
    y = layers.sin(x)
    program, names = fluid.default_main_program(), [y.name]
    for order in range(4):
        pushed = transform.jvp(program, names[-1], "x")
        assert pushed.inputs[0].name == ("x@TANGENT" if not order else f"x@TANGENT_{order + 1}")
        program, names = pushed.program, [*names, pushed.outputs[0].name]
    feed = {"x": np.array([0.3])}
    feed |= {v: np.ones(1) for v in program.global_block().vars if v.startswith("x@TANGENT")}
    found = fluid.Executor().run(program, feed, names)
    expected = [np.sin(0.3), np.cos(0.3), -np.sin(0.3), -np.cos(0.3), np.sin(0.3)]
    np.testing.assert_allclose(np.ravel(found), expected, 1e-12)


def test_forward_mode_of_gradients_and_gradients_of_forward_mode_agree():
    x = fluid.data("x", [3], D)
    y = layers.reduce_sum(layers.exp(x) * layers.sin(x))
    program, exe = fluid.default_main_program(), fluid.Executor()
    direction = np.array([1.0, -2.0, 0.5])
    product = transform.hvp(program, y, x)
    feed = {"x": VECTOR, "x@TANGENT": direction}
    (found,) = exe.run(product.program, feed, list(product.outputs))
    pushed = transform.jvp(program, y, x)
    pulled = transform.vjp(pushed.program, pushed.outputs, "x")
    feed[pulled.inputs[0].name] = np.ones(1)
    (other,) = exe.run(pulled.program, feed, list(pulled.outputs))
    right = 2 * np.exp(VECTOR) * np.cos(VECTOR) * direction
    np.testing.assert_allclose(found, right, 1e-12)
    np.testing.assert_allclose(other, right, 1e-12)


def test_masks_of_dropout_are_those_of_the_values():
    fluid.default_main_program().random_seed = 5
    x = fluid.data("x", [100], D)
    y = layers.dropout(x, 0.5, dropout_implementation="upscale_in_train")
    program, (tangent,), (change,) = transform.jvp(fluid.default_main_program(), y, x)
    feed = {"x": np.ones(100), tangent.name: np.full(100, 3.0)}
    value, found = fluid.Executor().run(program, feed, [y.name, change])
    np.testing.assert_array_equal(found, 3 * value)
    assert 0 < np.count_nonzero(value) < 100


def test_outputs_that_do_not_depend_on_inputs_change_by_zeros():
    x, z = fluid.data("x", [3], D), fluid.data("z", [3], D)
    kept = layers.square(z)
    stopped = layers.square(x)
    stopped.stop_gradient = True
    program = fluid.default_main_program()
    with pytest.warns(FluidWarning, match="derivatives of 'tmp_0' are zero: everything on the way"):
        made = transform.jvp(program, [kept, stopped * z], x)
    assert not any(op.type.endswith("_grad") for op in made.program.global_block().ops)
    feed = {"x": VECTOR, "z": VECTOR, "x@TANGENT": VECTOR}
    for found in fluid.Executor().run(made.program, feed, list(made.outputs)):
        np.testing.assert_array_equal(found, np.zeros(3))
    pulled = transform.vjp(program, kept, [x, z])
    feed = {"x": VECTOR, "z": VECTOR, pulled.inputs[0].name: np.ones(3)}
    found = fluid.Executor().run(pulled.program, feed, list(pulled.outputs))
    np.testing.assert_allclose(found, [np.zeros(3), 2 * VECTOR])


def test_tangents_cost_one_operator_behind_each_and_none_where_they_are_zero():
    x = fluid.data("x", [None, 3], "float32")
    h = layers.fc(x, 4, act="tanh", bias_attr=False)
    y = layers.mean(layers.fc(h, 2, bias_attr=False))
    made = transform.jvp(fluid.default_main_program(), y, "fc_1.w_0").program
    types = [op.type for op in made.global_block().ops]
    assert types == ["mul", "tanh", "mul", "mul", "mean", "mean"]
    made = transform.jvp(fluid.default_main_program(), y, x).program
    types = [op.type for op in made.global_block().ops]
    assert types == ["mul", "mul", "tanh", "tanh_grad", "mul", "mul", "mean", "mean"]


def test_sequences_have_tangents_with_sequences():
    x = fluid.data("x", [None, 2], D, lod_level=1)
    y = layers.sequence_pool(layers.sequence_softmax(layers.fc(x, 1)), "sqrt")
    made = transform.jvp(fluid.default_main_program(), y, x)
    assert made.inputs[0].lod_level == 1
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    rows = RNG.normal(size=(5, 2))
    ragged = lambda value: fluid.create_lod_tensor(value, [[2, 3]], fluid.CPUPlace())
    direction = RNG.normal(size=(5, 2))
    at = lambda step: exe.run(feed={"x": ragged(rows + step * direction)}, fetch_list=[y])[0]
    feed = {"x": ragged(rows), made.inputs[0].name: ragged(direction)}
    (found,) = exe.run(made.program, feed, list(made.outputs))
    np.testing.assert_allclose(found, (at(STEP) - at(-STEP)) / (2 * STEP), 1e-5, 1e-9)


def test_tangents_pass_a_recurrence_of_sequences_whose_state_is_no_input():
    x = fluid.data("x", [None, 2], D, lod_level=1)
    rnn = layers.DynamicRNN()
    with rnn.block():
        step = rnn.step_input(x)
        before = rnn.memory(shape=[2], value=0.5, dtype=D)
        after = layers.tanh(step * before)
        rnn.update_memory(before, after)
        rnn.output(after)
    y = rnn()
    rows, direction = RNG.normal(size=(6, 2)), RNG.normal(size=(6, 2))
    ragged = lambda value: fluid.create_lod_tensor(value, [[3, 1, 2]], fluid.CPUPlace())
    exe, program = fluid.Executor(), fluid.default_main_program()
    at = lambda step: np.array(
        exe.run(program, {"x": ragged(rows + step * direction)}, [y], return_numpy=False)[0]
    )
    made = transform.jvp(program, y, x)
    feed = {"x": ragged(rows), made.inputs[0].name: ragged(direction)}
    (found,) = exe.run(made.program, feed, list(made.outputs), return_numpy=False)
    assert found.recursive_sequence_lengths() == [[3, 1, 2]]
    np.testing.assert_allclose(np.array(found), (at(STEP) - at(-STEP)) / (2 * STEP), 1e-5, 1e-9)


def test_an_element_of_an_array_that_is_written_over_loses_its_tangent_alone():
    x = fluid.data("x", [3], D)
    first, second = (layers.fill_constant([1], "int64", n) for n in (0, 1))
    array = layers.create_array(D)
    layers.array_write(x * x, first, array)
    layers.array_write(x * x, second, array)
    layers.array_write(layers.fill_constant([3], D, 2.0), first, array)
    parts = [layers.array_read(array, at) for at in (first, second)]
    made = transform.jvp(fluid.default_main_program(), parts, x)
    feed = {"x": VECTOR, made.inputs[0].name: np.ones(3)}
    found = fluid.Executor().run(made.program, feed, list(made.outputs))
    np.testing.assert_allclose(found, [np.zeros(3), 2 * VECTOR])


def test_what_the_operators_of_a_program_say_of_themselves_stays():
    x = fluid.data("x", [3], D)
    y = layers.tanh(x)
    program = fluid.default_main_program()
    op = y.op
    op.device, op.namescope = "gpu:1", "/there/"
    made = transform.jvp(program, y, x).program.global_block().ops
    assert [(o.device, o.namescope, o.callsite) for o in made] == 2 * [
        ("gpu:1", "/there/", op.callsite)
    ]


def test_a_program_that_was_read_to_infer_has_derivatives(tmp_path):
    x = fluid.data("x", [None, 3], "float32")
    y = layers.fc(x, 2, act="tanh")
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    fluid.io.save_inference_model(str(tmp_path), ["x"], [y], exe)
    program, _, (out,) = fluid.io.load_inference_model(str(tmp_path), exe)
    made = transform.jvp(program, out, "x")
    made.program.verify()
    rows = RNG.normal(size=(4, 3)).astype("float32")
    feed = {"x": rows, made.inputs[0].name: rows}
    value, change = exe.run(made.program, feed, [out.name, *made.outputs])
    w = fluid.global_scope().find_var("fc_0.w_0").get_tensor()
    np.testing.assert_allclose(change, (1 - value**2) * (rows @ np.array(w)), 1e-5, 1e-6)


@pytest.mark.parametrize("make", [transform.jvp, transform.vjp, transform.hvp, transform.linearize])
def test_what_cannot_be_differentiated_is_refused_by_name(make):
    x, n = fluid.data("x", [3], D), fluid.data("n", [3], "int64")
    y = layers.reduce_sum(layers.square(x))
    program = fluid.default_main_program()
    text = str(program)
    for given, error, message in [
        (([y], "nothing"), UnknownVariableError, "'nothing'"),
        (([y], n), ArgumentError, "'n' in inputs holds int64"),
        (([y], []), ArgumentError, "at least one variable in inputs"),
        (([y], [x, "x"]), ArgumentError, "'x' stands twice in inputs"),
        (([y], [3]), ArgumentError, "variables or names in inputs, got 3"),
    ]:
        with pytest.raises(error, match=message):
            make(program, *given)
    assert str(program) == text


def test_second_derivatives_are_of_one_element():
    x = fluid.data("x", [3], D)
    with pytest.raises(ShapeError, match=r"'square_0.tmp_0' has shape \[3\]"):
        transform.hvp(fluid.default_main_program(), layers.square(x), x)


def test_an_operator_without_a_rule_is_named_with_its_line():
    x = fluid.data("x", [3], D)
    out = fluid.default_main_program().global_block().create_var(name="out", dtype=D, shape=[3])
    layers.py_func(lambda v: np.array(v), x, out, backward_func=lambda v, o, g: np.array(g))
    with pytest.raises(NoGradientError, match=r"(?s)'py_func', which has no rule.*built at"):
        transform.jvp(fluid.default_main_program(), out, x)


def test_random_numbers_in_a_loop_are_not_drawn_again_by_a_linear_map():
    x = fluid.data("x", [3], D)
    i, end = (layers.fill_constant([1], "int64", n) for n in (0, 2))
    going = lambda i, h: layers.less_than(i, end)
    _, h = layers.while_loop(going, lambda i, h: [i + 1, layers.dropout(h, 0.5)], [i, x * 1.0])
    with pytest.raises(UnsupportedError, match="'dropout' draws random numbers within 'while'"):
        transform.linearize(fluid.default_main_program(), h, x)


@pytest.mark.parametrize("seed", range(6))
def test_derivatives_of_random_programs_are_the_same_in_both_modes(seed):
    derivative_programs.check(seed)


@pytest.mark.parametrize("make", [transform.jvp, transform.vjp, transform.hvp, transform.jacobian])
def test_arguments_of_other_types_are_errors_of_the_package(make):
    x = fluid.data("x", [3], D)
    y = layers.reduce_sum(layers.square(x))
    with pytest.raises(ArgumentError, match="expected variables or names in inputs, got 3"):
        make(fluid.default_main_program(), y, 3)
    with pytest.raises(ArgumentError, match="expected a program, got 3"):
        make(3, y, x)


@pytest.mark.parametrize("name", ["jvp", "vjp", "linearize", "jacobian", "hvp", "hessian"])
def test_outputs_and_inputs_that_are_swapped_are_refused(name):
    x = fluid.data("x", [3])
    y = layers.reduce_sum(layers.tanh(x))
    with pytest.raises(ArgumentError, match=r"outputs \['x'\] and inputs .*the other way round"):
        getattr(transform, name)(fluid.default_main_program(), x, y)
