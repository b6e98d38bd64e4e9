"""Random programs: a recipe for each seed, what it builds, and what is fed and fetched."""

import warnings
import zlib
from collections import namedtuple

import numpy as np

from . import dense, flow, images, sequences, training
from .net import Net, numbers

#: what holds for a whole program
Header = namedtuple("Header", "width image sequence large stopped_data whole random optimizer")
#: a header, and pieces: their names and the numbers that they make their choices by
Recipe = namedtuple("Recipe", "seed header pieces")
#: what a recipe builds; ``runs`` are pairs of rows in a batch and names to fetch
Built = namedtuple("Built", "main startup loss feeds runs parameters")

FAMILIES = {"dense": dense, "images": images, "sequences": sequences, "flow": flow}
PIECES = {
    f"{family}.{piece.__name__}": (piece, weight)
    for family, module in FAMILIES.items()
    for piece, weight in module.PIECES.items()
}
MOST = 60  #: operators that layers make, about, before those backward


def recipe(seed, whole=True):
    """What a seed stands for.

    Args:
        seed: a number.
        whole: with what can be compared between our own ways of running only: random numbers, and
            gradients that the real system is known to get wrong.
    """
    rng = numbers(seed)
    families = rng.choice(
        [
            ["dense"],
            ["dense", "flow"],
            ["dense", "images"],
            ["dense", "images", "flow"],
            ["dense", "sequences"],
            ["dense", "sequences", "flow"],
            ["dense", "images", "sequences", "flow"],
        ]
    )
    header = Header(
        width=rng.choice([4, 6, 8]),
        image=rng.choice([(2, 8, 8), (4, 6, 6), (3, 7, 9), (4, 12, 12)]),
        sequence=rng.choice([(3, 6), (4, 4), (7, 4)]),
        large=rng.random() < 0.1,
        stopped_data=rng.random() < 0.6 and whole,
        whole=whole,
        random=whole,
        optimizer=training.kind_of_optimizer(rng, whole),
    )
    chosen = [name for name in sorted(PIECES) if name.split(".")[0] in families]
    bag = [
        name
        for name in chosen
        for _ in range(PIECES[name][1] * (2 if not name.startswith("dense") else 1))
    ]
    bag += [name for name in chosen if not name.startswith(("dense", "flow"))] * 2
    pieces = [(rng.choice(bag), rng.randrange(1 << 30)) for _ in range(rng.randrange(8, 24))]
    return Recipe(seed, header, tuple(pieces))


def build(fluid, recipe, dtype="float32"):
    """The programs of a recipe.

    Args:
        fluid: fluidlite, or the real one.
        recipe: it.
        dtype: element type of numbers.
    """
    main, startup = fluid.Program(), fluid.Program()
    main.random_seed = startup.random_seed = 1 + recipe.seed % 1000
    net = Net(fluid, recipe.header, dtype)
    rng = numbers(recipe.seed + 1)
    with fluid.unique_name.guard(), fluid.program_guard(main, startup):
        for name, number in recipe.pieces:
            if len(main.global_block().ops) < MOST:
                PIECES[name][0](net, numbers(number))
        if rng.random() < 0.8 or not recipe.header.whole:
            training.classes(net, rng)
        loss = training.loss_of(net, rng)
        values = [value.var.name for value in net.values]
        if recipe.header.optimizer:
            with warnings.catch_warnings():  # some losses reach no parameter
                warnings.filterwarnings("ignore", ".*no trainable parameter reaches")
                training.optimizer(net, rng).minimize(loss)
        else:
            fluid.backward.append_backward(loss)
    parameters = [p.name for p in main.all_parameters()]
    known = main.global_block().vars
    slopes = [n + "@GRAD" for n in parameters if n + "@GRAD" in known]
    if not recipe.header.whole:  # the real system does not fetch gradients of some rows
        slopes = [n for n in slopes if not n.startswith(("embedding", "table"))]
    values = [name for name in values + net.interesting if name in known]
    runs = _runs(rng, loss.name, values, slopes, parameters)
    return Built(main, startup, loss.name, net.feeds, runs, parameters)


def _runs(rng, loss, values, slopes, parameters):
    """What is fed and fetched in each run: rows, and names."""

    def some(names, most):
        return [rng.choice(names) for _ in range(rng.randrange(most + 1))] if names else []

    small, other = rng.choice([(4, 2), (3, 5), (6, 4), (8, 3)])
    first = [loss] + some(values, 2) + some(slopes, 2)
    second = some(values, 3) + [loss] + some(slopes, 1) + some(parameters, 2)
    third = [loss, loss] + some(parameters, 1)
    order = rng.choice(
        [
            [(small, first)] * 4 + [(other, first)] * 2,
            [(small, first)] * 3 + [(small, second)] * 3,
            [(small, third)] * 2 + [(other, third)] * 2 + [(small, third), (other, third)],
            [(small, []), (small, []), (small, first), (small, []), (small, first), (small, first)],
            [(small, first), (other, second)] * 3,
        ]
    )
    return order


def batch(built, seed, run, dtype="float32"):
    """What is fed in a run."""
    rows = built.runs[run][0]
    feed = {}
    for name, (shape, kind, bound) in sorted(built.feeds.items()):
        draw = np.random.RandomState(
            (seed * 131 + run * 17 + zlib.crc32(name.encode())) % (1 << 31)
        )
        sizes = [rows if size is None else size for size in shape]
        if bound:
            feed[name] = draw.randint(0, bound, sizes).astype(kind)
        else:
            feed[name] = draw.uniform(-1, 1, sizes).astype(kind)
    return feed


def start_of(name, shape, seed):
    """The value that a parameter starts from."""
    draw = np.random.RandomState((seed * 31 + zlib.crc32(name.encode())) % (1 << 31))
    value = draw.uniform(-1, 1, shape)
    if len(shape) > 1:
        return value / np.sqrt(np.prod(shape[1:]) if len(shape) == 4 else shape[0]) * 1.5
    if name.endswith(".b_0") or "b_" in name:
        return value * 0.3
    return 1 + value * 0.3
