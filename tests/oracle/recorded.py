"""Programs of a single operator as they were recorded."""

from fluidlite.core import SelectedRows
from fluidlite.lod_tensor import create_lod_tensor

from one_operator import OneOperator

FLOATS = {"inf": float("inf"), "-inf": float("-inf"), "nan": float("nan")}


class Recorded(OneOperator):
    """A program of one operator whose variables are held in a scope.

    Args:
        case: what was recorded.
        values: arrays by key.
        batch_unknown: declare -1 as the first size of every input.
    """

    def __init__(self, case, values, batch_unknown=False):
        self.case, self.values = case, values
        super().__init__(
            case["op"],
            {slot: [self.value(e) for e in entries] for slot, entries in case["inputs"].items()},
            {slot: written(entries) for slot, entries in case["outputs"].items()},
            {
                name: FLOATS.get(value, value) if isinstance(value, str) else value
                for name, value in case["attrs"].items()
            },
            held=True,
            shape=without_batch if batch_unknown else list,
        )

    def value(self, entry):
        """What was recorded of a variable: an array, one of sequences, or rows of one."""
        rows = entry.get("selected_rows")
        array = self.values[entry["key"]]
        if rows is not None:
            return SelectedRows(rows["rows"], rows["height"], array)
        return create_lod_tensor(array, entry["lod"]) if entry.get("lod") else array

    def recorded_outputs(self):
        """Variable and recorded entry of every output."""
        for slot, entries in self.case["outputs"].items():
            yield from zip(self.outputs[slot], entries)


def written(entries):
    """How many variables an output slot has, or the input slot that it is written to."""
    for entry in entries:
        if "same_variable_as_input" in entry:
            return entry["same_variable_as_input"]
    return len(entries)


def without_batch(shape):
    return [-1, *shape[1:]] if len(shape) else []
