"""``paddle.inference`` of paddle 2.6: models of files, which are loaded once and run often."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, NoReturn

import numpy as np

from ..eager.recording import TensorRecord
from ..eager.tensor import Tensor as EagerTensor
from ..errors import ArgumentError, UnsupportedError
from ..ground.missing_names import answer_of_paddle_2
from ..ground.public_names import list_public_names
from ..ground.reprs import Described
from ..ground.spellings import Spelling
from ..ground.tracebacks import api_boundaries
from ..inference.configuration import CONFIGURATIONS, Location
from ..inference.handles import Handle
from ..inference.kinds import PaddleDType as DataType
from ..inference.kinds import PaddlePlace as PlaceType
from ..inference.kinds import Precision
from ..inference.kinds import Precision as PrecisionType
from ..inference.served import (
    MODELS,
    NamedInputs,
    Served,
    Serving,
    fed_in_order,
    input_of,
    output_of,
)
from ..inference.switches import QUESTIONS, with_switches
from . import version
from .holders import hold

__all__ = [
    "Config", "DataType", "PlaceType", "PrecisionType", "Predictor", "PredictorPool", "Tensor",
    "XpuConfig", "convert_to_mixed_precision", "create_predictor",
    "get_num_bytes_of_data_type", "get_trt_compile_version", "get_trt_runtime_version",
    "get_version",
]  # fmt: skip

_METHOD = Spelling({"predictor": "self"}, types={"Handle": "Tensor"})
_SIZES = {"FLOAT32": 4, "INT64": 8, "INT32": 4, "UINT8": 1}


@with_switches
@CONFIGURATIONS
class Config(Location):
    """
    >>> from fluidlite import paddle
    >>> config = paddle.inference.Config("net.pdmodel", "net.pdiparams")
    >>> config.enable_use_gpu(100)
    >>> config.use_gpu(), config.prog_file()
    (False, 'net.pdmodel')
    """

    questions = QUESTIONS
    Precision = Precision
    Float32, Int8 = Precision.Float32, Precision.Int8
    Half, Bfloat16 = Precision.Half, Precision.Bfloat16

    def tensorrt_precision_mode(self) -> PrecisionType:
        """``Float32``: there is no TensorRT."""
        return Precision.Float32

    def xpu_config(self) -> XpuConfig:
        """Settings of an XPU, as they are at first."""
        return XpuConfig()

    def quantizer_config(self) -> NoReturn:
        """Nothing: models are not quantized here.

        Raises:
            UnsupportedError: always.
        """
        raise UnsupportedError("models are not quantized here: they run with the types they have")

    def to_native_config(self) -> NoReturn:
        """Nothing: it is for predictors of fluid 1.8.

        Raises:
            UnsupportedError: always.
        """
        raise UnsupportedError("give this configuration itself to create_predictor")

    dist_config = nnadapter = to_native_config

    def summary(self) -> str:
        """A table of the model's files and of the settings."""
        rows = [("model_file", self.prog_file()), ("params_file", self.params_file())]
        if self.model_dir():
            rows = [("model_dir", self.model_dir())]
        blocks: list[list[tuple[str, Any]]] = [
            [("Option", "Value")],
            rows,
            list(self.settings.items()),
        ]
        told = [[(name, _shown(value)) for name, value in block] for block in blocks]
        wide = [max(len(row[k]) for block in told for row in block) for k in (0, 1)]
        rule = f"+{'-' * (wide[0] + 2)}+{'-' * (wide[1] + 2)}+"
        lines = [
            [f"| {name:<{wide[0]}} | {value:<{wide[1]}} |" for name, value in block]
            for block in told
        ]
        return "\n".join([rule, *(line for block in lines for line in (*block, rule)), ""])


def _shown(value: Any) -> str:
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    return str(value).lower() if isinstance(value, bool) else str(value)


class XpuConfig(Described):
    """Settings of an XPU, which is missing: attributes that change nothing."""

    def __init__(self) -> None:
        self.device_id: int = 0
        self.l3_size: int = 0
        self.l3_ptr: object = None
        self.l3_autotune_size: int = 0
        self.context: object = None
        self.context_gm_size: int = -1
        self.stream: object = None
        self.conv_autotune_level: int = 0
        self.conv_autotune_file: str = ""
        self.conv_autotune_file_writeback: bool = False
        self.fc_autotune_level: int = 0
        self.fc_autotune_file: str = ""
        self.fc_autotune_file_writeback: bool = False
        self.gemm_compute_precision: int = 1
        self.transformer_softmax_optimize_level: int = 0
        self.transformer_encoder_adaptive_seqlen: bool = True
        self.quant_post_static_gelu_out_threshold: float = 10.0
        self.quant_post_dynamic_activation_method: int = 0
        self.quant_post_dynamic_weight_precision: int = 1
        self.quant_post_dynamic_op_types: list[str] = []


class Tensor(Handle):
    """An input or an output of a predictor, which makes it."""

    def type(self) -> DataType:
        """The element type; ``FLOAT32`` while there are no values."""
        return DataType.of(self.element_type)


