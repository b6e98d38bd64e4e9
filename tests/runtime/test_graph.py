"""The plan IR: users and producers, rewriting, the form of graphs, and their text."""

import re

import numpy as np
import pytest
from graphs import NUMPY, computed, graph

import fluidlite as fluid
from fluidlite.ground.dtypes import DType
from fluidlite.inspect.graph_text import parsed, printed
from fluidlite.opdef.prepared import Prepared
from fluidlite.opdef.spec import Spec
from fluidlite.runtime.compile import CompiledSegment, Watch
from fluidlite.runtime.graph import verify
from fluidlite.runtime.lower import lowered
from fluidlite.runtime.passes.form import Context
from fluidlite.runtime.passes.kernel_selection import KERNEL_SELECTION
from fluidlite.runtime.passes.scheduling import SCHEDULING
from fluidlite.runtime.plan import Plan
from fluidlite.runtime.value import GraphError, RuntimeSize, Unsupported

layers = fluid.layers

CHAIN = """\
%0: float32[2, 3] = input "x"
%1: float32[2, 3] = relu(X=%0)
%2: float32[2, 3] = elementwise_add(X=%1, Y=%1)
return "y"=%2
"""


def reads(instruction, value):
    """Whether an instruction reads a value; ``in`` would ask the values, which append ``equal``."""
    return any(each is value for each in instruction.inputs)


def listed(made):
    return {each.title: each for each in made}


def test_values_know_who_reads_them_and_who_makes_them():
    made = graph(CHAIN)
    relu, add = made
    assert list(relu.result.users) == [add] and relu.result.producer is relu
    assert relu.result.only_user is add
    assert add.result.only_user is None and add.result.is_output


def test_all_readers_of_a_value_can_be_given_another_one():
    made = graph(CHAIN)
    relu, add = made
    made.replace(relu, made.inputs["x"])
    assert all(each is made.inputs["x"] for each in add.operands)
    assert made.current(relu.result) is made.inputs["x"]
    verify(made)


def test_an_output_is_given_back_as_what_replaced_it():
    made = graph(CHAIN)
    _, add = made
    made.replace(add, made.inputs["x"])
    assert made.outputs["y"] is made.inputs["x"] and made.inputs["x"].is_output
    verify(made)


def test_what_is_read_cannot_be_erased():
    made = graph(CHAIN)
    relu, add = made
    for each in (relu, add):
        with pytest.raises(GraphError, match="is still read"):
            made.erase(each)
    assert printed(made) == CHAIN


def test_what_is_not_in_a_graph_cannot_be_erased_from_it():
    made, other = graph(CHAIN), graph(CHAIN)
    relu, add = made
    made.replace(add, made.inputs["x"])
    with pytest.raises(GraphError, match="not in this graph"):
        made.erase(add)
    made.erase(relu)
    add.set_operands([], ())
    with pytest.raises(GraphError, match="not in this graph"):
        other.move(add, next(iter(other)))


def test_a_graph_may_change_while_one_goes_through_it():
    made = graph(CHAIN)
    seen = []
    for each in made:
        seen.append(each.title)
        if each.title == "relu":
            with made.builder.at(each) as f:
                made.replace(each, f.tanh(each.inputs[0]))
    assert seen == ["relu", "elementwise_add"]
    assert [each.title for each in made] == ["tanh", "elementwise_add"]


@pytest.mark.parametrize(
    "text, message",
    [
        ('%1: float32[2] = relu(X=%0)\nreturn "y"=%1', "KeyError: 0"),
        ('%0: float32[2] = input "x"\n%0: float32[2] = relu(X=%0)\nreturn "y"=%0', "made twice"),
        ('%0: float32[2] = input "x"\nwhat is this\nreturn', "line 2.*expected results"),
        ('%0: float32[2] = input "x"\n%1: float32[2] = rellu(X=%0)\nreturn', "relu"),
        ('return\n%0: float32[2] = input "x"', "line 2: expected the end"),
    ],
)
def test_a_text_that_is_no_graph_is_refused_with_its_line(text, message):
    with pytest.raises(GraphError, match=message):
        parsed(text)


def test_a_value_that_is_made_twice_is_refused():
    made = graph(CHAIN)
    relu, add = made
    add.set_outs({"Out": relu.result})
    with pytest.raises(GraphError, match="made twice"):
        verify(made)


def test_a_user_that_does_not_read_is_refused():
    made = graph(CHAIN)
    relu, add = made
    add.result.users[relu] = None
    with pytest.raises(GraphError, match="does not read it"):
        verify(made)


