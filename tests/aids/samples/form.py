"""The form of a sample, and the table of generators that make them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Sample:
    """Inputs and attributes of one call of an operator.

    Float inputs are float64 (the tests make float32 copies), keep away from kinks, and have another
    size in every dimension.  ``order`` is the highest derivative that is checked (0: none); a
    number below 2 says ``why``.  ``outputs`` names the outputs to differentiate where that is not
    all float ones; ``tolerance`` is relative.  ``lods`` says how the rows of inputs form sequences:
    offsets of each level by slot, in a list for a list of inputs.  ``symmetric`` names the inputs
    of which the operator reads a triangle: derivatives are those of their symmetric parts.
    """

    inputs: dict[str, Any]
    attrs: dict[str, Any] = field(default_factory=dict)
    name: str = ""
    order: int = 2
    why: str = ""
    outputs: tuple[str, ...] | None = None
    tolerance: float = 1e-6
    double: str = ""  #: why an output is float64 where the inputs are float32
    lods: dict[str, Any] = field(default_factory=dict)
    symmetric: tuple[str, ...] = ()
    phases: bool = False  #: complex results are right up to factors of size 1
    values_matter: bool = True  #: False: outputs are random, only shapes and dtypes are compared

    def __post_init__(self) -> None:
        assert self.order >= 2 or self.why, "a sample of order below 2 says why"


GENERATORS: dict[str, Callable[[np.random.Generator], Iterator[Sample]]] = {}


def samples(*types: str) -> Callable[[Any], Any]:
    """Register a generator of samples for operators of these types.

    The generator takes a NumPy random generator, and the operator's type as a second argument where
    it serves several.
    """

    def register(generator: Any) -> Any:
        for type in types:
            assert type not in GENERATORS, f"{type} has samples twice"
            several = len(types) > 1
            GENERATORS[type] = (
                (lambda rng, type=type: generator(rng, type)) if several else generator
            )
        return generator

    return register


def samples_of(type: str) -> list[Sample]:
    """All samples of an operator, the same at every call."""
    return list(GENERATORS[type](np.random.default_rng(sum(map(ord, type)))))


def complex_samples(type: str) -> Iterator[Sample]:
    """The samples of an operator with complex numbers in place of float64 ones; those that
    cast to another element type, or make complex numbers of others, are left out.
    """
    if type in ("complex", "as_complex", "fft_r2c", "stft"):
        return
    rng = np.random.default_rng(5)
    for sample in samples_of(type):
        inputs = {slot: _complex(rng, value) for slot, value in sample.inputs.items()}
        casts = any("dtype" in name for name in sample.attrs)
        changed = [slot for slot, value in inputs.items() if value is not sample.inputs[slot]]
        if changed and not casts and not sample.phases:
            yield replace(sample, inputs=inputs)


def _complex(rng: np.random.Generator, value: Any) -> Any:
    """Values near by with imaginary parts; those that are not float64 as they are."""
    if isinstance(value, (list, tuple)):
        found = [_complex(rng, each) for each in value]
        return value if all(a is b for a, b in zip(found, value)) else found
    if value is None or np.asarray(value).dtype != np.float64:
        return value
    return np.asarray(value) + 0.3j * rng.normal(size=np.shape(value))
