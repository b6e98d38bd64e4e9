"""Gradients and other compositions as plain operators."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import transform
from fluidlite.errors import ArgumentError


def computed(program, feed, fetches):
    exe = fluid.Executor()
    return exe.run(program, feed=feed, fetch_list=fetches)


def trained_net():
    x = fluid.data("x", [4, 3])
    h = fluid.layers.fc(x, 5, act="tanh")
    h = fluid.layers.layer_norm(h)
    logits = fluid.layers.fc(h * h, 3, act="softmax")
    loss = fluid.layers.mean(fluid.layers.square(logits - x))
    fluid.optimizer.SGD(0.1).minimize(loss)
    fluid.Executor().run(fluid.default_startup_program())
    return loss


def test_a_gradient_of_which_a_rule_says_that_nothing_flows_is_zeros():
    x = fluid.data("x", [3])
    x.stop_gradient = False
    (first,) = fluid.gradients(fluid.layers.reduce_sum(fluid.layers.tanh(x)), x)
    (second,) = fluid.gradients(fluid.layers.reduce_sum(first * first), x)
    main = fluid.default_main_program()
    feed = {"x": np.array([0.1, -0.4, 2.0], "float32")}
    (expected,) = computed(main, feed, [second])
    for changed in (transform.expand(main), transform.simplify(main, second)):
        np.testing.assert_allclose(computed(changed, feed, [second.name])[0], expected, rtol=1e-6)


@pytest.mark.parametrize("whole", [False, True])
def test_an_expanded_program_computes_the_same_gradients(whole):
    loss = trained_net()
    main = fluid.default_main_program()
    plain = transform.expand(main, whole=whole)
    types = {op.type for op in plain.global_block().ops}
    assert not any(type.endswith("_grad") for type in types)
    feed = {"x": np.random.default_rng(0).normal(size=[4, 3]).astype("float32")}
    names = [p.grad_name for p in main.all_parameters()]
    scope = {p.name: np.array(fluid.global_scope().value(p.name)) for p in main.all_parameters()}
    before = computed(main, feed, [loss, *names])
    for name, value in scope.items():
        fluid.global_scope().var(name).value = value
    for a, b in zip(before, computed(plain, feed, [loss, *names])):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-7)


def test_parts_have_the_roles_and_lines_of_what_they_are_parts_of():
    trained_net()
    main = fluid.default_main_program()
    plain = transform.expand(main)
    assert len(plain.clone(for_test=True).global_block().ops) == len(
        main.clone(for_test=True).global_block().ops
    )
    assert all(op.callsite is not None for op in plain.global_block().ops if op.type != "sum")


def test_types_are_chosen():
    trained_net()
    main = fluid.default_main_program()
    plain = transform.expand(main, ["tanh_grad"])
    types = [op.type for op in plain.global_block().ops]
    assert "tanh_grad" not in types and "softmax_grad" in types


def test_sizes_that_are_not_known_are_refused_with_what_to_do():
    x = fluid.data("x", [None, 3])
    x.stop_gradient = False
    fluid.append_backward(fluid.layers.mean(fluid.layers.tanh(x)))
    main = fluid.default_main_program()
    with pytest.raises(ArgumentError, match=r"expand: operator mean_grad, made at .*specialize"):
        transform.expand(main)
    known = transform.specialize(main, shapes={"x": [2, 3]})
    assert transform.expand(known).global_block().var("x@GRAD").shape == (2, 3)


def test_names_of_parts_take_no_name_that_is_there():
    x = fluid.data("x", [2])
    x.stop_gradient = False
    fluid.append_backward(fluid.layers.reduce_sum(fluid.layers.tanh(x)))
    text = str(fluid.default_main_program())
    program = fluid.Program.parse(text.replace("reduce_sum_0.tmp_0", "tmp_0"))
    with fluid.unique_name.guard():
        plain = transform.expand(program)
    (a,) = computed(program, {"x": np.ones(2, "float32")}, ["x@GRAD"])
    (b,) = computed(plain, {"x": np.ones(2, "float32")}, ["x@GRAD"])
    np.testing.assert_allclose(a, b, rtol=1e-6)


def loop_of(kind):
    """A loss through a block, whose gradient operators stand in a block, too."""
    x = fluid.data("x", [3, 2, 4])
    x.stop_gradient = False
    L = fluid.layers
    if kind == "while":
        count, most = L.fill_constant([1], "int64", 0), L.fill_constant([1], "int64", 3)
        total, goes_on = L.scale(x, 1.0), L.less_than(count, most)
        loop = L.While(goes_on)
        with loop.block():
            L.assign(L.tanh(total), total)
            L.increment(count, 1)
            L.less_than(count, most, cond=goes_on)
    elif kind == "recurrent":
        rnn, first = L.StaticRNN(), L.fill_constant([2, 4], "float32", 0.5)
        with rnn.step():
            step = rnn.step_input(x)
            memory = rnn.memory(init=first)
            hidden = L.tanh(step * memory)
            rnn.update_memory(memory, hidden)
            rnn.step_output(hidden)
        total = rnn()
    else:
        total = L.cond(L.reduce_sum(x) > 0.0, lambda: L.exp(L.tanh(x)), lambda: x)
    loss = L.mean(L.square(total))
    fluid.append_backward(loss)
    return loss


@pytest.mark.parametrize("change", [transform.expand, transform.simplify], ids=lambda f: f.__name__)
@pytest.mark.parametrize("kind", ["while", "recurrent", "cond"])
def test_gradients_in_the_blocks_of_loops_and_branches_are_written_out_there(kind, change):
    loss = loop_of(kind)
    main = fluid.default_main_program()
    changed = change(main)
    assert any(op.type == "tanh_grad" for block in main.blocks for op in block.ops)
    assert not any(op.type == "tanh_grad" for block in changed.blocks for op in block.ops)
    feed = {"x": np.random.default_rng(0).uniform(0.1, 1.0, size=[3, 2, 4]).astype("float32")}
    fetches = [loss.name, "x@GRAD"]
    for a, b in zip(computed(main, feed, fetches), computed(changed, feed, fetches)):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("whole", [False, True])
def test_gradients_that_are_written_out_are_certified(whole):
    label = fluid.data("label", [4, 1], "int64")
    scores = fluid.layers.fc(fluid.data("x", [4, 3]), 3, act="softmax")
    fluid.append_backward(fluid.layers.mean(fluid.layers.cross_entropy(scores, label)))
    assert transform.certify(transform.expand(fluid.default_main_program(), whole=whole)).ok


def test_numbers_beside_complex_numbers_of_doubles_are_written_as_doubles():
    z = fluid.data("z", [3], "complex128")
    z.stop_gradient = False
    (first,) = fluid.gradients(fluid.layers.log1p(z), z)
    (slope,) = fluid.gradients(fluid.layers.elementwise_mul(first, first), z)
    feed = {"z": np.array([0.3 + 0.1j, -0.2j, 2.0])}
    main = fluid.default_main_program()
    (expected,) = computed(main, feed, [slope])
    (written,) = computed(transform.expand(main, whole=True), feed, [slope.name])
    np.testing.assert_allclose(written, expected, rtol=1e-14)


def test_sums_over_nothing_and_of_nothing_are_written_out():
    x = fluid.data("x", [2, 3], "float64")
    x.stop_gradient = False
    f = x.block.builder("part")
    sums = f.logsumexp(x, axis=[1]), f.trace(x, offset=5), f.logcumsumexp(x, axis=1, exclusive=True)
    (slope,) = fluid.gradients([fluid.layers.exp(v) for v in sums], x)
    main = fluid.default_main_program()
    feed = {"x": np.array([[0.1, 0.4, -2.0], [-np.inf, -np.inf, -np.inf]])}
    (expected,) = computed(main, feed, [slope])
    assert np.isfinite(expected[0]).all()
    every = transform.expand(main, lambda op: True, whole=True)
    np.testing.assert_allclose(computed(every, feed, [slope.name])[0], expected, rtol=1e-12)
