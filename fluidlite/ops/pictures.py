"""Files of pictures: their bytes, and the pictures that these are."""

from __future__ import annotations

import io
from typing import Any, ClassVar

from ..errors import DTypeError, FileFormatError, UnsupportedError
from ..ground.dtypes import DType
from ..ground.files import read_bytes
from ..opdef.annotations import Array, Specs
from ..opdef.attribute import REQUIRED, need_choice
from ..opdef.definition import DetachedValues
from ..opdef.effect import Effect
from ..opdef.spec import Spec, need_ndim, spec

#: mode -> what Pillow calls it
MODES = {"unchanged": "", "gray": "L", "rgb": "RGB"}


class read_file(DetachedValues):
    """Out = the bytes of a file, uint8.

    filename: its path.
    """

    signature = " -> Out"
    filename: str = REQUIRED
    effect: ClassVar[Effect | None] = Effect("files", "reads", "filename")
    folds: ClassVar[bool] = False

    def infer(self) -> Specs:
        return spec([-1], DType.UINT8)

    def run(self, xp: Any) -> Array:
        return xp.frombuffer(read_bytes(self.filename), "uint8")


class decode_jpeg(DetachedValues):
    """Out = the picture that bytes of a JPEG file are, [C, H, W], uint8.

    X: the bytes, uint8.
    mode: "unchanged", "gray" for one channel, or "rgb" for three.
    """

    signature = "X! -> Out"
    mode: str = "unchanged"

    def infer(self, X: Spec) -> Specs:
        need_choice(self, "mode", *MODES)
        need_ndim(1, X=X)
        if X.dtype is not DType.UINT8:
            raise DTypeError(f"expected X to hold bytes, uint8, got {X.dtype}")
        channels = {"gray": 1, "rgb": 3}.get(self.mode, -1)
        return X.with_shape([channels, -1, -1])

    def run(self, xp: Any, X: Array) -> Array:
        try:
            from PIL import Image
        except ImportError:
            raise UnsupportedError(
                "decode_jpeg needs Pillow, which is not installed: pip install pillow"
            ) from None
        try:
            image = Image.open(io.BytesIO(X.tobytes()), formats=["JPEG"])
            image = image.convert(MODES[self.mode] or image.mode)
        except OSError as error:
            raise FileFormatError(f"expected the bytes of a JPEG file: {error}") from None
        pixels = xp.asarray(image)
        return xp.ascontiguousarray(pixels.reshape(*pixels.shape[:2], -1).transpose(2, 0, 1))
