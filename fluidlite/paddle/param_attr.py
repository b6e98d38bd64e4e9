"""What users say about a parameter, with the arguments of paddle 2.6."""

from __future__ import annotations

from collections.abc import Callable

from .. import param_attr as library
from ..ground.docstrings import Family
from ..ground.spellings import Spelling
from ..ground.tracebacks import api_boundaries

__all__ = ["ParamAttr", "WeightNormParamAttr"]

_ATTRIBUTES = Family()
_SPELLED = Spelling({})
_WORDS = "name, initializer, learning_rate, regularizer, trainable, do_model_average, need_clip"


@_ATTRIBUTES.like(library.ParamAttr)
class ParamAttr(library.ParamAttr):
    """
    >>> from fluidlite import paddle
    >>> paddle.ParamAttr("w", need_clip=False)
    ParamAttr(name='w', need_clip=False)
    """

    __init__: Callable[..., None] = _SPELLED(
        library.ParamAttr.__init__, order=f"self, {_WORDS}", fixed={"gradient_clip": None}
    )


@_ATTRIBUTES.like(library.WeightNormParamAttr)
class WeightNormParamAttr(library.WeightNormParamAttr):
    __init__: Callable[..., None] = _SPELLED(
        library.WeightNormParamAttr.__init__, order=f"self, dim, {_WORDS}"
    )


api_boundaries(globals())
