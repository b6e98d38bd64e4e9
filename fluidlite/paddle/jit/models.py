"""Functions and layers as models in files."""

from __future__ import annotations

import functools
import inspect
import os
import types
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ... import unique_name
from ...dygraph.translate.building import Built, Output
from ...dygraph.translate.functions import bare
from ...dygraph.translate.running import Runner
from ...eager.parameter import Parameter
from ...eager.tensor import Tensor
from ...errors import ArgumentError, UnsupportedError
from ...ground.files import Path
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries
from ...io.inference import SCALED
from ...ir.block import Block
from ...ir.program import Program, default_main_program
from ...ir.variable import Variable
from ...model import InputSpec
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

    Other methods of ``to_static`` are written, too, as ``PATH.NAME.pdmodel``.

    Args:
        layer: a layer, or a function of tensors.
        path: the path without the endings.
        input_spec: what it is called with: ``InputSpec``s, tensors, and plain values; when None as
            ``to_static`` was told, or as it was called last.
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
    programs = _programs(layer, input_spec)
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


def _programs(layer: Any, input_spec: Sequence[Any] | None) -> dict[str, Built]:
    """The programs that are written, by name; that of ``forward``, or the only one, has no name."""
    if not isinstance(layer, Layer):
        if not callable(layer):
            raise ArgumentError(f"jit.save: expected a layer or a function, got {layer!r:.60}")
        return {"": _program(_static(layer), input_spec, layer, "")}
    programs = {"": _program(_static(layer.forward, layer), input_spec, layer, "")}
    for name in dir(type(layer)):
        method = inspect.getattr_static(type(layer), name)
        if isinstance(method, StaticFunction) and name != "forward":
            programs[name] = _program(method.__get__(layer), None, layer, f".{name}")
    return programs


def _static(function: Any, owner: Any = None) -> StaticFunction:
    if isinstance(function, StaticFunction):
        return function
    if isinstance(function, functools.partial):
        function = function.func
    if isinstance(function, types.MethodType):
        owner = owner or function.__self__
    return StaticFunction(bare(getattr(function, "__func__", function)), None, True, owner)


def _program(
    function: StaticFunction, input_spec: Sequence[Any] | None, layer: Any, method: str
) -> Built:
    """The program of a function, for what it is called with, or was called with last."""
    spec = function.input_spec if input_spec is None else input_spec
    if spec is not None:
        return function.built(spec)
    if function.last is not None:
        return function.last
    use = "give input_spec, as in jit.save(layer, path, [paddle.static.InputSpec([None, 8])])"
    if method:
        use = "call it first, or give input_spec to its to_static"
    raise ArgumentError(
        f"jit.save does not know what {type(layer).__name__}{method} is called with; {use}"
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

    Its results stand in the order of paddle 2.6: first those that saving a model copies, then truth
    values, which it does not copy.

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
    layer.eval()
    folder, stem = os.path.split(checked)
    for file in sorted(os.listdir(folder or ".")):
        name = file.removeprefix(f"{stem}.").removesuffix(".pdmodel")
        if file == f"{stem}.{name}.pdmodel" and name.isidentifier() and not configs:
            layer.add_method(name, _loaded(f"{checked}.{name}", {}))
    return layer


def _loaded(path: str, configs: Mapping[str, Any]) -> _Loaded:
    (program, feeds, fetches), values = models.values_of_model(path, **configs)
    fetches = sorted(fetches, key=lambda each: not each.name.startswith(SCALED))
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
        #: name of a variable -> name of an attribute
        self._held: dict[str, str] = {}
        for name, tensor in loaded.capture.tensors.items():
            if isinstance(tensor, Parameter):
                self._held[name] = f"param_{len(self.own_parameters)}"
                self.add_parameter(self._held[name], tensor)
            else:
                self._held[name] = f"buffer_{len(self.own_buffers)}"
                self.register_buffer(self._held[name], tensor)

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
        if any(isinstance(each, Variable) for each in inputs):
            return self._appended(loaded, inputs)
        return run(list(inputs))

    def _appended(self, loaded: _Loaded, inputs: Sequence[Variable]) -> Any:
        """The outputs, of operators at the end of the program that is being built."""
        if len(loaded.main.blocks) > 1:
            raise UnsupportedError(
                "a model with branches or loops cannot be a part of another program; call it on "
                "tensors, or make the layer again from its class"
            )
        block, source = default_main_program().current_block(), loaded.main.global_block()
        values = {name: getattr(self, held) for name, held in self._held.items()}
        values |= {var.name: each for var, each in zip(loaded.inputs, inputs)}
        for op in source.ops:
            for name in op.output_arg_names:
                if name not in values:
                    like, fresh = source.var(name), unique_name.generate("translated_layer.tmp")
                    values[name] = block.create_var(
                        name=fresh, shape=like.shape, dtype=like.dtype, type=like.kind
                    )
            ins, outs = (
                {slot: [values[n] for n in names] for slot, names in side.items()}
                for side in (op.inputs, op.outputs)
            )
            block.append_op(op.type, ins, outs, dict(op.attrs))
        outputs = [values[output.name] for output in loaded.outputs]
        return outputs[0] if len(outputs) == 1 else outputs

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

    # as paddle 2.6 calls them
    def _input_spec(self, method_name: str = "forward") -> list[InputSpec]:
        inputs = self._loaded[method_name][0].inputs
        return [InputSpec(each.shape, each.dtype, each.name) for each in inputs]

    def _output_spec(self, method_name: str = "forward") -> list[InputSpec]:
        outputs = self._loaded[method_name][0].outputs
        return [InputSpec(each.shape, each.dtype, each.name) for each in outputs]

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
