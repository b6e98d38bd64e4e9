"""Models and trainings that paddle 2.6 saved, with what it computed: what becomes of them here.

``tests/jobs/saved_by_paddle2.py`` writes them; ``tests/data/paddle_2/saved_models.tar.xz`` holds
the small ones.
"""

import tarfile
from pathlib import Path

import numpy as np

import fluidlite as fluid
from fluidlite import paddle

RECORD = Path(__file__).parents[1] / "data" / "paddle_2" / "saved_models.tar.xz"
TOLERANCE = 1e-5  #: of the largest number that paddle computed, or of 1
FEED = {"x", "label"}


def unpacked(folder):
    """The folder of the recorded files.

    Args:
        folder: where to put them.
    """
    with tarfile.open(RECORD) as archive:
        archive.extractall(folder, filter="data")
    return folder


def models(folder, *beginnings):
    """The paths of models without their endings, in order; those with such names."""
    paths = [str(path)[: -len(".npz")] for path in sorted(Path(folder).glob("*.npz"))]
    begins = [path for path in paths if Path(path).name.startswith(beginnings or "")]
    return [path for path in begins if not path.endswith(".training")]


def trainings(folder, *names):
    """The paths of trainings without their endings, in order."""
    endings = len(".training.npz")
    paths = [str(path)[:-endings] for path in sorted(Path(folder).glob("*.training.npz"))]
    return [path for path in paths if not names or Path(path).name.split(".")[1] in names]


def known(path):
    """What a model was fed and what it computed, in order."""
    with np.load(path + ".npz") as arrays:
        sides = [
            [arrays[name] for name in sorted(arrays.files, key=_place) if name.startswith(side)]
            for side in ("in", "out")
        ]
    return sides


def _place(name):
    return int("".join(filter(str.isdigit, name)) or 0)


def off(found, wanted):
    """How far an array is from the recorded one, or what else differs."""
    found = np.asarray(found)
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        return f"{found.dtype}{list(found.shape)}, expected {wanted.dtype}{list(wanted.shape)}"
    if not wanted.size:
        return None
    apart = np.abs(found.astype("float64") - wanted).max()
    bound = TOLERANCE * max(1.0, float(np.abs(wanted).max()))
    return None if apart <= bound else f"off by {apart:.2g}, expected at most {bound:.2g}"


def difference(path):
    """What the layer of a model computes otherwise; None where that is nothing."""
    inputs, wanted = known(path)
    results = paddle.jit.load(path)(*map(paddle.to_tensor, inputs))
    listed = results if isinstance(results, (list, tuple)) else [results]
    return _first(zip(listed, wanted, strict=True))


def _first(pairs):
    return next((wrong for found, wanted in pairs if (wrong := off(found, wanted))), None)


def program(path):
    """The program of a file."""
    return fluid.Program.parse_from_string(Path(path).read_bytes())


def difference_of_training(path):
    """What a training computes otherwise: its losses, or what it leaves; None where that is
    nothing.
    """
    main, startup = program(path + ".main.pdmodel"), program(path + ".startup.pdmodel")
    read = {name for op in main.global_block().ops for name in op.input_arg_names}
    arrays = dict(np.load(path + ".training.npz"))
    scope, executor = fluid.Scope(), fluid.Executor()
    with fluid.scope_guard(scope):
        executor.run(startup)
        for key, value in arrays.items():
            if key.startswith("before/"):
                scope.find_var(key.partition("/")[2]).get_tensor().set(value, fluid.CPUPlace())
        feed = {name: arrays[name] for name in FEED}
        losses = [
            executor.run(main, feed=feed, fetch_list=[str(arrays["loss"])])[0]
            for _ in arrays["losses"]
        ]
    pairs = [(np.array(losses), arrays["losses"])]
    for key, value in arrays.items():
        name = key.partition("/")[2]
        if key.startswith("after/") and name in read:
            pairs.append((scope.find_var(name).get_tensor(), value))
    return _first(pairs)