TEXTS = {
    "slots and lists": """\
%0: float32[4, 3] = input "x"
%1: float32[4, 3] = input "w@GRAD"
%2: float32[8, 3] = concat(X=[%0, %1])
[%3: float32[2, 3], %4: float32[6, 3]] = split(X=%2) {sections=(2, 6)}
Out=%5: float32[2, 2], Indices=%6: int64[2, 2] = top_k(X=%3) {k=2}
return "a"=%5, "b"=%6, "c"=%4
""",
    "rows and run-time sizes": """\
%0: float32[rows<=128, 3] = input "x"
%1: rows float32[10, 3] = input "g"
%2: float32[rows<=128, 3] = relu(X=%0)
return "y"=%2, "g"=%1
""",
    "started and waited for": """\
%0: float32[2] = input "x"
%1: uint8[] = relu.start(X=%0)
%2: float32[2] = tanh(X=%0)
%3: float32[2] = relu.wait(Handle=%1)
return "y"=%2, "z"=%3
""",
    "fused and laid out": """\
%0: float32[6, 7] = input "p"
%1: float32[6, 1] = input "g"
%2: int64[6, 1] = input "label"
%3: float32[6, 7] = softmax_grad(Out=%0, X=%1, Label=%2) as softmax_grad.place_label on oneDNN
%4: float32[6, 7] laid out = reorder(X=%3) on oneDNN
return "d"=%4
""",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_what_is_printed_is_parsed_back(text):
    assert printed(parsed(text)) == text


def test_constants_print_as_type_shape_and_digest():
    made = graph(CHAIN)
    made.set_output("k", made.constant(np.arange(6, dtype="float32").reshape(2, 3)))
    text = printed(made)
    (line,) = [each for each in text.splitlines() if "constant" in each]
    digest = line.rpartition(" ")[2]
    assert line == f"%3: float32[2, 3] = constant {digest}" and len(digest) == 16
    with pytest.raises(GraphError, match=digest):
        parsed(text)
    array = np.arange(6, dtype="float32").reshape(2, 3)
    assert printed(parsed(text, {digest: array})) == text


# -- control flow ----------------------------------------------------------------------------------


GIVEN = {"x": Spec((3,), DType.FP32), "limit": Spec((1,), DType.INT64)}


def loop():
    """Names of a program with a loop that adds up, as often as is fed: the fetched one."""
    i = layers.fill_constant([1], "int64", 0)
    limit = fluid.data("limit", [1], "int64")
    x = fluid.data("x", [3], "float32")
    total = layers.assign(x)
    condition = layers.less_than(i, limit)
    loop = layers.While(condition)
    with loop.block():
        layers.assign(layers.elementwise_add(total, x), total)
        layers.increment(i)
        layers.less_than(i, limit, cond=condition)
    return total.name


def test_control_flow_is_an_instruction_with_a_body():
    name = loop()
    plan = Plan(fluid.default_main_program(), [name])
    made = lowered(plan.steps, GIVEN, [name], NUMPY, bodies=True)
    verify(made)
    *_, instruction = made
    (body,) = instruction.bodies
    assert instruction.title == "while"
    assert [each.title for each in body][-2:] == ["increment", "less_than"]
    assert reads(instruction, made.inputs["x"])  # in the body
    text = re.sub("  # .*", "", printed(made))  # without the user's lines
    assert "\n{\n  %" in text and printed(parsed(text, known(made))) == text


def known(made):
    """The constants of a graph and of its bodies."""
    found = {}
    for instruction in made:
        for body in instruction.bodies:
            found.update(known(body))
        found.update({v.digest: v.constant for v in instruction.inputs if v.constant is not None})
    return found


def test_what_a_body_reads_cannot_be_dropped_before_it():
    name = loop()
    plan = Plan(fluid.default_main_program(), [name])
    made = lowered(plan.steps, GIVEN, [name], NUMPY, bodies=True)
    *_, instruction = made
    other = made.add_input("other", Spec((3,), DType.FP32))
    made.replace_all_uses(made.inputs["x"], other)
    verify(made)
    assert reads(instruction, other) and not reads(instruction, made.inputs["x"])


def test_without_bodies_control_flow_is_left_to_the_interpreter():
    name = loop()
    plan = Plan(fluid.default_main_program(), [name])
    with pytest.raises(Unsupported, match="while"):
        lowered(plan.steps, GIVEN, [name], NUMPY)


# -- run-time sizes --------------------------------------------------------------------------------


def test_what_is_computed_from_a_run_time_size_is_one():
    rows = RuntimeSize("rows", 10)
    assert rows == RuntimeSize("rows", 20) and rows != 10
    assert repr((rows + 2) * 3) == "((rows+2)*3)<=36"
    assert int(20 - rows) == 10


@pytest.mark.parametrize("bound", [4, 4096])
def test_a_graph_with_a_run_time_size_takes_any_number_of_rows(bound):
    text = f"""\
    %0: float32[rows<={bound}, 3] = input "x"
    %1: float32[3, 2] = input "w"
    %2: float32[rows<={bound}, 2] = matmul(X=%0, Y=%1)
    %3: float32[rows<={bound}, 2] = tanh(X=%2)
    %4: float32[2] = reduce_sum(X=%3)
    return "y"=%3, "s"=%4
    """
    rng = np.random.default_rng(0)
    w = rng.normal(size=[3, 2]).astype("float32")
    feeds = [{"x": rng.normal(size=[n, 3]).astype("float32"), "w": w} for n in (4, 2, 7, 2000, 1)]
    for feed, found in zip(feeds, computed(text, feeds, (KERNEL_SELECTION,)), strict=True):
        expected = np.tanh(feed["x"] @ w)
        np.testing.assert_allclose(found["y"], expected, rtol=1e-5)
        np.testing.assert_allclose(found["s"], expected.sum(0), rtol=1e-4, atol=1e-5)


def test_what_is_known_can_be_asked_for_its_numbers():
    made = graph(CHAIN)
    assert int(made.constant(np.array([3]))) == 3
    assert list(made.constant(np.array([3, 4]))) == [3, 4]
    assert made.constant(np.arange(6).reshape(2, 3))[1].constant.tolist() == [3, 4, 5]
    with pytest.raises(Unsupported, match="item of a value that is not known"):
        int(made.inputs["x"])


def test_what_looks_on_sees_values_that_nothing_reads():
    text = """\
    %0: float32[4, 2000] = input "x"
    Out=%1: float32[4, 1500], Indices=%2: int64[4, 1500] = top_k(X=%0) {k=1500}
    %3: float32[4, 1500] = tanh(X=%1)
    return "y"=%3
    """
    compiled = CompiledSegment(lambda: graph(text), NUMPY, passes=(KERNEL_SELECTION,))
    seen = {}
    env = {"x": np.random.default_rng(0).normal(size=[4, 2000]).astype("float32")}
    watch = Watch("values", lambda index, *values: seen.update({index: [v.shape for v in values]}))
    for _ in range(2):
        compiled(dict(env), lambda key: None, watch)
        assert seen == {0: [(4, 1500), (4, 1500)], 1: [(4, 1500)]}
        seen.clear()


# -- asynchronous instructions ---------------------------------------------------------------------

TWO = """\
%0: float32[2] = input "x"
%1: float32[2] = tanh(X=%0)
%2: float32[2] = relu(X=%0)
%3: float32[2] = sigmoid(X=%2)
%4: float32[2] = elementwise_add(X=%1, Y=%3)
return "y"=%4
"""


def test_an_asynchronous_instruction_starts_at_once_and_is_waited_for_late():
    made = graph(TWO)
    made.split(listed(made)["relu"])
    verify(made)
    assert SCHEDULING.run(made, Context(made.builder))
    verify(made)
    order = [each.title for each in made]
    assert order == ["relu.start", "tanh", "relu.wait", "sigmoid", "elementwise_add"]


def test_what_stands_before_the_first_reader_is_not_kept_waiting():
    sigmoid = "%3: float32[2] = sigmoid(X=%2)"
    text = TWO.replace(sigmoid, f"%5: float32[2] = exp(X=%0)\n{sigmoid}")
    made = graph(text.replace('"y"=%4', '"y"=%4, "z"=%5'))
    made.split(listed(made)["relu"])
    SCHEDULING.run(made, Context(made.builder))
    order = [each.title for each in made]
    assert order == ["relu.start", "tanh", "exp", "relu.wait", "sigmoid", "elementwise_add"]


def test_what_is_started_and_not_waited_for_is_refused():
    made = graph(TWO)
    _, wait = made.split(listed(made)["relu"])
    made.replace_all_uses(wait.result, made.inputs["x"])
    made.erase(wait)
    with pytest.raises(GraphError, match="not waited for once"):
        verify(made)


def test_an_asynchronous_kernel_runs_beside_what_stands_between():
    events = []

    def start(x):
        events.append("start")
        return x

    def wait(handle):
        events.append("wait")
        return np.maximum(handle, 0)

    def between(x):
        events.append("between")
        return np.tanh(x)

    def lower():
        made = graph(TWO)
        named = listed(made)
        named["relu"].kernel = Prepared(wait, start=start, wait=wait)
        named["tanh"].kernel = Prepared(between)
        made.split(named["relu"])
        return made

    compiled = CompiledSegment(lower, NUMPY, passes=(SCHEDULING, KERNEL_SELECTION))
    x = np.array([-1.0, 2.0], "float32")
    for _ in range(2):
        events.clear()
        env = {"x": x}
        compiled(env, lambda key: None)
        relu = np.maximum(x, 0)
        np.testing.assert_allclose(env["y"], np.tanh(x) + 1 / (1 + np.exp(-relu)), rtol=1e-6)
        assert events == ["start", "between", "wait"]
