"""Discrete Fourier transforms, and what signals are cut into and put together of.

Transforms are those of pocketfft (M. Reinecke), which NumPy has.  Gradients are adjoints: of a
transform the one in the other direction with the same factor.
"""

from __future__ import annotations

from math import prod
from typing import Any, ClassVar

from ..errors import AttributeValueError, AxisError, ShapeError
from ..opdef.annotations import Array, Rules, Specs, Value
from ..opdef.attribute import REQUIRED, Long, need_choice, need_least
from ..opdef.conjugation import AS_WRITTEN, OfComplex
from ..opdef.definition import Op
from ..opdef.spec import Shape, Spec, agree, need_rank, normal_axis
from .complex_parts import need_complex, need_real


class FourierTransform(Op, abstract=True):
    """A discrete Fourier transform over some dimensions.

    axes: the dimensions; may count from the end.
    normalization: which direction is divided by the number n of elements: forward or backward;
        with ortho each one by the root of n.
    forward: whether exponents are negative.
    """

    signature = "X -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    axes: list[Long] = REQUIRED
    normalization: str = REQUIRED
    forward: bool = REQUIRED

    def places(self, X: Any) -> Shape:
        """The dimensions, counted from the front.

        Raises:
            AxisError: there is none of that number, or none at all, or one stands twice.
            ShapeError: a dimension has no elements.
        """
        need_choice(self, "normalization", "backward", "forward", "ortho")
        ndim = len(X.shape)
        places = tuple([normal_axis(axis, ndim, "axes") for axis in self.axes])
        if not places or len(set(places)) < len(places):
            raise AxisError(f"expected axes that differ, got {list(self.axes)}")
        if any(X.shape[place] == 0 for place in places):
            raise ShapeError(
                f"expected elements along axes {list(self.axes)}, got shape {list(X.shape)}"
            )
        return places

    @property
    def other(self) -> str:
        """The normalization of the other direction with the same factor."""
        return {"backward": "forward", "forward": "backward"}.get(self.normalization, "ortho")

    @property
    def adjoint(self) -> dict[str, Any]:
        """The attributes of the transform back with the same factor."""
        return dict(axes=self.axes, normalization=self.other, forward=not self.forward)

    def transformed(self, xp: Any, X: Array) -> Array:
        """All numbers, of real or complex ones, in their precision."""
        function = xp.fft.fftn if self.forward else xp.fft.ifftn
        return function(X, axes=self.axes, norm=self.normalization)


class fft_c2c(FourierTransform):
    """Out = the Fourier transform of complex numbers X."""

    def infer(self, X: Spec) -> Specs:
        need_complex(X)
        self.places(X)
        return X

    def run(self, xp: Any, X: Array) -> Array:
        return xp.asarray(self.transformed(xp, X), X.dtype)

    def grad(self, f: Any, dOut: Value) -> Rules:
        return dict(X=lambda: f.fft_c2c(dOut, **self.adjoint))


