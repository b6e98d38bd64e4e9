"""Operators are inserted where they are wanted, and read where they are to be read."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import Program, layers, transform
from fluidlite.errors import ArgumentError, ShapeError, UnknownVariableError, UnsupportedError
from fluidlite.transform import insert_after, insert_before

X = np.array([[-1.0, 2.0, -3.0]], "float32")


@pytest.fixture(autouse=True)
def own_scope():
    with fluid.scope_guard(fluid.Scope()):
        yield


def types(program, block=0):
    return [op.type for op in program.block(block).ops]


def ran(program, *fetch):
    return fluid.Executor().run(program, feed={"x": X}, fetch_list=list(fetch))


def net():
    x = fluid.data("x", [None, 3], "float32")
    h = layers.relu(x)
    return x, h, layers.elementwise_add(h, layers.square(h))


def test_operators_behind_read_what_is_inserted():
    _, h, y = net()
    program = fluid.default_main_program()
    before = str(program)
    changed = insert_after(program, h, lambda value: layers.scale(value, 2.0))
    assert types(changed) == ["relu", "scale", "square", "elementwise_add"]
    doubled = 2 * np.maximum(X, 0)
    np.testing.assert_allclose(ran(changed, y)[0], doubled + doubled**2)
    assert str(program) == before and "scale_0.tmp_0" in changed.global_block().vars


def test_an_operator_reads_what_is_inserted_in_front_of_it():
    _, h, y = net()
    program = fluid.default_main_program()
    changed = insert_before(program, "elementwise_add", lambda a, b: (None, layers.exp(b)))
    assert types(changed) == ["relu", "square", "exp", "elementwise_add"]
    h = np.maximum(X, 0)
    np.testing.assert_allclose(ran(changed, y)[0], h + np.exp(h * h), rtol=1e-6)
    first = insert_before(program, "elementwise_add", lambda a, b: layers.exp(a))
    np.testing.assert_allclose(ran(first, y)[0], np.exp(h) + h * h, rtol=1e-6)


def test_a_probe_changes_nothing_for_others_be_it_in_a_training():
    x = fluid.data("x", [None, 3], "float32")
    loss = layers.mean(layers.fc(x, 2, act="tanh"))
    fluid.optimizer.SGD(0.1).minimize(loss)
    program = fluid.default_main_program()
    seen = []

    def probe(value):
        seen.append(layers.reduce_max(layers.abs(value)))

    probed = insert_after(program, "tanh", probe)
    fluid.Executor().run(fluid.default_startup_program())
    with_probe = ran(probed, loss, seen[0])
    assert with_probe[1].shape == (1,) and 0 < with_probe[1] <= 1
    with pytest.raises(UnsupportedError, match="has the gradient"):
        insert_after(program, "tanh", lambda value: layers.scale(value, 2.0))
    with pytest.raises(UnsupportedError, match="has the gradient"):
        insert_before(program, "tanh", lambda value: layers.scale(value, 2.0))


def test_what_has_parameters_takes_and_gives_a_pair():
    x = fluid.data("x", [None, 3], "float32")
    h = layers.fc(x, 3)
    y = layers.relu(h)
    main, startup = fluid.default_main_program(), fluid.default_startup_program()
    count = len(startup.global_block().ops)
    changed, start = insert_after((main, startup), h, lambda value: layers.fc(value, 3))
    assert len(changed.all_parameters()) == 4 and len(start.global_block().ops) == count + 2
    assert len(startup.global_block().ops) == count and len(main.all_parameters()) == 2
    fluid.Executor().run(start)
    assert ran(changed, y)[0].shape == (1, 3)
    with pytest.raises(ArgumentError, match=r"has the parameter 'fc_.*give a pair"):
        insert_after(main, h, lambda value: layers.fc(value, 3))


def test_every_chosen_operator_gets_its_own_and_names_are_free():
    text = """program (seed=0) {
  block 0 {
    data x: float32[-1, 3]
    var  scale_0.tmp_0: float32[-1, 3]
    var  y: float32[-1, 3]
    scale_0.tmp_0 = relu(X=x)
    y = relu(X=scale_0.tmp_0)
  }
}"""
    program = insert_after(Program.parse(text), "relu", lambda value: layers.scale(value, -1.0))
    assert types(program) == ["relu", "scale", "relu", "scale"]
    last = program.global_block().ops[3].output("Out")[0]
    np.testing.assert_array_equal(ran(program, last)[0], np.zeros_like(X))


def test_blocks_within_are_places_too():
    x = fluid.data("x", [None, 3], "float32")
    yes = layers.fill_constant([1], "bool", True)
    y = layers.cond(yes, lambda: layers.square(x), lambda: layers.scale(x, 3.0))
    program = fluid.default_main_program()
    changed = insert_after(program, "square", lambda value: layers.scale(value, 0.5))
    assert types(changed, 1)[:2] == ["square", "scale"]
    np.testing.assert_allclose(ran(changed, y)[0], X * X / 2)
    inner = insert_before(program, (1, 0), lambda value: layers.relu(value))
    np.testing.assert_allclose(ran(inner, y)[0], np.maximum(X, 0) ** 2)
    with pytest.raises(ArgumentError, match="drives a block"):
        insert_before(program, "conditional_block", lambda *values: layers.relu(x))


def test_loops_are_inserted_by_functions():
    _, h, y = net()

    def doubled(value):
        i, n = layers.fill_constant([1], "int64", 0), layers.fill_constant([1], "int64", 3)
        total = layers.assign(value)
        running = layers.less_than(i, n)
        with layers.While(running).block():
            layers.assign(layers.scale(total, 2.0), total)
            layers.increment(i, in_place=True)
            layers.less_than(i, n, cond=running)
        return total

    changed = insert_after(fluid.default_main_program(), h, doubled)
    h = 8 * np.maximum(X, 0)
    np.testing.assert_allclose(ran(changed, y)[0], h + h * h)


def test_operators_of_another_program_are_copied_with_what_they_declare():
    _, h, _ = net()
    text = f"""program (seed=0) {{
  block 0 {{
    var {h.name}: float32[-1, 3]
    var extra: float32[-1, 3]
    extra = exp(X={h.name})
    save(X=extra, file_path="x")
  }}
}}"""
    others = Program.parse(text).global_block().ops
    changed = insert_after(fluid.default_main_program(), h, others)
    assert types(changed) == ["relu", "exp", "save", "square", "elementwise_add"]
    assert changed.global_block().ops[2].foreign == others[1].foreign != frozenset()
    np.testing.assert_allclose(
        ran(insert_after(fluid.default_main_program(), h, others[0]), "extra")[0],
        np.exp(np.maximum(X, 0)),
        rtol=1e-6,
    )
    others[0].rename_input(h.name, "nowhere")
    with pytest.raises(UnknownVariableError, match="'nowhere'"):
        insert_after(fluid.default_main_program(), h, [others[0]])


def test_what_a_function_returns_has_to_fit():
    _, h, _ = net()
    program = fluid.default_main_program()
    before = str(program)
    with pytest.raises(ShapeError, match=r"expected the shape \[-1, 3\], got \[1\]"):
        insert_after(program, h, lambda value: layers.reduce_sum(value))
    with pytest.raises(ArgumentError, match="to return variables, got 3"):
        insert_after(program, h, lambda value: [3])
    with pytest.raises(ArgumentError, match="up to 1 variables, got 2"):
        insert_after(program, h, lambda value: [value, value])
    with pytest.raises(ArgumentError, match="function or operators"):
        insert_after(program, h, ["relu"])
    assert str(program) == before


def test_what_is_no_operator_and_no_function_is_refused_as_are_no_operators_at_all():
    fluid.layers.relu(fluid.data("x", [2]))
    program = fluid.default_main_program()
    for surgery in (
        lambda: transform.insert_after(program, "relu", 3),
        lambda: transform.insert_after(program, "relu", lambda value: 3),
        lambda: transform.merge(program, program, shared=3),
        lambda: transform.rewrite(program, 3),
    ):
        with pytest.raises(ArgumentError, match="expected .*, got 3"):
            surgery()
    for surgery in (transform.extract, transform.outline):
        with pytest.raises(ArgumentError, match="expected operators.* got none"):
            surgery(program, [])
