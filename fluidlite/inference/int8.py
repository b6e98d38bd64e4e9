"""Models that are served in numbers of few bits."""

from __future__ import annotations

from collections.abc import Iterable

from ..backend import onednn
from ..ground.callsite import warn
from ..quantization.integers import IntegerProducts
from .served import Served


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
    for name in products.weights:
        variable = served.scope.find_var(name)
        if variable is not None:
            variable.value.flags.writeable = False  # kernels lay it out once


def warn_of_bfloat16() -> None:
    """Say that there is nothing in bfloat16 here."""
    warn(
        "enable_mkldnn_bfloat16: the model runs in float32, which takes half the time of bfloat16 "
        "on processors with AVX512_BF16 alone; there are no kernels for AMX",
        None,
        RuntimeWarning,
    )
