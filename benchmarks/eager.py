"""The first steps of an eager loop: calls, backward passes and optimizers' steps of thirteen nets.

    python benchmarks/eager.py                                  fluidlite, and torch where it is
    python benchmarks/eager.py --python /opt/paddle/bin/python  and what another interpreter has
    python benchmarks/eager.py --only lstm --rounds 9 --write   longer; in docs/performance.md, too
    python benchmarks/eager.py --replay                         ours from a plan, by fluid.replay

Every library lives in a process of its own, with one thread; they take turns, net by net and round
by round, each with the same arrays.  A figure is the median over the steps of a round, and of the
rounds the least, in microseconds of processor time.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import machine
import numpy as np
from page import PAGE, block, replace_part

HERE = Path(__file__).resolve().parent
REPLAYED = "replayed"
LIBRARIES = {
    "fluidlite": "fluidlite.paddle",
    REPLAYED: "fluidlite.paddle",
    "paddle": "paddle",
    "torch": "torch",
}
OURS = ("fluidlite", REPLAYED)
PHASES = ("call", "backward", "step")
THREADS = ("OMP", "OPENBLAS", "MKL", "FLUIDLITE")
BATCH, CLASSES = 16, 10
WARM_UP = 4.0  #: seconds that a replayed step runs before it is timed


class Library:
    """The words of paddle 2, spoken to it, to fluidlite, or to torch.

    Args:
        title: one of ``LIBRARIES``.
    """

    def __init__(self, title: str) -> None:
        self.module = importlib.import_module(LIBRARIES[title])
        self.nn = self.module.nn
        self.is_torch = title == "torch"

    def layer(self, name: str, *arguments: Any, **options: Any) -> Any:
        """A layer by paddle's name."""
        if self.is_torch:
            name = name.replace("1D", "1d").replace("2D", "2d")
            if name in ("LSTM", "GRU", "TransformerEncoderLayer"):
                options["batch_first"] = True
        return getattr(self.nn, name)(*arguments, **options)

    def chain(self, *layers: Any) -> Any:
        """One layer after the other."""
        return self.nn.Sequential(*layers)

    def tensor(self, array: np.ndarray) -> Any:
        """An array as a tensor without gradient."""
        return self.module.from_numpy(array) if self.is_torch else self.module.to_tensor(array)

    def adam(self, net: Any) -> Any:
        """An optimizer of a net."""
        if self.is_torch:
            return self.module.optim.Adam(net.parameters(), lr=1e-3)
        return self.module.optimizer.Adam(1e-3, parameters=net.parameters())

    def clear(self, adam: Any) -> None:
        """Take gradients away."""
        (adam.zero_grad if self.is_torch else adam.clear_grad)()


Step = tuple[Any, Callable[[], Any]]  # a net, and what computes its loss


def _supervised(library: Library, net: Any, *shape: int, pick: Any = None) -> Step:
    """A net that tells classes of numbers apart."""
    rng = np.random.default_rng(7)
    x = library.tensor(rng.standard_normal((BATCH, *shape)).astype("float32"))
    label = library.tensor(rng.integers(0, CLASSES, BATCH))
    criterion = library.nn.CrossEntropyLoss()
    if pick is None:
        return net, lambda: criterion(net(x), label)
    return net, lambda: criterion(pick(net, x), label)


def linear_regression(to: Library) -> Step:
    return _supervised(to, to.layer("Linear", 13, CLASSES), 13)


def perceptron(to: Library) -> Step:
    layers = [to.layer("Linear", 64, 64), to.layer("ReLU"), to.layer("Linear", 64, CLASSES)]
    return _supervised(to, to.chain(*layers), 64)


def deep_perceptron(to: Library) -> Step:
    layers = [part for _ in range(8) for part in (to.layer("Linear", 32, 32), to.layer("Tanh"))]
    return _supervised(to, to.chain(*layers, to.layer("Linear", 32, CLASSES)), 32)


def normalized_perceptron(to: Library) -> Step:
    layers = [to.layer("Linear", 32, 64), to.layer("BatchNorm1D", 64), to.layer("ReLU")]
    layers += [to.layer("LayerNorm", 64), to.layer("Linear", 64, CLASSES)]
    return _supervised(to, to.chain(*layers), 32)


def convolutions(to: Library) -> Step:
    layers = [to.layer("Conv2D", 1, 6, 3), to.layer("ReLU"), to.layer("MaxPool2D", 2)]
    layers += [to.layer("Flatten"), to.layer("Linear", 6 * 5 * 5, CLASSES)]
    return _supervised(to, to.chain(*layers), 1, 12, 12)


