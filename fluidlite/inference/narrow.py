"""Models that are served in numbers of few bits."""

from __future__ import annotations

from collections.abc import Iterable

from ..backend import onednn
from ..errors import DTypeError
from ..ground.callsite import warn
from ..ground.dtypes import DType
from ..quantization.bfloat16 import BrainFloatProducts
from ..quantization.integers import IntegerProducts
from .served import Served


def serve_in_bfloat16(served: Served, types: Iterable[str] = ()) -> None:
    """Let products round their operands to bfloat16, where the processor gains from it.

    Weights are stored so, sums are float32.  A warning says where the model stays in float32.

    Args:
        served: the model, which is changed.
        types: of operators; all that can be when there are none.
    """
    why = onednn.why_not_bfloat16()
    if not why:
        try:
            DType.BF16.dtype  # noqa: B018
        except DTypeError as error:
            why = str(error)
    if why:
        warn(f"enable_mkldnn_bfloat16: the model runs in float32: {why}", None, RuntimeWarning)
        return
    fetched = [variable.name for variable in served.fetches]
    products = BrainFloatProducts(served.program, served.scope, fetched)
    products.change(frozenset(types))
    _protect(served, products.weights)


def _protect(served: Served, weights: Iterable[str]) -> None:
    """Let nobody write to weights, so that kernels lay each out once."""
    for name in weights:
        variable = served.scope.find_var(name)
        if variable is not None:
            variable.value.flags.writeable = False


def serve_in_int8(served: Served, types: Iterable[str] = ()) -> None:
    """Let products that a quantized model rounds be computed in whole numbers of 8 bits.

    What is computed is the same to rounding, but that what is no number becomes one.  A warning
    says where the processor or the model does not allow it, and that what rounds is run then.

    Args:
        served: the model, which is changed.
        types: of operators; all that can be when there are none.
    """
    if not onednn.multiplies_int8():
        warn(
            "enable_mkldnn_int8: the model runs in float32: whole numbers of 8 bits need oneDNN "
            '(pip install "fluidlite[fast]") and a processor with VNNI',
            None,
            RuntimeWarning,
        )
        return
    fetched = [variable.name for variable in served.fetches]
    products = IntegerProducts(served.program, served.scope, fetched)
    if not products.change(frozenset(types)):
        warn(
            "enable_mkldnn_int8: the model runs in float32: no product of it is rounded to 8 bits "
            "with a known scale; quantize it before (PostTrainingQuantization, or PTQ and QAT)",
            None,
            RuntimeWarning,
        )
    _protect(served, products.weights)
