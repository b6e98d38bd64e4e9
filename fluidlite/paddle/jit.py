"""``paddle.jit`` of paddle 2.6: functions and layers as programs, and models of them in files."""

from __future__ import annotations

import functools
import inspect
import os
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

from ..dygraph.translate import ProgramTranslator, declarative
from ..dygraph.translate.building import Built, Declared, Output
from ..dygraph.translate.calls import AS_IT_IS
from ..dygraph.translate.functions import bare
from ..dygraph.translate.running import Runner
from ..eager.parameter import Parameter
from ..eager.recording import TensorRecord
from ..eager.tensor import Tensor
from ..errors import ArgumentError
from ..ground.files import Path
from ..ground.public_names import list_public_names
from ..ground.tracebacks import api_boundaries
from ..ir.program import Program
from ..ir.variable import Variable
from ..model import InputSpec
from ..nn.layer import Layer
from ..proto.state import checked_path
from ..runtime.executor import Executor
from ..scope import Scope, scope_guard
from .static import models

F = TypeVar("F", bound=Callable[..., Any])

__all__ = [
    "TranslatedLayer", "enable_to_static", "ignore_module", "load", "not_to_static", "save",
    "set_code_level", "set_verbosity", "to_static",
]  # fmt: skip

_ENDS = ("feed", "fetch")  #: operators, and the variables that they read and write
_SPEC = "__input_spec__"  #: where a function or a layer keeps how it is called


def to_static(
    function: Any = None,
    input_spec: Sequence[Any] | None = None,
    build_strategy: object = None,
    backend: object = None,
    **kwargs: Any,
) -> Any:
    """A function or a layer that runs as a program, once for each form of its arguments.

    Args:
        function: a function of tensors, the ``forward`` of a layer, or a layer, which is given
            back; None to decorate with options.
        input_spec: what it is called with, for ``save``.
        build_strategy, backend, kwargs: accepted.

    Raises:
        ArgumentError: ``function`` cannot be called.

    >>> from fluidlite import paddle
    >>> @paddle.jit.to_static
    ... def positive(x):
    ...     if paddle.sum(x) > 0:
    ...         return x
    ...     return -x
    >>> positive(paddle.to_tensor([1.0, -3.0])).tolist()
    [-1.0, 3.0]
    """
    if function is None:
        return functools.partial(to_static, input_spec=input_spec)
    translated = declarative(function)
    setattr(translated, _SPEC, input_spec)
    return translated


def not_to_static(func: F | None = None) -> F | Callable[[F], F]:
    """A function that runs as it is where a function that runs as a program calls it.

    Args:
        func: the function; None to decorate with options.
    """
    if func is None:
        return not_to_static  # type: ignore[return-value]
    setattr(func, AS_IT_IS, True)
    return func


def ignore_module(modules: Iterable[types.ModuleType]) -> None:
    """Have the functions of modules run as they are.

    Args:
        modules: the modules.
    """
    for module in modules:
        for value in vars(module).values():
            if isinstance(value, types.FunctionType) and value.__module__ == module.__name__:
                setattr(value, AS_IT_IS, True)


def enable_to_static(enable_to_static_bool: bool) -> None:
    """Say whether functions run as programs, or at once as they are.

    Args:
        enable_to_static_bool: True for programs.
    """
    ProgramTranslator().enable(enable_to_static_bool)


def set_code_level(level: int = 100, also_to_stdout: bool = False) -> None:
    """Accepted: ``ProgramTranslator().get_code(function)`` shows translated code.

    Args:
        level, also_to_stdout: without meaning here.
    """


def set_verbosity(level: int = 0, also_to_stdout: bool = False) -> None:
    """Accepted: there is nothing to log.

    Args:
        level, also_to_stdout: without meaning here.
    """


def save(layer: Any, path: Path, input_spec: Sequence[Any] | None = None, **configs: Any) -> None:
    """Write a layer or a function as a model: ``PATH.pdmodel`` and ``PATH.pdiparams``.

    Args:
        layer: a layer, or a function of tensors.
        path: the path without the endings.
        input_spec: what it is called with: ``InputSpec``s, tensors, and plain values; as
            ``to_static`` was told when None.
        configs: ``output_spec`` chooses among the outputs, by number; others are accepted.

    Raises:
        ArgumentError: nothing says what the layer is called with, or it takes something else; or
            ``output_spec`` names no output.
        FileError: a file cannot be written; says why.

    >>> import os, tempfile
    >>> from fluidlite import paddle
    >>> net, path = paddle.nn.Linear(3, 2), os.path.join(tempfile.mkdtemp(), "net")
    >>> paddle.jit.save(net, path, [paddle.static.InputSpec([None, 3])])
    >>> x = paddle.ones([4, 3])
    >>> bool((paddle.jit.load(path)(x) == net(x)).all())
    True
    """
    checked = checked_path(path)
    built = _built(layer, _spec_of(layer) if input_spec is None else input_spec)
    outputs = built.outputs
    chosen = configs.get("output_spec")
    if chosen is not None:
        if not all(isinstance(each, int) and 0 <= each < len(outputs) for each in chosen):
            raise ArgumentError(
                f"jit.save: expected output_spec to be numbers below {len(outputs)}, got "
                f"{chosen!r:.60}"
            )
        outputs = [outputs[number] for number in chosen]
    with scope_guard(built.capture.scope()):
        models.save_inference_model(checked, built.inputs, outputs, Executor(), program=built.main)


