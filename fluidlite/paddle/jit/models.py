"""Functions and layers as models in files."""

from __future__ import annotations

import functools
import inspect
import os
import types
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...dygraph.translate.building import Output
from ...dygraph.translate.functions import bare
from ...dygraph.translate.running import Runner
from ...eager.parameter import Parameter
from ...eager.tensor import Tensor
from ...errors import ArgumentError
from ...ground.files import Path
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries
from ...ir.block import Block
from ...ir.program import Program
from ...ir.variable import Variable
from ...nn.layer import Layer
from ...proto.state import checked_path
from ...runtime.executor import Executor
from ...scope import scope_guard
from ..static import models
from .static_function import StaticFunction

__all__ = ["TranslatedLayer", "load", "save"]

Array = np.ndarray[Any, Any]
_ENDS = ("feed", "fetch")  #: operators, and the variables that they read and write
#: words that paddle 2.6 takes
_OF_SAVE = (
    *("output_spec", "with_hook", "combine_params", "clip_extra", "skip_forward"),
    "input_names_after_prune",
)
_OF_LOAD = ("model_filename", "params_filename")


def save(layer: Any, path: Path, input_spec: Sequence[Any] | None = None, **configs: Any) -> None:
    """Write a layer or a function as a model: ``PATH.pdmodel``, ``PATH.pdiparams``, and what these
    do not say of a layer's parameters, ``PATH.pdiparams.info``.

    Args:
        layer: a layer, or a function of tensors.
        path: the path without the endings.
        input_spec: what it is called with: ``InputSpec``s, tensors, and plain values; as
            ``to_static`` was told when None.
        configs: ``output_spec`` chooses among the outputs, by number or as those of
            ``layer.forward.outputs``; others of paddle 2.6 are accepted.

    Raises:
        ArgumentError: nothing says what the layer is called with, or it takes something else;
            ``output_spec`` names no output; or an option is unknown.
        FileError: a file cannot be written; says why.

    >>> import os, tempfile
    >>> from fluidlite import paddle
    >>> net, path = paddle.nn.Linear(3, 2), os.path.join(tempfile.mkdtemp(), "net")
    >>> paddle.jit.save(net, path, [paddle.static.InputSpec([None, 3])])
    >>> x = paddle.ones([4, 3])
    >>> bool((paddle.jit.load(path)(x) == net(x)).all())
    True
    """
    _refuse_others("save", configs, _OF_SAVE)
    checked = checked_path(path)
    targets = _targets(layer, input_spec)
    programs = {name: function.built(spec) for name, (function, spec) in targets.items()}
    for name, program in programs.items():
        outputs = program.outputs if name else _chosen(program.outputs, configs.get("output_spec"))
        stem = f"{checked}.{name}" if name else checked
        with scope_guard(program.capture.scope()):
            models.save_inference_model(
                stem, program.inputs, outputs, Executor(), program=program.main
            )
    held = {id(each) for program in programs.values() for each in program.capture.tensors.values()}
    details = _details(layer, held) if isinstance(layer, Layer) else {}
    if details:
        models.write_details(checked, details)


def _details(layer: Layer, held: set[int]) -> dict[str, dict[str, Any]]:
    """Of the tensors that programs hold: where the layer has them, and whether they are trained."""
    details: dict[str, dict[str, Any]] = {}
    for place, tensor in [*layer.named_buffers(), *layer.state_dict().items()]:
        if id(tensor) in held:
            told = {"structured_name": place, "stop_gradient": tensor.stop_gradient}
            trains = {"trainable": tensor.trainable} if isinstance(tensor, Parameter) else {}
            details[tensor.name] = {**told, **trains}
    return details


def _refuse_others(function: str, configs: Mapping[str, Any], known: Sequence[str]) -> None:
    unknown = [name for name in configs if name not in known]
    if unknown:
        raise ArgumentError(f"jit.{function} takes {', '.join(known)}; got {unknown[0]!r:.60}")


def _targets(
    layer: Any, input_spec: Sequence[Any] | None
) -> dict[str, tuple[StaticFunction, Sequence[Any]]]:
    """The functions that are written, by name, with what they are called with; ``forward``, or the
    only one, has no name.
    """
    if not isinstance(layer, Layer):
        if not callable(layer):
            raise ArgumentError(f"jit.save: expected a layer or a function, got {layer!r:.60}")
        return {"": (_static(layer), _spec(layer, layer, input_spec))}
    targets: dict[str, tuple[StaticFunction, Sequence[Any]]] = {
        "": (_static(layer.forward, layer), _spec(layer, layer.forward, input_spec))
    }
    for name in dir(type(layer)):
        method = inspect.getattr_static(type(layer), name)
        if isinstance(method, StaticFunction) and name != "forward" and method.input_spec:
            targets[name] = (method.__get__(layer), method.input_spec)
    return targets


def _static(function: Any, owner: Any = None) -> StaticFunction:
    if isinstance(function, StaticFunction):
        return function
    if isinstance(function, functools.partial):
        function = function.func
    if isinstance(function, types.MethodType):
        owner = owner or function.__self__
    return StaticFunction(bare(getattr(function, "__func__", function)), None, True, owner)


def _spec(layer: Any, function: Any, input_spec: Sequence[Any] | None) -> Sequence[Any]:
    """What a function is called with."""
    spec = getattr(function, "input_spec", None) if input_spec is None else input_spec
    if spec is not None:
        return spec
    raise ArgumentError(
        f"jit.save does not know what {type(layer).__name__} is called with; give input_spec, as "
        f"in jit.save(layer, path, [paddle.static.InputSpec([None, 8])])"
    )


