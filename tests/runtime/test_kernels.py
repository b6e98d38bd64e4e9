"""Which kernels compiled programs run."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.ground.dtypes import DType
from fluidlite.kernels import convolution
from fluidlite.opdef import definition
from fluidlite.opdef.definition import lookup, registered
from fluidlite.opdef.prepared import preparation_of
from fluidlite.opdef.spec import spec

from cases import cases_of
from samples.form import GENERATORS

#: operators with a kernel of their own, or whose gradient has one
PREPARED = sorted(
    op.type
    for op in registered()
    if op.type in GENERATORS and (preparation_of(op.type) or preparation_of(f"{op.type}_grad"))
)


@pytest.mark.parametrize("type", PREPARED)
def test_a_kernel_that_is_registered_serves_a_sample_in_single_precision(type, monkeypatch):
    served = set()

    def noted(type):
        known = preparation_of(type)

        def prepare(op, *specs):
            found = known(op, *specs)
            if found is not None:
                served.add(type)
            return found

        return known and prepare

    monkeypatch.setattr(definition, "preparation_of", noted)
    wanted = {name for name in (type, f"{type}_grad") if preparation_of(name)}
    for case in cases_of(lookup(type)):
        if served >= wanted:
            return
        case = case.in_single_precision()
        for target, cotangent in list(zip(case.targets, case.cotangents)) or [(None, None)]:
            one, gradients = case.program(), []
            if case.differentiated:
                gradients = one.gradients([target], case.variable, [cotangent])
            fetched = [*one.all_outputs, *(g for g in gradients if g is not None)]
            executor = fluid.Executor()
            for _ in range(3):
                one.run(fetched, executor=executor)
    assert served >= wanted


@pytest.mark.parametrize(
    "type, attributes, shapes",
    [
        ("matmul", {}, [(2, 3, 4), (4, 5)]),
        ("matmul", {"transpose_Y": True}, [(2, 3, 4), (5, 4)]),
        ("matmul", {}, [(0, 3, 4), (4, 5)]),
        ("mul", {"x_num_col_dims": 2, "y_num_col_dims": 1}, [(2, 3, 4), (4, 5)]),
    ],
)
def test_a_product_of_a_stack_and_a_matrix_is_written_to_what_it_is_given(type, attributes, shapes):
    kernel = preparation_of(type)(
        lookup(type)(attributes), *(spec(shape, DType.FP32) for shape in shapes)
    )
    rng = np.random.default_rng(3)
    x, y = (rng.standard_normal(shape).astype("f") for shape in shapes)
    product = kernel.function(x, y)
    assert product.shape == (*shapes[0][:-1], 5)
    for out in (np.empty(product.shape, "f"), np.empty(product.shape[::-1], "f").T):
        assert kernel.function(x, y, out=out) is out
        np.testing.assert_array_equal(out, product)


def test_convolutions_of_one_geometry_work_in_one_memory():
    prepare, op = preparation_of("conv2d"), lookup("conv2d")({"strides": [1, 1]})

    def work(channels):
        sizes = [2, channels, 5, 6], [4, channels, 3, 3]
        return prepare(op, *(spec(size, DType.FP32) for size in sizes), None).scratch

    assert work(3) == work(3)
    assert hash(work(3)) == hash(work(3))
    assert work(3) != work(4)


@pytest.mark.parametrize("type", ["conv2d", "conv2d_adjoint_filter", "conv2d_adjoint_input"])
def test_convolutions_that_are_cut_into_small_parts_give_the_same(type, monkeypatch):
    for case in cases_of(lookup(type)):
        case = case.in_single_precision()
        found = []
        for size in (convolution.PATCH_BYTES, 1000, 70):
            monkeypatch.setattr(convolution, "PATCH_BYTES", size)
            one, executor = case.program(), fluid.Executor()
            found.append([one.run(one.all_outputs, executor=executor) for _ in range(3)][-1])
        for whole, *cut in zip(*found, strict=True):
            for each in cut:
                np.testing.assert_allclose(each, whole, rtol=1e-5, atol=1e-6)
