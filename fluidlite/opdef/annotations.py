"""What kernels and rules of operators take and give, by the names that their annotations use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

#: what a shape rule gives: a Spec, a tuple in the order of the outputs, or a dictionary by slot
Specs: TypeAlias = Any
#: an array of any backend, or what stands for one where a kernel is traced
Array: TypeAlias = Any
#: one of them, a tuple in the order of the outputs, or a dictionary by slot
Arrays: TypeAlias = Any
#: what an interpreter knows: an array, a tensor, a variable
Value: TypeAlias = Any
#: what a composition gives: one of them, a tuple of them, or functions that give them by slot
Values: TypeAlias = Any
#: what a gradient rule gives: by input slot, a function that gives its cotangent
Rules: TypeAlias = dict[str, Callable[[], Value]]
