"""Names of sizes: declared, carried through operators, refused where they clash, printed, fed."""

import copy
import pickle

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import (
    ArgumentError,
    DuplicateVariableError,
    FeedError,
    ParseError,
    ShapeError,
)
from fluidlite.ir.text import program_text

L = fluid.layers


def feeds(**shapes):
    return [fluid.data(name, shape) for name, shape in shapes.items()]


def text_of(program):
    return program_text(program, call_sites=False)


def test_a_name_stands_for_an_unknown_size():
    x = fluid.data("x", ["batch", None, 64])
    assert x.shape == (-1, -1, 64)
    assert x.size_names == ("batch", None, None)
    assert fluid.data("plain", [None, 4]).size_names == ()
    assert fluid.layers.data("old", ["batch", 4]).size_names == ("batch", None)
    assert fluid.paddle.static.data("new", ["n", 4]).size_names == ("n", None)


@pytest.mark.parametrize("wrong", ["", "two words", "3d", "größe", "a-b", "-1"])
def test_a_name_that_is_no_identifier_is_refused(wrong):
    with pytest.raises(ArgumentError, match="letters, digits and _"):
        fluid.data("x", [wrong, 4])
    assert not fluid.default_main_program().global_block().has_var("x")


def test_a_variable_is_declared_again_with_its_names_only():
    x = fluid.data("x", ["batch", 4])
    assert fluid.data("x", [None, 4]) is x
    assert fluid.data("x", ["batch", 4]) is x
    with pytest.raises(DuplicateVariableError, match=r"'batch'.*test_size_names.*'rows'"):
        fluid.data("x", ["rows", 4])
    assert x.size_names == ("batch", None)


KEPT = {
    "sum": (lambda x, y: x + y, ("batch", "time", None)),
    "number": (lambda x, y: x * 2 + 1, ("batch", "time", None)),
    "relu": (lambda x, y: L.relu(x), ("batch", "time", None)),
    "softmax": (lambda x, y: L.softmax(x), ("batch", "time", None)),
    "dropout": (lambda x, y: L.dropout(x, 0.5), ("batch", "time", None)),
    "fc": (lambda x, y: L.fc(x, 5, num_flatten_dims=2), ("batch", "time", None)),
    "layer_norm": (lambda x, y: L.layer_norm(x, begin_norm_axis=2), ("batch", "time", None)),
    "transpose": (lambda x, y: L.transpose(x, [1, 2, 0]), ("time", None, "batch")),
    "concat": (lambda x, y: L.concat([x, y], axis=2), ("batch", "time", None)),
    "longer": (lambda x, y: L.concat([x, y], axis=1), ("batch", None, None)),
    "reduced": (lambda x, y: L.reduce_mean(x, dim=1), ("batch", None)),
    "reduced and kept": (
        lambda x, y: L.reduce_mean(x, dim=1, keep_dim=True),
        ("batch", None, None),
    ),
    "scores": (lambda x, y: L.matmul(x, y, transpose_y=True), ("batch", "time", "time")),
    "heads": (lambda x, y: L.reshape(x, [0, 0, 2, 2]), ("batch", "time", None, None)),
    "unsqueezed": (lambda x, y: L.unsqueeze(x, [1]), ("batch", None, "time", None)),
    "squeezed": (lambda x, y: L.squeeze(L.unsqueeze(x, [1]), [1]), ("batch", "time", None)),
    "stacked": (lambda x, y: L.stack([x, y]), (None, "batch", "time", None)),
    "step": (lambda x, y: x[:, 0], ("batch", None)),
    "other axis cut": (lambda x, y: x[:, :, 1:3], ("batch", "time", None)),
    "embedding": (
        lambda x, y: fluid.embedding(fluid.data("ids", ["batch", "time"], "int64"), [9, 3]),
        ("batch", "time", None),
    ),
    "one row each": (lambda x, y: L.argmax(x, axis=2), ("batch", "time")),
}


@pytest.mark.parametrize("case", KEPT)
def test_names_flow_through(case):
    build, names = KEPT[case]
    assert build(*feeds(x=["batch", "time", 4], y=["batch", "time", 4])).size_names == names


DROPPED = {
    "rows joined": lambda x: L.reshape(x, [-1, 4]),
    "cut": lambda x: L.reduce_sum(x[1:], dim=[1, 2], keep_dim=True),
    "cut to what it may have": lambda x: L.reduce_sum(x[:1000000], dim=[1, 2], keep_dim=True),
    "mean": lambda x: L.mean(x),
    "all ones squeezed": lambda x: L.squeeze(x, []),
    "stretched where it is one": lambda x: L.reduce_sum(
        x + fluid.data("z", [None, None, 4]), dim=[1, 2], keep_dim=True
    ),
    "places": lambda x: L.where(x > 0.0),
}


@pytest.mark.parametrize("case", DROPPED)
def test_names_are_dropped_where_sizes_may_differ(case):
    (x,) = feeds(x=["batch", "time", 4])
    assert not any(DROPPED[case](x).size_names)


def test_rows_of_sequences_lose_their_name():
    x = fluid.data("x", ["rows", 4], lod_level=1)
    assert not any(L.sequence_pool(x, "sum").size_names)
    assert not any(L.relu(x).size_names)


def test_two_names_in_one_place_are_an_error_that_names_both_lines():
    x = fluid.data("x", ["batch", "time"])
    y = fluid.data("y", ["batch", "steps"])
    before = len(x.block.ops)
    with pytest.raises(ShapeError) as caught:
        L.elementwise_add(L.relu(x), y)
    message = str(caught.value)
    lines = x.size_names[1].site.line, y.size_names[1].site.line
    assert lines[0] + 1 == lines[1]
    assert f"'time' of variable 'x' (declared at {x.size_names[1].site})" in message
    assert f"'steps' of variable 'y' (declared at {y.size_names[1].site})" in message
    assert len(x.block.ops) == before + 1
    assert "'batch'" not in message


