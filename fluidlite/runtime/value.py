"""Values of plans: what instructions make and read."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ground.dtypes import Kind
from ..ground.shaped import Shaped
from ..opdef.arithmetic import WITH_NUMBER, Arithmetic
from ..opdef.spec import Shape, Spec

if TYPE_CHECKING:
    from .graph import Graph, Instruction


class GraphError(Exception):
    """A graph breaks a rule of its form, or cannot be compiled."""


class Unsupported(GraphError):
    """The steps cannot be compiled; they are interpreted."""


class CountingSpec(Spec):
    """The spec of ascending numbers whose last one is known: values have as many rows as it says,
    and one more.  It equals those with other last numbers: keys hold the number beside the spec.
    """

    last: int = -1

    def __new__(cls, spec: Spec, last: int) -> CountingSpec:
        made = super().__new__(cls, *spec)
        made.last = last
        return made


class RuntimeSize(int):
    """A size that is known when a graph runs, and as a number its bound: the largest so far.

    What is computed from it is a run-time size as well.

    >>> rows = RuntimeSize("rows", 128)
    >>> rows, rows + 1, rows == 128
    (rows<=128, (rows+1)<=129, False)
    """

    name: str

    def __new__(cls, name: str, bound: int) -> RuntimeSize:
        made = super().__new__(cls, bound)
        made.name = name
        return made

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RuntimeSize) and self.name == other.name

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"{self.name}<={int(self)}"


def _computed(symbol: str, function: Callable[[int, int], int], reflected: bool) -> Any:
    def compute(mine: RuntimeSize, other: Any) -> Any:
        if not isinstance(other, int):
            return NotImplemented
        first, second = (other, mine) if reflected else (mine, other)
        names = [getattr(each, "name", str(int(each))) for each in (first, second)]
        return RuntimeSize(f"({symbol.join(names)})", function(int(first), int(second)))

    return compute


for _name, _symbol in {"add": "+", "sub": "-", "mul": "*", "floordiv": "//"}.items():
    for _prefix in ("", "r"):
        _method = _computed(_symbol, getattr(operator, _name), bool(_prefix))
        setattr(RuntimeSize, f"__{_prefix}{_name}__", _method)


@dataclass(slots=True, eq=False, repr=False)
class Value(Shaped, Arithmetic):
    """A value that an instruction makes, an input or a constant.

    Python's operators append instructions where the graph's builder stands.
    """

    __array_ufunc__ = None  # so that array + value asks the value

    graph: Graph
    spec: Spec  #: shape and element type, of the plain array
    constant: Any = None
    layout: Any = None  #: as which a kernel library lays it out; None for a plain array
    library: Any = None  #: the kernel library whose layout that is
    producer: Instruction | None = None
    #: the instructions that read it, in the order in which they began to
    users: dict[Instruction, None] = field(default_factory=dict)
    replaced_by: Value | None = None
    shape: Shape = field(init=False)
    dtype: Any = field(init=False)
    kind: Kind = field(init=False)
    number: int = field(init=False)

    def __post_init__(self) -> None:
        self.shape, self.kind = self.spec.shape, self.spec.kind
        self.dtype = self.spec.dtype.dtype
        self.number = self.graph.count
        self.graph.count += 1

    @property
    def nbytes(self) -> int:
        """The size in memory, as it is laid out; with a run-time size its bound."""
        shape = self.shape if self.layout is None else self.layout.shape
        return prod(shape) * self.dtype.itemsize

    @property
    def stored(self) -> tuple[Shape, Any]:
        """Shape and element type of the array that holds it."""
        return (self.shape if self.layout is None else self.layout.shape), self.dtype

    @property
    def is_static(self) -> bool:
        """Whether all sizes are known before the graph runs."""
        return RuntimeSize not in map(type, self.shape)

    @property
    def is_output(self) -> bool:
        """Whether the graph gives it back."""
        return self.number in self.graph.names_of_outputs

    @property
    def only_user(self) -> Instruction | None:
        """The instruction that alone reads it; None where several do, none, or it is an output."""
        if len(self.users) != 1 or self.is_output:
            return None
        return next(iter(self.users))

    @property
    def digest(self) -> str:
        """What tells the elements of a constant from those of another one."""
        from hashlib import blake2b

        content = np.ascontiguousarray(self.constant)
        return blake2b(content.tobytes(), digest_size=8).hexdigest()

    def _combine(self, method: str, operator: str, other: Any, reflected: bool) -> Any:
        if isinstance(other, Arithmetic) and not isinstance(other, Value):
            return NotImplemented  # a value of a tape knows what to do
        graphs = [v.graph for v in (self, other) if isinstance(v, Value)]
        f = max(graphs, key=lambda graph: graph.depth).builder
        if isinstance(other, (int, float)):
            as_scale = WITH_NUMBER[method](other) if method in WITH_NUMBER else None
            if as_scale is not None and all(self._is_exact(n) for n in as_scale.values()):
                return f.scale(self, **as_scale)
            if method == "__pow__" and self._is_exact(other):
                return f.pow(self, factor=other)
            other = self.graph.constant(np.full([1] * len(self.shape), other, self.dtype))
        call = getattr(f, operator)
        return call(other, self) if reflected else call(self, other)

    def __getattr__(self, name: str) -> Any:
        """What an array has, and of values only constants."""
        if name.startswith("__"):
            raise AttributeError(name)
        if self.constant is None:
            raise Unsupported(f"{name} of a value that is not known before the program runs")
        return getattr(self.constant, name)

    def __int__(self) -> int:
        return int(self.__getattr__("item")())

    def __bool__(self) -> bool:
        return bool(self.__getattr__("item")())

    def __getitem__(self, item: Any) -> Any:
        if self.constant is not None:
            return self.graph.constant(np.asarray(self.constant[item]))
        if type(item) is not int:
            raise Unsupported("a part of a value that is not known before the program runs")
        f = self.graph.builder
        part = f.slice(self, axes=[0], starts=[item], ends=[item + 1])
        return f.reshape(part, shape=self.shape[1:]) if self.ndim > 1 else part

    def __iter__(self) -> Any:
        return iter(self.__getattr__("tolist")())

    def __neg__(self) -> Any:
        return self.graph.builder.scale(self, scale=-1.0)

    def _is_exact(self, number: float) -> bool:
        """Whether an attribute, which is rounded to single precision, holds a number exactly."""
        return bool(self.dtype != np.float64 or float(np.float32(number)) == number)

    def __repr__(self) -> str:
        return f"%{self.number}: {self.spec}"


def flat(values: Iterable[Any]) -> list[Value]:
    """The values among values, lists of them and None."""
    flattened: list[Value] = []
    for value in values:
        if isinstance(value, Value):
            flattened.append(value)
        elif isinstance(value, list):
            flattened += [each for each in value if isinstance(each, Value)]
    return flattened
