"""What each form of eager dispatch saves: microseconds for an operator, with and without it.

    python benchmarks/eager_forms.py [--length 20000] [--repeat 5]

``EagerCall.every`` can do all that the others do.  ``one`` is for an operator with one output,
``pair`` for Python's arithmetic on two operands, ``sole`` for a function of one tensor.  Each
column leaves out one form more.  ``tests/eager/test_forms.py`` holds them together.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from eager_overhead import SIZE, measured

import fluidlite as fluid
from fluidlite.eager.recording import EagerCall


def sole_by_one(call: EagerCall, x: Any) -> Any:
    """What ``sole`` spells out."""
    return call.one(call.plain, (x,))


def pair_by_one(call: EagerCall, x: Any, y: Any) -> Any:
    """What ``pair`` spells out."""
    return call.one(call.plain, (x, y))


def one_by_every(call: EagerCall, prepared: Any, ins: Sequence[Any]) -> Any:
    """What ``one`` spells out."""
    return call.every(prepared, ins)[call.definition.outputs[0].name]


#: from the most special form to the most general one
INSTEAD: dict[str, Callable[..., Any]] = {
    "sole": sole_by_one,
    "pair": pair_by_one,
    "one": one_by_every,
}


@contextmanager
def without(*forms: str) -> Iterator[None]:
    """Dispatch by more general forms in place of some.

    Args:
        forms: names of methods of ``EagerCall``.
    """
    before = {name: getattr(EagerCall, name) for name in forms}
    try:
        for name in forms:
            setattr(EagerCall, name, INSTEAD[name])
        yield
    finally:
        for name, method in before.items():
            setattr(EagerCall, name, method)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--length", type=int, default=20_000)
    parser.add_argument("--repeat", type=int, default=5)
    args = parser.parse_args()
    ones = np.ones([1, SIZE], "float32")
    names = list(INSTEAD)
    columns = {}
    for count in range(len(names) + 1):
        with without(*names[:count]):
            columns[f"- {names[count - 1]}" if count else "all forms"] = measured(
                fluid,
                fluid.to_tensor,
                lambda: fluid.to_tensor(ones, stop_gradient=False),
                args.length,
                args.repeat,
            )
    print(f"{'us an operator':<18}" + "".join(f"{name:>20}" for name in columns))
    print(f"{'':<18}" + f"{'forward':>10}{'both':>10}" * len(columns))
    for name in next(iter(columns.values())):
        cells = [f"{c[name][0]:10.2f}{sum(c[name]):10.2f}" for c in columns.values()]
        print(f"{name:<18}" + "".join(cells))


if __name__ == "__main__":
    main()
