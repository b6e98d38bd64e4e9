"""Time of rewriting long programs by rules that match everywhere.

    python benchmarks/rewriting.py [--sizes 50000 100000 200000]

Prints a table: seconds of processor time for each program, and how many operators were replaced.
The chain is ``tanh(x + y)`` again and again, with a rule of two operators; ``optional`` has a rule
of four graphs; the training program has the gradients of a chain, which are derived anew.
"""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Callable

from long_chain import build

import fluidlite as fluid
from fluidlite.transform import Rule, any_of, optional, rewriting

layers = fluid.layers

EXCHANGED = Rule(lambda x, y: layers.tanh(x + y), lambda x, y: layers.tanh(y + x), name="exchanged")
CHOSEN = Rule(
    lambda x, y: any_of(layers.relu, layers.tanh, name="act")(optional(lambda z: z + y)(x)),
    lambda x, y, act: act(x if y is None else y + x),
    name="chosen",
)


def chain(size: int) -> fluid.Program:
    """A chain of operators."""
    return build("chain", size)[0]


def wide(size: int) -> fluid.Program:
    """One value that all operators read."""
    return build("wide", size)[0]


def training(size: int) -> fluid.Program:
    """A chain and its gradients: so many operators together."""
    program, loss = build("chain", size // 2)
    fluid.backward.append_backward(loss)
    return program


CASES: dict[str, tuple[Callable[[int], fluid.Program], Rule]] = {
    "chain": (chain, EXCHANGED),
    "optional": (chain, CHOSEN),
    "wide": (wide, CHOSEN),
    "training": (training, EXCHANGED),
}


def main() -> None:
    """Measure each case at each size."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="*", default=[50_000, 100_000, 200_000])
    parser.add_argument("--cases", nargs="*", default=list(CASES))
    args = parser.parse_args()
    print(f"{'program':<10}{'operators':>10}{'replaced':>10}{'seconds':>9}{'growth':>8}")
    for case in args.cases:
        make, rule = CASES[case]
        before = 0.0
        for size in args.sizes:
            program = make(size)
            count = len(program.global_block().ops)
            gc.collect()
            begin = time.process_time()
            done = rewriting(program, rule, explain=False)
            seconds = time.process_time() - begin
            growth = f"{seconds / before:8.2f}" if before else ""
            print(f"{case:<10}{count:>10}{done.count:>10}{seconds:>9.2f}{growth}", flush=True)
            before = seconds


if __name__ == "__main__":
    main()
