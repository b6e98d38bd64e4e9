"""Images in another size."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from ..errors import ArgumentError, ShapeError
from ..ground.spellings import Spelling
from ..ir.variable import Variable
from .layer import LAYERS, LayerBuilder, is_variable, layer, stopped
from .sizes import Given, sizes_of
from .windows import is_channels_last

#: ``resample`` -> the operator, and the formats of its images
METHODS = {
    "BILINEAR": ("bilinear", ("NCHW", "NHWC")),
    "NEAREST": ("nearest", ("NCHW", "NHWC")),
    "BICUBIC": ("bicubic", ("NCHW", "NHWC")),
    "TRILINEAR": ("trilinear", ("NCDHW", "NDHWC")),
}

_RESIZING = LAYERS.extended(
    {
        "input": "images, [N, C, H, W], or [N, H, W, C].",
        "out_shape": "the new sizes: numbers and variables of one element, or one variable.",
        "scale": "a factor of all sizes, where ``out_shape`` is None: a number or a variable.",
        "actual_shape": "a variable with the sizes, which goes before ``out_shape``.",
        "align_corners": "the centres of the outermost elements stay where they are; if not, the "
        "ends.",
        "align_mode": "without ``align_corners``: 0 keeps both ends where they are, 1 the first "
        "centres.",
        "data_format": "NCHW or NHWC.",
    },
    returns="A variable with the new sizes.",
    raises="""ArgumentError: a parameter has none of the forms above.
