"""Results of global tensors are global, as OneFlow 0.9 has them with one rank."""

import copy

import pytest

from fluidlite import flow

PLACE = flow.placement("cpu", [0])
PARTIAL = flow.sbp.partial_sum


def square(sbp):
    x = flow.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    return x.to_global(placement=PLACE, sbp=sbp)


#: name -> a function, and how OneFlow says that its result of a tensor split(0) lies
FUNCTIONS = {
    "add": (lambda x: x + x, flow.sbp.split(0)),
    "reflected": (lambda x: 2 * x, flow.sbp.split(0)),
    "matmul": (lambda x: flow.matmul(x, x), flow.sbp.split(0)),
    "relu": (lambda x: flow.relu(x), flow.sbp.split(0)),
    "column": (lambda x: x[:, 0], flow.sbp.split(0)),
    "clone": (lambda x: x.clone(), flow.sbp.split(0)),
    "detach": (lambda x: x.detach(), flow.sbp.split(0)),
    "sum": (lambda x: x.sum(), PARTIAL),
    "sum of rows": (lambda x: x.sum(1), flow.sbp.split(0)),
    "max": (lambda x: x.max(dim=1)[0], flow.sbp.split(0)),
    "comparison": (lambda x: x > 1, flow.sbp.split(0)),
    "cast": (lambda x: x.to(flow.float64), flow.sbp.split(0)),
    "ones_like": (lambda x: flow.ones_like(x), flow.sbp.split(0)),
    "in place": (lambda x: x.detach().add_(1), flow.sbp.split(0)),
    "copy": (lambda x: copy.deepcopy(x.detach()), flow.sbp.split(0)),
    "a module": (
        lambda x: flow.nn.Linear(2, 2).to_global(PLACE, flow.sbp.broadcast)(x),
        flow.sbp.split(0),
    ),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_lie_where_their_operand_lies(name):
    function, of_split = FUNCTIONS[name]
    for sbp, expected in ((flow.sbp.broadcast, flow.sbp.broadcast), (flow.sbp.split(0), of_split)):
        result = function(square(sbp))
        assert (result.is_global, result.placement, result.sbp) == (True, PLACE, (expected,))


def test_gradients_are_global_where_their_tensors_are():
    leaf = flow.tensor([1.0, 2.0], requires_grad=True)
    x = leaf.to_global(placement=PLACE, sbp=flow.sbp.broadcast)
    x.retain_grad()
    (x * x).sum().backward()
    assert (x.grad.is_global, leaf.grad.is_global) == (True, False)
    assert leaf.grad.tolist() == [2.0, 4.0]


def test_a_local_tensor_has_local_results():
    x = square(flow.sbp.broadcast)
    assert (x.to_local() * 2).is_local
    module = flow.nn.Linear(2, 2).to_global(PLACE, flow.sbp.broadcast).to_local()
    assert (module.weight * 2).is_local
    assert x.is_global
