"""What is written to a part of a tensor shows in the tensor, as it does in OneFlow."""

import gc
import weakref

import pytest

from fluidlite import errors, flow

FORMS = {
    "index": lambda x: x[0],
    "chain": lambda x: x[1:][0],
    "view": lambda x: x.view(-1),
    "reshape": lambda x: x.reshape(4, 1),
    "transpose": lambda x: x.transpose(0, 1),
    "t": lambda x: x.t(),
    "flatten": lambda x: x.flatten(),
    "unsqueeze": lambda x: x.unsqueeze(0),
    "squeeze": lambda x: x.unsqueeze(1).squeeze(1),
    "select": lambda x: x.select(1, 0),
    "narrow": lambda x: x.narrow(0, 0, 1),
    "split": lambda x: x.split(1)[1],
    "split by sizes": lambda x: flow.split(x, [1, 1], -1)[0],
    "split in one": lambda x: x.split(2)[0],
    "chunk": lambda x: x.chunk(2, 1)[1],
    "unbind": lambda x: x.unbind(1)[1],
    "unbind of the last dimension": lambda x: flow.unbind(x, dim=-1)[0],
    "iteration": lambda x: [*x][1],
    "permute": lambda x: x.permute(1, 0),
    "permute by a list": lambda x: flow.permute(x, (-1, 0)),
    "expand to nothing else": lambda x: x.expand(1, 2, 2),
    "expand_as": lambda x: x.expand_as(flow.zeros(2, 2)),
    "broadcast_to": lambda x: flow.broadcast_to(x, (2, 2)),
    "broadcast_tensors": lambda x: flow.broadcast_tensors(x, flow.ones(1))[0],
    "T": lambda x: x.T,
    "swapaxes": lambda x: x.swapaxes(0, 1),
    "movedim": lambda x: flow.movedim(x, 0, 1),
    "unflatten": lambda x: x.view(-1).unflatten(0, (4, 1)),
    "view_as": lambda x: x.view_as(flow.zeros(4)),
    "diagonal": lambda x: flow.diagonal(x, 1),
    "unfold": lambda x: x.unfold(1, 1, 1),
    "hsplit": lambda x: flow.hsplit(x, 2)[1],
    "tensor_split": lambda x: flow.tensor_split(x, 2)[0],
    "an index of a permuted part": lambda x: x.permute(1, 0)[1].unsqueeze(0),
    **{
        f"the function {name}": lambda x, name=name, more=more: getattr(flow, name)(x, *more)
        for name, more in {
            "reshape": (4,),
            "view": (4,),
            "flatten": (),
            "squeeze": (),
            "unsqueeze": (1,),
            "transpose": (0, 1),
            "t": (),
            "narrow": (1, 0, 1),
            "select": (0, 1),
            "swapdims": (0, 1),
        }.items()
    },
}


@pytest.mark.parametrize("form", FORMS)
def test_a_write_to_a_part_shows_in_the_whole(form):
    x = flow.tensor([[1.0, 2.0], [3.0, 4.0]])
    part = FORMS[form](x)
    doubled = [value * 2 for value in part.flatten().tolist()]
    part *= 2
    assert part.flatten().tolist() == doubled
    assert FORMS[form](x).flatten().tolist() == doubled
    assert x.sum().item() == 10.0 + sum(doubled) / 2


def test_an_index_of_an_index_is_written():
    x = flow.zeros(2, 2)
    x[0][1] = 5.0
    assert x.tolist() == [[0.0, 5.0], [0.0, 0.0]]


def test_elements_that_a_list_or_a_mask_picks_are_a_copy():
    x = flow.ones(3)
    x[flow.tensor([0, 1])].zero_()
    x[x > 0].zero_()
    assert x.tolist() == [1.0] * 3


def test_gradients_flow_through_what_was_written():
    x = flow.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    v = flow.tensor([5.0, 6.0], requires_grad=True)
    y = x * 1.0
    row = y[0]
    row.copy_(v * 2.0)
    (y * y).sum().backward()
    assert x.grad.tolist() == [[0.0, 0.0], [6.0, 8.0]]
    assert v.grad.tolist() == [40.0, 48.0]
    (row * row).sum()


def test_a_part_of_a_leaf_is_not_written_where_gradients_are_recorded():
    x = flow.ones(2, 2, requires_grad=True)
    with pytest.raises(errors.InplaceError, match="is a leaf that wants a gradient"):
        x[0][0] = 5.0
    with flow.no_grad():
        x[0][0] = 5.0
    assert x.tolist() == [[5.0, 1.0], [1.0, 1.0]]
    with pytest.raises(errors.InplaceError, match="cannot change the shape"):
        x.detach()[0].add_(flow.ones(3, 2))


@pytest.mark.parametrize("form", FORMS)
def test_a_write_to_the_whole_shows_in_its_parts(form):
    x = flow.tensor([[1.0, 2.0], [3.0, 4.0]])
    part = FORMS[form](x)
    version = part.inplace_version
    x *= 10
    assert part.tolist() == FORMS[form](x).tolist()
    assert part.inplace_version > version or part is x
    x.detach().zero_()
    assert part.flatten().tolist() == [0.0] * part.numel()


def test_parts_show_what_is_written_to_each_other():
    x = flow.zeros(2, 2)
    row, column = x[0], x.t()[0]
    row.add_(1.0)
    assert column.tolist() == [1.0, 0.0]
    column.fill_(5.0)
    assert row.tolist() == [5.0, 1.0]


@pytest.mark.parametrize(
    "form",
    [
        lambda x: x.expand(3, 2),
        lambda x: flow.broadcast_to(x, (3, 2)),
        lambda x: x.unfold(1, 1, 1).expand(2, 2, 1),
        lambda x: flow.broadcast_tensors(x, flow.zeros(3, 2))[0],
    ],
)
def test_what_shows_an_element_twice_is_not_written(form):
    x = flow.tensor([[1.0, 2.0]])
    with pytest.raises(errors.InplaceError, match="more than once in what (expand|broadcast_to)"):
        form(x).mul_(2.0)
    with pytest.raises(errors.InplaceError, match="write to a clone"):
        flow.arange(4).unfold(0, 2, 1).zero_()
    assert x.tolist() == [[1.0, 2.0]]


def test_gradients_flow_through_parts_that_were_written():
    x = flow.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = x * 1.0
    first, second = y.split(1)
    first.mul_(3.0)
    second.copy_(first)
    y.permute(1, 0)[0].mul_(2.0)
    assert y.tolist() == [[6.0, 6.0], [6.0, 6.0]]
    (first.sum() + y.sum()).backward()
    assert x.grad.tolist() == [[18.0, 9.0], [0.0, 0.0]]


def test_a_part_in_another_shape_is_still_a_part():
    x = flow.zeros(2, 2)
    part = x[0]
    part.unsqueeze_(0)
    part.add_(1.0)
    assert x.tolist() == [[1.0, 1.0], [0.0, 0.0]]
    x.fill_(7.0)
    assert part.tolist() == [[7.0, 7.0]]


def test_a_part_that_nobody_holds_is_forgotten():
    x = flow.zeros(2, 2)
    for _ in range(3):
        x[0].add_(1.0)
    assert x.tolist() == [[3.0, 3.0], [0.0, 0.0]]
    row = weakref.ref(x[0])
    gc.collect()
    assert row() is None
