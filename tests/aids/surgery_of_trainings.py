"""Every saved training of the tests' data under transformations: what it loses, step by step.

``python tests/aids/surgery_of_trainings.py`` tries all of them.
"""

import argparse
import base64
import gzip
import json
import tempfile
import warnings
from collections import Counter, namedtuple
from pathlib import Path

import models_of_paddle2
import numpy as np
from recorded_models import array_of

import fluidlite as fluid
from fluidlite import transform
from fluidlite.errors import FluidError
from fluidlite.ground.values import bare

DATA = Path(__file__).parents[1] / "data"
TOLERANCE = 1e-4  #: of the largest number

#: a program, what is in the scope first, what each step is fed, what is fetched, and what the real
#: thing gave at each step
Training = namedtuple("Training", "program start feed fetch wanted")


def _packed(name):
    return json.loads(gzip.decompress((DATA / name).read_bytes()))


def _program(text):
    return fluid.Program.parse_from_string(base64.b64decode(text))


def _array(entry):
    return array_of((entry["dtype"], entry["shape"], entry["values"]))


def _arrays(entries, lengths):
    values = {name: _array(entry) for name, entry in entries.items()}
    return values | {
        name: fluid.create_lod_tensor(values[name], lod, None) for name, lod in lengths.items()
    }


def of_fluid():
    """Name -> training, of fluid 1.8: whole ones, and single operators with their gradients."""
    found = {}
    for name, case in _packed("exchanged_trainings.json.gz").items():
        start, feed = _arrays(case["begin"], {}), _arrays(case["feed"], case["lod"])
        wanted = [[np.array([loss], "float32")] for loss in case["losses"]]
        found[name] = Training(_program(case["program"]), start, feed, [case["fetch"]], wanted)
    for name, case in _packed("exchanged_gradients.json.gz").items():
        start, wanted = _arrays(case["feed"], case["lod"]), _arrays(case["fetch"], {})
        found[f"gradient.{name}"] = Training(
            _program(case["program"]), start, {}, list(wanted), [list(wanted.values())]
        )
    return found


def of_paddle2(folder):
    """As of :func:`of_fluid`, of paddle 2.6."""
    found = {}
    for path in models_of_paddle2.trainings(models_of_paddle2.unpacked(folder)):
        main, startup = (
            models_of_paddle2.program(f"{path}.{which}.pdmodel") for which in ("main", "startup")
        )
        arrays, scope = dict(np.load(path + ".training.npz")), fluid.Scope()
        with fluid.scope_guard(scope):
            fluid.Executor().run(startup)
        start = {
            v.name: np.array(scope.value(v.name)) for v in startup.list_vars() if v.persistable
        }
        before = {n.partition("/")[2]: v for n, v in arrays.items() if n.startswith("before/")}
        feed = {name: arrays[name] for name in models_of_paddle2.FEED}
        wanted = [[np.reshape(loss, np.shape(loss))] for loss in arrays["losses"]]
        found[Path(path).name] = Training(
            main, {**start, **before}, feed, [str(arrays["loss"])], wanted
        )
    return found


def gradients_of_paddle2():
    """As of :func:`of_fluid`, of single operators of paddle 2.6 with their gradients."""
    found = {}
    record = json.loads((DATA / "paddle_2" / "gradients.json").read_text())
    feed = {"x": np.array(record["x"], "float32")}
    for name, case in record["given"].items():
        wanted = [[np.array(case["gradient"], "float32")]]
        found[f"gradient of {name}"] = Training(
            _program(case["program"]), {}, feed, ["x@GRAD"], wanted
        )
    return found


def losses_of(training, programs):
    """What a training gives step by step.

    Args:
        training: whose.
        programs: do a step; stages of :func:`transform.split` run one after the other.
    """
    scope, exe, steps = fluid.Scope(), fluid.Executor(), []
    for name, value in training.start.items():
        scope.var(name).value = bare(value).copy() if hasattr(value, "dtype") else value
    with fluid.scope_guard(scope):
        for _ in training.wanted:
            args = dict(training.feed), training.fetch
            if isinstance(programs, list):
                steps.append(transform.run_stages(exe, programs, *args))
            else:
                steps.append(exe.run(programs, *args))
    return steps


def apart(steps, wanted):
    """How steps differ from what they should give; None where they do not."""
    for number, (mine, right) in enumerate(zip(steps, wanted, strict=True)):
        for one, other in zip(mine, right, strict=True):
            one = np.asarray(bare(one))
            scale = np.abs(other).max(initial=1e-2)
            if one.size != other.size:
                return f"step {number}: shape {one.shape}, expected {other.shape}"
            if not np.allclose(one.ravel(), other.ravel(), TOLERANCE, TOLERANCE * float(scale)):
                return f"step {number}: {one.ravel()[:3]}, expected {other.ravel()[:3]}"
    return None


def renamed(training):
    """All variables have other names, there and back by a patch."""
    program = training.program
    held = {*training.feed, *training.start, *training.fetch}
    names = {v.name for v in program.list_vars()}
    there = {name: f"{name}@NEW" for name in names - held if "@GRAD" not in name}
    changed = transform.rename(program, there)
    patch = transform.Patch.parse(str(transform.make_patch(program, changed)))
    return transform.apply_patch(patch, program)


def boxed(training):
    """Two neighbours in a block of their own."""
    for at in range(len(training.program.global_block().ops) - 2):
        try:
            boxed = transform.outline(training.program, range(at, at + 2))
        except FluidError:
            continue
        if all(name in boxed.global_block().vars for name in training.fetch):
            return boxed
    return training.program


def merged(training):
    """With the changes of two others: new names, and other random numbers."""
    other = training.program.clone()
    other.random_seed = 5
    return transform.merge3(training.program, renamed(training), other)


def expanded(training):
    try:
        return transform.expand(training.program)
    except fluid.errors.ArgumentError:  # of unknown sizes
        return training.program


FORMS = {
    "whole": lambda t: t.program,
    "text": lambda t: fluid.Program.parse(str(t.program)),
    "renamed": renamed,
    "boxed": boxed,
    "merged": merged,
    "expanded": expanded,
    "folded": lambda t: transform.fold_constants(t.program, keep=t.fetch),
    "shared": lambda t: transform.share(t.program, t.fetch),
    "simplified": lambda t: transform.simplify(t.program, t.fetch),
    "split": lambda t: transform.split(t.program, 2, t.fetch),
    "specialized": lambda t: transform.specialize(
        t.program, shapes={n: v.shape for n, v in t.feed.items() if isinstance(v, np.ndarray)}
    ),
}


def tried(training, forms=tuple(FORMS)):
    """What is wrong, by form."""
    wrong = {}
    for form in forms:
        try:
            how = apart(losses_of(training, FORMS[form](training)), training.wanted)
        except Exception as error:
            how = f"{type(error).__name__}: {error}"
        if how:
            wrong[form] = how[:400]
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", help="of trainings that begin so; all")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    counts = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for name, training in {
            **of_fluid(),
            **gradients_of_paddle2(),
            **of_paddle2(folder),
        }.items():
            if args.names and not name.startswith(tuple(args.names)):
                continue
            wrong = tried(training)
            counts["faults" if wrong else "right"] += 1
            for item in wrong.items():
                print(name, *item, flush=True)
    print(dict(counts))


if __name__ == "__main__":
    main()
