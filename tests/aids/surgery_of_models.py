"""Every saved model of the tests' data, cut, patched, folded and pruned, its norms folded and
channels cut out: what the parts compute, here and as ONNX models.

``python tests/aids/surgery_of_models.py`` tries all of them and says what ONNX has no form for.
"""

import argparse
import contextlib
import io
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
from surgery_of_channels import narrowed, without_norms
from surgery_sources import sources

import fluidlite as fluid
from fluidlite import transform
from fluidlite.errors import FluidError, UnsupportedError
from fluidlite.ground.values import bare

#: the last one leaves other values in the scope
FORMS = ("whole", "cut", "patched", "folded", "pruned", "without norms", "narrowed")
TOLERANCE = 1e-4  #: of the largest number, or of 1


def middle(program, fetches):
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
    """The programs that a model becomes, each with what it gives: they run one after the other.
    None where a model has nothing of the kind.
    """
    if form == "whole":
        return [(program, fetches)]
    if form == "pruned":
        return [(program.pruned(list(feed), fetches), fetches)]
    if form == "folded":
        frozen = transform.freeze(program, scope=fluid.global_scope())
        return [(transform.fold_constants(frozen, keep=fetches), fetches)]
    if form == "without norms":
        changed = without_norms(program, fetches)
        return changed and [(changed, fetches)]
    between = middle(program, fetches)
    if form == "patched":
        names = {between or fetches[0]: "the new name"}
        changed = transform.rename(program, names)
        patch = transform.Patch.parse(str(transform.make_patch(program, changed)))
        named = [names.get(name, name) for name in fetches]
        return [(transform.apply_patch(patch, program), named)]
    if between is None:
        return [(transform.cut(program, list(feed), fetches), fetches)]
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
    """What is wrong: form and "here" or "onnx" -> text; for "no form" what ONNX lacks."""
    wrong = {}
    with fluid.scope_guard(fluid.Scope()):
        exe = fluid.Executor()
        program, feed, fetches, wanted = load(exe)
        if wanted is None:
            wanted = run_here([(program, fetches)], exe, feed)
        for form in FORMS:
            try:
                if form == "narrowed":
                    known = narrowed(program, lambda p: run_here([(p, fetches)], exe, feed))
                    parts, wanted = ([(known[0], fetches)], known[1]) if known else (None, None)
                else:
                    parts = parts_of(form, program, feed, fetches)
                if parts is None:
                    continue
                here = compared(run_here(parts, exe, feed), wanted)
            except (FluidError, ValueError) as error:
                here = f"{type(error).__name__}: {error}"
            if here:
                wrong[form, "here"] = here
                continue
            where = "onnx"
            try:
                there = compared(run_in_onnx(parts, feed, str(Path(folder) / "model.onnx")), wanted)
            except UnsupportedError as error:
                there, where = str(error).splitlines()[1].strip(), "no form"
            except Exception as error:
                there = f"{type(error).__name__}: {error}"
            if there:
                wrong[form, where] = there
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", help="of models that begin so; all")
    args = parser.parse_args()
    counts = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for name, load in sources(Path(folder)).items():
            if args.names and not name.startswith(tuple(args.names)):
                continue
            with contextlib.redirect_stderr(io.StringIO()):
                wrong = tried(load, folder)
            lacking = {text for (_, where), text in wrong.items() if where == "no form"}
            faults = {key: str(text)[:300] for key, text in wrong.items() if key[1] != "no form"}
            counts["faults" if faults else "no form in ONNX" if lacking else "right"] += 1
            for text in (*sorted(lacking), *faults.items()):
                print(f"{name}: {text}", flush=True)
    print(dict(counts))


if __name__ == "__main__":
    main()
