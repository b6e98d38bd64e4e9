"""Which operators would work in 16 bits: checked, and without effect on a CPU."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from ...errors import ArgumentError
from ...ground.arguments import refused
from ...ground.brain_float import has_bfloat16
from ...ground.callsite import warn
from ...ground.place import CPUPlace
from ..device import set_device
from ..modes import in_dynamic_mode

M = TypeVar("M")
O = TypeVar("O")  # noqa: E741 (optimizers)
Names = Iterable[str] | None

_TYPES = ("float16", "bfloat16")
_LEVELS = ("O0", "OD", "O1", "O2")
#: safe in 16 bits, and most of the work; the first are so in bfloat16, too
_WHITE = (
    "conv2d einsum fused_gemm_epilogue matmul matmul_v2 max_pool2d_with_index mul",
    "fake_quantize_dequantize_abs_max fake_quantize_dequantize_moving_average_abs_max "
    "fused_attention fused_feedforward",
)
#: kept in float32 at every level but OD; the second ones at level O1 alone
_BLACK = (
    "bicubic_interp_v2 bilinear_interp_v2 linear_interp_v2 lookup_table lookup_table_v2 "
    "nearest_interp_v2 scatter trilinear_interp_v2",
    "acos asin atanh c_softmax_with_cross_entropy cosh cross_entropy cross_entropy2 cumprod cumsum "
    "dist erfinv exp expm1 frobenius_norm group_norm hsigmoid_loss huber_loss layer_norm log log10 "
    "log2 log_loss log_softmax margin_cross_entropy mean nll_loss pnorm pow reciprocal reduce_mean "
    "reduce_prod reduce_sum renorm rsqrt sigmoid_cross_entropy_with_logits sinh softmax "
    "softmax_with_cross_entropy softmin softplus square tan tanh_shrink triplet_margin_loss",
)


def white_list() -> dict[str, dict[str, set[str]]]:
    """Types of operators that work in 16 bits, by element type and level.

    >>> from fluidlite import paddle
    >>> "matmul_v2" in paddle.amp.white_list()["float16"]["O1"]
    True
    """
    found = {"float16": " ".join(_WHITE), "bfloat16": _WHITE[0]}
    return {t: {level: {*names.split()} for level in _LEVELS[1:]} for t, names in found.items()}


def black_list() -> dict[str, dict[str, set[str]]]:
    """Types of operators that work in float32, by element type and level.

    >>> from fluidlite import paddle
    >>> len(paddle.amp.black_list()["float16"]["OD"])
    0
    """
    levels = {"OD": "", "O1": " ".join(_BLACK), "O2": _BLACK[0]}
    return {t: {level: {*names.split()} for level, names in levels.items()} for t in _TYPES}


def need_dynamic(what: str) -> None:
    """Refuse what programs have elsewhere.

    Raises:
        ArgumentError: programs are built.
    """
    if not in_dynamic_mode():
        raise ArgumentError(f"{what} is for dynamic mode; in static mode use paddle.static.amp")


def _level(level: str, known: Iterable[str]) -> str:
    listed = [*known]
    if not isinstance(level, str) or level.upper() not in listed:
        raise refused("", "level", f"one of {', '.join(listed)}", level)
    return level.upper()


def _element_type(dtype: str) -> None:
    if dtype not in _TYPES:
        raise refused("", "dtype", "float16 or bfloat16", dtype)


@contextmanager
def auto_cast(
    enable: bool = True,
    custom_white_list: Names = None,
    custom_black_list: Names = None,
    level: str = "O1",
    dtype: str = "float16",
    use_promote: bool = True,
) -> Iterator[None]:
    """A guard under which operators would work in 16 bits on a GPU; on a CPU they do as ever, and a
    warning says so.

    Args:
        enable: False: not even there.
        custom_white_list, custom_black_list: types of operators that would, or would not.
        level: O0, OD, O1 or O2.
        dtype: float16 or bfloat16.
        use_promote: accepted: operators work in what they are given.

    Raises:
        ArgumentError: an argument is another one, a type stands in both lists, or programs are
            built.
    """
    need_dynamic("auto_cast")
    _level(level, _LEVELS)
    if enable:
        _element_type(dtype)
    if custom_white_list and custom_black_list:
        both = sorted({*custom_white_list} & {*custom_black_list})
        if both:
            raise ArgumentError(f"{both[0]!r} stands in both custom lists of auto_cast")
    if enable:
        warn("auto_cast is without effect on a CPU: operators work in what they are given", None)
    yield


amp_guard = auto_cast


def decorate(
    models: M,
    optimizers: O = None,  # type: ignore[assignment]
    level: str = "O1",
    dtype: str = "float16",
    master_weight: bool | None = None,
    save_dtype: str | None = None,
    master_grad: bool = False,
    excluded_layers: Any = None,
) -> M | tuple[M, O]:
    """Models and optimizers as they are; on a GPU their parameters would become of 16 bits.

    Args:
        models: a layer, or a list of layers.
        optimizers: an optimizer, or a list; None for models alone.
        level: O1 or O2.
        dtype: float16 or bfloat16.
        master_weight, save_dtype, master_grad, excluded_layers: accepted: parameters stay.

    Raises:
        ArgumentError: level or dtype is another one, or programs are built.

    >>> from fluidlite import paddle
    >>> layer = paddle.nn.Linear(2, 2)
    >>> paddle.amp.decorate(layer, level="O2") is layer
    True
    """
    need_dynamic("decorate")
    _level(level, ("O1", "O2"))
    _element_type(dtype)
    return models if optimizers is None else (models, optimizers)


amp_decorate = decorate


def is_float16_supported(device: str | CPUPlace | None = None) -> bool:
    """Whether kernels for float16 are there: not on a CPU, as in paddle 2.6.

    Args:
        device: ``"cpu"``, or None.

    Raises:
        NoDeviceError: another device.
    """
    set_device("cpu" if device is None else device)
    return False


def is_bfloat16_supported(device: str | CPUPlace | None = None) -> bool:
    """Whether tensors of bfloat16 are there: on a CPU, too, as in paddle 2.6, with the extra
    ``bfloat16`` installed.

    Args:
        device: ``"cpu"``, or None.

    Raises:
        NoDeviceError: another device.
    """
    set_device("cpu" if device is None else device)
    return has_bfloat16()
