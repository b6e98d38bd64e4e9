"""The first steps of large nets: building, planning, ten steps together, and memory.

    python benchmarks/large.py                                   fluidlite, and torch where it is
    python benchmarks/large.py --python /opt/torch/bin/python    and what another interpreter has
    python benchmarks/large.py --only gpt --rounds 3 --write     into docs/performance.md, too
    python benchmarks/large.py --threads 2 --write               the same on two threads
    python benchmarks/large.py --contestants torch.compile       and compiled
    python benchmarks/large.py --contestants warm "on JAX"       compiled by XLA

Each figure comes from a process of its own, with one thread or ``--threads``; they take turns.
fluidlite runs twice with one folder of kernels: "cold" finds it empty, "warm" finds what the first
one left.  "on JAX" is the same program on the backend "jax".
Times are seconds of processor time; "wall" are those that pass, which are compared where there are
several threads: these wait for each other, awake.  "build" makes the net and its
first values.  "plan" is what this thread takes in the ten steps to plan them, measured around what
plans (:class:`Planning`): neither the steps' own work is in it nor compilers, which work beside
them.  "compilers" are processes that were started, and other threads.  "pages" is what the system
takes in the first three steps, nearly all of it for memory that is touched for the first time.
"ten" has all of that, with the build.  With several rounds the least is shown.  Python has compiled
all modules before, as it has those that pip installs; and memory has been used before: a virtual
machine takes twenty times as long for what its host has taken back.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any

import machine
import numpy as np
from eager import THREADS, Library
from page import PAGE, block, replace_part

HERE = Path(__file__).resolve().parent
#: by the word for them: the library, and what is left in the folder of kernels before
CONTESTANTS = {
    "cold": "fluidlite",
    "warm": "fluidlite",
    "torch": "torch",
    "torch.compile": "torch",
    "on JAX": "fluidlite",
}
ON_ONE_THREAD = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
STEPS = 10
COLUMNS = (
    *("build", "plan", "first", "pages", "compilers", "ten", "steady"),
    *("wall ten", "wall step", "MiB"),
)
TOUCHED = 4 << 30  #: bytes that are touched before each process

Net = tuple[Any, Callable[..., Any], list[np.ndarray]]  # a net, what it computes, and what is fed


class Words(Library):
    """The further words that large nets are made of."""

    def __init__(self, contestant: str) -> None:
        super().__init__(CONTESTANTS.get(contestant, contestant))
        self.compiles = contestant == "torch.compile"
        self.net = self.nn.Module if self.is_torch else self.nn.Layer
        self.layers = self.nn.ModuleList if self.is_torch else self.nn.LayerList
        self.joined = self.module.cat if self.is_torch else self.module.concat
        self.without_bias = {"bias" if self.is_torch else "bias_attr": False}

    def layer(self, name: str, *arguments: Any, **options: Any) -> Any:
        if self.is_torch and name == "Conv2DTranspose":
            name = "ConvTranspose2d"
        return super().layer(name, *arguments, **options)

    def attend(self, q: Any, k: Any, v: Any, causal: bool) -> Any:
        """Attention on [rows, steps, heads, width]."""
        attention = self.nn.functional.scaled_dot_product_attention
        if self.is_torch:
            heads = (each.transpose(1, 2) for each in (q, k, v))
            return attention(*heads, is_causal=causal).transpose(1, 2)
        return attention(q, k, v, is_causal=causal)

    def step(
        self, make: Callable[[Words, bool], Net], small: bool, update: str
    ) -> Callable[[], float]:
        """What runs a step of a net, eagerly in torch, as a program in fluidlite.

        Args:
            make: makes the net.
            small: whether it has its smallest sizes.
            update: "adam", "momentum", or "" where nothing is trained.
        """
        return (self._eager_step if self.is_torch else self._static_step)(make, small, update)

    def _eager_step(self, make: Any, small: bool, update: str) -> Callable[[], float]:
        net, call, fed = make(self, small)
        call = self.module.compile(call) if self.compiles else call
        given = [self.tensor(each) for each in fed]
        if not update:
            net.eval()
            return self.module.inference_mode()(lambda: float(call(*given).sum()))
        rule = self.rule(net, update)

        def step() -> float:
            self.clear(rule)
            loss = call(*given)
            loss.backward()
            rule.step()
            return loss.item()

        return step

    def rule(self, net: Any, update: str) -> Any:
        """torch's optimizer of a net: "adam" or "momentum"."""
        if update == "momentum":
            return self.module.optim.SGD(net.parameters(), lr=1e-3, momentum=0.9)
        return self.adam(net)

    def program(self, make: Any, small: bool, update: str) -> tuple[Any, Any, Any, dict[str, Any]]:
        """The main and the startup program of a step, its loss, and what is fed."""
        paddle = self.module
        paddle.enable_static()
        main, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(main, startup):
            net, call, fed = make(self, small)
            feed = {f"x{k}": each for k, each in enumerate(fed)}
            given = [
                paddle.static.data(name, list(each.shape), str(each.dtype))
                for name, each in feed.items()
            ]
            loss = call(*given)
            if not update:
                loss = loss.sum()
            elif update == "momentum":
                paddle.optimizer.Momentum(1e-3, 0.9).minimize(loss)
            else:
                self.adam(net).minimize(loss)
        return main, startup, loss, feed

    def _static_step(self, make: Any, small: bool, update: str) -> Callable[[], float]:
        main, startup, loss, feed = self.program(make, small, update)
        exe = self.module.static.Executor()
        exe.run(startup)
        return lambda: float(np.asarray(exe.run(main, feed=feed, fetch_list=[loss])[0]).reshape(()))


