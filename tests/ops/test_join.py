"""Several tensors made one, and one made several, element by element."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import AttributeValueError, DTypeError, ShapeError, SlotError
from fluidlite.ir.builder import Builder

from gradcheck import evaluator, pull_back
from infer import infer

f = evaluator()
rng = np.random.default_rng(0)
X = rng.normal(size=[2, 6, 3])


def part(x, axis, start, stop):
    """The elements from ``start`` to ``stop`` along a dimension, one by one."""
    places = [p for p in np.ndindex(x.shape) if start <= p[axis] < stop]
    sizes = [stop - start if i == axis else n for i, n in enumerate(x.shape)]
    return np.array([x[p] for p in places]).reshape(sizes)


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
def test_concat_puts_one_behind_the_other(axis):
    sizes = [[n if i == axis % 3 else m for i, m in enumerate([2, 3, 4])] for n in (1, 3, 2)]
    parts = [rng.normal(size=size) for size in sizes]
    found = f.concat(parts, axis=axis)
    assert found.shape[axis] == 6
    for x, start in zip(parts, (0, 1, 4)):
        np.testing.assert_array_equal(part(found, axis % 3, start, start + x.shape[axis]), x)
    np.testing.assert_array_equal(f.concat(parts, np.array([axis]), axis=7), found)


def test_concat_gives_each_input_its_part_of_the_gradient():
    parts, g = [rng.normal(size=[2, n]) for n in (3, 1)], rng.normal(size=[2, 4])
    found = pull_back(f, lambda f, a, b: f.concat([a, b], axis=1), parts, [g])
    np.testing.assert_array_equal(found[0], g[:, :3])
    np.testing.assert_array_equal(found[1], g[:, 3:])


def concatenated(*shapes, **attrs):
    return infer("concat", attrs, X=[(shape, "float32") for shape in shapes])["Out"].shape


def test_inferred_shape_of_a_concatenation():
    assert concatenated([2, 3], [2, 4], axis=-1) == (2, 7)
    assert concatenated([-1, 3], [2, 4], axis=1) == (2, 7)
    assert concatenated([-1, 3], [2, 3]) == (-1, 3)
    parts = [([2, 3], "float32")] * 2
    assert infer("concat", X=parts, AxisTensor=([1], "int32"))["Out"].shape == (-1, -1)


def test_concat_refuses_what_does_not_fit():
    with pytest.raises(ShapeError, match=r"except along 1, got \[2, 3\], \[4, 3\]"):
        concatenated([2, 3], [4, 3], axis=1)
    with pytest.raises(ShapeError, match=r"same sizes except along 0"):
        concatenated([2, 3], [6])
    with pytest.raises(ShapeError, match=r"axis in \[-2, 2\), got 2"):
        concatenated([2, 3], [2, 3], axis=2)
    with pytest.raises(DTypeError, match=r"X\[0\] float32, X\[1\] float64"):
        infer("concat", X=[([2], "float32"), ([2], "float64")])


@pytest.mark.parametrize(
    "attrs, sizes",
    [
        (dict(num=3), [2, 2, 2]),
        (dict(sections=[1, 3, 2]), [1, 3, 2]),
        (dict(sections=[1, -1, 2]), [1, 3, 2]),
        (dict(sections=[6, -1]), [6, 0]),
        (dict(num=2, sections=[1, 5]), [3, 3]),
    ],
)
def test_split_gives_parts_in_order(attrs, sizes):
    for found in (f.split(X, axis=1, **attrs), f.split(X, np.array([-2]), **attrs)):
        assert [one.shape[1] for one in found] == sizes
        start = 0
        for one, n in zip(found, sizes):
            np.testing.assert_array_equal(one, part(X, 1, start, start + n))
            start += n


def test_sections_in_tensors_go_before_the_attribute():
    listed = [np.array([2]), np.array([4])]
    found = f.split(X, SectionsTensorList=listed, axis=1, sections=[1, 5])
    assert [one.shape for one in found] == [(2, 2, 3), (2, 4, 3)]


def test_inferred_shapes_of_parts():
    one = lambda attrs, **more: [
        s.shape for s in infer("split", attrs, X=([-1, 6], "float32"), **more)["Out"]
    ]
    assert one(dict(num=3, axis=1)) == [(-1, 2)] * 3
    assert one(dict(num=2)) == [(-1, 6)] * 2
    assert one(dict(sections=[2, -1])) == [(2, 6), (-1, 6)]
    assert one(dict(num=2), AxisTensor=([1], "int32")) == [(-1, -1)] * 2
    listed = [([1], "int32")] * 2
    assert one(dict(sections=[1, -1], axis=1), SectionsTensorList=listed) == [(-1, 1), (-1, -1)]
    assert one(dict(axis=1), SectionsTensorList=listed) == [(-1, -1)] * 2


@pytest.mark.parametrize(
    "attrs, message",
    [
        (dict(num=4), r"a size along axis 1 that num 4 divides, got 6"),
        (dict(sections=[1, 2]), r"add up to the size 6 along axis 1, got \[1, 2\]"),
        (dict(sections=[7, -1]), r"add up to the size 6 along axis 1, got \[7, -1\]"),
    ],
)
def test_split_refuses_parts_that_do_not_make_up_the_whole(attrs, message):
    with pytest.raises(ShapeError, match=message):
        infer("split", dict(attrs, axis=1), X=([2, 6], "float32"))
    with pytest.raises(ShapeError, match=message):
        f.split(X, axis=1, **attrs)


@pytest.mark.parametrize("attrs", [{}, dict(sections=[-1, -1])])
def test_split_refuses_when_the_parts_are_not_clear(attrs):
    with pytest.raises(AttributeValueError, match="num of at least 1, or sections"):
        infer("split", attrs, X=([2, 6], "float32"))


def test_gradient_of_a_split_is_written_as_a_concat():
    x = fluid.data("x", [4, 6], "float32")
    x.stop_gradient = False
    parts = [x.block.create_var(name=f"part{i}") for i in range(2)]
    attrs = {"sections": [2, 4], "axis": 1}
    x.block.append_op("split", {"X": x}, {"Out": parts}, attrs)
    fluid.gradients(parts, x)
    last = x.block.ops[-1]
    assert (last.type, last.attr("axis")) == ("concat", 1)
    assert last.input("X") == ["part0@GRAD", "part1@GRAD"]


def test_parts_that_nobody_uses_have_a_gradient_of_zero():
    g = rng.normal(size=[2, 2, 3])
    (found,) = pull_back(f, lambda f, x: f.split(x, num=3, axis=1)[1], [X], [g])
    np.testing.assert_array_equal(found[:, 2:4], g)
    assert not found[:, :2].any() and not found[:, 4:].any()


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
def test_stack_makes_a_dimension_and_unstack_takes_it_apart(axis):
    parts = [rng.normal(size=[2, 3]) for _ in range(4)]
    found = f.stack(parts, axis=axis)
    assert found.shape[axis] == 4
    for i, one in enumerate(parts):
        taken = part(found, axis % 3, i, i + 1)
        np.testing.assert_array_equal(taken.reshape([2, 3]), one)
    for one, again in zip(parts, f.unstack(found, axis=axis, num=4), strict=True):
        np.testing.assert_array_equal(one, again)


def test_inferred_shapes_of_stacks():
    parts = [([-1, 3], "float32"), ([2, 3], "float32")]
    assert infer("stack", dict(axis=-1), X=parts)["Y"].shape == (2, 3, 2)
    found = infer("unstack", dict(axis=1, num=3), X=([-1, 3], "float32"))["Y"]
    assert [one.shape for one in found] == [(-1,)] * 3


def test_stack_refuses_what_does_not_fit():
    with pytest.raises(ShapeError, match=r"the same sizes, got \[2, 3\], \[2, 4\]"):
        infer("stack", X=[([2, 3], "float32"), ([2, 4], "float32")])
    with pytest.raises(ShapeError, match=r"axis in \[-3, 3\), got 3"):
        infer("stack", dict(axis=3), X=[([2, 3], "float32")])


def test_unstack_refuses_another_number_than_the_size():
    with pytest.raises(ShapeError, match=r"size of X along axis 0, got 3 for shape \[2, 4\]"):
        infer("unstack", dict(num=3), X=([2, 4], "float32"))
    with pytest.raises(ShapeError, match="3 elements along axis 0, got 2"):
        f.unstack(X, num=3)


@pytest.mark.parametrize(
    "type, attrs, count", [("split", dict(num=2, axis=1), 2), ("unstack", dict(num=2), 2)]
)
def test_builder_makes_as_many_variables_as_there_are_parts(type, attrs, count):
    x = fluid.data("x", [2, 6], "float32")
    parts = getattr(x.block.builder("part"), type)(x, **attrs)
    assert len(parts) == count


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_unbind_takes_a_dimension_apart(axis):
    x = rng.normal(size=[2, 3, 4])
    for i, found in enumerate(f.unbind(x, axis=axis)):
        np.testing.assert_array_equal(found, np.moveaxis(x, axis, 0)[i])


def test_unbind_makes_as_many_variables_as_the_size():
    x = fluid.data("x", [2, 3])
    block = fluid.default_main_program().global_block()
    parts = Builder(block, "part").unbind(x, axis=1)
    assert [part.shape for part in parts] == [(2,)] * 3
    with pytest.raises(ShapeError, match="a known size along axis 0"):
        Builder(block, "part").unbind(fluid.data("y", [None, 3]), axis=0)


@pytest.mark.parametrize("start, length, columns", [(1, 3, [1, 2, 3]), (-2, -1, [3, 4])])
def test_partial_operators_take_some_columns(start, length, columns):
    parts = [rng.normal(size=[2, 5]) for _ in range(3)]
    attrs = dict(start_index=start, length=length)
    taken = [part[:, columns] for part in parts]
    np.testing.assert_array_equal(f.partial_concat(parts, **attrs), np.concatenate(taken, axis=1))
    np.testing.assert_allclose(f.partial_sum(parts, **attrs), sum(taken))


def test_partial_operators_refuse_columns_that_are_not_there():
    two = [([2, 5], "float32")] * 2
    with pytest.raises(
        AttributeValueError, match="length from 1 to 2, the columns from start_index=3"
    ):
        infer("partial_sum", dict(start_index=3, length=3), X=two)
    with pytest.raises(ShapeError, match=r"start_index in \[-5, 5\), got 5"):
        infer("partial_concat", dict(start_index=5), X=two)
    with pytest.raises(ShapeError, match=r"X to be matrices, got \[2, 5\], \[2\]"):
        infer("partial_concat", X=[two[0], ([2], "float32")])


def test_more_variables_than_parts_are_refused_when_built():
    block = fluid.Program().global_block()
    x = block.create_var(name="x", shape=[4, 2], dtype="float32")
    outs = [block.create_var(name=f"out{k}") for k in range(3)]
    with pytest.raises(SlotError, match="expected 2 variables in Out, got 3"):
        block.append_op("split", {"X": x}, {"Out": outs}, {"num": 2, "axis": 0})
