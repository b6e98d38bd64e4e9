"""Which kernels compiled programs run."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.ground.dtypes import DType
from fluidlite.kernels import convolution, winograd
from fluidlite.opdef import definition
from fluidlite.opdef.definition import lookup, registered
from fluidlite.opdef.prepared import preparation_of
from fluidlite.opdef.spec import spec

from cases import cases_of
from gradcheck import evaluator
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


#: an image, a filter, and how the window of three rows moves
THREE_ROWS = [
    ((2, 4, 8, 8), (5, 4, 3, 3), dict(paddings=[1, 1])),
    ((3, 2, 9, 7), (3, 2, 3, 3), dict(paddings=[0, 0])),
    ((1, 3, 6, 5), (4, 3, 3, 2), dict(paddings=[2, 1, 0, 2])),
    ((2, 3, 5, 9), (2, 3, 3, 1), dict(paddings=[1, 0], strides=[1, 2])),
    ((2, 1, 16, 6), (3, 1, 3, 2), dict(paddings=[1, 2], dilations=[1, 2])),
    ((2, 2, 3, 4), (2, 2, 3, 3), dict(paddings=[5, 1, 0, 0])),
]
MAPS = ["conv2d", "conv2d_adjoint_input", "conv2d_adjoint_filter"]


def always_in_tiles(monkeypatch, size=winograd.TILE_BYTES):
    """Let all convolutions take the form of tiles that can."""
    for cost in ("ADDED", "RESULT", "TURNED"):
        monkeypatch.setattr(winograd, cost, -100)
    monkeypatch.setattr(winograd, "TILE_BYTES", size)


def convolving(type, image, filter, geometry, seed=3):
    """A map of a convolution, its kernel, and arrays for it, in double precision."""
    rng = np.random.default_rng(seed)
    x, w = rng.standard_normal(image), rng.standard_normal(filter)
    g = rng.standard_normal(evaluator().conv2d(x, w, **geometry).shape)
    given, size = {
        "conv2d": ((x, w), None),
        "conv2d_adjoint_input": ((g, w), image),
        "conv2d_adjoint_filter": ((x, g), filter),
    }[type]
    attributes = geometry if size is None else {**geometry, "size": list(size)}
    specs = [spec(each.shape, DType.FP32) for each in given]
    kernel = preparation_of(type)(
        lookup(type)(attributes), *specs, *[None] * (2 * (type == "conv2d"))
    )
    return lambda *arrays: getattr(evaluator(), type)(*arrays, **attributes), kernel, given


def ran(kernel, given):
    """What a kernel gives, in memory with something in it."""
    maker = kernel.scratch
    memory = np.full(maker.common, 255, np.uint8)  # not a number
    return kernel.function(*given, *[None] * (len(given) - 2), maker(memory))


@pytest.mark.parametrize("size", [winograd.TILE_BYTES, 1])
@pytest.mark.parametrize("image, filter, geometry", THREE_ROWS)
@pytest.mark.parametrize("type", MAPS)
def test_convolutions_in_tiles_are_those_of_patches(
    type, image, filter, geometry, size, monkeypatch
):
    always_in_tiles(monkeypatch, size)
    function, kernel, given = convolving(type, image, filter, geometry)
    if type != "conv2d_adjoint_input":  # that has other forms, too
        assert isinstance(kernel.scratch(), winograd.TileRoom)
    expected = function(*given)
    found = ran(kernel, [each.astype("f") for each in given])
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=2e-6 * np.abs(expected).max())


def test_products_of_some_positions_at_a_time_are_those_of_all(monkeypatch):
    always_in_tiles(monkeypatch)
    found = []
    for most in (1_000_000, 4 * 12 * 5 * 8):  # 16 positions fit
        monkeypatch.setattr(winograd, "UNPACKED", most)
        monkeypatch.setattr(winograd, "POSITIONS", 2)
        _, kernel, given = convolving("conv2d", *THREE_ROWS[0])
        found.append(ran(kernel, [each.astype("f") for each in given]))
    np.testing.assert_allclose(*found, rtol=1e-5, atol=1e-5)


#: windows that skip columns, of 1 to 20 samples
SKIPPING = [
    ((8, 3, 7, 9), (4, 3, 3, 3), dict(strides=[2, 2], paddings=[1, 1])),
    ((16, 2, 9, 8), (3, 2, 2, 3), dict(strides=[1, 3], paddings=[0, 2])),
    ((2, 2, 6, 11), (3, 2, 3, 2), dict(strides=[2, 2], paddings=[1, 0, 3, 2], dilations=[1, 3])),
    ((1, 3, 5, 10), (2, 3, 1, 2), dict(strides=[1, 4])),
    ((20, 2, 8, 8), (3, 2, 3, 3), dict(strides=[3, 2], paddings=[2, 1])),
]


@pytest.mark.parametrize("size", [convolution.PATCH_BYTES, 100])
@pytest.mark.parametrize("image, filter, geometry", SKIPPING)
@pytest.mark.parametrize("type", MAPS)
def test_windows_may_skip_columns(type, image, filter, geometry, size, monkeypatch):
    monkeypatch.setattr(convolution, "PATCH_BYTES", size)
    function, kernel, given = convolving(type, image, filter, geometry)
    expected = function(*given)
    found = ran(kernel, [each.astype("f") for each in given])
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=2e-6 * np.abs(expected).max())


#: few filters over many channels
DEEP = [
    ((2, 9, 6, 5), (2, 9, 3, 3), dict(paddings=[1, 1])),
    ((3, 7, 8, 6), (1, 7, 3, 2), dict(paddings=[0, 1])),
    ((1, 8, 9, 9), (2, 8, 2, 3), dict(paddings=[2, 1, 0, 2], dilations=[2, 1])),
    ((20, 8, 9, 3), (2, 8, 3, 1), dict()),
]


@pytest.mark.parametrize("type", MAPS)
def test_few_filters_as_large_as_an_image_are_multiplied_with_it(type):
    function, kernel, given = convolving(type, (3, 40, 5, 5), (2, 40, 5, 5), dict())
    assert kernel.scratch().geometry.channels == 40
    found, expected = ran(kernel, [each.astype("f") for each in given]), function(*given)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=2e-6 * np.abs(expected).max())


@pytest.mark.parametrize("size", [convolution.PATCH_BYTES, 100])
@pytest.mark.parametrize("image, filter, geometry", DEEP)
@pytest.mark.parametrize("type", MAPS)
def test_few_filters_work_on_the_patches_of_few_channels(
    type, image, filter, geometry, size, monkeypatch
):
    monkeypatch.setattr(convolution, "PATCH_BYTES", size)
    function, kernel, given = convolving(type, image, filter, geometry)
    if type != "conv2d_adjoint_input":
        assert kernel.scratch().geometry.channels == filter[0]
    expected = function(*given)
    found = ran(kernel, [each.astype("f") for each in given])
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=2e-6 * np.abs(expected).max())


@pytest.mark.parametrize("bad", [1.0, np.nan, np.inf, 3e38])
@pytest.mark.parametrize("form", ["tiles", "patches"])
def test_gradients_of_fewer_filters_than_channels_take_the_patches_of_the_cotangent(
    form, bad, monkeypatch
):
    if form == "tiles":
        always_in_tiles(monkeypatch)
    geometry = dict(paddings=[1, 0]) if form == "tiles" else dict(paddings=[2, 1], dilations=[2, 2])
    function, kernel, given = convolving(
        "conv2d_adjoint_filter", (2, 6, 9, 8), (3, 6, 3, 3), geometry
    )
    room = kernel.scratch()
    assert room.geometry.channels == 3
    assert isinstance(room, winograd.TileRoom) == (form == "tiles")
    image, cotangent = (each.astype("f") for each in given)
    image[0, 1, 2, 3] = bad
    with np.errstate(all="ignore"):
        expected, gradient = function(image, cotangent), ran(kernel, (image, cotangent))
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=2e-5)


@pytest.mark.parametrize("type", MAPS)
@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 3e38])
@pytest.mark.parametrize("form", ["tiles", "few filters"])
def test_what_is_not_finite_stays_in_its_place(form, bad, place, type, monkeypatch):
    if form == "tiles":
        always_in_tiles(monkeypatch)
    function, kernel, given = convolving(type, *(THREE_ROWS if form == "tiles" else DEEP)[0])
    given = [each.astype("f") for each in given]
    given[place][0, 0, 2, 2] = bad
    with np.errstate(all="ignore"):
        expected = function(*given)
        found = ran(kernel, given)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=2e-5)


@pytest.mark.parametrize("type", MAPS[:2])
def test_what_sees_only_zeros_is_zero_in_tiles(type, monkeypatch):
    always_in_tiles(monkeypatch)
    function, kernel, given = convolving(type, *THREE_ROWS[0])
    seen = given[0].astype("f")
    seen[:, :, :3] = seen[:, :, 4:] = 0
    given = seen, given[1].astype("f")
    np.testing.assert_array_equal(ran(kernel, given) == 0, function(*given) == 0)
    image, filter = convolving(type, *THREE_ROWS[0])[2]
    filter[:, :, 2] = 0
    given = image.astype("f"), filter.astype("f")
    other = given[0].copy()
    other[:, :, -1] += 1000
    changed = (ran(kernel, given) != ran(kernel, (other, given[1]))).any((0, 1, 3))
    exact = (function(*given) != function(other, given[1])).any((0, 1, 3))
    np.testing.assert_array_equal(changed, exact)


def test_tiles_look_for_rows_of_zeros_that_all_channels_or_filters_have():
    image, filter = np.ones((2, 3, 4, 5), "f"), np.ones((2, 3, 3, 2), "f")
    image[:, 0] = image[:, :, :, 0] = filter[0] = filter[:, 0] = 0
    assert winograd.has_zero_rows(image) is False and winograd.has_all_rows(filter) is True
    image[1, :, 2], filter[:, :, 1] = 0, 0
    assert winograd.has_zero_rows(image) is True and winograd.has_all_rows(filter) is False
    image[1, 2, 2, 4] = np.nan
    assert winograd.has_zero_rows(image) is False


@pytest.mark.parametrize(
    "image, filter, geometry",
    [
        ((4, 3, 6, 5), (4, 3, 1, 1), dict()),
        ((4, 2, 6, 8), (9, 2, 1, 1), dict()),
        ((4, 3, 6, 8), (2, 3, 2, 2), dict(strides=[2, 2])),
        ((64, 3, 6, 8), (2, 3, 2, 4), dict(strides=[2, 4])),
        ((4, 3, 7, 8), (2, 3, 2, 2), dict(strides=[2, 2])),
        ((4, 3, 6, 8), (2, 3, 2, 2), dict(strides=[2, 2], dilations=[2, 1])),
        ((4, 3, 6, 8), (2, 3, 2, 2), dict(strides=[2, 2], paddings=[1, 1])),
        ((4, 3, 6, 8), (2, 3, 1, 1), dict(strides=[2, 2])),
    ],
)
@pytest.mark.parametrize("order", [(0, 1, 2, 3), (1, 2, 3, 0)])
@pytest.mark.parametrize("type", MAPS)
@pytest.mark.parametrize("size", [convolution.PATCH_BYTES, 100])
def test_windows_that_do_not_overlap_may_be_the_patches(
    size, type, order, image, filter, geometry, monkeypatch
):
    monkeypatch.setattr(convolution, "PATCH_BYTES", size)
    function, kernel, given = convolving(type, image, filter, geometry)
    expected = function(*given)
    back = np.argsort(order)
    lying = [np.ascontiguousarray(x.astype("f").transpose(order)).transpose(back) for x in given]
    before = [x.copy() for x in lying]
    found = ran(kernel, lying)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
    for one, other in zip(lying, before, strict=True):
        np.testing.assert_array_equal(one, other)