def residual_block(to: Library) -> Step:
    def half() -> Any:
        conv = to.layer("Conv2D", 8, 8, 3, padding=1)
        return to.chain(conv, to.layer("BatchNorm2D", 8))

    tail = to.chain(to.layer("Flatten"), to.layer("Linear", 8 * 8 * 8, CLASSES))
    net = to.chain(half(), to.layer("ReLU"), half(), tail)

    def call(net: Any, x: Any) -> Any:
        return net[3](net[1](net[2](net[1](net[0](x))) + x))

    return _supervised(to, net, 8, 8, 8, pick=call)


def autoencoder(to: Library) -> Step:
    layers = [to.layer("Linear", 64, 16), to.layer("Sigmoid"), to.layer("Linear", 16, 64)]
    net = to.chain(*layers)
    x = to.tensor(np.random.default_rng(7).random((BATCH, 64), "float32"))
    return net, lambda: ((net(x) - x) ** 2).mean()


def _recurrent(to: Library, kind: str) -> Step:
    net = to.chain(to.layer(kind, 16, 32), to.layer("Linear", 32, CLASSES))
    return _supervised(to, net, 10, 16, pick=lambda net, x: net[1](net[0](x)[0][:, -1]))


def lstm(to: Library) -> Step:
    return _recurrent(to, "LSTM")


def gru(to: Library) -> Step:
    return _recurrent(to, "GRU")


def transformer(to: Library) -> Step:
    layer = to.layer("TransformerEncoderLayer", 32, 4, 64, dropout=0.0)
    net = to.chain(layer, to.layer("Linear", 32, CLASSES))
    return _supervised(to, net, 8, 32, pick=lambda net, x: net[1](net[0](x).mean(1)))


def encoder(to: Library) -> Step:
    """Two layers of a transformer, of more elements than those above."""
    layers = [to.layer("TransformerEncoderLayer", 64, 4, 128, dropout=0.0) for _ in range(2)]
    net = to.chain(*layers, to.layer("Linear", 64, CLASSES))
    return _supervised(to, net, 32, 64, pick=lambda net, x: net[2](net[1](net[0](x)).mean(1)))


def bilstm(to: Library) -> Step:
    """Two layers of an LSTM that goes both ways."""
    ways = {"bidirectional": True} if to.is_torch else {"direction": "bidirect"}
    net = to.chain(to.layer("LSTM", 32, 64, num_layers=2, **ways), to.layer("Linear", 128, CLASSES))
    return _supervised(to, net, 30, 32, pick=lambda net, x: net[1](net[0](x)[0].mean(1)))


def meta_learning(to: Library) -> Step:
    """MAML: a loss behind three steps of gradients, which is differentiated through them."""
    net = to.chain(to.layer("Linear", 1, 40), to.layer("ReLU"), to.layer("Linear", 40, 1))
    rng = np.random.default_rng(7)
    x, x2 = (to.tensor(rng.standard_normal((BATCH, 1)).astype("float32")) for _ in range(2))
    y, y2 = x.sin(), x2.sin()
    grad = to.module.autograd.grad if to.is_torch else to.module.grad

    def loss(weights: Any, x: Any, y: Any) -> Any:
        w1, b1, w2, b2 = weights
        linear = to.nn.functional.linear
        return ((linear(to.nn.functional.relu(linear(x, w1, b1)), w2, b2) - y) ** 2).mean()

    def loss_of() -> Any:
        weights = list(net.parameters())
        for _ in range(3):
            flows = grad(loss(weights, x, y), weights, create_graph=True)
            weights = [w - 0.1 * flow for w, flow in zip(weights, flows, strict=True)]
        return loss(weights, x2, y2)

    return net, loss_of


NETS: dict[str, Callable[[Library], Step]] = {
    net.__name__: net
    for net in (
        *(linear_regression, perceptron, deep_perceptron, normalized_perceptron, convolutions),
        *(residual_block, autoencoder, lstm, gru, transformer, encoder, bilstm, meta_learning),
    )
}


def timed(library: Library, net: Any, loss_of: Callable[[], Any], steps: int) -> Iterator[float]:
    """Medians of the phases of some steps, in microseconds."""
    adam, rows = library.adam(net), []
    for _ in range(steps):
        begin = time.process_time()
        loss = loss_of()
        called = time.process_time()
        loss.backward()
        reversed_ = time.process_time()
        adam.step()
        rows.append((called - begin, reversed_ - called, time.process_time() - reversed_))
        library.clear(adam)
    return (1e6 * statistics.median(column) for column in zip(*rows, strict=True))


def replayed(library: Library, net: Any, loss_of: Callable[[], Any]) -> Callable[[], Any]:
    """The same step from a plan, once the compiler has made the kernels of that."""
    import fluidlite

    adam = library.adam(net)

    @fluidlite.replay
    def step() -> Any:
        loss = loss_of()
        loss.backward()
        adam.step()
        library.clear(adam)
        return loss

    end = time.monotonic() + WARM_UP
    while time.monotonic() < end:
        step()
    return step


