"""Training steps of a detector, of a super-resolution net and of a multilayer perceptron, with and
without mixed precision.

    python benchmarks/heads.py                          measures and prints
    python benchmarks/heads.py --only detector          one of them
    python benchmarks/heads.py --write                  and writes docs/performance.md

The two take turns, and begin with the same parameters.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import machine
import numpy as np
from page import PAGE, block, replace_part

import fluidlite as fluid

ANCHORS = [10, 13, 16, 30, 33, 23, 30, 61, 62, 45, 59, 119, 116, 90, 156, 198, 373, 326]
SIZES = {
    "detector": dict(batch=4, size=128, width=32, classes=20, boxes=10),
    "super_resolution": dict(batch=4, size=48, width=64, factor=3),
    "mlp": dict(batch=128, pixels=784, hidden=512, classes=10),
}
SMALL = {
    "detector": dict(batch=2, size=64, width=4, classes=3, boxes=2),
    "super_resolution": dict(batch=2, size=8, width=4, factor=2),
    "mlp": dict(batch=5, pixels=7, hidden=6, classes=3),
}
Feed = dict[str, Any]


def normed(x: Any, filters: int, stride: int) -> Any:
    """A convolution of 3 x 3, batch norm, leaky relu."""
    x = fluid.layers.conv2d(x, filters, 3, stride, padding=1, bias_attr=False)
    return fluid.layers.leaky_relu(fluid.layers.batch_norm(x), 0.1)


def detector(
    rng: np.random.Generator, batch: int, size: int, width: int, classes: int, boxes: int
) -> tuple[Any, Any, Feed]:
    """The head of YOLOv3 on a short net: five halvings of the images, and boxes at each place."""
    hidden = fluid.data("image", [batch, 3, size, size], "float32")
    for k in range(5):
        hidden = normed(hidden, min(width << k, 8 * width), 2)
    mask = [6, 7, 8]
    scores = fluid.layers.conv2d(hidden, len(mask) * (classes + 5), 1)
    box = fluid.data("box", [batch, boxes, 4], "float32")
    label = fluid.data("label", [batch, boxes], "int32")
    loss = fluid.layers.yolov3_loss(scores, box, label, ANCHORS, mask, classes, 0.7, 32)
    feed = {
        "image": rng.normal(size=[batch, 3, size, size]).astype("float32"),
        "box": rng.uniform(0.2, 0.6, [batch, boxes, 4]).astype("float32"),
        "label": rng.integers(0, classes, [batch, boxes]).astype("int32"),
    }
    return fluid.layers.mean(loss), fluid.optimizer.Momentum(1e-3, 0.9), feed


def super_resolution(
    rng: np.random.Generator, batch: int, size: int, width: int, factor: int
) -> tuple[Any, Any, Feed]:
    """Three convolutions whose channels become pixels (Shi et al., CVPR 2016)."""
    small = fluid.data("small", [batch, 1, size, size], "float32")
    large = fluid.data("large", [batch, 1, size * factor, size * factor], "float32")
    hidden = fluid.layers.conv2d(small, width, 5, padding=2, act="tanh")
    hidden = fluid.layers.conv2d(hidden, width // 2, 3, padding=1, act="tanh")
    hidden = fluid.layers.conv2d(hidden, factor * factor, 3, padding=1)
    guess = fluid.layers.pixel_shuffle(hidden, factor)
    loss = fluid.layers.mean(fluid.layers.square_error_cost(guess, large))
    feed = {
        "small": rng.normal(size=small.shape).astype("float32"),
        "large": rng.normal(size=large.shape).astype("float32"),
    }
    return loss, fluid.optimizer.Adam(1e-3), feed


def mlp(
    rng: np.random.Generator, batch: int, pixels: int, hidden: int, classes: int
) -> tuple[Any, Any, Feed]:
    """Two hidden layers with relu."""
    x = fluid.data("x", [batch, pixels], "float32")
    y = fluid.data("y", [batch, 1], "int64")
    inner = fluid.layers.fc(fluid.layers.fc(x, hidden, act="relu"), hidden, act="relu")
    scores = fluid.layers.fc(inner, classes)
    loss = fluid.layers.mean(fluid.layers.softmax_with_cross_entropy(scores, y))
    feed = {
        "x": rng.normal(size=[batch, pixels]).astype("float32"),
        "y": rng.integers(0, classes, [batch, 1]),
    }
    return loss, fluid.optimizer.Adam(1e-3), feed


NETS: dict[str, Callable[..., tuple[Any, Any, Feed]]] = {
    "detector": detector,
    "super_resolution": super_resolution,
    "mlp": mlp,
}


class Step:
    """A training step.

    Args:
        name: of ``NETS``.
        small: tiny sizes.
        mixed: with mixed precision.
    """

    def __init__(self, name: str, small: bool, mixed: bool) -> None:
        self.main, startup = fluid.Program(), fluid.Program()
        self.main.random_seed = startup.random_seed = 1
        with fluid.unique_name.guard(), fluid.program_guard(self.main, startup):
            sizes = (SMALL if small else SIZES)[name]
            self.loss, optimizer, self.feed = NETS[name](np.random.default_rng(0), **sizes)
            if mixed:
                optimizer = fluid.contrib.mixed_precision.decorate(
                    optimizer, init_loss_scaling=128.0
                )
            optimizer.minimize(self.loss)
        self.scope, self.executor = fluid.Scope(), fluid.Executor()
        self.executor.run(startup, scope=self.scope)
        self.times: list[float] = []

    def __call__(self) -> float:
        """Make one; gives the loss."""
        (loss,) = self.executor.run(
            self.main, feed=self.feed, fetch_list=[self.loss], scope=self.scope
        )
        return float(loss[0])

    def turn(self, seconds: float) -> None:
        """Make steps for a while, and time them."""
        end = time.perf_counter() + seconds
        while True:
            begin = time.perf_counter()
            self()
            now = time.perf_counter()
            self.times.append(now - begin)
            if now > end:
                return


def measured(name: str, args: argparse.Namespace) -> str:
    """A row of the table: the shortest steps of both in microseconds, and their ratio."""
    both = [Step(name, args.small, mixed) for mixed in (False, True)]
    first = [step() for step in both]
    last = first
    for _ in range(3):  # interpreted, traced, and on the finished source
        last = [step() for step in both]
    if not all(np.isfinite([*first, *last])):
        raise SystemExit(f"{name}: the losses are {first} and then {last}")
    for number in range(args.rounds):
        for step in both[:: 1 if number % 2 else -1]:
            step.turn(args.seconds)
    plain, mixed = (1e6 * min(step.times) for step in both)
    row = f"{name:<18} {plain:>12,.0f} {mixed:>14,.0f} {mixed / plain:>8.2f}"
    return f"{row}   {last[0]:.4g} and {last[1]:.4g}"


def main() -> None:
    """Measure, print, and write what was asked for."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n\n")[0])
    parser.add_argument("--only", nargs="+", choices=list(NETS), default=list(NETS))
    parser.add_argument("--rounds", type=int, default=5, help="turns of each")
    parser.add_argument("--seconds", type=float, default=0.5, help="how long a turn is")
    parser.add_argument("--small", action="store_true", help="tiny sizes, to see that all runs")
    parser.add_argument("--write", metavar="PAGE", nargs="?", const=str(PAGE))
    args = parser.parse_args()
    lines = [f"{'step':<18} {'float32':>12} {'mixed':>14} {'ratio':>8}   losses after four steps"]
    for name in args.only:
        lines.append(measured(name, args))
    print("\n".join(lines))
    if args.write:
        text = f"{machine.description()}; microseconds of the shortest step.\n\n{block(lines)}"
        replace_part(Path(args.write), "heads", text)


if __name__ == "__main__":
    main()