@MODELS
class Predictor(NamedInputs, Described):
    """Runs a model.

    Clones share the parameters and what was compiled; each may run in a thread of its own.

    >>> import os, tempfile
    >>> from fluidlite import paddle
    >>> net, path = paddle.nn.Linear(3, 2), os.path.join(tempfile.mkdtemp(), "net")
    >>> paddle.jit.save(net, path, [paddle.static.InputSpec([None, 3], name="x")])
    >>> config = paddle.inference.Config(path + ".pdmodel", path + ".pdiparams")
    >>> predictor = paddle.inference.create_predictor(config)
    >>> predictor.get_input_handle("x").copy_from_cpu(np.ones([4, 3], "float32"))
    >>> predictor.run()
    >>> output = predictor.get_output_handle(predictor.get_output_names()[0])
    >>> output.copy_to_cpu().shape
    (4, 2)
    """

    def __init__(self, config: Config) -> None:
        if not isinstance(config, Config):
            raise ArgumentError(f"expected a Config, got {type(config).__name__}")
        self._begin(config.load())

    def _begin(self, served: Served) -> None:
        self._serving = Serving(served, Tensor)

    get_input_handle: Callable[..., Tensor] = _METHOD(input_of, "get_input_handle")
    get_output_handle: Callable[..., Tensor] = _METHOD(output_of, "get_output_handle")

    def run(self, inputs: Sequence[EagerTensor] | None = None) -> list[EagerTensor] | None:
        """Compute the outputs.

        Args:
            inputs: tensors in the order of the inputs, which are answered with tensors; what the
                handles hold when None, and the results go there.

        Raises:
            ArgumentError: these are no tensors, or there are more or fewer than inputs.
            NotInitializedError: an input holds nothing.
            DTypeError: an input has an element type that the model does not take.
            FluidError: an operator failed; says which.
        """
        if inputs is None:
            self._serving.run()
            return None
        for number, each in enumerate(inputs):
            if not isinstance(each, TensorRecord):
                raise ArgumentError(
                    f"input {number}: expected a tensor, got {type(each).__name__}; use "
                    f"paddle.to_tensor, or copy_from_cpu of its handle"
                )
        feed = fed_in_order(self._serving, [each.array for each in inputs])
        return [EagerTensor(np.array(value)) for value in self._serving.compute(feed)]

    def clone(self) -> Predictor:
        """Another one of the same model, with inputs and outputs of its own."""
        made: Predictor = type(self).__new__(type(self))
        made._begin(self._serving.served)
        return made

    def clear_intermediate_tensor(self) -> None:
        """Nothing: values are dropped behind their last use."""

    def try_shrink_memory(self) -> int:
        """0: nothing is kept that could be let go."""
        return 0

    def register_output_hook(self, hook: Callable[[str, str, EagerTensor], None]) -> None:
        """Have a function called with each value that a run computes.

        Args:
            hook: takes the type of the operator, the name of the variable, and the value.
        """

        def call(operator: str, name: str, value: Any) -> None:
            hook(operator, name, EagerTensor(np.array(value)))

        self._serving.hooks.append(call)


@MODELS
def create_predictor(config: Config) -> Predictor:
    """A predictor of a model."""
    return Predictor(config)


class PredictorPool(Described):
    """Predictors that share a model.

    Args:
        config: says which.
        size: how many.

    Raises:
        ArgumentError: there are none.
    """

    def __init__(self, config: Config, size: int) -> None:
        if not isinstance(size, int) or size < 1:
            raise ArgumentError(f"expected a number of predictors from 1, got {size!r:.60}")
        first = Predictor(config)
        self._predictors = [first, *(first.clone() for _ in range(size - 1))]

    def retrive(self, idx: int) -> Predictor:
        """One of the predictors.

        Args:
            idx: its number.

        Raises:
            ArgumentError: there is none of that number.
        """
        count = len(self._predictors)
        if not isinstance(idx, int) or not 0 <= idx < count:
            raise ArgumentError(f"expected a number below {count}, got {idx!r:.60}")
        return self._predictors[idx]


def convert_to_mixed_precision(
    model_file: str,
    params_file: str,
    mixed_model_file: str,
    mixed_params_file: str,
    mixed_precision: PrecisionType,
    backend: PlaceType,
    keep_io_types: bool = True,
    black_list: Collection[str] = frozenset(),
    **kwargs: Any,
) -> NoReturn:
    """Refused, as it is for every CPU.

    Args:
        model_file, params_file, mixed_model_file, mixed_params_file: of a model for a GPU.
        mixed_precision, backend, keep_io_types, black_list, kwargs: of a model for a GPU.

    Raises:
        ArgumentError: always.
    """
    raise ArgumentError(
        "convert_to_mixed_precision: expected a GPU, which is not available; CPUs compute such "
        "models in float32, so run the model as it is"
    )


def get_version() -> str:
    """The version whose spelling this is.

    >>> from fluidlite import paddle
    >>> print(paddle.inference.get_version().splitlines()[0])
    version: 2.6.2
    """
    return f"version: {version.full_version}\ncommit: {version.commit}\nbranch: HEAD\n"


def get_num_bytes_of_data_type(dtype: DataType) -> int:
    """How many bytes an element takes; -1 where paddle 2.6 says so: float64, float16, int8, bool.

    Args:
        dtype: the element type.

    Raises:
        ArgumentError: it is no element type.

    >>> from fluidlite import paddle
    >>> paddle.inference.get_num_bytes_of_data_type(paddle.inference.DataType.INT64)
    8
    """
    if not isinstance(dtype, DataType):
        raise ArgumentError(f"expected a DataType, got {dtype!r:.60}")
    return _SIZES.get(dtype.name, -1)


def get_trt_compile_version() -> tuple[int, int, int]:
    """``(0, 0, 0)``: there is no TensorRT."""
    return (0, 0, 0)


get_trt_runtime_version = get_trt_compile_version

answer_of_paddle_2(globals())
list_public_names(globals())
api_boundaries(globals())
hold(globals())