ShapeError: the input has another number of dimensions.""",
)


def _resized(
    f: LayerBuilder,
    input: Variable,
    out_shape: Given | None,
    scale: float | Variable | None,
    resample: str,
    actual_shape: Variable | None,
    align_corners: bool,
    align_mode: int,
    data_format: str,
) -> Variable:
    """Images in another size; parameters as of ``image_resize``."""
    method, formats = METHODS[resample]
    f.layer_type = f"{method}_interp"
    rank = len(formats[0]) - 2
    channels_last = is_channels_last(data_format, formats)
    if input.ndim != rank + 2:
        raise ShapeError(
            f"expected images of {rank + 2} dimensions for resample={resample!r}, got "
            f"{input.name!r} of shape {list(input.shape)}"
        )
    if out_shape is None and scale is None:
        raise ArgumentError("expected out_shape or scale, got neither")
    if align_mode not in (0, 1):
        raise ArgumentError(f"expected align_mode 0 or 1, got {align_mode!r}")
    ins: dict[str, Any] = {"X": input}
    asked, factor = [-1] * rank, 0.0
    if out_shape is not None:
        sizes = sizes_of(f, out_shape, "out_shape")
        if sizes.whole is not None:
            ins["OutSize"] = sizes.whole
        elif len(sizes.numbers) != rank:
            raise ArgumentError(
                f"expected out_shape of {rank} sizes for resample={resample!r}, got {out_shape!r}"
            )
        else:
            asked = sizes.numbers
        if sizes.each:
            ins["SizeTensor"] = list(sizes.each)
    elif is_variable(scale):
        ins["Scale"] = stopped(scale)
    else:
        factor = _positive(scale)
    if actual_shape is not None:
        ins["OutSize"] = stopped(actual_shape)
    out = f.new_variable()
    f.into(
        f"{method}_interp",
        ins,
        {"Out": out},
        **dict(zip(("out_d", "out_h", "out_w")[3 - rank :], asked)),
        **({} if rank == 3 else {"out_d": -1}),
        interp_method=method,
        align_corners=align_corners,
        align_mode=align_mode,
        data_layout=formats[1] if channels_last else "NCHW",
        scale=factor,
    )
    if isinstance(out, Variable) and actual_shape is not None and min(asked) > 0:
        shape = list(out.shape)  # declared as out_shape says
        first = 1 if channels_last else 2
        shape[first : first + rank] = asked
        out.redeclare(shape)
    return out


def _positive(scale: Any) -> float:
    """A factor above 0.

    Raises:
        ArgumentError: it is none.
    """
    if isinstance(scale, bool) or not isinstance(scale, (int, float)) or not scale > 0:
        raise ArgumentError(
            f"expected scale to be a number above 0, or a variable of one element; got {scale!r}"
        )
    return float(scale)


@layer(family=_RESIZING)
def image_resize(
    f: LayerBuilder,
    input: Variable,
    out_shape: Given | None = None,
    scale: float | Variable | None = None,
    name: str | None = None,
    resample: str = "BILINEAR",
    actual_shape: Variable | None = None,
    align_corners: bool = True,
    align_mode: int = 1,
    data_format: str = "NCHW",
) -> Variable:
    """Images in another size.

    Args:
        input: images, [N, C, H, W], or volumes, [N, C, D, H, W]; or with the channels last.
        data_format: NCHW or NHWC; NCDHW or NDHWC for volumes.
        resample: "BILINEAR", "NEAREST", "BICUBIC", or "TRILINEAR" for volumes.

    >>> images = fluid.data("images", [None, 3, 32, 32])
    >>> fluid.layers.image_resize(images, out_shape=[48, 64]).shape
    (-1, 3, 48, 64)
    >>> fluid.layers.image_resize(images, scale=0.5, resample="NEAREST").shape
    (-1, 3, 16, 16)
    """
    if resample not in METHODS:
        raise ArgumentError(f"expected resample among {', '.join(METHODS)}, got {resample!r}")
    how = (resample, actual_shape, align_corners, align_mode, data_format)
    return _resized(f, input, out_shape, scale, *how)


_SPELLED = Spelling({})
_image_resize = inspect.unwrap(image_resize)  # with its first parameter


def _resize(name: str, doc: str, **options: Any) -> Callable[..., Any]:
    """The layer of one way to resample, as of a spelling."""
    return layer(family=_RESIZING)(_SPELLED(_image_resize, name, doc, scope=globals(), **options))


resize_bilinear: Callable[..., Any] = _resize(
    "resize_bilinear",
    """
        Images in another size, linear between neighbours in both dimensions.

        Args:
            input: images, [N, C, H, W], or [N, H, W, C].

        >>> fluid.layers.resize_bilinear(fluid.data("x", [None, 3, 32, 32]), scale=2).shape
        (-1, 3, 64, 64)
        """,
    fixed={"resample": "BILINEAR"},
)
resize_trilinear: Callable[..., Any] = _resize(
    "resize_trilinear",
    """
        Volumes in another size, linear between neighbours in all three dimensions.

        Args:
            input: volumes, [N, C, D, H, W], or [N, D, H, W, C].
            data_format: NCDHW or NDHWC.

        >>> volumes = fluid.data("volumes", [None, 3, 4, 8, 8])
        >>> fluid.layers.resize_trilinear(volumes, out_shape=[6, 7, 9]).shape
        (-1, 3, 6, 7, 9)
        """,
    fixed={"resample": "TRILINEAR"},
    defaults={"data_format": "NCDHW"},
)
resize_nearest: Callable[..., Any] = _resize(
    "resize_nearest",
    """
        Images in another size, each element that of its nearest neighbour.

        Args:
            input: images, [N, C, H, W], or [N, H, W, C].

        >>> fluid.layers.resize_nearest(fluid.data("x", [None, 3, 32, 32]), [8, 16]).shape
        (-1, 3, 8, 16)
        """,
    fixed={"resample": "NEAREST", "align_mode": 1},
)


@layer(family=_RESIZING)
def image_resize_short(
    f: LayerBuilder, input: Variable, out_short_len: int, resample: str = "BILINEAR"
) -> Variable:
    """Images whose shorter side gets a new length, and the longer one with it.

    Args:
        input: images, [N, C, H, W], of known height and width.
        out_short_len: of the shorter side.
        resample: as of ``image_resize``.

    Raises:
        ArgumentError: ``resample`` names no method of images.
        ShapeError: the input has not 4 dimensions, or unknown ones.

    >>> fluid.layers.image_resize_short(fluid.data("x", [None, 3, 8, 12]), 6).shape
    (-1, 3, 6, 9)
    """
    if METHODS.get(resample, ("", ()))[1] != ("NCHW", "NHWC"):
        raise ArgumentError(f"expected resample BILINEAR, NEAREST or BICUBIC, got {resample!r}")
    if input.ndim != 4 or min(input.shape[2:]) < 1:
        raise ShapeError(
            f"expected images of 4 dimensions with known height and width, got {input.name!r} of "
            f"shape {list(input.shape)}"
        )
    sides: Sequence[int] = input.shape[2:]
    short = min(sides)
    factor = out_short_len / short
    sizes = [out_short_len if n == short else int(n * factor + 0.5) for n in sides]
    return _resized(f, input, sizes, None, resample, None, True, 1, "NCHW")
