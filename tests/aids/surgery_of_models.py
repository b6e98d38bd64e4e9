"""Every saved model of the tests' data, cut, patched, folded and pruned: what the parts compute,
here and as ONNX models.

``python tests/aids/surgery_of_models.py`` tries all of them and says what ONNX has no form for.
"""

import argparse
import base64
import contextlib
import gzip
import io
import json
import tempfile
from pathlib import Path

import models_of_paddle2
import numpy as np
import recorded_models

import fluidlite as fluid
from fluidlite import transform
from fluidlite.errors import FluidError, UnsupportedError
from fluidlite.ground.values import bare

DATA = Path(__file__).parents[1] / "data"
FORMS = ("whole", "cut", "patched", "folded", "pruned")
TOLERANCE = 1e-4  #: of the largest number, or of 1


def array_of(recorded):
    """An array that a file of JSON holds: element type, shape, elements."""
    dtype, shape, elements = recorded
    if dtype.startswith("complex"):
        return array_of(elements).view(dtype).reshape(shape)
    return np.asarray(elements, dtype).reshape(shape)


def sources(folder):
    """Name of a model -> a function of an executor that loads it into the global scope: its
    program, what it is fed, what it gives, and what the real thing computed.

    Args:
        folder: where to unpack files.
    """

    def of_fluid(name):
        def load(exe):
            program, feeds, outputs = recorded_models.loaded(name, folder / "fluid", exe)
            return program, feeds, program_fetches(program), outputs

        return load

    def of_files(path, fed, wanted):
        def load(exe):
            path_, values = path if isinstance(path, tuple) else (path, None)
            where = (None, exe, path_, values) if isinstance(path, tuple) else (path_, exe)
            program, feeds, fetches = fluid.io.load_inference_model(*where)
            return program, dict(zip(feeds, fed)), [each.name for each in fetches], wanted

        return load

    found = {n: of_fluid(n) for n in (*recorded_models.MODELS, *recorded_models.OF_PADDLE2)}
    unpacked = models_of_paddle2.unpacked(folder)
    for path in models_of_paddle2.models(unpacked):
        found[Path(path).name] = of_files(path, *models_of_paddle2.known(path))
    packed = gzip.decompress((DATA / "paddle_3" / "programs.json.gz").read_bytes())
    for name, model in json.loads(packed).items():
        held = model["values"]
        files = (model["program"].encode(), held and base64.b64decode(held))
        sides = (list(map(array_of, model[side])) for side in ("fed", "fetched"))
        found[f"paddle_3.{name}"] = of_files(files, *sides)
    return found


def program_fetches(program):
    """What the operators of a program fetch."""
    return [op.input("X")[0] for op in program.global_block().ops if op.type == "fetch"]


def middle(program, feed, fetches):
    """A value half-way; None where there is none."""
    block = program.global_block()
    names = [
        name
        for op in block.ops
        for name in op.output_arg_names
        if op.type not in ("feed", "fetch") and name in block.vars and name not in fetches
    ]
    read = {name for op in block.ops for name in op.input_arg_names}
    once = [n for n in names if n in read and names.count(n) == 1]
    tensors = [
        n
        for n in once
        if block.vars[n].has_shape
        and block.vars[n].kind.name == "LOD_TENSOR"
        and not block.vars[n].persistable
    ]
    return tensors[len(tensors) // 2] if tensors else None


def parts_of(form, program, feed, fetches):
    """The programs that a model becomes, each with what it gives: they run one after the other."""
    if form == "whole":
        return [(program, fetches)]
    if form == "pruned":
        return [(program.pruned(list(feed), fetches), fetches)]
    if form == "folded":
        frozen = transform.freeze(program, scope=fluid.global_scope())
        return [(transform.fold_constants(frozen, keep=fetches), fetches)]
    between = middle(program, feed, fetches)
    if between is None:
        return []
    if form == "patched":
        changed = transform.rename(program, {between: "value between"})
        patch = transform.Patch.parse(str(transform.make_patch(program, changed)))
        return [(transform.apply_patch(patch, program), fetches)]
    first = transform.cut(program, list(feed), [between])
    second = transform.cut(program, [*feed, between], fetches)
    return [(first, [between]), (second, fetches)]


def compared(found, wanted):
    """How arrays differ from those that the real thing computed; None where they do not."""
    for mine, right in zip(found, wanted, strict=True):
        mine, right = np.asarray(bare(mine)), np.asarray(bare(right))
        if mine.shape != right.shape or mine.dtype != right.dtype:
            return f"{mine.dtype}{mine.shape}, expected {right.dtype}{right.shape}"
        scale = np.abs(right[np.isfinite(right)]).max(initial=1.0) if right.size else 1.0
        if not np.allclose(mine, right, TOLERANCE, TOLERANCE * float(scale), equal_nan=True):
            return "other numbers"
    return None


def fed_to(program, held):
    """What is fed to a part: a value that is computed there, too, has another name in it."""
    names = [v.name for v in program.list_vars() if v.is_data or v.name in held]
    known = {name: held.get(name, held.get(name.partition("@VALUE_")[0])) for name in names}
    return {name: value for name, value in known.items() if value is not None}


def run_here(parts, exe, feed):
    """What parts compute one after the other."""
    held = dict(feed)
    for program, fetches in parts:
        known = fed_to(program, held)
        held.update(zip(fetches, exe.run(program, known, fetches, return_numpy=False)))
    return [held[name] for name in parts[-1][1]]


def run_in_onnx(parts, feed, file):
    """As of :func:`run_here`, by onnxruntime."""
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    held = dict(feed)
    for program, fetches in parts:
        known = fed_to(program, held)
        fluid.onnx.export(program, file, known, fetches)
        session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
        given = {each.name for each in session.get_inputs()}
        fed = {n: np.asarray(bare(v)) for n, v in known.items() if n in given}
        held.update(zip(fetches, session.run(None, fed), strict=True))
    return [held[name] for name in parts[-1][1]]


def tried(load, folder):
    """What came of a model: form -> "here" or "onnx" -> what is wrong; "no form: ..." where ONNX
    has none for it.
    """
    outcome = {}
    with fluid.scope_guard(fluid.Scope()):
        exe = fluid.Executor()
        program, feed, fetches, wanted = load(exe)
        for form in FORMS:
            wrong = outcome[form] = {}
            try:
                parts = parts_of(form, program, feed, fetches)
                if not parts:
                    wrong["here"] = "nothing between"
                    continue
                here = compared(run_here(parts, exe, feed), wanted)
            except (FluidError, ValueError) as error:
                here = f"{type(error).__name__}: {error}"
            if here:
                wrong["here"] = here
                continue
            try:
                there = compared(run_in_onnx(parts, feed, str(Path(folder) / "model.onnx")), wanted)
            except UnsupportedError as error:
                there = f"no form: {error}"
            except Exception as error:
                there = f"{type(error).__name__}: {error}"
            if there:
                wrong["onnx"] = there
    return outcome


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", help="of models that begin so; all")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name, load in sources(Path(folder)).items():
            if args.names and not name.startswith(tuple(args.names)):
                continue
            with contextlib.redirect_stderr(io.StringIO()):
                outcome = tried(load, folder)
            faults = {
                f"{form}, {where}": " | ".join(str(text).splitlines()[:3])
                for form, wrong in outcome.items()
                for where, text in wrong.items()
            }
            print(name, faults or "right", flush=True)


if __name__ == "__main__":
    main()