def timed_calls(step: Callable[[], Any], steps: int) -> list[float]:
    """The median of some steps, in microseconds, where the phases would stand."""
    rows = []
    for _ in range(steps):
        begin = time.process_time()
        step()
        rows.append(time.process_time() - begin)
    return [1e6 * statistics.median(rows), 0.0, 0.0]


def work(title: str) -> None:
    """Answer lines "net steps" with the figures of a library, each a list of JSON."""
    try:
        library = Library(title)
    except Exception as error:  # of another package, which may fail in its own ways
        print(json.dumps(f"{type(error).__name__}: {error}"), flush=True)
        return
    print(json.dumps(""), flush=True)
    nets: dict[str, Step] = {}
    plans: dict[str, Callable[[], Any]] = {}
    for line in sys.stdin:
        name, steps = line.split()
        if title == REPLAYED:
            if name not in plans:
                plans[name] = replayed(library, *NETS[name](library))
            print(json.dumps(timed_calls(plans[name], int(steps))), flush=True)
            continue
        if name not in nets:
            nets[name] = NETS[name](library)
            list(timed(library, *nets[name], 3))
        print(json.dumps(list(timed(library, *nets[name], int(steps)))), flush=True)


class Player:
    """A library in a process of its own.

    Args:
        script: what answers for it, with arguments of which the last is its title.
        python: the interpreter.
        environment: further variables of the process.
    """

    def __init__(self, script: list[str], python: str, environment: dict[str, str]) -> None:
        search = os.pathsep.join(filter(None, (str(HERE.parent), os.environ.get("PYTHONPATH"))))
        own = {**environment, **{f"{t}_NUM_THREADS": "1" for t in THREADS}, "PYTHONPATH": search}
        self.title = script[-1]
        self._process = subprocess.Popen(
            [python, *script],
            env={**os.environ, **own},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        line = self._line()
        self.missing: str = json.loads(line) if line else "the process ended"

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def ask(self, net: str, steps: int) -> list[float]:
        """The figures of a round."""
        assert self._process.stdin is not None
        print(net, steps, file=self._process.stdin, flush=True)
        figures: list[float] = json.loads(self._line())
        return figures

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()


def start(pythons: list[str], replays: bool) -> list[Player]:
    """A process for each library that an interpreter has."""
    players = []
    for title in LIBRARIES:
        if title == REPLAYED and not replays:
            continue
        for python in pythons:
            player = Player([__file__, "--work", title], python, {})
            if not player.missing:
                players.append(player)
                break
            player.close()
        else:
            print(f"left out: {title}: {player.missing}", flush=True)
    return players


def table(figures: dict[str, dict[str, list[float]]]) -> list[str]:
    """Lines: the phases of each net, and how often fluidlite's time the others take."""
    titles = list(next(iter(figures.values())))
    lines = [f"{'us':<24}" + "".join(f"{t:>33}" for t in titles) + "    ours / theirs"]
    lines += [f"{'':<24}" + "".join(f"{p:>11}" for p in PHASES) * len(titles)]
    for name, row in figures.items():
        cells = "".join(f"{value:11.1f}" for values in row.values() for value in values)
        ours = sum(row[REPLAYED if REPLAYED in row else "fluidlite"])
        others = [t for t in titles if t not in OURS or (t != REPLAYED and REPLAYED in row)]
        ratios = [f"{t} {ours / sum(row[t]):.2f}" for t in others]
        lines.append(f"{name:<24}{cells}    {', '.join(ratios)}")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", nargs="*", choices=NETS, default=list(NETS))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--python", action="append", default=[], help="one more interpreter")
    parser.add_argument("--replay", action="store_true", help="time fluid.replay, too")
    parser.add_argument("--write", metavar="PAGE", nargs="?", const=str(PAGE))
    parser.add_argument("--work", choices=LIBRARIES, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.work:
        work(args.work)
        return
    players = start([sys.executable, *args.python], args.replay)
    figures: dict[str, dict[str, list[float]]] = {}
    for name in args.only:
        rounds = [[p.ask(name, args.steps) for p in players] for _ in range(args.rounds)]
        figures[name] = {
            player.title: [min(phase) for phase in zip(*own, strict=True)]
            for player, own in zip(players, zip(*rounds, strict=True), strict=True)
        }
    for player in players:
        player.close()
    lines = [f"{machine.description()}; one thread", "", *table(figures)]
    print("\n".join(lines))
    if args.write:
        replace_part(Path(args.write), "eager", block(lines))


if __name__ == "__main__":
    main()