def tokens(vocabulary: int, *shape: int) -> np.ndarray:
    """Numbers of words."""
    return np.random.default_rng(7).integers(0, vocabulary, shape)


def resnet50(to: Words, small: bool) -> Net:
    """ResNet-50 (He et al. 2016) on 224 x 224 images, batch 8."""
    nn, size, batch, depths = to.nn, *((64, 2, (1, 1, 1, 1)) if small else (224, 8, (3, 4, 6, 3)))

    def normed(inputs: int, filters: int, size: int, stride: int = 1) -> list[Any]:
        conv = to.layer("Conv2D", inputs, filters, size, stride, size // 2, **to.without_bias)
        return [conv, to.layer("BatchNorm2D", filters)]

    class Bottleneck(to.net):
        def __init__(self, inputs: int, width: int, stride: int) -> None:
            super().__init__()
            first, middle = normed(inputs, width, 1), normed(width, width, 3, stride)
            self.main = to.chain(
                *[*first, nn.ReLU(), *middle, nn.ReLU(), *normed(width, 4 * width, 1)]
            )
            self.short = None
            if stride > 1 or inputs != 4 * width:
                self.short = to.chain(*normed(inputs, 4 * width, 1, stride))

        def forward(self, x: Any) -> Any:
            short = x if self.short is None else self.short(x)
            return nn.functional.relu(self.main(x) + short)

    layers, inputs = [*normed(3, 64, 7, 2), nn.ReLU(), to.layer("MaxPool2D", 3, 2, 1)], 64
    for k, depth in enumerate(depths):
        for place in range(depth):
            layers.append(Bottleneck(inputs, 64 << k, 2 if k and not place else 1))
            inputs = 4 * (64 << k)
    layers += [to.layer("AdaptiveAvgPool2D", 1), nn.Flatten(), nn.Linear(inputs, 1000)]
    net = to.chain(*layers)
    images = np.random.default_rng(7).standard_normal((batch, 3, size, size)).astype("float32")
    cross = nn.functional.cross_entropy
    return net, lambda x, y: cross(net(x), y), [images, tokens(1000, batch)]


class Blocks:
    """Layers of a transformer, with the words of a library.

    Args:
        inner: the width between the two layers behind an attention.
        first: whether values are normed before they are looked at, not behind.
        causal: whether a place sees no later one.
    """

    def __init__(
        self, to: Words, width: int, heads: int, inner: int, first: bool, causal: bool
    ) -> None:
        nn, functional = to.nn, to.nn.functional

        class Block(to.net):
            def __init__(self) -> None:
                super().__init__()
                self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
                self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
                self.up, self.down = nn.Linear(width, inner), nn.Linear(inner, width)

            def attend(self, x: Any) -> Any:
                rows, steps = x.shape[:2]
                heads_of = self.qkv(x).reshape([rows, steps, 3, heads, width // heads])
                q, k, v = (heads_of[:, :, n] for n in range(3))
                return self.out(to.attend(q, k, v, causal).reshape([rows, steps, width]))

            def forward(self, x: Any) -> Any:
                if first:
                    x = x + self.attend(self.norm1(x))
                    return x + self.down(functional.gelu(self.up(self.norm2(x))))
                x = self.norm1(x + self.attend(x))
                return self.norm2(x + self.down(functional.gelu(self.up(x))))

        self.block = Block


def gpt(to: Words, small: bool) -> Net:
    """A GPT of 12 layers of 512 with 8 heads, batch 4, 256 tokens, 8,000 words, Adam."""
    return gpt_of(to, *((32, 2, 2, 100, 2, 16) if small else (512, 8, 12, 8000, 4, 256)))


def gpt_of(
    to: Words, width: int, heads: int, depth: int, words: int, batch: int, steps: int
) -> Net:
    """A GPT whose layers are four times as wide between."""
    nn, block = to.nn, Blocks(to, width, heads, 4 * width, True, True).block

    class GPT(to.net):
        def __init__(self) -> None:
            super().__init__()
            self.words, self.places = nn.Embedding(words, width), nn.Embedding(steps, width)
            self.blocks = to.chain(*[block() for _ in range(depth)])
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words)

        def forward(self, x: Any, place: Any) -> Any:
            return self.head(self.norm(self.blocks(self.words(x) + self.places(place))))

    net = GPT()
    fed = [tokens(words, batch, steps), np.arange(steps), tokens(words, batch * steps)]
    cross = nn.functional.cross_entropy
    return net, lambda x, p, y: cross(net(x, p).reshape([batch * steps, words]), y), fed


def _bert(to: Words, small: bool) -> Net:
    width, heads, depth, words = (32, 2, 2, 100) if small else (768, 12, 12, 30522)
    batch, steps = (2, 16) if small else (8, 128)
    nn, block = to.nn, Blocks(to, width, heads, 4 * width, False, False).block

    class BERT(to.net):
        def __init__(self) -> None:
            super().__init__()
            self.words, self.places = nn.Embedding(words, width), nn.Embedding(512, width)
            self.kinds, self.norm = nn.Embedding(2, width), nn.LayerNorm(width)
            self.blocks = to.chain(*[block() for _ in range(depth)])
            self.pool, self.head = nn.Linear(width, width), nn.Linear(width, 2)

        def forward(self, x: Any, place: Any, kind: Any) -> Any:
            hidden = self.norm(self.words(x) + self.places(place) + self.kinds(kind))
            return self.head(to.module.tanh(self.pool(self.blocks(hidden)[:, 0])))

    net = BERT()
    fed = [tokens(words, batch, steps), np.arange(steps), tokens(2, batch, steps)]
    return net, net, fed


def bert_inference(to: Words, small: bool) -> Net:
    """BERT-base (Devlin et al. 2018), batch 8, 128 tokens: two scores of each text."""
    return _bert(to, small)


def bert_tuning(to: Words, small: bool) -> Net:
    """The same, trained on two classes with Adam."""
    net, call, fed = _bert(to, small)
    cross = to.nn.functional.cross_entropy
    return net, lambda x, p, k, y: cross(call(x, p, k), y), [*fed, tokens(2, len(fed[0]))]


def unet(to: Words, small: bool) -> Net:
    """U-Net (Ronneberger et al. 2015) on 256 x 256 images, 32 to 512 channels, batch 2, Adam."""
    return unet_of(to, *((32, 1, 4, 2) if small else (256, 2, 32, 4)))


def unet_of(to: Words, size: int, batch: int, first: int, depth: int) -> Net:
    """A U-Net whose channels are doubled each time that an image is halved."""
    nn = to.nn

    def twice(inputs: int, filters: int) -> Any:
        layers = []
        for channels in (inputs, filters):
            conv = to.layer("Conv2D", channels, filters, 3, 1, 1, **to.without_bias)
            layers += [conv, to.layer("BatchNorm2D", filters), nn.ReLU()]
        return to.chain(*layers)

    class UNet(to.net):
        def __init__(self) -> None:
            super().__init__()
            widths = [first << k for k in range(depth + 1)]
            self.down = to.layers([twice(n, w) for n, w in zip([3, *widths], widths)])
            wide = list(zip(widths[:0:-1], widths[-2::-1], strict=True))
            self.widen = to.layers([to.layer("Conv2DTranspose", n, w, 2, 2) for n, w in wide])
            self.up = to.layers([twice(2 * w, w) for _, w in wide])
            self.pool, self.head = to.layer("MaxPool2D", 2), to.layer("Conv2D", first, 1, 1)

        def forward(self, x: Any) -> Any:
            left = []
            for k, down in enumerate(self.down):
                x = down(self.pool(x) if k else x)
                left.append(x)
            left.pop()
            for widen, up in zip(self.widen, self.up, strict=True):
                x = up(to.joined([left.pop(), widen(x)], 1))
            return self.head(x)

    net, rng = UNet(), np.random.default_rng(7)
    images = rng.standard_normal((batch, 3, size, size)).astype("float32")
    masks = (rng.random((batch, 1, size, size)) < 0.5).astype("float32")
    loss = nn.functional.binary_cross_entropy_with_logits
    return net, lambda x, y: loss(net(x), y), [images, masks]


NETS: dict[str, Callable[[Words, bool], Net]] = {
    net.__name__: net for net in (resnet50, gpt, bert_inference, bert_tuning, unet)
}
#: how those are trained that are not by Adam
UPDATES = {"resnet50": "momentum", "bert_inference": ""}


class Planning:
    """The processor time of this thread in fluidlite's planning.

    Functions that plan, and those within them that do a step's own work, are replaced by others
    that say when they begin and end.
    """

    #: module, class or nothing, and function; and whether it plans
    WATCHED = (
        ("runtime.run_state", "RunState", "plan", True),
        ("runtime.session", "", "function_for", True),
        ("runtime.compile", "CompiledSegment", "_first_run", True),
        ("runtime.compile", "", "executed", False),
        ("runtime.compile", "", "computed", False),
        ("runtime.buffers", "Buffers", "_new", True),
        ("runtime.executor", "", "bind", True),
        ("backend.onednn.memory", "PrimitiveDescriptor", "__init__", True),
        ("backend.onednn.memory", "Made", "__init__", True),
        ("backend.commands", "CommandBuffer", "record", True),
    )

    def __init__(self, watches: bool) -> None:
        self.seconds = 0.0 if watches else math.nan
        self._plans, self._since = False, 0.0
        for module, kind, name, plans in self.WATCHED if watches else ():
            holder = import_module(f"fluidlite.{module}")
            self._watch(getattr(holder, kind) if kind else holder, name, plans)

    def _watch(self, holder: Any, name: str, plans: bool) -> None:
        function = getattr(holder, name)

        @wraps(function)
        def watched(*given: Any, **named: Any) -> Any:
            before = self._go_on(plans)
            try:
                return function(*given, **named)
            finally:
                self._go_on(before)

        setattr(holder, name, watched)

    def _go_on(self, plans: bool) -> bool:
        """Plan from now on, or do something else; whether it planned before."""
        now, before = time.thread_time(), self._plans
        self.seconds += now - self._since if before else 0.0
        self._plans, self._since = plans, now
        return before


def marked() -> np.ndarray:
    """Seconds: of all processors, those of the system in this process, those of others than this
    thread, and those that pass.
    """
    own, children = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    everything = time.process_time() + children.ru_utime + children.ru_stime
    others = everything - time.thread_time()
    return np.array([everything, own.ru_stime, others, time.perf_counter()])


def work(contestant: str, name: str, small: bool, steady: int) -> None:
    """Print the figures of a net as JSON."""
    to = Words(contestant)
    marks, losses = [marked()], []
    planning = Planning(not to.is_torch and contestant != "on JAX")
    step = to.step(NETS[name], small, UPDATES.get(name, "adam"))
    marks.append(marked())
    before = planning.seconds
    for _ in range(STEPS):
        losses.append(step())
        marks.append(marked())
    plan = planning.seconds - before
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    later = [marked()]
    for _ in range(steady):
        step()
        later.append(marked())
    times, rest = np.diff(marks, axis=0), np.diff(later if steady else marks, axis=0)
    usual, _, _, wall = np.median(rest[len(rest) // 2 :], axis=0)
    ten, _, _, ten_wall = times.sum(axis=0)
    (build, first), pages = times[:2, 0], times[1:4, 1].sum()
    compilers = times[1:, 2].sum()
    found = (build, plan, first, pages, compilers, ten, usual, ten_wall, wall, most)
    figures = dict(zip(COLUMNS, map(float, found), strict=True))
    print(json.dumps({"figures": figures, "times": times.tolist(), "losses": losses}))


def measured(
    contestant: str, python: str, cache: str, name: str, args: argparse.Namespace
) -> dict[str, Any]:
    """What a process finds, of which another one compiled the modules; empty without a library."""
    search = os.pathsep.join(filter(None, (str(HERE.parent), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, **{f"{t}_NUM_THREADS": str(args.threads) for t in THREADS}}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment |= {"PYTHONPATH": search, "PYTHONPYCACHEPREFIX": str(Path(cache) / "modules")}
    # so that compilers are processes that this one starts
    environment["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
    if contestant == "on JAX":
        environment["FLUIDLITE_BACKEND"] = "jax"
        if args.threads == 1:
            environment["XLA_FLAGS"] = ON_ONE_THREAD
    command = [python, __file__, "--work", contestant, "--only", name]
    command += ["--steady", str(args.steady), *(["--small"] if args.small else [])]
    figures: dict[str, Any] = {}
    runs: list[tuple[str, list[str]]] = [("others", ["--small"]), ("kernels", [])]
    for kernels, more in runs[1:] if args.small else runs:
        if not (args.small or more):
            touching = f"import numpy; numpy.ones({TOUCHED}, 'uint8')"
            subprocess.run([sys.executable, "-c", touching])
        folder = str(Path(cache) / kernels)
        done = subprocess.run(
            [*command, *more],
            env={**environment, "FLUIDLITE_CACHE": folder, "TORCHINDUCTOR_CACHE_DIR": folder},
            stdout=subprocess.PIPE,
            stderr=None if args.verbose else subprocess.DEVNULL,
            text=True,
        )
        if done.returncode:
            return {}
        figures = json.loads(done.stdout)
    return figures


def compared_columns(args: argparse.Namespace) -> tuple[str, str, str]:
    """The columns that are divided by torch's."""
    return ("ten", "steady", "MiB") if args.threads == 1 else ("wall ten", "wall step", "MiB")


def row(name: str, args: argparse.Namespace) -> list[str]:
    """The lines of a net."""
    best: dict[str, dict[str, float]] = {}
    for _ in range(args.rounds):
        with tempfile.TemporaryDirectory() as cache:
            for contestant in args.contestants:
                for python in (sys.executable, *args.python):
                    found = measured(contestant, python, cache, name, args)
                    if found:
                        break
                else:
                    continue
                if args.verbose:
                    print(contestant, found, file=sys.stderr, flush=True)
                figures, known = found["figures"], best.get(contestant, found["figures"])
                best[contestant] = {key: min(figures[key], known[key]) for key in COLUMNS}
    lines = []
    compared = compared_columns(args)
    for contestant, figures in best.items():
        cells = "".join(f"{figures[key]:10.2f}" for key in COLUMNS[:-1]).replace("nan", "  -")
        ratios = ""
        if "torch" in best and contestant != "torch":
            pairs = [(figures[key], best["torch"][key]) for key in compared]
            ratios = "".join(f"{ours / theirs:8.2f}" for ours, theirs in pairs)
        lines.append(f"{name:<16}{contestant:<14}{cells}{figures['MiB']:10.0f}{ratios}")
    return lines


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--only", nargs="*", default=list(NETS), choices=NETS, metavar="NET")
    parser.add_argument("--contestants", nargs="*", default=[*CONTESTANTS][:3], choices=CONTESTANTS)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--small", action="store_true", help="the smallest sizes")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--steady", type=int, default=10, help="steps that are run after the ten")
    parser.add_argument("--python", nargs="*", default=[], help="further interpreters to look in")
    parser.add_argument("--verbose", action="store_true", help="each step, and errors")
    parser.add_argument("--write", metavar="PAGE", nargs="?", const=str(PAGE))
    parser.add_argument("--work", choices=CONTESTANTS, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.work:
        work(args.work, args.only[0], args.small, args.steady)
        return
    lines = [
        f"{machine.description()}; threads: {args.threads}; load {machine.load():.1f}",
        "",
        f"{'':<30}"
        + "".join(f"{each:>10}" for each in COLUMNS)
        + f"   {', '.join(compared_columns(args))} by torch's",
    ]
    print("\n".join(lines), flush=True)
    for name in args.only:
        lines += row(name, args)
        print("\n".join(lines[-len(args.contestants) :]), flush=True)
    if args.write:
        part = "large" if args.threads == 1 else f"large, {args.threads} threads"
        replace_part(Path(args.write), part, block(lines))


if __name__ == "__main__":
    main()
