import pytest

from fluidlite.backend.native.index_maps import (
    NotFusible,
    composed,
    cut,
    identity,
    split,
    stretched,
    within,
)


def test_a_row_vector_repeats_for_each_row():
    assert stretched((4,), (3, 4)) == ((3, 0), (4, 1))


def test_a_column_repeats_along_each_row():
    assert stretched((3, 1), (3, 4)) == ((3, 1), (4, 0))


def test_channels_lie_in_the_middle():
    assert stretched((1, 3, 1, 1), (2, 3, 4, 5)) == ((2, 0), (3, 1), (20, 0))


def test_a_value_of_the_whole_space_is_itself_by_way_of_any_shape():
    assert composed(identity(12), stretched((3, 4), (3, 4))) == identity(12)


def test_a_stretch_of_a_stretch_leaves_out_both():
    assert composed(((5, 0), (12, 1)), stretched((4,), (3, 4))) == ((15, 0), (4, 1))


def test_sizes_that_do_not_divide_do_not_fit():
    with pytest.raises(NotFusible):
        composed(((4, 1), (3, 0)), ((2, 0), (3, 1)))


def test_rows_are_cut_off_where_steps_allow():
    assert split(((2, 0), (3, 1), (20, 0)), 20) == (((2, 0), (3, 1)), 0)
    assert split(identity(12), 4) == (((3, 4),), 1)


def test_a_row_of_two_kinds_of_steps_does_not_fit():
    with pytest.raises(NotFusible):
        split(((3, 1), (4, 0)), 12)


def test_a_part_begins_where_it_is_cut():
    assert cut((0, 2), (3, 2), (3, 6)) == ((1, 2), (3, 6), (2, 1))


def test_a_part_of_what_is_repeated_is_a_part_of_a_row():
    assert composed(cut((0, 2), (3, 2), (3, 6)), stretched((6,), (3, 6))) == (
        (1, 2),
        (3, 0),
        (2, 1),
    )


def test_what_lies_in_one_piece_is_found_there():
    seen = cut((0, 2), (3, 2), (3, 6))
    assert within(seen, (0, 2), (3, 2), (3, 6)) == identity(6)
    assert within(seen, (0, 0), (3, 3), (3, 6)) is None


def test_a_part_across_the_edge_of_a_row_does_not_fit():
    with pytest.raises(NotFusible):
        composed(cut((4,), (6,), (18,)), stretched((6,), (3, 6)))
