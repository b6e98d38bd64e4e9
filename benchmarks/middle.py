"""Training steps of five nets of middle size, by the libraries that compute them.

    python benchmarks/middle.py                                   fluidlite, and torch where it is
    python benchmarks/middle.py --python /opt/torch/bin/python    and what another interpreter has
    python benchmarks/middle.py --only gpt --rounds 9 --write     into docs/performance.md, too

Everybody lives in a process of its own with one thread; they take turns.  A figure is the median
of the steady steps of a round, and of the rounds the least, in milliseconds of processor time:
forward, backward and Adam, from arrays that are fed to the loss as a number.  A step is steady when
all kernels are compiled.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import machine
import numpy as np
from eager import Player
from large import Blocks, Net, Words, gpt_of, tokens, unet_of
from page import PAGE, block, replace_part

#: by title: the library, and variables of its process
CONTESTANTS = {
    "NumPy": ("fluidlite", {"FLUIDLITE_KERNELS": "numpy", "FLUIDLITE_CC": ""}),
    "C": ("fluidlite", {"FLUIDLITE_KERNELS": "native"}),
    "oneDNN, C": ("fluidlite", {"FLUIDLITE_KERNELS": "auto"}),
    "torch": ("torch", {}),
}
WARM = 6  #: steps at least before a step is steady


def vision_transformer(to: Words, small: bool) -> Net:
    """Six layers of 192 with 3 heads on 64 patches of 48 numbers, batch 16, 10 classes."""
    width, heads, depth, batch, steps = (16, 2, 1, 2, 4) if small else (192, 3, 6, 16, 64)
    nn, block = to.nn, Blocks(to, width, heads, 4 * width, True, False).block

    class ViT(to.net):
        def __init__(self) -> None:
            super().__init__()
            self.patch, self.places = nn.Linear(48, width), nn.Embedding(steps, width)
            self.blocks = to.chain(*[block() for _ in range(depth)])
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 10)

        def forward(self, x: Any, place: Any) -> Any:
            seen = self.norm(self.blocks(self.patch(x) + self.places(place)))
            return self.head(seen.mean(1))

    net, cross = ViT(), nn.functional.cross_entropy
    patches = np.random.default_rng(7).standard_normal((batch, steps, 48)).astype("float32")
    return net, lambda x, p, y: cross(net(x, p), y), [patches, np.arange(steps), tokens(10, batch)]


def unet(to: Words, small: bool) -> Net:
    """16 to 64 channels on images of 64 x 64, batch 4."""
    return unet_of(to, *((16, 1, 4, 1) if small else (64, 4, 16, 2)))


def gpt(to: Words, small: bool) -> Net:
    """Four layers of 128 with 4 heads, 8 times 64 tokens of 1,000 words."""
    return gpt_of(to, *((16, 2, 1, 50, 2, 8) if small else (128, 4, 4, 1000, 8, 64)))


def diffusion(to: Words, small: bool) -> Net:
    """What predicts noise: residual blocks of 32 and 64 channels with group norm and silu, and
    attention over the 256 places of the smaller images; images of 32 x 32, batch 8.
    """
    size, batch, first, groups = (8, 2, 8, 2) if small else (32, 8, 32, 8)
    nn, silu, times = to.nn, to.nn.functional.silu, 64

    def conv(inputs: int, filters: int, size: int = 3, stride: int = 1) -> Any:
        return to.layer("Conv2D", inputs, filters, size, stride, size // 2)

    class Residual(to.net):
        def __init__(self, inputs: int, filters: int) -> None:
            super().__init__()
            self.norm1, self.norm2 = nn.GroupNorm(groups, inputs), nn.GroupNorm(groups, filters)
            self.conv1, self.conv2 = conv(inputs, filters), conv(filters, filters)
            self.time = nn.Linear(times, filters)
            self.short = None if inputs == filters else conv(inputs, filters, 1)

        def forward(self, x: Any, time: Any) -> Any:
            hidden = self.conv1(silu(self.norm1(x)))
            hidden = hidden + self.time(time).reshape([batch, -1, 1, 1])
            hidden = self.conv2(silu(self.norm2(hidden)))
            return hidden + (x if self.short is None else self.short(x))

    class Attention(to.net):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.norm = nn.GroupNorm(groups, width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

        def forward(self, x: Any) -> Any:
            width, side = x.shape[1:3]
            rows = to.turned(self.norm(x).reshape([batch, width, side * side]), [0, 2, 1])
            qkv = self.qkv(rows).reshape([batch, side * side, 3, 1, width])
            q, k, v = (qkv[:, :, n] for n in range(3))
            rows = self.out(to.attend(q, k, v, False).reshape([batch, side * side, width]))
            return x + to.turned(rows, [0, 2, 1]).reshape([batch, width, side, side])

    class Denoiser(to.net):
        def __init__(self) -> None:
            super().__init__()
            second = 2 * first
            self.into, self.time = conv(3, first), nn.Linear(times, times)
            self.down, self.halve = Residual(first, first), conv(first, second, 3, 2)
            self.middle = to.layers([Residual(second, second) for _ in range(2)])
            self.attention = Attention(second)
            self.widen = to.layer("Conv2DTranspose", second, first, 2, 2)
            self.up, self.norm = Residual(second, first), nn.GroupNorm(groups, first)
            self.head = conv(first, 3)

        def forward(self, x: Any, angles: Any) -> Any:
            waves = [to.module.sin(angles), to.module.cos(angles)]
            time = silu(self.time(to.joined(waves, 1)))
            large = self.down(self.into(x), time)
            hidden = self.attention(self.middle[0](self.halve(large), time))
            hidden = self.widen(self.middle[1](hidden, time))
            return self.head(silu(self.norm(self.up(to.joined([large, hidden], 1), time))))

    net, rng = Denoiser(), np.random.default_rng(7)
    images, noise = rng.standard_normal((2, batch, 3, size, size)).astype("float32")
    waves = np.exp(-math.log(10000) * np.arange(times // 2) / (times // 2))
    angles = (rng.integers(0, 1000, (batch, 1)) * waves).astype("float32")
    return net, lambda x, t, y: ((net(x, t) - y) ** 2).mean(), [images, angles, noise]


def graph_convolution(to: Words, small: bool) -> Net:
    """Two layers of 64 on a graph of 2,000 nodes and 20,000 edges, 10 classes."""
    nodes, edges, width = (6, 10, 8) if small else (2000, 20000, 64)
    nn = to.nn

    class Convolution(to.net):
        def __init__(self, filters: int) -> None:
            super().__init__()
            self.linear = nn.Linear(width, filters)

        def forward(self, x: Any, source: Any, target: Any) -> Any:
            return to.gathered(self.linear(x), source, target)

    class GCN(to.net):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = Convolution(width), Convolution(10)

        def forward(self, x: Any, source: Any, target: Any) -> Any:
            hidden = nn.functional.relu(self.first(x, source, target))
            return self.second(hidden, source, target)

    net, cross, rng = GCN(), nn.functional.cross_entropy, np.random.default_rng(7)
    ends = list(rng.integers(0, nodes, (2, edges)))
    fed = [rng.standard_normal((nodes, width)).astype("float32"), *ends, tokens(10, nodes)]
    return net, lambda x, s, t, y: cross(net(x, s, t), y), fed


NETS: dict[str, Callable[[Any, bool], Net]] = {
    net.__name__: net for net in (vision_transformer, unet, gpt, diffusion, graph_convolution)
}


class MoreWords(Words):
    """The further words that the nets above are made of."""

    def turned(self, x: Any, axes: list[int]) -> Any:
        """A transposed value."""
        return x.permute(axes) if self.is_torch else self.module.transpose(x, axes)

    def gathered(self, x: Any, source: Any, target: Any) -> Any:
        """For each node the sum of the rows of those from which edges come."""
        if self.is_torch:
            return self.module.zeros_like(x).index_add(0, target, x[source])
        paddle = self.module
        rows = paddle.gather(x, source)
        return paddle.scatter_nd_add(paddle.zeros_like(x), paddle.unsqueeze(target, 1), rows)


def work(title: str, small: bool, seconds: float) -> None:
    """Answer lines "net steps" with the median of steps, in milliseconds, as a list of JSON; before
    the first of a net, run steps for some seconds, until kernels are compiled.
    """
    try:
        to = MoreWords(title)
    except Exception as error:  # of another package, which may fail in its own ways
        print(json.dumps(f"{type(error).__name__}: {error}"), flush=True)
        return
    print(json.dumps(""), flush=True)
    steps: dict[str, Callable[[], float]] = {}
    for line in sys.stdin:
        name, count = line.split()
        if name not in steps:
            steps[name] = to.step(NETS[name], small, "adam")
            end = time.perf_counter() + seconds
            for turn in itertools.count():
                steps[name]()
                if turn >= WARM and time.perf_counter() > end:
                    break
        times = []
        for _ in range(int(count)):
            begin = time.process_time()
            steps[name]()
            times.append(time.process_time() - begin)
        print(json.dumps([1e3 * statistics.median(times)]), flush=True)


def start(args: argparse.Namespace, cache: str) -> dict[str, Player]:
    """A process for each contestant whose library an interpreter has."""
    players: dict[str, Player] = {}
    options = ["--warm", str(args.warm), *(["--small"] if args.small else [])]
    for title in args.contestants:
        library, variables = CONTESTANTS[title]
        for python in (sys.executable, *args.python):
            environment = {"FLUIDLITE_CACHE": cache, **variables}
            player = Player([__file__, *options, "--work", library], python, environment)
            if not player.missing:
                players[title] = player
                break
            player.close()
        else:
            print(f"left out: {title}: {player.missing}", flush=True)
    return players


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--only", nargs="*", default=list(NETS), choices=NETS, metavar="NET")
    parser.add_argument("--contestants", nargs="*", default=list(CONTESTANTS), choices=CONTESTANTS)
    parser.add_argument("--small", action="store_true", help="the smallest sizes")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=15)
    parser.add_argument("--warm", type=float, default=8.0, help="seconds of steps before the first")
    parser.add_argument("--python", action="append", default=[], help="one more interpreter")
    parser.add_argument("--write", metavar="PAGE", nargs="?", const=str(PAGE))
    parser.add_argument("--work", choices=("fluidlite", "torch"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.work:
        work(args.work, args.small, args.warm)
        return
    with tempfile.TemporaryDirectory() as cache:
        players = start(args, cache)
        lines = [
            f"{machine.description()}; one thread; load {machine.load():.1f}",
            "",
            f"{'ms':<20}" + "".join(f"{title:>12}" for title in players) + "    by torch's",
        ]
        print("\n".join(lines), flush=True)
        for name in args.only:
            rounds = [
                {title: player.ask(name, args.steps)[0] for title, player in players.items()}
                for _ in range(args.rounds)
            ]
            best = {title: min(figures[title] for figures in rounds) for title in players}
            cells = "".join(f"{figure:12.2f}" for figure in best.values())
            torch = best.pop("torch", None)
            ratios = [f"{figure / torch:.2f}" for figure in best.values()] if torch else []
            lines.append(f"{name:<20}{cells}    {', '.join(ratios)}".rstrip())
            print(lines[-1], flush=True)
        for player in players.values():
            player.close()
    if args.write:
        replace_part(Path(args.write), "middle", block(lines))


if __name__ == "__main__":
    main()
