"""Operators at the ends of saved programs: what is fed enters, what is fetched leaves."""

from __future__ import annotations

from typing import Any, ClassVar

from ..ground.dtypes import Kind
from ..opdef.annotations import Array, Specs
from ..opdef.attribute import REQUIRED, attr
from ..opdef.conjugation import AS_WRITTEN, OfComplex
from ..opdef.definition import Op
from ..opdef.spec import Spec
from .families import PassesThrough


class PassThrough(Op, abstract=True):
    """A value on its way into a program or out of it.

    col: its position among the values that are fed, or fetched.
    """

    signature = "X -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True
    col: int = REQUIRED
    grad = None

    def infer(self, X: Spec) -> Specs:
        # Of a list of everything that is fed, a single value's shape cannot be told.
        return X if X.kind is Kind.LOD_TENSOR else None

    def run(self, xp: Any, X: Array) -> Array:
        return X


class feed(PassThrough):
    """Out = X, the value that was fed as number ``col``."""


class fetch(PassThrough):
    """Out = X, to be fetched as number ``col``."""


class fetch_v2(fetch):
    """Out = X, to be fetched as number ``col``.

    deepcopy: not read: values never change.
    """

    deepcopy: bool = attr(True, inert=True)


class share_data(PassesThrough):
    """Out = X.  Values never change, so that one serves both."""


class OtherPlace(PassesThrough, abstract=True):
    """Out = X.  All tensors lie in one memory.

    dst_place_type: not read.
    """

    dst_place_type: int = attr(REQUIRED, inert=True)


class memcpy(OtherPlace):
    """Out = X.  All tensors lie in one memory."""


class memcpy_d2h(OtherPlace):
    """Out = X.  All tensors lie in one memory."""


class memcpy_h2d(OtherPlace):
    """Out = X.  All tensors lie in one memory."""
