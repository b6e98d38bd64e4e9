"""Transforms after each other, and of the parts of an input."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ....errors import ArgumentError
from ....ground.reprs import Described
from ....ground.tracebacks import api_boundaries
from . import functional as F

__all__: list[str] = []

#: what transforms say of their arguments
TRANSFORMS = F.PICTURES.extended(
    {
        "keys": 'what the parts of an input are: "image", "boxes", "mask", or others, which stay '
        "as they are; one image when None.",
        "prob": "how probable it is.",
        "size": "height and width; a number for the shorter one of them, or in crops for both.",
        "value": "how far a factor may be from 1.",
        "degrees": "the angles from and to; a number for those of up to it in both directions.",
    }
)


class Compose:
    """Several transforms after each other.

    Args:
        transforms: functions of a picture.

    >>> import numpy as np
    >>> from fluidlite.paddle.vision import transforms
    >>> both = transforms.Compose([transforms.Resize(4), transforms.ToTensor()])
    >>> both(np.zeros((8, 8, 3), "uint8")).shape
    [3, 4, 4]
    """

    def __init__(self, transforms: Iterable[Callable[[Any], Any]]) -> None:
        self.transforms = transforms

    def __call__(self, data: Any) -> Any:
        for transform in self.transforms:
            data = transform(data)
        return data

    def __repr__(self) -> str:
        inner = "".join(f"\n    {each}" for each in self.transforms)
        return f"{type(self).__name__}({inner}\n)"


@TRANSFORMS
class BaseTransform(Described):
    """A transform of the parts of an input: images, and what belongs to them.

    A class of a user's has methods ``_apply_image``, ``_apply_boxes``, ``_apply_mask`` of a part,
    and ``_get_params`` of the whole input, whose result the others find in ``self.params``.
    """

    def __init__(self, keys: Sequence[str] | None = None) -> None:
        if keys is None:
            keys = ("image",)
        elif not isinstance(keys, Sequence) or isinstance(keys, str):
            raise ArgumentError(f"expected keys to be a list or a tuple, got {keys!r:.60}")
        self.keys: Any = keys
        self.params: Any = None

    def begin(self, given: dict[str, Any]) -> None:
        BaseTransform.__init__(self, given.pop("keys"))
        vars(self).update(given)

    def _get_params(self, inputs: tuple[Any, ...]) -> Any:
        """What is drawn once for all parts."""

    def __call__(self, inputs: Any) -> Any:
        parts = inputs if isinstance(inputs, tuple) else (inputs,)
        self.params = self._get_params(parts)
        outputs = []
        for key, part in zip(self.keys, parts):
            change = getattr(self, f"_apply_{key}", None)
            outputs.append(part if change is None else change(part))
        outputs += parts[len(self.keys) :]
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def _apply_image(self, image: Any) -> Any:
        raise NotImplementedError

    def _apply_boxes(self, boxes: Any) -> Any:
        raise NotImplementedError

    def _apply_mask(self, mask: Any) -> Any:
        raise NotImplementedError


api_boundaries(globals())
