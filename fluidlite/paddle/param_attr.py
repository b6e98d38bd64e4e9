"""What users say about a parameter, with the arguments of paddle 2.6."""

from __future__ import annotations

from .. import param_attr as library
from ..ground.docstrings import Family
from ..ground.tracebacks import api_boundaries
from ..initializer import Initializer
from ..regularizer import WeightDecayRegularizer

__all__ = ["ParamAttr", "WeightNormParamAttr"]

_ATTRIBUTES = Family()


@_ATTRIBUTES.like(library.ParamAttr)
class ParamAttr(library.ParamAttr):
    """
    >>> from fluidlite import paddle
    >>> paddle.ParamAttr("w", need_clip=False)
    ParamAttr(name='w', need_clip=False)
    """

    def __init__(
        self,
        name: str | None = None,
        initializer: Initializer | None = None,
        learning_rate: float = 1.0,
        regularizer: WeightDecayRegularizer | None = None,
        trainable: bool = True,
        do_model_average: bool = True,
        need_clip: bool = True,
    ) -> None:
        given = name, initializer, learning_rate, regularizer, trainable, do_model_average
        super().__init__(*given, need_clip=need_clip)


@_ATTRIBUTES.like(library.WeightNormParamAttr)
class WeightNormParamAttr(library.WeightNormParamAttr):
    def __init__(
        self,
        dim: int | None = None,
        name: str | None = None,
        initializer: Initializer | None = None,
        learning_rate: float = 1.0,
        regularizer: WeightDecayRegularizer | None = None,
        trainable: bool = True,
        do_model_average: bool = False,
        need_clip: bool = True,
    ) -> None:
        given = name, initializer, learning_rate, regularizer, trainable, do_model_average
        super().__init__(dim, *given, need_clip=need_clip)


api_boundaries(globals())
