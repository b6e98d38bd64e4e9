"""Programs of a single operator."""

import fluidlite as fluid
from fluidlite.core import SelectedRows
from fluidlite.dtypes import Kind

FLOATS = {"inf": float("inf"), "-inf": float("-inf"), "nan": float("nan")}


class OneOperator:
    """A program of one operator, its variables named after their slots.

    Args:
        case: what was recorded.
        values: arrays by key.
        batch_unknown: declare -1 as the first size of every input.
    """

    def __init__(self, case, values, batch_unknown=False):
        self.case, self.values = case, values
        self.program = fluid.Program()
        self.block = self.program.global_block()
        self.inputs, self.outputs = {}, {}
        for slot, entries in case["inputs"].items():
            self.inputs[slot] = self._names(slot, entries)
            for entry, name in zip(entries, self.inputs[slot]):
                self._declare_input(name, entry, batch_unknown)
        for slot, entries in case["outputs"].items():
            self.outputs[slot] = self._declare_outputs(slot, entries)
        self.block.append_op(
            type=case["op"],
            inputs=self._variables(self.inputs),
            outputs=self._variables(self.outputs),
            attrs={
                name: FLOATS.get(value, value) if isinstance(value, str) else value
                for name, value in case["attrs"].items()
            },
        )

    def _names(self, slot, entries):
        return [slot] if len(entries) == 1 else [f"{slot}{i}" for i in range(len(entries))]

    def _declare_input(self, name, entry, batch_unknown):
        array = self.values[entry["key"]]
        shape, kind = list(array.shape), Kind.LOD_TENSOR
        if "selected_rows" in entry:
            shape[0], kind = entry["selected_rows"]["height"], Kind.SELECTED_ROWS
        elif batch_unknown and shape:
            shape[0] = -1
        variable = self.block.create_var(
            name=name, shape=shape, dtype=str(array.dtype), type=kind, persistable=True
        )
        variable.stop_gradient = False

    def _declare_outputs(self, slot, entries):
        """New variables, or those of the input slot that the operator writes in place."""
        for entry in entries:
            if "same_variable_as_input" in entry:
                return self.inputs[entry["same_variable_as_input"]]
        names = [
            name + ".out" if self.block.has_var(name) else name
            for name in self._names(slot, entries)
        ]
        for name in names:
            self.block.create_var(name=name, dtype="float32", persistable=True)
        return names

    def _variables(self, slots):
        return {slot: [self.block.var(name) for name in names] for slot, names in slots.items()}

    def scope(self):
        """A scope with the values of the inputs."""
        scope = fluid.Scope()
        for slot, entries in self.case["inputs"].items():
            for entry, name in zip(entries, self.inputs[slot]):
                put(scope, name, self.value(entry))
        return scope

    def value(self, entry):
        """What was recorded of a variable: an array, or rows of one."""
        rows = entry.get("selected_rows")
        array = self.values[entry["key"]]
        return array if rows is None else SelectedRows(rows["rows"], rows["height"], array)

    def recorded_outputs(self):
        """Name and recorded entry of every output variable."""
        for slot, entries in self.case["outputs"].items():
            yield from zip(self.outputs[slot], entries)


def put(scope, name, value):
    if isinstance(value, SelectedRows):
        scope.var(name).value = value
    else:
        scope.var(name).get_tensor().set(value, fluid.CPUPlace())
