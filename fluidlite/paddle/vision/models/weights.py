"""Functions that make models by name, with the weights of a local file."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from ....errors import FileError
from ....ground.docstrings import Family
from ....nn import Layer
from ...files import load
from ...utils.download import WEIGHTS_HOME

M = TypeVar("M", bound=Layer)
M_co = TypeVar("M_co", bound=Layer, covariant=True)
F = TypeVar("F", bound=Callable[..., Any])
_HOST = "the weights that Paddle publishes by this name"
#: what functions that make models say of their arguments
MAKERS = Family(
    {
        "pretrained": "read the weights of a file that was put below "
        "``~/.cache/paddle/hapi/weights``; nothing is fetched.",
        "scale": "how many times as wide the layers are.",
        "batch_norm": "a normalization follows each convolution.",
        "kwargs": "what the model's class takes.",
    },
    raises="FileError: there is no file of weights.",
)


def with_weights(model: M, pretrained: bool, file: str) -> M:
    """A model, with the weights of a file when ``pretrained``.

    Args:
        model: gets them.
        pretrained: whether it does.
        file: the name of the file, in the folder of weights.

    Raises:
        FileError: there is no such file.
    """
    if pretrained:
        path = os.path.join(WEIGHTS_HOME, file)
        if not os.path.isfile(path):
            raise FileError(
                f"{path}: expected {_HOST}; they are not fetched: put the file there, or build the "
                f"model with pretrained=False and give it weights by set_state_dict"
            )
        model.set_state_dict(load(path))
    return model


def maker(
    name: str, kind: Callable[..., M], doc: str, *given: Any, file: str | None = None, **fixed: Any
) -> Callable[..., M]:
    """A function that makes a model of a class, by some arguments of it.

    Args:
        name: of the function.
        kind: the class.
        doc: what the function's docstring begins with.
        given, fixed: arguments of the class.
        file: of its weights; the name with ``.pdparams`` when None.
    """

    def made(pretrained: bool = False, **kwargs: Any) -> M:
        return with_weights(kind(*given, **fixed, **kwargs), pretrained, file or f"{name}.pdparams")

    return _named(made, name, kind, doc)


class ScaledMaker(Protocol[M_co]):
    """A function that makes a model whose layers are so many times as wide."""

    def __call__(self, pretrained: bool = False, scale: float = 1.0, **kwargs: Any) -> M_co: ...


def scaled_maker(name: str, kind: Callable[..., M], doc: str, file: str) -> ScaledMaker[M]:
    """A function that makes a model of a class, whose layers may be wider.

    Args:
        name: of the function.
        kind: the class.
        doc: what the function's docstring begins with.
        file: of its weights, with ``{}`` for the scale.
    """

    def made(pretrained: bool = False, scale: float = 1.0, **kwargs: Any) -> M:
        return with_weights(kind(scale=scale, **kwargs), pretrained, file.format(scale))

    return _named(made, name, kind, doc)


def _named(made: F, name: str, kind: Any, doc: str) -> F:
    """A function with the name that it is found by."""
    its: Any = made
    its.__name__ = its.__qualname__ = name
    its.__module__ = kind.__module__
    its.__doc__ = doc
    return MAKERS(made)