@pytest.mark.parametrize(
    "build",
    [
        lambda x, y: L.concat([x, y], axis=0),
        lambda x, y: L.matmul(x, y, transpose_y=True),
        lambda x, y: L.elementwise_mul(y, x),
    ],
)
def test_clashes_are_found_by_the_rules_of_shapes(build):
    with pytest.raises(ShapeError, match="'time'.*'steps'|'steps'.*'time'"):
        build(*feeds(x=["batch", "time"], y=["batch", "steps"]))


def test_two_clashes_name_a_pair():
    x, y = feeds(x=["a", "b"], y=["c", "d"])
    with pytest.raises(ShapeError, match="'a' of variable 'x'.*'c' of variable 'y'"):
        x + y


def test_a_name_that_has_to_be_a_number_is_an_error():
    x, y = feeds(x=["batch", "width"], y=[None, 32])
    with pytest.raises(ShapeError, match="has to be 32: 'width' of variable 'x'"):
        x + y
    assert (x + fluid.data("one", [1, 1])).size_names == ("batch", "width")


def test_names_survive_copies():
    feeds(x=["batch", 4])
    program = fluid.default_main_program()
    for twin in (
        program.clone(),
        program.clone(for_test=True),
        copy.deepcopy(program),
        pickle.loads(pickle.dumps(program)),
        fluid.Program.parse(str(program)),
    ):
        assert twin.global_block().var("x").size_names == ("batch", None)
        assert text_of(twin) == text_of(program)


def test_another_shape_has_no_names():
    x = fluid.data("x", ["batch", 4])
    x.declare(shape=[-1, 5])
    assert x.size_names == ()
    assert "x: float32[-1, 5]" in text_of(x.program)


def test_the_text_has_names_in_the_place_of_sizes():
    x = fluid.data("x", ["batch", None, 4])
    L.relu(x)
    text = text_of(x.program)
    assert "data x: float32[batch, -1, 4]" in text
    assert "float32[batch, -1, 4]\n" in text.split("data x")[1].split("var")[1]
    parsed = fluid.Program.parse(text)
    assert parsed.global_block().var("x").shape == (-1, -1, 4)
    assert text_of(parsed) == text


def test_a_text_with_a_wrong_name_shows_the_place():
    text = "program (seed=0) {\n  block 0 {\n    data x: float32[4, a.b]\n  }\n}\n"
    with pytest.raises(ParseError, match=r"line 3, column 24: .*'a\.b'"):
        fluid.Program.parse(text)


def test_names_clash_in_what_was_parsed():
    parsed = fluid.Program.parse(
        "program (seed=0) {\n block 0 {\n data x: float32[n, 4]\n data y: float32[m, 4]\n }\n}\n"
    )
    with fluid.program_guard(parsed):
        block = parsed.global_block()
        with pytest.raises(ShapeError, match="'n' of variable 'x', and 'm' of variable 'y'"):
            block.var("x") + block.var("y")


def test_equal_names_are_fed_equal_sizes():
    x, y = feeds(x=["batch", 2], y=["batch", 3])
    total = L.concat([x, y], axis=1)
    exe = fluid.Executor()

    def run(rows, others):
        feed = {"x": np.ones((rows, 2), "float32"), "y": np.ones((others, 3), "float32")}
        return exe.run(feed=feed, fetch_list=[total])[0].shape

    assert run(4, 4) == (4, 5)
    with pytest.raises(FeedError) as caught:
        run(4, 3)
    assert "'x' was fed 4 along dimension 0 (declared at" in str(caught.value)
    assert "'y' 3 along dimension 0" in str(caught.value)
    assert run(2, 2) == (2, 5)


def test_one_variable_may_have_a_name_twice():
    square = fluid.data("square", ["n", "n"])
    out = L.transpose(square, [1, 0])
    assert out.size_names == ("n", "n")
    with pytest.raises(FeedError, match="'square' was fed 2 along dimension 0.*3 along"):
        fluid.Executor().run(feed={"square": np.ones((2, 3), "float32")}, fetch_list=[out])


def test_a_program_with_names_trains_as_one_without():
    def losses(batch):
        main, startup = fluid.Program(), fluid.Program()
        main.random_seed = startup.random_seed = 3
        with fluid.program_guard(main, startup), fluid.unique_name.guard():
            x, y = fluid.data("x", [batch, 4]), fluid.data("y", [batch, 1])
            loss = L.mean(L.square_error_cost(L.fc(L.fc(x, 8, act="tanh"), 1), y))
            fluid.optimizer.Adam(0.1).minimize(loss)
        feed = {
            "x": np.arange(12.0, dtype="float32").reshape(3, 4),
            "y": np.ones((3, 1), "float32"),
        }
        exe = fluid.Executor()
        with fluid.scope_guard(fluid.Scope()):
            exe.run(startup)
            return [float(exe.run(main, feed=feed, fetch_list=[loss])[0][0]) for _ in range(3)]

    assert losses("batch") == losses(None)


def test_gradients_have_the_names_of_what_they_are_of():
    x = fluid.data("x", ["batch", 4])
    x.stop_gradient = False
    hidden = L.tanh(x)
    fluid.append_backward(L.mean(hidden))
    for variable in (x, hidden):
        assert x.block.var(variable.grad_name).size_names == ("batch", None)
