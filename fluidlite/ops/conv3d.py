"""Convolutions of volumes: those of images with one dimension more."""

from __future__ import annotations

from typing import Any

from ..opdef.annotations import Array, Arrays, Rules, Value
from ..opdef.attribute import attr
from ..opdef.spec import Spec
from .conv import AdjointFilter, AdjointInput, Convolution, ConvTranspose


class Convolution3d(Convolution, abstract=True):
    """What convolutions of volumes have in common."""

    rank = 3
    formats = ("NCDHW", "NDHWC")
    strides: list[int] = (1, 1, 1)
    paddings: list[int] = (0, 0, 0)
    dilations: list[int] = (1, 1, 1)
    data_format: str = "NCDHW"


class conv3d(Convolution3d):
    """Output[n, f, z, y, x] = sum of Input[n, c, z + h, y + i, x + j] * Filter[f, c, h, i, j].

    Input: volumes.
    Filter: [filters, channels / groups, depth, height, width], whatever the volumes' format.
    ResidualData: not read.
    """

    signature = "Input, Filter, ResidualData?! -> Output"
    filtered = "Output"
    is_test: bool = attr(False, inert=True)
    fuse_relu: bool = attr(False, inert=True)
    fuse_activation: str = attr("", inert=True)
    fuse_alpha: float = attr(0.0, inert=True)
    fuse_beta: float = attr(0.0, inert=True)
    fuse_residual_connection: bool = attr(False, inert=True)
    force_fp32_output: bool = attr(False, inert=True)
    workspace_size_MB: int = attr(512, inert=True)
    exhaustive_search: bool = attr(False, inert=True)

    def infer(self, Input: Spec, Filter: Spec) -> Spec:
        self.check(Input=Input, Filter=Filter)
        return Input.with_shape(self.convolved(Input.shape, Filter.shape))

    def temporaries(self, Input: Spec, Filter: Spec) -> int:
        return self.bytes_of_convolving(Input, Filter)

    def run(self, xp: Any, Input: Array, Filter: Array) -> Array:
        return self.outer(xp, self.convolve(xp, Input, Filter))

    def run_jax(self, xp: Any, Input: Array, Filter: Array) -> Arrays:
        return xp.convolution(Input, Filter, **self.library(Input.shape, Filter.shape))

    def grad(
        self, f: Any, Input: Value, Filter: Value, dOutput: Value, ResidualData: Value = None
    ) -> Rules:
        return self.adjoints(f, Input, Filter, dOutput)


class conv3d_adjoint_input(Convolution3d, AdjointInput):
    """Out = the map from conv3d's Output to the cotangent of its Input, at G."""


class conv3d_adjoint_filter(Convolution3d, AdjointFilter):
    """Out = the map from conv3d's Output to the cotangent of its Filter, at G."""


class conv3d_transpose(Convolution3d, ConvTranspose):
    """Output = Input mapped by the adjoint of ``conv3d`` with Filter.

    Input: volumes.
    Filter: [channels, filters / groups, depth, height, width], whatever the volumes' format.
    data_format: NCDHW, for which NCHW stands too, or NDHWC.
    """

    signature = "Input, Filter -> Output"
    filtered = "Input"
    data_format: str = "NCHW"
    workspace_size_MB: int = attr(512, inert=True)

    def infer(self, Input: Spec, Filter: Spec) -> Spec:
        self.check(Input=Input, Filter=Filter)
        return Input.with_shape(self.transposed(Input.shape, Filter.shape)[0])

    def expand(self, f: Any, Input: Value, Filter: Value) -> Value:
        return self.transpose(f, Input, Filter)
