"""Boxes (left, top, right, bottom): compared, written relative to others, matched."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import ArgumentError
from ..ir.variable import Variable
from .layer import LayerBuilder, is_variable, layer


@layer
def iou_similarity(
    f: LayerBuilder,
    x: Variable,
    y: Variable,
    box_normalized: bool = True,
    name: str | None = None,
) -> Variable:
    """The intersection over the union of each box of ``x`` with each of ``y``.

    Args:
        x, y: boxes, [n, 4] and [m, 4].
        box_normalized: boxes are in parts of the image; if not, in whole pixels, the last one
            included.

    Returns:
        A variable of shape [n, m].

    >>> x, y = fluid.data("x", [None, 4]), fluid.data("y", [3, 4])
    >>> fluid.layers.iou_similarity(x, y).shape
    (-1, 3)
    """
    return f.iou_similarity(x, y, box_normalized=box_normalized)


@layer
def box_coder(
    f: LayerBuilder,
    prior_box: Variable,
    prior_box_var: Variable | Sequence[float] | None,
    target_box: Variable,
    code_type: str = "encode_center_size",
    box_normalized: bool = True,
    name: str | None = None,
    axis: int = 0,
) -> Variable:
    """Boxes relative to prior boxes: centres by sizes, sizes by logarithms; or back.

    Args:
        prior_box: the boxes that others are relative to, [m, 4].
        prior_box_var: what the numbers are divided by: [m, 4], or four numbers for all; None for 1.
        target_box: [n, 4] to encode, each by each; [n, m, 4] to decode.
        code_type: "encode_center_size" or "decode_center_size".
        box_normalized: boxes are in parts of the image; if not, in whole pixels, the last one
            included.
        axis: to decode: the dimension of ``target_box`` along which boxes share a prior box.

    Returns:
        A variable of shape [n, m, 4].

    Raises:
        ArgumentError: ``prior_box_var`` has none of the forms above.

    >>> priors, boxes = fluid.data("priors", [3, 4]), fluid.data("boxes", [None, 4])
    >>> fluid.layers.box_coder(priors, [0.1, 0.1, 0.2, 0.2], boxes).shape
    (-1, 3, 4)
    """
    variance, given = [], None
    if is_variable(prior_box_var):
        given = prior_box_var
    elif isinstance(prior_box_var, (list, tuple)):
        variance = list(prior_box_var)
    elif prior_box_var is not None:
        raise ArgumentError(
            f"expected prior_box_var to be a variable or a list of 4 numbers, got "
            f"{prior_box_var!r:.60}"
        )
    return f.box_coder(
        prior_box,
        given,
        target_box,
        code_type=code_type,
        box_normalized=box_normalized,
        axis=axis,
        variance=variance,
    )


@layer
def box_clip(
    f: LayerBuilder, input: Variable, im_info: Variable, name: str | None = None
) -> Variable:
    """Boxes with all corners moved into the image.

    Args:
        input: boxes of one image, [n, 4], or of several, [images, n, 4].
        im_info: height, width and scale of each image, [images, 3].

    Returns:
        A variable of the shape of ``input``.

    >>> boxes, info = fluid.data("boxes", [None, 5, 4]), fluid.data("info", [None, 3])
    >>> fluid.layers.box_clip(boxes, info).shape
    (-1, 5, 4)
    """
    return f.box_clip(input, im_info)


@layer
def polygon_box_transform(f: LayerBuilder, input: Variable, name: str | None = None) -> Variable:
    """The corners of quadrangles, from how far they are from each place of a map.

    Zhou et al., EAST: an efficient and accurate scene text detector, CVPR 2017.

    Args:
        input: distances, across and down in turn, in pixels: [N, corners * 2, H, W]; places are 4
            pixels apart.

    Returns:
        A variable of the shape of ``input``.

    >>> fluid.layers.polygon_box_transform(fluid.data("x", [None, 8, 4, 4])).shape
    (-1, 8, 4, 4)
    """
    return f.polygon_box_transform(input)


@layer
def box_decoder_and_assign(
    f: LayerBuilder,
    prior_box: Variable,
    prior_box_var: Variable | None,
    target_box: Variable,
    box_score: Variable,
    box_clip: float,
    name: str | None = None,
) -> tuple[Variable, Variable]:
    """A box for each class, and that of the class with the best score.

    Args:
        prior_box: the boxes that others are relative to, [n, 4], in whole pixels.
        prior_box_var: four numbers that relative boxes are multiplied with.
        target_box: relative boxes, [n, classes * 4].
        box_score: of each class, of which the first is the background: [n, classes].
        box_clip: the largest logarithm of a size that is used.

    Returns:
        Variables of shapes [n, classes * 4] and [n, 4].

    >>> priors, variances = fluid.data("priors", [None, 4]), fluid.data("variances", [4])
    >>> boxes, scores = fluid.data("boxes", [None, 8]), fluid.data("scores", [None, 2])
    >>> decoded, best = fluid.layers.box_decoder_and_assign(priors, variances, boxes, scores, 4.1)
    >>> decoded.shape, best.shape
    ((-1, 8), (-1, 4))
    """
    return f.box_decoder_and_assign(
        prior_box, prior_box_var, target_box, box_score, box_clip=box_clip
    )


@layer
def bipartite_match(
    f: LayerBuilder,
    dist_matrix: Variable,
    match_type: str | None = None,
    dist_threshold: float | None = None,
    name: str | None = None,
) -> tuple[Variable, Variable]:
    """The row that each column is matched with: the largest number first, then the next.

    Args:
        dist_matrix: how alike rows and columns are, [rows, columns]; the rows of each sample are a
            sequence.
        match_type: "bipartite", which None means too; "per_prediction" matches what is left to the
            row that is most alike.
        dist_threshold: how alike that has to be; 0.5 when None.

    Returns:
        Variables of shape [samples, columns]: rows within their sample, -1 for none; and the
        numbers there.

    >>> alike = fluid.data("alike", [None, 5], lod_level=1)
    >>> [v.shape for v in fluid.layers.bipartite_match(alike)]
    [(-1, 5), (-1, 5)]
    """
    return f.bipartite_match(
        dist_matrix,
        match_type="bipartite" if match_type is None else match_type,
        dist_threshold=0.5 if dist_threshold is None else dist_threshold,
    )


@layer
def target_assign(
    f: LayerBuilder,
    input: Variable,
    matched_indices: Variable,
    negative_indices: Variable | None = None,
    mismatch_value: int | None = None,
    name: str | None = None,
) -> tuple[Variable, Variable]:
    """What each column is to be: the row that it is matched with.

    Args:
        input: [rows, 1 or columns, numbers]; the rows of each sample are a sequence.
        matched_indices: rows within their sample, -1 for none: [samples, columns].
        negative_indices: further columns that count, a sequence for each sample.
        mismatch_value: stands where there is no row; 0 when None.

    Returns:
        Variables of shapes [samples, columns, numbers] and [samples, columns, 1]: what they are to
        be, and whether they count.

    >>> rows, match = (
    ...     fluid.data("rows", [None, 1, 4], lod_level=1),
    ...     fluid.data("m", [2, 5], "int32"),
    ... )
    >>> [v.shape for v in fluid.layers.target_assign(rows, match)]
    [(2, 5, 4), (2, 5, 1)]
    """
    return f.target_assign(
        input,
        matched_indices,
        negative_indices,
        mismatch_value=0 if mismatch_value is None else mismatch_value,
    )
