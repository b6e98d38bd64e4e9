"""The forms of eager dispatch, from the general one to the special ones, do the same."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.eager.recording import EagerCall, eager
from fluidlite.errors import FluidError

RNG = np.random.default_rng(0)


def tensor(*shape, dtype="float32", stop=False):
    return fluid.to_tensor(RNG.uniform(0.5, 1.5, shape).astype(dtype), stop_gradient=stop)


def sole(call, ins):
    return call.sole(*ins)


def pair(call, ins):
    return call.pair(*ins)


def one(call, ins):
    return call.one(call.plain, ins)


def every(call, ins):
    return call.every(call.plain, ins)[call.definition.outputs[0].name]


UNARY = ["tanh", "sqrt", "square", "floor", "softmax", "mean", "logical_not"]
BINARY = ["elementwise_add", "elementwise_div", "elementwise_pow", "matmul", "less_than"]
STOPS = [(False, False), (True, False), (False, True), (True, True)]
CASES = [
    *((name, (sole, one, every), (stop,)) for name in UNARY for stop in (False, True)),
    *((name, (pair, one, every), stops) for name in BINARY for stops in STOPS),
    ("where", (one, every), (True, False, True)),
]


def described(results, leaves):
    """What can be seen of tensors that the forms made, and of the nodes behind them."""
    nodes = [t.origin for t in results]
    found = [
        (t.array.dtype, t.array.tobytes(), t.stop, type(t), node is None)
        for t, node in zip(results, nodes)
    ]
    for node in filter(None, nodes):
        edges = [None if e is None else [e is t for t in leaves] for e in node.edges]
        kept = [getattr(each, "shape", None) for each in node.saved or ()]
        how = (node.type, node.how.wanted, node.how.keeps, node.how.keeps_out)
        found.append((how, edges, kept, node.out is None, node.site.file, node.versions))
    return found


def grads(result, leaves):
    if result.stop:
        return None
    found = fluid.grad(result, [t for t in leaves if not t.stop], allow_unused=True)
    return [None if g is None else g.numpy().tobytes() for g in found]


@pytest.mark.parametrize("name, forms, stops", CASES)
def test_every_form_gives_the_same_values_nodes_and_gradients(name, forms, stops):
    call = getattr(eager, name)
    ins = [tensor(3, 3, stop=stop) for stop in stops]
    if name == "logical_not":
        ins = [fluid.to_tensor(np.array([True, False]))]
    if name == "where":
        ins[0] = fluid.to_tensor(np.eye(3, dtype=bool))
    for _ in range(2):  # unknown shapes, then known ones
        results = [form(call, ins) for form in forms]
        seen = [described([t], ins) for t in results]
        assert all(each == seen[0] for each in seen[1:])
        assert len({str(grads(t, ins)) for t in results}) == 1
    with fluid.no_grad():
        assert all(form(call, ins).stop for form in forms)


@pytest.mark.parametrize("forms, name", [((pair, one, every), "elementwise_add")])
def test_every_form_takes_arrays_beside_tensors(forms, name):
    x, y = tensor(2, 3), np.full([2, 3], 2, "float32")
    for ins in ((x, y), (y, x)):
        results = [form(getattr(eager, name), ins) for form in forms for _ in range(2)]
        assert len({t.numpy().tobytes() for t in results}) == 1
        assert all(type(t) is type(x) and not t.stop for t in results)


@pytest.mark.parametrize(
    "forms, name, shapes",
    [
        ((pair, one, every), "elementwise_add", ([2, 3], [4, 5])),
        ((pair, one, every), "matmul", ([2, 3], [4, 5])),
        ((sole, one, every), "softmax", ([],)),
    ],
)
def test_every_form_refuses_alike(forms, name, shapes):
    ins = [tensor(*shape) for shape in shapes]
    said = set()
    for form in forms:
        try:
            said.add(form(getattr(eager, name), ins).numpy().tobytes())
        except FluidError as error:
            said.add((type(error), str(error).split("\n")[0]))
    assert len(said) == 1


def test_every_form_remembers_that_an_input_was_written_in_place():
    x, y = tensor(3), tensor(3, stop=True)
    y.add_(fluid.to_tensor(np.ones(3, "float32")))
    made = [form(eager.elementwise_mul, (x, y)) for form in (pair, one, every)]
    assert [t.origin.versions for t in made] == [[0, 1]] * 3


def test_there_are_no_other_forms():
    """A new one belongs into the tests above."""
    forms = {"sole", "pair", "one", "every"}
    assert {n for n in vars(EagerCall) if not n.startswith("_")} == forms | {"all", "asked"}
