"""Tensors and layers in notebooks."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import flow


def test_a_matrix_is_a_table_in_a_notebook():
    x = fluid.to_tensor([[1.0, 2.5], [float("nan"), -1.0]], stop_gradient=False)
    page = x._repr_html_()
    assert "Tensor float32[2, 2], gradients flow" in page
    assert page.count("<tr>") == 3
    assert "<td>2.50000000</td>" in page
    assert "<td>nan</td>" in page


def test_a_large_matrix_shows_its_outer_elements():
    page = flow.arange(2000).reshape(40, 50)._repr_html_()
    assert page.count("<tr>") == 1 + 3 + 1 + 3
    for element in (0, 49, 1950, 1999):
        assert f"<td>{element}</td>" in page
    assert "\u2026" in page
    assert "<td>1000</td>" not in page


@pytest.mark.parametrize("shape", [(), (0,), (2, 0), (2, 3, 4)])
def test_other_tensors_are_text_in_a_notebook(shape):
    page = fluid.zeros(list(shape))._repr_html_()
    assert f"float32{list(shape)}" in page
    assert "<pre>" in page


def test_names_are_no_markup():
    x = fluid.ones([2])
    x.name = "<script>alert(1)</script>"
    assert "<script>" not in x._repr_html_()
    with fluid.dygraph.guard():
        assert "VarBase" in fluid.dygraph.to_variable(np.ones(2))._repr_html_()


@pytest.mark.parametrize("of", [fluid, flow])
def test_a_layer_is_a_table_of_what_lies_within(of):
    net = of.nn.Sequential(of.nn.Linear(4, 8), of.nn.ReLU(), of.nn.Linear(8, 1))
    page = net._repr_html_()
    assert page.count("<tr>") == 1 + 4
    sizes = "[4, 8]" if of is fluid else "[8, 4]"
    assert f"weight {sizes}, bias [8]" in page
    assert "<td>2</td>" in page
    assert "49 elements in parameters" in page


def test_a_layer_that_is_used_twice_counts_once():
    layer = fluid.nn.Linear(2, 2)
    assert "6 elements" in fluid.nn.Sequential(layer, layer)._repr_html_()
    with fluid.dygraph.guard():
        assert "Linear" in fluid.dygraph.Linear(2, 2)._repr_html_()


def test_who_is_used_to_requires_grad_may_say_it():
    assert fluid.to_tensor(1.0, requires_grad=True).stop_gradient is False
    assert fluid.to_tensor(1.0, requires_grad=False).stop_gradient is True
    x = fluid.to_tensor([2.0], requires_grad=True)
    (x * x).backward()
    assert x.grad.tolist() == [4.0]
    with pytest.raises(fluid.errors.ArgumentError, match="requires_grad to be a bool, got 'yes'"):
        fluid.to_tensor(1.0, requires_grad="yes")
