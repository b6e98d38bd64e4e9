"""Functions and methods of tensors that are made of others compute what they do in paddle 2."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError, ShapeError

DATA = Path(__file__).parents[1] / "data" / "functions_of_paddle2.json.gz"
LISTED, *RECORDED = json.loads(gzip.decompress(DATA.read_bytes()))


def as_array(listed):
    array = np.array(listed)
    return array.astype("float32") if array.dtype.kind == "f" else array


GIVEN = {name: as_array(listed) for name, listed in LISTED.items()}


@pytest.mark.parametrize("case", RECORDED, ids=lambda case: case[0])
def test_a_function_computes_what_it_does_in_paddle_2(case):
    call, dtype, wanted, gradient = case
    made = {k: fluid.to_tensor(v, stop_gradient=v.dtype.kind != "f") for k, v in GIVEN.items()}
    out = eval(call, {"P": fluid, **made})
    assert out.numpy().dtype == dtype and list(out.shape) == list(np.shape(wanted))
    np.testing.assert_allclose(out.numpy(), wanted, rtol=1e-4, atol=1e-4)
    if gradient is None:
        return
    weights = np.cos(np.arange(out.size)).reshape(out.shape).astype("float32")
    fluid.sum(out.astype("float32") * fluid.to_tensor(weights)).backward()
    np.testing.assert_allclose(made["x"].grad.numpy(), gradient, rtol=1e-4, atol=2e-3)


def test_methods_are_those_of_variables_too():
    x = fluid.data("x", [None, 4], "float32")
    i = fluid.data("i", [None], "int64")
    fetched = {
        "diff": x.diff(),
        "diagonal": x.diagonal(),
        "diag_embed": x.diag_embed(1),
        "asinh": x.asinh(),
        "nansum": x.nansum(),
        "inner": x.inner(x[0]),
        "rot90": x.rot90(2),
        "logaddexp": x.logaddexp(x),
        "index_add": x.index_add(i, 0, x[:2]),
    }
    feed = {"x": GIVEN["x"], "i": GIVEN["rows"]}
    found = fluid.Executor().run(feed=feed, fetch_list=[*fetched.values()])
    t, n = fluid.to_tensor(GIVEN["x"]), fluid.to_tensor(GIVEN["rows"])
    arguments = {
        "diag_embed": [1],
        "inner": [t[0]],
        "rot90": [2],
        "logaddexp": [t],
        "index_add": [n, 0, t[:2]],
    }
    for name, value in zip(fetched, found, strict=True):
        wanted = getattr(t, name)(*arguments.get(name, [])).numpy()
        np.testing.assert_allclose(value.reshape(wanted.shape), wanted, rtol=1e-5, atol=1e-6)


def test_what_is_drawn_follows_the_weights_and_the_seed():
    fluid.seed(5)
    places = fluid.multinomial(fluid.to_tensor([[0.2, 0.8], [1.0, 0.0]]), 2000, True)
    assert places.shape == [2, 2000] and abs(places.numpy()[0].mean() - 0.8) < 0.03
    assert not places.numpy()[1].any()
    few = fluid.multinomial(fluid.to_tensor([0.5, 0.0, 0.5]), 2)
    assert sorted(few.tolist()) == [0, 2]
    x = fluid.zeros([2000])
    assert abs(x.uniform_(0.0, 2.0).numpy().mean() - 1) < 0.1
    assert abs(x.normal_(1.0, 3.0).numpy().std() - 3) < 0.2
    assert abs(x.exponential_(2.0).numpy().mean() - 0.5) < 0.1
    fluid.seed(5)
    again = fluid.multinomial(fluid.to_tensor([[0.2, 0.8], [1.0, 0.0]]), 2000, True)
    np.testing.assert_array_equal(again.numpy(), places.numpy())


def test_a_tensor_is_asked_for_its_kind_and_given_another():
    x, y = fluid.ones([2]), fluid.ones([3])
    assert x.element_size() == 4 and x.is_floating_point() and x.cpu() is x is x.contiguous()
    assert not x.to("int32").is_floating_point()
    assert str(x.to("cpu", dtype="float64").array.dtype) == "float64"
    assert str(x.to(fluid.zeros([1], "int64")).array.dtype) == "int64"
    assert x.view("int32").tolist() == [1065353216, 1065353216]
    assert x.view("int16").tolist() == [0, 16256, 0, 16256]
    for wrong in (lambda: x.to("gpu:0"), lambda: x.to(kind="float32"), lambda: y.view("int64")):
        with pytest.raises(ArgumentError):
            wrong()


@pytest.mark.parametrize(
    "wrong, kind, said",
    [
        (lambda x: fluid.tensordot(x, x, 1), ShapeError, "the same sizes"),
        (lambda x: fluid.cross(x, x), ShapeError, "a dimension of size 3"),
        (lambda x: x.kthvalue(4), ShapeError, "k from 1 to the size 2"),
        (lambda x: x.quantile(1.5), ArgumentError, r"q in \[0, 1\]"),
        (lambda x: x.take(fluid.to_tensor([0]), "skip"), ArgumentError, "raise, wrap or clip"),
        (lambda x: x.diff(0), ArgumentError, "n from 1"),
        (lambda x: x.rot90(1, [0, 0]), ArgumentError, "two dimensions"),
        (lambda x: fluid.multinomial(x * 0.0), ArgumentError, "not all of a row 0"),
        (lambda x: fluid.multinomial(x, 3), ArgumentError, "replacement=True"),
        (lambda x: fluid.searchsorted(x, x[:1]), ShapeError, "expected Values of shape"),
    ],
)
def test_what_makes_no_sense_is_refused(wrong, kind, said):
    with pytest.raises(kind, match=said):
        wrong(fluid.ones([4, 2]))