class fft_r2c(FourierTransform):
    """Out = the Fourier transform of real numbers X.

    onesided: leave out the half of the last of ``axes`` that is the conjugate of the other one.
    """

    onesided: bool = REQUIRED

    def infer(self, X: Spec) -> Specs:
        need_real(X=X)
        out = X.with_dtype(X.dtype.whole)
        last = self.places(X)[-1]
        size = X.shape[last]
        return out.with_dim(last, size if size < 0 else size // 2 + 1) if self.onesided else out

    def run(self, xp: Any, X: Array) -> Array:
        if not self.onesided:
            out = self.transformed(xp, X)
        elif self.forward:
            out = xp.fft.rfftn(X, axes=self.axes, norm=self.normalization)
        else:
            out = xp.conj(xp.fft.rfftn(X, axes=self.axes, norm=self.other))
            out = out + 0  # no zeros with a sign
        return xp.asarray(out, "complex64" if X.dtype.itemsize == 4 else "complex128")

    def grad(self, f: Any, X: Value, dOut: Value) -> Rules:
        def dx():
            if not self.onesided:
                return f.real(f.fft_c2c(dOut, **self.adjoint))
            last = self.places(X)[-1]
            count = X.shape[last]
            once = between_ends(f, dOut, last, count, 0.5)
            return f.fft_c2r(once, last_dim_size=count, **self.adjoint)

        return dict(X=dx)


class fft_c2r(FourierTransform):
    """Out = the Fourier transform of the complex numbers whose one half is X, and whose other half
    is conjugate to it, so that the transform is real.

    last_dim_size: how many numbers there are along the last of ``axes``, of which X has this over
        2, and 1 more; 0 for an even number.
    """

    last_dim_size: Long = 0

    def count(self, X: Any) -> int:
        """How many numbers there are along the last dimension; -1 where that is unknown.

        Raises:
            ShapeError: X is not their half.
        """
        size = X.shape[self.places(X)[-1]]
        count = self.last_dim_size or (-1 if size < 0 else 2 * (size - 1))
        if count == 0 or not agree(size, count // 2 + 1):
            raise ShapeError(
                f"expected {self.last_dim_size // 2 + 1 if self.last_dim_size else 'at least 2'} "
                f"elements along the last of axes={list(self.axes)}, which is a half of "
                f"{self.last_dim_size or 'all'}, got X of shape {list(X.shape)}"
            )
        return count

    def infer(self, X: Spec) -> Specs:
        need_complex(X)
        need_least(self, 0, "last_dim_size")
        return X.with_dtype(X.dtype.part).with_dim(self.places(X)[-1], self.count(X))

    def run(self, xp: Any, X: Array) -> Array:
        sizes = [X.shape[axis] for axis in self.axes]
        sizes[-1] = self.last_dim_size or 2 * (sizes[-1] - 1)
        if self.forward:
            out = xp.fft.irfftn(xp.conj(X), s=sizes, axes=self.axes, norm=self.other)
        else:
            out = xp.fft.irfftn(X, s=sizes, axes=self.axes, norm=self.normalization)
        return xp.asarray(out, "float32" if X.dtype.itemsize == 8 else "float64")

    def grad(self, f: Any, dOut: Value) -> Rules:
        def dx():
            last = self.places(dOut)[-1]
            half = f.fft_r2c(dOut, onesided=True, **self.adjoint)
            return between_ends(f, half, last, dOut.shape[last], 2.0)

        return dict(X=dx)


def between_ends(f: Any, half: Value, axis: int, count: int, factor: float) -> Value:
    """A half of a transform, times a factor but for its first element and the middle one: what is
    between these stands for two.

    Args:
        f: the interpreter.
        half: the half.
        axis: the dimension of which it is one.
        count: how many elements there are along that in all.
        factor: the factor.
    """
    end, size = (count + 1) // 2, half.shape[axis]
    parts = [part(f, half, axis, 0, 1)]
    parts += [part(f, half, axis, 1, end) * factor] if end > 1 else []
    parts += [part(f, half, axis, end, size)] if size > end else []
    return f.concat(parts, axis=axis)


def part(f: Any, value: Value, axis: int, start: int, end: int) -> Value:
    """Elements along a dimension."""
    return f.slice(value, axes=[axis], starts=[start], ends=[end])


def resized(f: Any, value: Value, axis: int, size: int) -> Value:
    """The first ``size`` elements along a dimension, with zeros behind where there are fewer."""
    there = value.shape[axis]
    if there > size:
        return part(f, value, axis, 0, size)
    if there == size:
        return value
    paddings = [0] * (2 * len(value.shape))
    paddings[2 * axis + 1] = size - there
    return f.pad(value, paddings=paddings)


class OfFrames(Op, abstract=True):
    """What has to do with frames, pieces of one length at equal distances.

    hop_length: how far from each other the frames begin.
    axis: where the signal lies: -1 for the last dimension, 0 for the first.
    """

    signature = "X -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    hop_length: int = REQUIRED
    axis: int = -1

    def check(self) -> None:
        """Refuse attributes that mean nothing."""
        need_least(self, 1, "hop_length")
        if self.axis not in (0, -1):
            raise AttributeValueError(f"expected axis to be 0 or -1, got {self.axis}")


class frame(OfFrames):
    """Out = the frames of the signal X: [..., frame_length, frames], or for axis 0
    [frames, frame_length, ...].

    frame_length: how many elements a frame has.
    """

    frame_length: int = REQUIRED

    def infer(self, X: Spec) -> Specs:
        self.check()
        need_least(self, 1, "frame_length")
        need_rank("X", X, 1)
        size = X.shape[self.axis]
        if 0 <= size < self.frame_length:
            raise ShapeError(
                f"expected at least frame_length={self.frame_length} elements along axis="
                f"{self.axis}, got X of shape {list(X.shape)}"
            )
        frames = -1 if size < 0 else 1 + (size - self.frame_length) // self.hop_length
        if self.axis == 0:
            return X.with_shape((frames, self.frame_length, *X.shape[1:]))
        return X.with_shape((*X.shape[:-1], self.frame_length, frames))

    def run(self, xp: Any, X: Array) -> Array:
        length, last = self.frame_length, X.ndim - 1
        X = xp.moveaxis(X, self.axis, last)
        cut = xp.ascontiguousarray(xp.windows(X, (length,), (self.hop_length,), (1,)))
        # [..., frames, frame_length]
        if self.axis == 0:
            return xp.moveaxis(cut, (-2, -1), (0, 1))
        return xp.swapaxes(cut, -1, -2)

    def grad(self, f: Any, X: Value, dOut: Value) -> Rules:
        def dx():
            back = f.overlap_add(dOut, hop_length=self.hop_length, axis=self.axis)
            return resized(f, back, self.axis % len(X.shape), X.shape[self.axis])

        return dict(X=dx)


class overlap_add(OfFrames):
    """Out = the signal whose frames are X, added where they overlap: X is [..., frame_length,
    frames], or for axis 0 [frames, frame_length, ...].
    """

    def infer(self, X: Spec) -> Specs:
        self.check()
        need_rank("X", X, 2)
        length, frames, others = self.sizes(X.shape)
        if frames == 0:
            raise ShapeError(f"expected at least one frame, got X of shape {list(X.shape)}")
        size = -1 if -1 in (length, frames) else (frames - 1) * self.hop_length + length
        return X.with_shape((size, *others) if self.axis == 0 else (*others, size))

    def sizes(self, shape: Shape) -> tuple[int, int, Shape]:
        """The length of frames, how many there are, and the other sizes."""
        if self.axis == 0:
            return shape[1], shape[0], shape[2:]
        return shape[-2], shape[-1], shape[:-2]

    def run(self, xp: Any, X: Array) -> Array:
        length, frames, others = self.sizes(X.shape)
        X = xp.moveaxis(X, (0, 1), (-1, -2)) if self.axis == 0 else X
        hop = self.hop_length
        pieces = -(-length // hop)  # of a frame, each as long as the distance of frames
        full = xp.zeros((*others, pieces * hop - length, frames), X.dtype)
        cut = xp.concatenate([X, full], axis=-2)
        cut = xp.reshape(cut, (prod(others), pieces, hop, frames))
        # piece k of frame i lies where piece 0 of frame i + k does
        out = xp.zeros((prod(others), pieces + frames - 1, hop), X.dtype)
        for k in range(pieces):
            placed = xp.swapaxes(cut[:, k], -1, -2)
            out = xp.add_at(out, (slice(None), slice(k, k + frames)), placed)
        size = (frames - 1) * hop + length
        out = xp.reshape(out, (*others, (pieces + frames - 1) * hop))[..., :size]
        return xp.ascontiguousarray(xp.moveaxis(out, -1, 0) if self.axis == 0 else out)

    def grad(self, f: Any, X: Value, dOut: Value) -> Rules:
        length = self.sizes(X.shape)[0]
        attrs = dict(frame_length=length, hop_length=self.hop_length, axis=self.axis)
        return dict(X=lambda: f.frame(dOut, **attrs))


class stft(Op):
    """Out = the Fourier transforms of the frames of the signal X, each times Window, of shape
    [..., n, frames].

    Window: as long as the frames.
    n_fft: how long frames are.
    hop_length: how far from each other they begin.
    normalized: divide transforms by the root of ``n_fft``.
    onesided: leave out the half that is the conjugate of the other one, of real numbers.
    """

    signature = "X, Window -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    n_fft: int = REQUIRED
    hop_length: int = REQUIRED
    normalized: bool = REQUIRED
    onesided: bool = REQUIRED

    def infer(self, X: Spec, Window: Spec) -> Specs:
        need_real(X=X)
        cut = frame(dict(frame_length=self.n_fft, hop_length=self.hop_length)).infer(X)
        if not agree(Window.shape[-1] if Window.shape else 1, self.n_fft):
            raise ShapeError(f"expected Window of n_fft={self.n_fft} elements, got {Window}")
        out = cut.with_dtype(X.dtype.whole)
        return out.with_dim(-2, self.n_fft // 2 + 1) if self.onesided else out

    def expand(self, f: Any, X: Value, Window: Value) -> Value:
        cut = f.frame(X, frame_length=self.n_fft, hop_length=self.hop_length, axis=-1)
        cut = f.elementwise_mul(cut, f.reshape(Window, shape=[self.n_fft, 1]))
        return f.fft_r2c(
            cut,
            axes=[len(X.shape) - 1],
            normalization="ortho" if self.normalized else "backward",
            forward=True,
            onesided=self.onesided,
        )
