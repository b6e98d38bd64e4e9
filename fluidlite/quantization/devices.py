"""``paddle.static.quantization.quant_config``: which operators machines compute in 8 bits."""

from __future__ import annotations

from collections.abc import Sequence

from ..ground.reprs import Described
from .editions import PADDLE_2_6, SUPPORTED

_PRODUCTS, _OTHERS = [*PADDLE_2_6.products], [*PADDLE_2_6.others]
WITH_WEIGHTS = {type: SUPPORTED[type] for type in _PRODUCTS}
WITHOUT_WEIGHTS = {type: SUPPORTED[type] for type in _OTHERS}


class BaseQuantizer(Described):
    """The types of operators that read rounded numbers.

    Args:
        quantizable_op_type: the types that are rounded; all when there are none.
        quant_bits: of whole numbers.

    >>> config = fluid.paddle.static.quantization.quant_config
    >>> config.BaseQuantizer(["conv2d", "relu"]).weight_quant_operation_types
    ['conv2d']
    """

    _least = -128
    _own: tuple[str, ...] = ()  # of the machine, whatever types are rounded

    def __init__(self, quantizable_op_type: Sequence[str] = (), quant_bits: int = 8) -> None:
        self._quantizable_op_type = list(quantizable_op_type)
        self._quant_bits = quant_bits
        self._quant_min, self._quant_max = self._least, 127

    @property
    def weight_quant_operation_types(self) -> list[str]:
        """Those with a weight."""
        types = self._quantizable_op_type
        return [each for each in types if each in _PRODUCTS] if types else [*_PRODUCTS]

    @property
    def activation_quant_operation_types(self) -> list[str]:
        """Those without one."""
        types = self._quantizable_op_type or _PRODUCTS
        return [*self._own] or [each for each in types if each in _OTHERS]

    @property
    def observer_operation_types(self) -> list[str]:
        """Those whose results are looked at."""
        return [*_OTHERS]


class TensorRTQuantizer(BaseQuantizer):
    """That of TensorRT, which rounds at certain operators.

    Args:
        quantizable_op_type, quant_bits: as of :class:`BaseQuantizer`.
    """

    _own = (
        *("pool2d", "elementwise_add", "elementwise_sub", "elementwise_mul", "elementwise_pow"),
        *("concat", "softmax", "argmax", "mean", "relu", "relu6", "leaky_relu", "tanh", "swish"),
        *("softplus", "gelu", "hard_sigmoid", "hard_swish", "sigmoid", "layer_norm", "matmul_v2"),
        *("split", "bilinear_interp", "nearest_interp", "trilinear_interp", "nearest_interp_v2"),
        *("bilinear_interp", "bilinear_interp_v2", "clip", "pow", "reduce_mean", "reduce_sum"),
        "reduce_max",
    )


class MKLDNNQuantizer(BaseQuantizer):
    """That of oneDNN.

    Args:
        quantizable_op_type, quant_bits: as of :class:`BaseQuantizer`.
    """

    _own = (
        *("pool2d", "elementwise_add", "elementwise_mul", "concat", "nearest_interp"),
        *("nearest_interp_v2", "split"),
    )


class ARMCPUQuantizer(BaseQuantizer):
    """That of processors of phones, whose whole numbers are as many below 0 as above.

    Args:
        quantizable_op_type, quant_bits: as of :class:`BaseQuantizer`.
    """

    _least = -127