def _chosen(outputs: list[Variable], chosen: Sequence[Any] | None) -> list[Variable]:
    """The outputs that are written: by number, or as variables of an earlier program."""
    if chosen is None:
        return outputs
    names = [each.name for each in outputs]
    places = [
        names.index(each.name) if getattr(each, "name", None) in names else each for each in chosen
    ]
    if not all(isinstance(each, int) and 0 <= each < len(outputs) for each in places):
        raise ArgumentError(
            f"jit.save: expected output_spec to be numbers below {len(outputs)}, or outputs, got "
            f"{chosen!r:.60}"
        )
    return [outputs[each] for each in places]


def load(path: Path, **configs: Any) -> TranslatedLayer:
    """Read a model as a layer, which can be trained further.

    Args:
        path: the path without ``.pdmodel``.
        configs: ``model_filename`` and ``params_filename``: files of other names.

    Raises:
        ArgumentError: an option is unknown.
        FileError: a file cannot be read; says which, and why.
        FileFormatError: a file is not what it should be; says where.
    """
    _refuse_others("load", configs, _OF_LOAD)
    checked = checked_path(path)
    layer = TranslatedLayer(_loaded(checked, configs))
    folder, stem = os.path.split(checked)
    for file in sorted(os.listdir(folder or ".")):
        name = file.removeprefix(f"{stem}.").removesuffix(".pdmodel")
        if file == f"{stem}.{name}.pdmodel" and name.isidentifier() and not configs:
            layer.add_method(name, _loaded(f"{checked}.{name}", {}))
    return layer


def _loaded(path: str, configs: Mapping[str, Any]) -> _Loaded:
    (program, feeds, fetches), values = models.values_of_model(path, **configs)
    return _Loaded(program, feeds, fetches, values, models.read_details(path))


class _Loaded:
    """A program of a file, in the form in which functions are programs."""

    seed = 0

    def __init__(
        self,
        program: Program,
        feeds: list[str],
        fetches: list[Variable],
        values: Mapping[str, Array],
        details: Mapping[str, Any],
    ) -> None:
        self.main: Program = program
        block = program.global_block()
        block.set_ops([op for op in block.ops if op.type not in _ENDS])
        self.inputs: list[Variable] = [block.var(name) for name in feeds]
        self.outputs: list[Variable] = fetches
        outputs = [Output(number) for number in range(len(fetches))]
        self.structure: Any = outputs[0] if len(outputs) == 1 else outputs
        self.capture = _Values()
        for name, array in values.items():
            told = details.get(name) or _guessed(block, name, array)
            if "trainable" in told:
                self.capture.tensors[name] = Parameter(array, name, not told["stop_gradient"])
            else:
                self.capture.tensors[name] = Tensor(array)
                self.capture.tensors[name].name = name


def _guessed(block: Block, name: str, array: Array) -> dict[str, bool]:
    """Whether a value of which no file says it is a parameter, and trained."""
    stops = any(
        name in (*op.input("Mean"), *op.input("Variance"))
        for op in block.ops
        if {"Mean", "Variance"} <= {*op.input_names}
    )
    is_parameter = array.dtype.kind == "f"
    return {"stop_gradient": stops, **({"trainable": not stops} if is_parameter else {})}


class _Values:
    def __init__(self) -> None:
        self.tensors: dict[str, Any] = {}


class TranslatedLayer(Layer):
    """A layer that runs the program of a model; ``load`` makes it.

    Args:
        loaded: the program and its values.
    """

    def __init__(self, loaded: Any) -> None:
        super().__init__()
        self._loaded: dict[str, tuple[Any, Runner]] = {"forward": (loaded, Runner(loaded))}
        for tensor in loaded.capture.tensors.values():
            if isinstance(tensor, Parameter):
                self.add_parameter(f"param_{len(self.own_parameters)}", tensor)
            else:
                self.register_buffer(f"buffer_{len(self.own_buffers)}", tensor)

    def forward(self, *inputs: Any) -> Any:
        """What the program computes.

        Args:
            inputs: tensors or arrays, in the order of the model's inputs.

        Raises:
            ArgumentError: there are more or fewer than the model has.
        """
        return self._called("forward", *inputs)

    def _called(self, name: str, *inputs: Any) -> Any:
        loaded, run = self._loaded[name]
        expected = len(loaded.inputs)
        if len(inputs) != expected:
            raise ArgumentError(f"the model takes {expected} inputs, got {len(inputs)}")
        return run(list(inputs))

    def add_method(self, name: str, loaded: Any) -> None:
        """Give it another method, which shares its parameters.

        Args:
            name: of the method.
            loaded: its program and the values.
        """
        own = self._loaded["forward"][0].capture.tensors
        tensors = loaded.capture.tensors
        tensors.update({each: own[each] for each in tensors if each in own})
        self._loaded[name] = loaded, Runner(loaded)
        vars(self)[name] = functools.partial(self._called, name)

    def program(self, method_name: str = "forward") -> Program:
        """The program of a method.

        Args:
            method_name: its name.

        Raises:
            ArgumentError: there is no such method.
        """
        if method_name not in self._loaded:
            raise ArgumentError(
                f"the model has no method {method_name!r:.60}; it has {', '.join(self._loaded)}"
            )
        program: Program = self._loaded[method_name][0].main
        return program


list_public_names(globals())
api_boundaries(globals())
