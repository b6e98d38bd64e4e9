"""Predictors of fluid 1.8, as ``fluid.core`` has them."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

import numpy as np

from ..errors import ArgumentError, DTypeError
from ..ground.files import Path, Transaction
from ..ground.public_names import list_public_names
from ..ground.reprs import Described
from ..ground.spellings import Spelling
from ..ground.tracebacks import api_boundaries
from ..ground.values import LoDTensor
from ..io.variables import is_persistable, values_of, write_variables
from ..ir.program import Program
from ..scope import Scope
from .configuration import CONFIGURATIONS, Location
from .handles import Handle
from .kinds import PaddleDType as PaddleDType
from .kinds import PaddlePlace as PaddlePlace
from .kinds import Precision
from .pass_names import PaddlePassBuilder as PaddlePassBuilder
from .served import MODELS, NamedInputs, Served, Serving, fed_in_order, input_of, output_of
from .switches import QUESTIONS, with_switches

__all__ = [
    "AnalysisConfig", "AnalysisPredictor", "NativeConfig", "NativePaddlePredictor", "PaddleBuf",
    "PaddleDType", "PaddlePassBuilder", "PaddlePlace", "PaddlePredictor", "PaddleTensor",
    "ZeroCopyTensor", "create_paddle_predictor", "paddle_dtype_size", "paddle_tensor_to_bytes",
]  # fmt: skip

_METHOD = Spelling({"predictor": "self"}, types={"Handle": "ZeroCopyTensor"})
_TYPES = ("float32", "int64", "int32")


def _plain(data: Any) -> np.ndarray[Any, Any]:
    """An array of a type that these predictors know; others become int32, as in 1.8."""
    array = np.asarray(data)
    return array if array.dtype.name in _TYPES else array.astype(np.int32)


class PaddleBuf:
    """Bytes of a tensor.

    Args:
        data: how many; or numbers: a list of float32, or an array of float32, int32 or int64.

    Raises:
        ArgumentError: it is none of these.

    >>> buffer = fluid.core.PaddleBuf([1.0, 2.0])
    >>> buffer.length(), buffer.float_data()
    (8, [1.0, 2.0])
    """

    #: what a list of whole numbers said, for tensors that call them int64, as programs for 1.6 do
    whole: np.ndarray[Any, Any] | None = None

    def __init__(self, data: int | Sequence[float] | np.ndarray[Any, Any]) -> None:
        if isinstance(data, (int, np.integer)):
            self._bytes: np.ndarray[Any, Any] = np.zeros(int(data), np.uint8)
        else:
            self.reset(data)

    def reset(self, data: Sequence[float] | np.ndarray[Any, Any]) -> None:
        """Hold a copy of other numbers; it becomes longer where they need it, and never shorter.

        Args:
            data: as of the constructor.

        Raises:
            ArgumentError: these are no numbers.
        """
        try:
            array = _plain(data) if isinstance(data, np.ndarray) else np.array(data, np.float32)
        except (TypeError, ValueError):
            raise ArgumentError(
                f"expected a list or an array of numbers, got {data!r:.60}"
            ) from None
        is_whole = isinstance(data, list) and all(isinstance(each, int) for each in data)
        self.whole = np.array(data, np.int64) if is_whole and data else None
        new = np.frombuffer(array.tobytes(), np.uint8).copy()
        old = getattr(self, "_bytes", new)
        self._bytes = np.concatenate([new, np.zeros(max(0, old.size - new.size), np.uint8)])

    def hold(self, array: np.ndarray[Any, Any]) -> None:
        """Hold what an array holds, without a copy.

        Args:
            array: the array.
        """
        self._bytes, self.whole = np.ascontiguousarray(array).reshape(-1).view(np.uint8), None

    def resize(self, length: int) -> None:
        """Become longer; what was there is let go.

        Args:
            length: how many bytes.
        """
        if length > self._bytes.size:
            self._bytes = np.zeros(length, np.uint8)

    def empty(self) -> bool:
        """Whether it holds nothing."""
        return self._bytes.size == 0

    def length(self) -> int:
        """How many bytes it holds."""
        return int(self._bytes.size)

    def numbers(self, dtype: str) -> np.ndarray[Any, Any]:
        """What it holds, as an array that shares it.

        Args:
            dtype: "float32", "int32" or "int64".

        Raises:
            DTypeError: another one.
        """
        if dtype not in _TYPES:
            raise DTypeError(f"expected one of {', '.join(_TYPES)}, got {dtype!r:.60}")
        size = np.dtype(dtype).itemsize
        return self._bytes[: self._bytes.size // size * size].view(dtype)

    def tolist(self, dtype: str) -> list[Any]:
        """What it holds, as a list.

        Args:
            dtype: as of ``numbers``.
        """
        return list(self.numbers(dtype).tolist())

    def float_data(self) -> list[float]:
        """What it holds, as numbers of float32."""
        return self.tolist("float32")

    def int32_data(self) -> list[int]:
        """What it holds, as numbers of int32."""
        return self.tolist("int32")

    def int64_data(self) -> list[int]:
        """What it holds, as numbers of int64."""
        return self.tolist("int64")


class PaddleTensor(Described):
    """An array with a name and sequences, which goes into a predictor or comes out of it.

    Args:
        data: the array, of float32, int32 or int64; others become int32, as in 1.8.
        name: of the input.
        lod: the offsets of each level of its sequences.
        copy: whether to copy the array.

    >>> tensor = fluid.core.PaddleTensor(np.ones([2, 3], "float32"), "x")
    >>> tensor.shape, tensor.dtype
    ([2, 3], <PaddleDType.FLOAT32: 0>)
    """

    _shown = "data= copy= shape=shape"

    def __init__(
        self, data: Any = None, name: str = "", lod: Iterable[Iterable[int]] = (), copy: bool = True
    ) -> None:
        array = np.zeros([0], np.float32) if data is None else _plain(data)
        self.name: str = name
        self.lod: list[list[int]] = [list(level) for level in lod]
        self.shape: list[int] = [] if data is None else list(array.shape)
        self.dtype: PaddleDType = PaddleDType.of(array.dtype)
        self.data: PaddleBuf = PaddleBuf(0)
        self.data.hold(np.array(array, order="C") if copy else array)

    def as_ndarray(self) -> np.ndarray[Any, Any]:
        """The values as an array that shares them.

        Raises:
            ArgumentError: there are fewer values than its shape has.
        """
        dtype, whole = self.dtype.name.lower(), self.data.whole
        numbers = self.data.numbers(dtype) if whole is None or dtype != "int64" else whole
        count = int(np.prod(self.shape, dtype=int))
        if numbers.size < count:
            raise ArgumentError(
                f"tensor {self.name!r}: expected {count} values for its shape {self.shape}, got "
                f"{numbers.size}"
            )
        return numbers[:count].reshape(self.shape)

    def fed(self) -> np.ndarray[Any, Any] | LoDTensor:
        """The values with their sequences, as a program is fed with them."""
        return LoDTensor(self.as_ndarray(), self.lod) if self.lod else self.as_ndarray()


class ZeroCopyTensor(Handle):
    """An input or an output of a predictor, which makes it."""

    def copy_from_cpu(self, data: np.ndarray[Any, Any]) -> None:
        """Take a copy of an array.

        Args:
            data: of float32, int32, int64 or uint8; others become int32, as in 1.8.

        Raises:
            ArgumentError: there are no numbers in it.
        """
        try:
            self.hold(np.array(_plain(data), order="C"))
        except (TypeError, ValueError):
            raise ArgumentError(f"input {self.name!r}: expected an array of numbers") from None

    def type(self) -> PaddleDType:
        """The element type.

        Raises:
            NotInitializedError: there are no values.
        """
        return PaddleDType.of(self.held().dtype)


@with_switches
@CONFIGURATIONS
class AnalysisConfig(Location):
    """
    >>> config = fluid.core.AnalysisConfig("model")
    >>> config.enable_use_gpu(100)
    >>> config.use_gpu(), config.model_dir()
    (False, 'model')
    """

    questions: ClassVar[dict[str, Any]] = {
        **QUESTIONS,
        "mkldnn_enabled": False,
        "use_feed_fetch_ops_enabled": True,
    }
    Precision = Precision
    Float32, Int8, Half = Precision.Float32, Precision.Int8, Precision.Half

    def switch_use_feed_fetch_ops(self, x: bool = True) -> None:
        """Accepted: both ways to run are there at any time.

        Args:
            x: what ``use_feed_fetch_ops_enabled`` answers.
        """
        self.settings["use_feed_fetch_ops_enabled"] = bool(x)

    def to_native_config(self) -> NativeConfig:
        """The same for the other kind of predictor."""
        native = NativeConfig()
        native.model_dir = self.model_dir()
        native.prog_file, native.param_file = self._program, self._parameters
        native.specify_input_name = self.settings["specify_input_name"]
        native._threads = self.settings["cpu_math_library_num_threads"]
        return native


class NativeConfig(Described):
    """Where a model lies: ``model_dir``, or ``prog_file`` and ``param_file``.

    ``specify_input_name`` says that inputs are given by name and not by their places.
    """

    _shown = "model_dir=model_dir prog_file=prog_file param_file=param_file"

    def __init__(self) -> None:
        self.model_dir: str = ""
        self.prog_file: str = ""
        self.param_file: str = ""
        self.use_gpu: bool = False
        self.device: int = 0
        self.fraction_of_gpu_memory: float = -1.0
        self.specify_input_name: bool = False
        self._threads = 1

    def cpu_math_library_num_threads(self) -> int:
        """What was set; 1 at first."""
        return self._threads

    def set_cpu_math_library_num_threads(self, count: int) -> None:
        """Say how many threads products of matrices of values with sequences get.

        Args:
            count: 1, or more for those that NumPy's BLAS has.
        """
        self._threads = int(count)

    def load(self) -> Served:
        """The model; errors as of ``create_paddle_predictor``."""
        place = AnalysisConfig(self.model_dir or None)
        place.set_prog_file(self.prog_file)
        place.set_params_file(self.param_file)
        place.settings["cpu_math_library_num_threads"] = self._threads
        return place.load()


class PaddlePredictor(NamedInputs):
    """Runs a model; ``create_paddle_predictor`` makes it.

    Clones share the parameters and what was compiled; each may run in a thread of its own.
    """

    def __init__(self, config: Any) -> None:
        if not hasattr(config, "load"):
            raise ArgumentError(
                f"expected an AnalysisConfig or a NativeConfig, got {type(config).__name__}"
            )
        self._begin(config.load(), _takes_names(config))

    def _begin(self, served: Served, by_name: bool) -> None:
        self._serving, self._by_name = Serving(served, ZeroCopyTensor), by_name

    def clone(self) -> PaddlePredictor:
        """Another one of the same model, with inputs and outputs of its own."""
        made: PaddlePredictor = type(self).__new__(type(self))
        made._begin(self._serving.served, self._by_name)
        return made

    def run(self, inputs: Sequence[PaddleTensor]) -> list[PaddleTensor]:
        """What the model computes.

        Args:
            inputs: in the order of the inputs; in any where the configuration says
                ``specify_input_name``.

        Raises:
            ArgumentError: these are no tensors, there are more or fewer than inputs, or none has
                the name of an input.
            DTypeError: one has an element type that the model does not take.
            FluidError: an operator failed; says which.
        """
        for number, each in enumerate(inputs):
            if not isinstance(each, PaddleTensor):
                raise ArgumentError(
                    f"input {number}: expected a PaddleTensor, got {type(each).__name__}"
                )
        feed = fed_in_order(self._serving, [each.fed() for each in inputs])
        if self._by_name:
            given = {each.name: each.fed() for each in inputs}
            feed = {self._serving.handle(name, {}).name: value for name, value in given.items()}
            missing = [name for name in self._serving.inputs if name not in feed]
            if missing:
                raise ArgumentError(f"expected an input of the name {missing[0]!r}")
        values = self._serving.compute(feed)
        return [_tensor(name, value) for name, value in zip(self._serving.outputs, values)]

    def zero_copy_run(self) -> bool:
        """Compute the outputs from what the inputs hold; True.

        Raises:
            NotInitializedError: an input holds nothing.
            DTypeError: an input has an element type that the model does not take.
            FluidError: an operator failed; says which.
        """
        self._serving.run()
        return True

    get_input_tensor: Callable[..., ZeroCopyTensor] = _METHOD(input_of, "get_input_tensor")
    get_output_tensor: Callable[..., ZeroCopyTensor] = _METHOD(output_of, "get_output_tensor")

    def get_input_tensor_shape(self) -> dict[str, list[int]]:
        """The declared sizes of each input; -1 where any will do."""
        return {each.name: list(each.shape) for each in self._serving.served.feeds}

    def get_serialized_program(self) -> bytes:
        """The program as a file holds it."""
        return self._serving.served.program.to_bytes()

    def program(self) -> Program:
        """The program."""
        return self._serving.served.program

    def scope(self) -> Scope:
        """What holds the parameters."""
        return self._serving.served.scope


class AnalysisPredictor(PaddlePredictor):
    """Runs a model; ``create_paddle_predictor`` makes it of an ``AnalysisConfig``."""

    def SaveOptimModel(self, dir: Path) -> None:
        """Write the program and its parameters to a folder.

        Args:
            dir: the folder, created if it does not exist.

        Raises:
            FileError: a file cannot be written; says why.
        """
        served = self._serving.served
        values = sorted(values_of(served.program, served.scope, is_persistable).items())
        with Transaction() as files:
            write_variables(files, dir, values, "params")
            files.write(os.path.join(dir, "model"), served.program.to_bytes())


class NativePaddlePredictor(PaddlePredictor):
    """Runs a model; ``create_paddle_predictor`` makes it of a ``NativeConfig``."""


@MODELS
def create_paddle_predictor(config: AnalysisConfig | NativeConfig) -> PaddlePredictor:
    """A predictor of a model.

    >>> x = fluid.data("x", [None, 2], "float32")
    >>> y = fluid.layers.reduce_sum(x, dim=1)
    >>> exe = fluid.Executor()
    >>> _ = fluid.io.save_inference_model("sums", ["x"], [y], exe, program_only=True)
    >>> predictor = fluid.core.create_paddle_predictor(fluid.core.AnalysisConfig("sums"))
    >>> (sums,) = predictor.run([fluid.core.PaddleTensor(np.ones([3, 2], "float32"))])
    >>> sums.as_ndarray().tolist()
    [2.0, 2.0, 2.0]
    """
    kind = NativePaddlePredictor if isinstance(config, NativeConfig) else AnalysisPredictor
    return kind(config)


def paddle_dtype_size(dtype: PaddleDType) -> int:
    """How many bytes an element takes.

    Args:
        dtype: the element type.
    """
    return np.dtype(PaddleDType(dtype).name.lower()).itemsize


def paddle_tensor_to_bytes(tensor: PaddleTensor) -> bytes:
    """A tensor as bytes: its name, sequences, shape, element type and values.

    Args:
        tensor: what is written.
    """
    name = tensor.name.encode()
    values = tensor.as_ndarray().tobytes()
    levels = b"".join(
        struct.pack(f"<Q{len(level)}Q", 8 * len(level), *level) for level in tensor.lod
    )
    return b"".join(
        [
            struct.pack("<iQ", 0, len(name)),
            name,  # the version of the format
            struct.pack("<Q", len(tensor.lod)),
            levels,
            struct.pack(f"<Q{len(tensor.shape)}i", len(tensor.shape), *tensor.shape),
            struct.pack("<iQ", tensor.dtype, len(values)),
            values,
        ]
    )


def _takes_names(config: AnalysisConfig | NativeConfig) -> bool:
    if isinstance(config, NativeConfig):
        return config.specify_input_name
    return bool(config.settings["specify_input_name"])


def _tensor(name: str, value: Any) -> PaddleTensor:
    if isinstance(value, LoDTensor):
        return PaddleTensor(value.data, name, value.offsets)
    return PaddleTensor(value, name)


list_public_names(globals())
api_boundaries(globals())
