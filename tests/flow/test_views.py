"""What is written to a part of a tensor shows in the tensor, as it does in OneFlow."""

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
