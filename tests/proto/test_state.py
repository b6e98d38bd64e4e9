"""Values that files of plain arrays have room for."""

import numpy as np
import pytest

from fluidlite.errors import WorkLimitError
from fluidlite.ground.values import SelectedRows
from fluidlite.proto.state import as_array


def test_a_table_of_few_rows_is_written_as_a_whole():
    table = SelectedRows([1, 2], 4, np.ones([2, 3], "float32"))
    assert as_array(table, "w").tolist() == [[0] * 3, [1] * 3, [1] * 3, [0] * 3]


@pytest.mark.parametrize("height", [2**27, 2**40, 2**62])
def test_a_table_that_would_be_very_large_is_refused_before_it_is_made(height):
    table = SelectedRows([1], height, np.ones([1, 3], "float32"))
    with pytest.raises(
        WorkLimitError, match=rf"'w' holds 1 rows of a table of {height}, .*save_va"
    ):
        as_array(table, "w")
