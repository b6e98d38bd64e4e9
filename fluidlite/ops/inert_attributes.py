"""Attributes that several families share: names of layouts; and those that steered CUDA, cuDNN or
MKL-DNN, which are accepted, kept and written, never read.
"""

from __future__ import annotations

from typing import Any

from ..opdef.attribute import attr, need_choice
from ..opdef.definition import Op
from ..opdef.spec import need_ndim

#: what says where the channels of images and volumes are
CHANNELS_FIRST, CHANNELS_LAST = ("NCHW", "NCDHW", "AnyLayout"), ("NHWC", "NDHWC")


class ChannelLayout(Op, abstract=True):
    """An operator whose ``data_layout`` is NCHW, or NHWC for channels in the last dimension."""

    def axis(self, ndim):
        """The dimension of the channels."""
        return ndim - 1 if self.data_layout == "NHWC" else 1

    def channels(self, X: Any) -> Any:
        """The number of channels of X, after a look at its dimensions and the layout."""
        need_choice(self, "data_layout", "NCHW", "NHWC", known=("AnyLayout",))
        need_ndim((2, 3, 4, 5), X=X)
        return X.shape[self.axis(X.ndim)]


class UseMkldnn(Op, abstract=True):
    """``use_mkldnn``."""

    use_mkldnn: bool = attr(False, inert=True)


class UseCudnn(Op, abstract=True):
    """``use_cudnn``."""

    use_cudnn: bool = attr(False, inert=True)


class UseQuantizer(Op, abstract=True):
    """``use_quantizer``."""

    use_quantizer: bool = attr(False, inert=True)


class ShapeAtRuntime(Op, abstract=True):
    """A mark that fluid's operators of sequences and a few others carry."""

    computes_runtime_shape: bool = attr(
        True, alias="@ALL_KERNELS_MUST_COMPUTE_RUNTIME_SHAPE@", inert=True
    )
