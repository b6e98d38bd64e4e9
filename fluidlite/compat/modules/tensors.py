"""``core.VarBase``: tensors that run at once, made as scripts of 1.8 make them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...dygraph import tensor as tensors
from ...errors import ArgumentError
from ...functions.creation import array_of
from ...ground.dtypes import as_dtype
from ...ground.place import Place
from ...ground.values import LoDTensor
from .framework import VariableMetaClass


class VarBaseMetaClass(VariableMetaClass):
    """The class of ``VarBase``."""

    real: type = tensors.VarBase
    eager: type = tensors.VarBase

    def __call__(cls, *args: Any, **keywords: Any) -> Any:
        """A tensor.

        Args:
            args, keywords: ``value``, an array or a LoDTensor, ``place``, ``persistable``,
                ``zero_copy`` and ``name``; or element type, shape, name, kind and ``persistable``.

        Raises:
            ArgumentError: they are something else.
        """
        if len(args) == 5 and not keywords:
            dtype, shape, name, _, persistable = args
            value: Any = np.zeros([max(size, 0) for size in shape], as_dtype(dtype).dtype)
        else:
            words = ("value", "place", "persistable", "zero_copy", "name")
            options = dict(zip(words, args)) | keywords
            value, place = options.pop("value", None), options.pop("place", None)
            persistable, name = options.pop("persistable", False), options.pop("name", "")
            options.pop("zero_copy", None)
            is_array = isinstance(value, (np.ndarray, np.generic, LoDTensor, tensors.VarBase))
            if options or not is_array or not isinstance(place, (Place, type(None))):
                raise ArgumentError(
                    f"expected VarBase of value, an array, and place, persistable, zero_copy and "
                    f"name, got {value!r:.60} and {', '.join(options) or 'nothing else'}"
                )
        array = value.array.copy() if isinstance(value, tensors.VarBase) else array_of(value)
        tensor = tensors.VarBase(array)
        if name:
            tensor.name = name
        tensor.persistable = bool(persistable)
        return tensor


class VarBase(metaclass=VarBaseMetaClass):
    """A tensor within ``dygraph.guard()``."""
