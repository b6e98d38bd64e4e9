"""Boxes (left, top, right, bottom): compared, written relative to others, moved into an image."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from ..errors import AttributeValueError, ShapeError
from ..ground.values import LoDTensor, bare
from ..opdef.annotations import Array, Arrays, Specs
from ..opdef.attribute import need_choice
from ..opdef.definition import Detached, Op
from ..opdef.diagnostics import WarnsOfInput
from ..opdef.sequences import lengths_of, lod_of, offsets_of
from ..opdef.spec import (
    Spec,
    agree,
    known,
    need_float,
    need_ndim,
    need_shape,
    same_dtype,
    same_float,
)


def need_boxes(name: Any, s: Any, ndim: Any = 2) -> Any:
    """Check that a spec is of boxes."""
    need_ndim(ndim, **{name: s})
    if not agree(s.shape[-1], 4):
        raise ShapeError(f"expected {name} to hold boxes of 4 numbers, got shape {list(s.shape)}")


def extents(boxes: Array, more: int) -> Arrays:
    """Widths and heights of boxes; ``more`` is 1 where right and bottom lie within them."""
    return boxes[..., 2] - boxes[..., 0] + more, boxes[..., 3] - boxes[..., 1] + more


def overlap(xp: Any, x: Array, y: Array, more: int) -> Array:
    """The intersection over the union of boxes, whose first dimensions broadcast.

    Boxes without an area have nothing in common with any other.
    """
    width, height = extents(
        xp.concatenate(
            [xp.maximum(x[..., :2], y[..., :2]), xp.minimum(x[..., 2:], y[..., 2:])], axis=-1
        ),
        more,
    )
    common = xp.maximum(width, 0) * xp.maximum(height, 0)
    areas = [w * h for w, h in (extents(x, more), extents(y, more))]
    union = areas[0] + areas[1] - common
    there = union > 0
    return xp.where(there, common, 0) / xp.where(there, union, 1)


class iou_similarity(Op):
    """The intersection over the union of each box of X with each of Y.

    X: boxes, [n, 4].
    Y: boxes, [m, 4].
    Out: of shape [n, m].
    box_normalized: boxes are in parts of the image; if not, in whole pixels, the last one included.
    """

    signature = "X, Y -> Out"
    box_normalized: bool = True
    grad = None

    def infer(self, X: Spec, Y: Spec) -> Specs:
        same_float(X=X, Y=Y)
        need_boxes("X", X)
        need_boxes("Y", Y)
        return X.with_shape([X.shape[0], Y.shape[0]])

    def run(self, xp: Any, X: Array, Y: Array) -> Array:
        more = 0 if self.box_normalized else 1
        return overlap(xp, X[:, None], Y[None, :], more).astype(X.dtype)


class box_coder(Op):
    """Boxes relative to prior boxes: centres by sizes, sizes by logarithms; or back.

    PriorBox: the boxes that others are relative to, [M, 4].
    PriorBoxVar: what the four numbers are divided by, [M, 4].
    TargetBox: [N, 4] to encode, each by each; [N, M, 4] to decode.
    code_type: encode_center_size or decode_center_size.
    box_normalized: boxes are in parts of the image; if not, in whole pixels, the last one included.
    axis: to decode: 0 where boxes of one column have a prior box in common, 1 for those of a row.
    variance: four numbers in place of PriorBoxVar.
    OutputBox: of shape [N, M, 4].
    """

    signature = "PriorBox, PriorBoxVar?, TargetBox -> OutputBox"
    code_type: str = "encode_center_size"
    box_normalized: bool = True
    axis: int = 0
    variance: list[float] = ()
    lod: ClassVar[str | None] = "TargetBox"
    grad = None

    @property
    def encodes(self) -> bool:
        """Whether boxes are encoded."""
        return self.code_type == "encode_center_size"

    def infer(self, PriorBox: Spec, PriorBoxVar: Spec | None, TargetBox: Spec) -> Specs:
        same_float(PriorBox=PriorBox, PriorBoxVar=PriorBoxVar, TargetBox=TargetBox)
        need_choice(self, "code_type", "encode_center_size", "decode_center_size")
        need_choice(self, "axis", 0, 1)
        if len(self.variance) not in (0, 4):
            raise AttributeValueError(f"expected 4 variances, got {list(self.variance)}")
        need_boxes("PriorBox", PriorBox)
        priors = PriorBox.shape[0]
        if PriorBoxVar is not None:
            need_boxes("PriorBoxVar", PriorBoxVar)
            if self.variance:
                raise AttributeValueError("expected PriorBoxVar or variance, got both")
            need_shape("PriorBoxVar", PriorBoxVar, (priors, 4))
        need_boxes("TargetBox", TargetBox, 2 if self.encodes else 3)
        if self.encodes:
            return TargetBox.with_shape([TargetBox.shape[0], priors, 4])
        if not agree(TargetBox.shape[1 - self.axis], priors):
            raise ShapeError(
                f"expected TargetBox of {priors} boxes along dimension {1 - self.axis}, one for "
                f"each prior box, got shape {list(TargetBox.shape)}"
            )
        return TargetBox.with_dim(1 - self.axis, known(TargetBox.shape[1 - self.axis], priors))

    def run(self, xp: Any, PriorBox: Array, PriorBoxVar: Array, TargetBox: Array) -> Array:
        more = 0 if self.box_normalized else 1
        dtype = TargetBox.dtype
        if PriorBoxVar is not None:
            variance = PriorBoxVar
        else:
            variance = xp.asarray(self.variance or (1.0,) * 4, dtype=dtype)
        priors = PriorBox
        if not self.encodes and self.axis == 1:
            priors = priors[:, None]
            variance = variance[:, None] if PriorBoxVar is not None else variance
        width, height = extents(priors, more)
        size = xp.stack([width, height], axis=-1)
        centre = priors[..., :2] + size / 2
        if self.encodes:
            wide, high = extents(TargetBox, more)
            middle = (TargetBox[:, None, :2] + TargetBox[:, None, 2:]) / 2
            extent = xp.stack([wide, high], axis=-1)[:, None]
            parts = [(middle - centre) / size, xp.log(xp.abs(extent / size))]
            return xp.concatenate(parts, axis=-1) / variance
        moved = TargetBox * variance
        middle = moved[..., :2] * size + centre
        half = xp.exp(moved[..., 2:]) * size / 2
        return xp.concatenate([middle - half, middle + half - more], axis=-1)


class box_clip(WarnsOfInput, Op):
    """Output = Input with all corners moved into the image.

    Input: boxes [M, 4], those of an image being a sequence, or all of one image; or [N, M, 4].
    ImInfo: height, width and scale of each image, [N, 3]; boxes are those before scaling.
    """

    signature = "Input[], ImInfo -> Output[]"
    grad = None
    lod: ClassVar[str | None] = "Input"

    def infer(self, Input: Spec, ImInfo: Spec) -> Specs:
        same_float(Input=Input, ImInfo=ImInfo)
        need_ndim((2, 3), Input=Input)
        need_boxes("Input", Input, Input.ndim)
        images = Input.shape[0] if Input.ndim == 3 else 1
        unknown = Input.lod_level > 0  # sequences tell the boxes of several images apart
        need_shape("ImInfo", ImInfo, (-1, 3))
        if not unknown and not agree(ImInfo.shape[0], images):
            raise ShapeError(
                f"expected ImInfo of shape [{images}, 3] for Input of shape {list(Input.shape)}, "
                f"got {list(ImInfo.shape)}"
            )
        return Input

    def input_warnings(self, ins: Any) -> Iterator[Any]:
        lod, rows = lod_of(ins["Input"]), len(ins["ImInfo"])
        images = len(lod[-1]) - 1 if lod else rows
        if images < rows:
            yield f"expected ImInfo of {images} images, as Input has, got {rows}: the first count"

    def run(self, xp: Any, Input: Array, ImInfo: Array) -> Array:
        boxes = bare(Input)
        lengths = [1] * len(boxes) if boxes.ndim == 3 else [len(boxes)]
        if lod_of(Input):
            lengths = lengths_of(offsets_of(Input, "Input"))
        if len(ImInfo) < len(lengths) or (len(ImInfo) > len(lengths) and not lod_of(Input)):
            raise ShapeError(
                f"expected boxes of {len(ImInfo)} images, as ImInfo says, got Input of shape "
                f"{list(boxes.shape)} and {len(lengths)} images; give it a LoD"
            )
        ImInfo = ImInfo[: len(lengths)]
        sizes = xp.floor(ImInfo[:, :2] / ImInfo[:, 2:] + 0.5) - 1  # the last row and column
        bounds = xp.repeat(xp.concatenate([sizes[:, ::-1]] * 2, axis=1), lengths, axis=0)
        bounds = bounds[:, None] if boxes.ndim == 3 else bounds
        clipped = xp.maximum(xp.minimum(boxes, bounds), 0).astype(boxes.dtype)
        return LoDTensor(clipped, lod_of(Input)) if lod_of(Input) else clipped


class polygon_box_transform(Detached):
    """Output = the corners of quadrangles, from how far they are from each place of a map.

    (Zhou et al., EAST: an efficient and accurate scene text detector, CVPR 2017.)

    Input: [N, corners * 2, H, W], distances to the left and up, in pixels; places are 4 pixels
        apart.
    """

    signature = "Input -> Output"

    def infer(self, Input: Spec) -> Specs:
        need_float(Input=Input)
        need_ndim(4, Input=Input)
        if Input.shape[1] != -1 and Input.shape[1] % 2:
            raise ShapeError(
                f"expected an even number of channels, across and down, got Input of shape "
                f"{list(Input.shape)}"
            )
        return Input

    def run(self, xp: Any, Input: Array) -> Array:
        across = xp.arange(Input.shape[3], dtype=Input.dtype) * 4
        down = xp.arange(Input.shape[2], dtype=Input.dtype)[:, None] * 4
        parts = [across - Input[:, 0::2], down - Input[:, 1::2]]
        return xp.reshape(xp.stack(parts, axis=2), Input.shape)


class box_decoder_and_assign(Op):
    """A box for each class, and that of the class with the best score.

    PriorBox: the boxes that others are relative to, [N, 4], in whole pixels.
    PriorBoxVar: four numbers that relative boxes are multiplied with.
    TargetBox: relative boxes, [N, classes * 4].
    BoxScore: of each class, of which the first is the background; [N, classes].
    box_clip: the largest logarithm of a size that is used.
    DecodeBox: [N, classes * 4].
    OutputAssignBox: [N, 4].
    """

    signature = "PriorBox, PriorBoxVar?, TargetBox, BoxScore -> DecodeBox, OutputAssignBox"
    lod: ClassVar[str | None] = "TargetBox"
    box_clip: float = 4.135
    grad = None

    def infer(self, PriorBox: Spec, PriorBoxVar: Spec, TargetBox: Spec, BoxScore: Spec) -> Specs:
        specs = dict(
            PriorBox=PriorBox, PriorBoxVar=PriorBoxVar, TargetBox=TargetBox, BoxScore=BoxScore
        )
        need_float(PriorBox=PriorBox)
        same_dtype(**specs)
        need_boxes("PriorBox", PriorBox)
        need_ndim(2, TargetBox=TargetBox, BoxScore=BoxScore)
        if PriorBoxVar is not None:
            need_boxes("PriorBoxVar", PriorBoxVar, 1)
        boxes, classes = PriorBox.shape[0], BoxScore.shape[1]
        wanted = [boxes, -1 if classes == -1 else 4 * classes]
        if not all(map(agree, TargetBox.shape, wanted)) or not agree(BoxScore.shape[0], boxes):
            raise ShapeError(
                f"expected TargetBox of shape {wanted}, a box for each class in BoxScore "
                f"{list(BoxScore.shape)} and each prior box, got {list(TargetBox.shape)}"
            )
        return TargetBox, PriorBox

    def run(
        self, xp: Any, PriorBox: Array, PriorBoxVar: Array, TargetBox: Array, BoxScore: Array
    ) -> Arrays:
        boxes, classes = BoxScore.shape
        variance = 1 if PriorBoxVar is None else PriorBoxVar
        relative = xp.reshape(TargetBox, (boxes, classes, 4)) * variance
        size = xp.stack(extents(PriorBox, 1), axis=-1)[:, None]
        middle = relative[..., :2] * size + PriorBox[:, None, :2] + size / 2
        half = xp.exp(xp.minimum(relative[..., 2:], self.box_clip)) * size / 2
        decoded = xp.concatenate([middle - half, middle + half - 1], axis=-1)
        if classes < 2:
            return xp.reshape(decoded, TargetBox.shape), PriorBox
        best = xp.argmax(BoxScore[:, 1:], axis=1) + 1
        assigned = decoded[xp.arange(boxes), best]
        return xp.reshape(decoded, TargetBox.shape), assigned
