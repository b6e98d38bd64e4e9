"""Saved models as layers that run at once, and are trained on."""

from __future__ import annotations

from typing import Any

from ..eager.recording import TensorRecord
from ..errors import ArgumentError, UnsupportedError
from ..ground.files import Path
from ..ground.missing_names import answer
from ..ground.protected import answers_protected
from ..ground.public_names import list_public_names
from ..io.inference import load_inference_model
from ..ir.operator import EMPTY, Operator
from ..ir.variable import Parameter
from ..runtime.executor import Executor
from ..scope import Scope, scope_guard
from .layer import Layer
from .mode import to_variable
from .tensor import DygraphLayer, ParamBase, VarBase

_ENDS = ("feed", "fetch")


@answers_protected
class StaticModelRunner(Layer):
    """A model that ``save_inference_model`` wrote, as a layer that runs at once.

    Its parameters are called as in the model, with ``@LOADED`` behind.

    Args:
        model_dir: the folder.
        model_filename: the file of the program, ``__model__`` when None.
        params_filename: the one file of all parameters; a file for each when None.

    Raises:
        FileError: a file cannot be read.
        UnsupportedError: an operator of the model drives a block.
    """

    def __init__(
        self, model_dir: Path, model_filename: str | None = None, params_filename: str | None = None
    ) -> None:
        super().__init__()
        scope = Scope()
        with scope_guard(scope):
            program, feeds, fetches = load_inference_model(
                model_dir, Executor(), model_filename, params_filename
            )
        self._feeds: list[str] = list(feeds)
        self._fetches: list[str] = [v.name for v in fetches]
        self._ops: list[Operator] = [
            op for op in program.global_block().ops if op.type not in _ENDS
        ]
        for op in self._ops:
            if op.instance().is_control:
                raise UnsupportedError(
                    f"StaticModelRunner: {op.type} drives a block, which programs do only; use "
                    f"fluid.io.load_inference_model and fluid.Executor.run"
                )
        self._held: dict[str, ParamBase] = {}
        written = {name for op in self._ops for name in op.output_arg_names}
        for variable in program.list_vars():
            value = scope.value(variable.name) if variable.persistable else None
            if value is None:
                continue
            is_trained = isinstance(variable, Parameter) or variable.name not in written
            trainable = is_trained and value.dtype.kind == "f"
            held = ParamBase(value.copy(), f"{variable.name}@LOADED", trainable)
            self._held[variable.name] = held
            self.add_parameter(held.name.replace(".", "_"), held)

    def forward(self, *args: Any) -> Any:
        """What the model gives.

        Args:
            args: a tensor or an array for each variable that is fed, in order.

        Returns:
            a tensor, or a list of several.

        Raises:
            ArgumentError: there are more or fewer.
        """
        if len(args) != len(self._feeds):
            raise ArgumentError(
                f"StaticModelRunner: expected {', '.join(self._feeds)}, got {len(args)} tensors"
            )
        values: dict[str, Any] = dict(self._held)
        for name, given in zip(self._feeds, args):
            values[name] = given if isinstance(given, TensorRecord) else to_variable(given)
        layer = DygraphLayer(VarBase, type(self).__name__, None)
        for op in self._ops:
            self._run(layer, op, values)
        found = [values[name] for name in self._fetches]
        return found[0] if len(found) == 1 else found

    def _run(self, layer: DygraphLayer, op: Operator, values: dict[str, Any]) -> None:
        instance = op.instance()
        if "is_test" in instance.attributes:
            instance = type(instance)({**instance.attr_values(), "is_test": not self.training})
        ins = op.operands(values.__getitem__)
        found = layer.apply(instance, ins)
        for slot, names in op.outputs.items():
            made = found.get(slot)
            for name, value in zip(names, made if isinstance(made, list) else [made]):
                held = self._held.get(name)
                if held is not None and value is not None:  # a running mean
                    held.set_value(value)
                elif name != EMPTY:
                    values[name] = value


list_public_names(globals())

answer(globals())