def _spec_of(layer: Any) -> Sequence[Any]:
    for holder in (layer, getattr(layer, "forward", None)):
        spec = getattr(holder, _SPEC, None)
        if spec is not None:
            return list(spec)
    raise ArgumentError(
        f"jit.save does not know what {type(layer).__name__} is called with; give input_spec, as "
        f"in jit.save(layer, path, [paddle.static.InputSpec([None, 8])])"
    )


def _built(layer: Any, spec: Sequence[Any]) -> Built:
    """The program of a layer or a function, fed with what is declared."""
    declared = [_declared(each) for each in spec]
    function = layer.forward if isinstance(layer, Layer) else layer
    if isinstance(function, functools.partial):
        function = function.func
    owner: list[Any] = [layer] if isinstance(layer, Layer) else []
    plain = bare(getattr(function, "__func__", function))
    if isinstance(plain, functools.partial):  # a layer whose calls run as programs
        plain = bare(getattr(plain.args[0], "__func__", plain.args[0]))
    elif isinstance(function, types.MethodType) and not owner:
        owner = [function.__self__]
    translated = ProgramTranslator().functions.translated(plain)
    try:
        inspect.signature(plain).bind(*owner, *declared)
    except TypeError as error:
        raise ArgumentError(
            f"jit.save: {plain.__qualname__} cannot be called with the {len(declared)} entries of "
            f"input_spec: {error}"
        ) from None
    return Built(translated, (*owner, *declared), {})


def _declared(value: Any) -> Any:
    if isinstance(value, InputSpec):
        return Declared(value.shape, value.dtype, value.name, value.stop_gradient)
    if isinstance(value, (TensorRecord, np.ndarray)):
        array: Any = getattr(value, "array", value)
        return Declared([-1, *array.shape[1:]] if array.ndim else [], array.dtype)
    if isinstance(value, (list, tuple)):
        return type(value)(_declared(each) for each in value)
    if isinstance(value, dict):
        return {name: _declared(each) for name, each in value.items()}
    return value


def load(path: Path, **configs: Any) -> TranslatedLayer:
    """Read a model as a layer, which can be trained further.

    Args:
        path: the path without ``.pdmodel``.
        configs: ``model_filename`` and ``params_filename``: files of other names.

    Raises:
        FileError: a file cannot be read; says which, and why.
        FileFormatError: a file is not what it should be; says where.
    """
    scope = Scope()
    with scope_guard(scope):
        program, feeds, fetches = models.load_inference_model(
            os.fspath(checked_path(path)), Executor(), **configs
        )
    return TranslatedLayer(_Loaded(program, feeds, fetches, scope))


class _Loaded:
    """A program of a file, in the form in which functions are programs."""

    seed = 0

    def __init__(
        self, program: Program, feeds: list[str], fetches: list[Variable], scope: Scope
    ) -> None:
        self.main: Program = program
        block = program.global_block()
        block.set_ops([op for op in block.ops if op.type not in _ENDS])
        self.inputs: list[Variable] = [block.var(name) for name in feeds]
        self.outputs: list[Variable] = fetches
        outputs = [Output(number) for number in range(len(fetches))]
        self.structure: Any = outputs[0] if len(outputs) == 1 else outputs
        self.capture = _Values()
        for variable in program.list_vars():
            held = scope.find_var(variable.name) if variable.persistable else None
            if held is None or variable.name in _ENDS:
                continue
            array = np.asarray(held.get_tensor())
            trains = array.dtype.kind == "f" and not _is_statistic(block, variable.name)
            tensor: Any = Parameter(array, variable.name) if trains else Tensor(array)
            self.capture.tensors[variable.name] = tensor


class _Values:
    def __init__(self) -> None:
        self.tensors: dict[str, Any] = {}


def _is_statistic(block: Any, name: str) -> bool:
    """Whether a value is a running mean or variance."""
    return any(
        name in (*op.input("Mean"), *op.input("Variance"))
        for op in block.ops
        if {"Mean", "Variance"} <= {*op.input_names}
    )


class TranslatedLayer(Layer):
    """A layer that runs the program of a model; ``load`` makes it.

    Args:
        loaded: the program and its values.
    """

    def __init__(self, loaded: Any) -> None:
        super().__init__()
        self._loaded = loaded
        self._run = Runner(loaded)
        for number, (name, tensor) in enumerate(loaded.capture.tensors.items()):
            if isinstance(tensor, Parameter):
                self.add_parameter(name.replace(".", "_"), tensor)
            else:
                self.register_buffer(f"buffer_{number}", tensor)

    def forward(self, *inputs: Any) -> Any:
        """What the program computes.

        Args:
            inputs: tensors or arrays, in the order of the model's inputs.

        Raises:
            ArgumentError: there are more or fewer than the model has.
        """
        expected = len(self._loaded.inputs)
        if len(inputs) != expected:
            raise ArgumentError(f"the model takes {expected} inputs, got {len(inputs)}")
        return self._run(list(inputs))

    def program(self, method_name: str = "forward") -> Program:
        """The program.

        Args:
            method_name: accepted.
        """
        found: Program = self._loaded.main
        return found


list_public_names(globals())
api_boundaries(globals())
