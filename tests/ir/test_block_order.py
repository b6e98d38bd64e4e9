"""Blocks come behind those that they lie in and whose gradients they compute."""

import pytest

import fluidlite as fluid
from fluidlite.ir.block_order import order_blocks
from fluidlite.ir.rollback import all_or_nothing
from fluidlite.ir.verify import verify

layers = fluid.layers


def looped():
    """A program of a loop and its gradient, whose blocks are in the wrong order."""
    main = fluid.default_main_program()
    x = layers.fill_constant([1], "float64", 2.0)
    x.stop_gradient = False
    i, n = (layers.fill_constant([1], "int64", k) for k in (0, 3))
    _, y = layers.while_loop(
        lambda i, y: layers.less_than(i, n), lambda i, y: [i + 1, y * x], [i, layers.assign(x)]
    )
    (slope,) = fluid.gradients(y, x)
    body, gradients = main.blocks[1:]
    main.blocks[1:] = gradients, body
    gradients.idx, body.idx, gradients.forward_block_idx = 1, 2, 2
    for op in main.global_block().ops:
        if "sub_block" in op.attrs:
            op.set_attr("sub_block", 3 - op.attrs["sub_block"])
    return main, slope


def test_a_block_of_gradients_comes_behind_that_whose_gradients_it_computes():
    main, slope = looped()
    order_blocks(main)
    verify(main)
    assert [block.forward_block_idx for block in main.blocks] == [-1, -1, 1]
    assert fluid.Executor().run(main, fetch_list=[slope])[0].item() == 32.0


def test_blocks_in_order_stay_what_they_are():
    main, _ = looped()
    order_blocks(main)
    before = list(main.global_block().ops)
    order_blocks(main)
    assert main.global_block().ops == before


def test_the_order_is_taken_back_with_all_else():
    main, _ = looped()
    before, ops = list(main.blocks), list(main.global_block().ops)
    with pytest.raises(ZeroDivisionError), all_or_nothing(main):
        order_blocks(main)
        assert main.blocks != before
        1 / 0  # noqa: B018
    assert main.blocks == before
    assert main.global_block().ops == ops
    assert [block.idx for block in main.blocks] == [0, 1, 2]
    order_blocks(main)
