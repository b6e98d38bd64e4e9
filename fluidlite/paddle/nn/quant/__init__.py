"""``paddle.nn.quant`` of paddle 2.6: layers and functions of whole numbers of few bits."""

from __future__ import annotations

from ....ground.public_names import list_given_names
from . import format as format
from . import functional_layers as functional_layers
from . import qat as qat
from . import quant_layers as quant_layers
from .functional_layers import FloatFunctionalLayer as FloatFunctionalLayer
from .functional_layers import add as add
from .functional_layers import concat as concat
from .functional_layers import divide as divide
from .functional_layers import flatten as flatten
from .functional_layers import matmul as matmul
from .functional_layers import multiply as multiply
from .functional_layers import reshape as reshape
from .functional_layers import subtract as subtract
from .functional_layers import transpose as transpose
from .quant_layers import QuantStub as QuantStub
from .quantized_linear import llm_int8_linear as llm_int8_linear
from .quantized_linear import weight_dequantize as weight_dequantize
from .quantized_linear import weight_only_linear as weight_only_linear
from .quantized_linear import weight_quantize as weight_quantize
from .stub import Stub as Stub

list_given_names(
    globals(), *("format", "functional_layers", "qat", "quant_layers", "quantized_linear", "stub")
)
