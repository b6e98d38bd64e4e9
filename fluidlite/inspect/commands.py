"""The commands ``fluidlite draw``, ``summary``, ``diff`` and ``run``: programs in files, looked at
from a shell.

Each takes what ``fluidlite.io.read`` knows, program texts, program files, saved models, and models
of ONNX.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import FeedError, FileError, UsageError, suggestion
from ..ground.console import complain, say, say_json
from ..ground.files import Transaction, write_text
from ..ground.options import add_repeated, end_with
from ..ground.quantities import quantity
from ..ground.quoting import printable
from ..ground.values import LoDTensor, SelectedRows
from ..io.any_file import read_file
from ..io.arrays import write_npz
from ..io.contents import Contents, read
from ..ir.analysis import fed_names
from ..ir.foreign import allowed
from ..ir.program import Program
from ..ir.variable import Variable
from ..opdef.effect import KINDS
from ..runtime.executor import Executor
from ..scope import Scope
from ..transform.patches import make_patch
from ..transform.saved_models import read_model
from ..transform.three_way_values import is_equal_value
from .diff import Difference, diff
from .exports import to_dot, to_mermaid
from .folding import VISIBLE
from .html import to_html
from .limits import GIB, little_memory
from .picture import draw
from .planning import PLAN_EXAMPLES, add_arguments, described, plan_of
from .sequence_options import Lengths, add_sequences, in_sequences, lengths_of, one_sequence
from .stepping import Trace, trace
from .summary import summary

_DRAW = """\
examples:
  fluidlite draw __model__ -o page.html       a page to search and click
  fluidlite draw net.txt -o net.svg           a picture; also .png, .dot, .mmd (Mermaid)
  fluidlite draw model_folder/ -o net.mmd --max-nodes 20
"""
_SUMMARY = """\
examples:
  fluidlite summary net.txt --batch-size 32
  fluidlite summary __model__ --json | jq .parameters
"""
_DIFF = """\
The exit status is 0 when the programs are the same, 1 when they differ, 2 when there was trouble.

examples:
  fluidlite diff before.txt after.txt
  fluidlite diff a/__model__ b/__model__ --html differences.html
  fluidlite diff --patch before/ after/ > x.patch      to be reviewed, and applied: fluidlite apply
"""
_RUN = """\
A value is @FILE (.npy, or .npz:NAME), JSON, or one of zeros, ones, random: of the declared shape,
with 1 for sizes that are unknown.

A script of fluid 1.8 or Paddle 2 runs as Python would run it:
  fluidlite run [--strict] [--synthetic-data] [--force] [--allow KIND] [--paddle VERSION]
                SCRIPT.py [ARGUMENT ...]

examples:
  fluidlite run model_folder/ --feed image=@image.npy
  fluidlite run folder/net --feed x=random    Paddle 2 or 3: folder/net.pdmodel or net.json
  fluidlite run model/ --feed words=[[1],[2],[3]] --sequences words=2,1
  fluidlite run net.txt --feed x=random
  fluidlite run net.txt --feed x=[[1,2],[3,4]] --fetch y --json
  fluidlite run net.txt --startup startup.txt --feed x=@data.npz:x --fetch loss --save out.npz
  fluidlite run net.txt --feed x=@x.npy --trace
  fluidlite run net.txt --allow files         what it reads and writes: fluidlite scan net.txt
"""


_FILE = "a program in a file, or the folder of a saved model"


def add_draw(parser: argparse.ArgumentParser) -> None:
    """Say what ``fluidlite draw`` takes."""
    end_with(parser, _DRAW)
    parser.add_argument("path", metavar="FILE", help=_FILE)
    parser.add_argument(
        "-o", "--output", required=True, help="its ending says what: .html .svg .png .dot .mmd"
    )
    parser.add_argument("--max-nodes", type=int, help="what is more is folded")
    parser.add_argument("--title", default="", help="what stands above a page")
    parser.set_defaults(run=_draw)


def add_summary(parser: argparse.ArgumentParser) -> None:
    """Say what ``fluidlite summary`` takes."""
    end_with(parser, _SUMMARY)
    parser.add_argument("path", metavar="FILE", help=_FILE)
    parser.add_argument("--batch-size", type=int, default=1, help="each size of -1")
    parser.add_argument("--json", action="store_true", help="print it for scripts")
    parser.set_defaults(run=_summary)


def add_diff(parser: argparse.ArgumentParser) -> None:
    """Say what ``fluidlite diff`` takes."""
    end_with(parser, _DIFF)
    parser.add_argument("before", metavar="A", help="a program, or a saved model")
    parser.add_argument("after", metavar="B", help="the other one")
    parser.add_argument("--json", action="store_true", help="print it for scripts")
    parser.add_argument("--html", metavar="FILE", help="write them in colours, too")
    parser.add_argument(
        "--patch", action="store_true", help="print a patch, which fluidlite apply takes"
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write the patch there")
    parser.set_defaults(run=_diff)


def add_run(parser: argparse.ArgumentParser) -> None:
    """Say what ``fluidlite run`` takes, with a program."""
    end_with(parser, _RUN)
    parser.add_argument("path", metavar="FILE", help=f"{_FILE}, or a script")
    about = "what a variable is fed; once for each"
    add_repeated(parser, "--feed", about, metavar="NAME=VALUE")
    about = "a variable to be printed; what the program fetches where none is named"
    add_repeated(parser, "--fetch", about, metavar="NAME")
    add_sequences(parser, "it is fed")
    parser.add_argument("--startup", metavar="FILE", help="a program to run before")
    about = "an effect that the program may have"
    add_repeated(parser, "--allow", about, choices=[*KINDS])
    parser.add_argument("--save", metavar="FILE.npz", help="write what was fetched")
    parser.add_argument("--json", action="store_true", help="print it for scripts")
    parser.add_argument("--trace", action="store_true", help="print every value on the way")
    parser.set_defaults(run=_run)


def add_plan(parser: argparse.ArgumentParser) -> None:
    """Say what ``fluidlite plan`` takes."""
    end_with(parser, PLAN_EXAMPLES)
    add_arguments(parser)
    parser.set_defaults(run=_plan)


def _read(path: str) -> tuple[Contents, Program]:
    contents = read_file(path)
    if contents.program is None:
        raise FileError(f"{path}: expected a program, found {contents.kind}")
    return contents, contents.program


# -- draw, summary, diff ---------------------------------------------------------------------------


def _draw(given: argparse.Namespace) -> int:
    _, program = _read(given.path)
    nodes = given.max_nodes
    ending = Path(given.output).suffix.lower()
    if ending == ".html":
        title = given.title or Path(given.path).stem
        to_html(program, given.output, title=title, visible=nodes or VISIBLE)
    elif ending == ".dot":
        write_text(given.output, to_dot(program))
    elif ending in (".mmd", ".mermaid"):
        text = to_mermaid(program) if nodes is None else to_mermaid(program, nodes)
        write_text(given.output, text)
    elif ending in (".svg", ".png"):
        draw(program, given.output, nodes or VISIBLE)
    else:
        raise UsageError(
            f"expected the name of an .html, .svg, .png, .dot or .mmd file, got {given.output!r}"
        )
    say(f"drew {given.output}")
    return 0


def _summary(given: argparse.Namespace) -> int:
    _, program = _read(given.path)
    report = summary(program, given.batch_size)
    if given.json:
        say_json(report.to_dict(), indent=2)
    else:
        say(report)
    return 0


def _diff(given: argparse.Namespace) -> int:
    if given.patch or given.output:
        return _patch(given)
    try:
        difference = diff(_read(given.before)[1], _read(given.after)[1])
    except FileError as error:
        complain(str(error))
        return 2
    if given.html:
        page = f"<!DOCTYPE html><meta charset='utf-8'><title>diff</title>{difference.to_html()}\n"
        write_text(given.html, page, "backslashreplace")
    if given.json:
        say_json(_as_json(difference), indent=2)
    else:
        say(difference)
    return 1 if difference else 0


def _patch(given: argparse.Namespace) -> int:
    if given.json or given.html:
        raise UsageError("a patch is a text: leave out --json and --html")
    try:
        before, after = read_model(given.before), read_model(given.after)
    except FileError as error:
        complain(str(error))
        return 2
    patch = make_patch(before.program, after.program)
    both = before.values.keys() & after.values.keys()
    other = [n for n in sorted(both) if not is_equal_value(before.values[n], after.values[n])]
    if other:
        listed = ", ".join(map(printable, other[:5])) + (", ..." if len(other) > 5 else "")
        complain(f"values differ, which no patch holds: {listed}")
    if given.output:
        write_text(given.output, str(patch))
        say(f"wrote {given.output}: {quantity(len(patch.hunks), 'change')}")
    else:
        say(patch, end="")
    return 1 if patch or other else 0


def _as_json(found: Difference) -> dict[str, Any]:
    words = {"+": "added", "-": "left out", "~": "changed"}
    return {
        "equal": not found,
        "differences": [
            {"what": line.what, "change": words[line.mark], "block": line.block, "text": line.text}
            for line in found.lines
            if line.mark in words
        ],
    }


def _plan(given: argparse.Namespace) -> int:
    contents, program = _read(given.path)
    scope = Scope()
    for name, value in contents.variables.items():
        scope.var(name).value = value
    if not 0 < given.limit < 1e9:
        raise UsageError(f"expected --limit to be a number of GiB, got {given.limit}")
    most = int(given.limit * GIB)
    with little_memory(most):
        plan = plan_of(
            program, scope, given.batch_size, given.fetch, given.passes, most, given.sequences
        )
    for line in described(plan, not given.no_stages):
        say(line)
    return 0


# -- run -------------------------------------------------------------------------------------------


def _run(given: argparse.Namespace) -> int:
    with allowed.guard(frozenset(given.allow)):
        contents, program = _read(given.path)
        startup = _read(given.startup)[1] if given.startup else None
    scope = Scope()
    exe = Executor()
    if startup is not None:
        exe.run(startup, scope=scope)
    for name, value in contents.variables.items():
        scope.var(name).value = value
    lengths = lengths_of(given.sequences, program.global_block().vars)
    feed = dict(_fed(text, program, lengths) for text in given.feed)
    _need_feeds(given, program, feed)
    if given.trace:
        found: Trace = trace(exe, program, feed, scope)
        say(found)
        return 0
    fetches = given.fetch or None
    values = exe.run(program, feed=feed, fetch_list=fetches, scope=scope, return_numpy=False)
    names = given.fetch or _fetched(program)
    results = {name: _array(value) for name, value in zip(names, values)}
    if given.save:
        with Transaction() as files, files.open(given.save.removesuffix(".npz") + ".npz") as file:
            write_npz(file, results)
    if given.json:
        say_json({name: _plain(array) for name, array in results.items()})
    else:
        for name, array in results.items():
            say(f"{printable(name)} {array.dtype}{list(array.shape)}")
            say(array)
    if not names:
        say("nothing was fetched: name variables by --fetch NAME")
    return 0


def _fetched(program: Program) -> list[str]:
    return [op.input("X")[0] for op in program.global_block().ops if op.type == "fetch"]


def _array(value: Any) -> Any:
    if isinstance(value, list):
        return np.stack([_array(each) for each in value])
    if isinstance(value, SelectedRows):
        return value.to_dense()
    return value.data if isinstance(value, LoDTensor) else value


def _plain(array: Any) -> dict[str, Any]:
    return {"dtype": str(array.dtype), "shape": list(array.shape), "values": array.tolist()}


def _fed(text: str, program: Program, lengths: Lengths) -> tuple[str, Any]:
    """The name and the value that ``NAME=VALUE`` says, with the lengths of its sequences."""
    name, equals, value = text.partition("=")
    known = program.global_block().vars
    if not equals:
        raise UsageError(f"expected --feed NAME=VALUE, got {text!r}")
    if name not in known:
        raise FeedError(f"the program has no variable {name!r} to feed{suggestion(name, known)}")
    levels = lengths.get(name)
    if value in _FILLED:
        return name, _filled(value, known[name], levels)
    if value.startswith("@"):
        return name, in_sequences(known[name], _from_file(value[1:], name), levels)
    try:
        plain = json.loads(value)
        array, numbers = np.array(plain, known[name].dtype.dtype), np.array(plain)
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        file = f"; for the file of that name write {name}=@{value}" if os.path.exists(value) else ""
        raise FeedError(
            f"expected the value of {name!r} to be JSON, @ and the name of a file, or one of "
            f"{', '.join(_FILLED)}, got {value:.60}: {error}{file}"
        ) from None
    wrong = numbers[array != numbers] if array.dtype.kind in "iub" else numbers[:0]
    if wrong.size:
        raise FeedError(
            f"variable {name!r} is of {known[name].dtype.plain}; expected numbers of that type, "
            f"got {wrong.reshape(-1)[0]}"
        )
    return name, in_sequences(known[name], array, levels)


def _need_feeds(given: argparse.Namespace, program: Program, feed: dict[str, Any]) -> None:
    """Say which words would feed what is not fed.

    Raises:
        UsageError: something is not fed.
    """
    block = program.global_block()
    wanted = fed_names(block)
    read = {name for op in block.ops for name in op.input_arg_names}
    wanted = wanted or [v.name for v in block.vars.values() if v.is_data and v.name in read]
    missing = [name for name in wanted if name not in feed]
    if missing:
        words = [
            *(f"--feed {text}" for text in given.feed),
            *(f"--feed {n}=zeros" for n in missing),
            *(f"--sequences {text}" for text in given.sequences),
        ]
        startup = [f"--startup {given.startup}"] if given.startup else []
        words += [*startup, *(f"--fetch {name}" for name in given.fetch)]
        raise UsageError(
            f"{given.path} needs --feed for: {', '.join(missing)}; for example: "
            f"fluidlite run {given.path} {' '.join(words)}"
        )


#: word -> what gives an array of a shape
_FILLED: dict[str, Callable[[list[int]], Any]] = {
    "zeros": np.zeros,
    "ones": np.ones,
    "random": lambda shape: np.random.default_rng(0).random(shape),
}


def _filled(word: str, variable: Variable, levels: list[list[int]] | None) -> Any:
    """A value of the declared shape; one sequence if no lengths are given."""
    shape = [1 if n < 0 else n for n in variable.shape]
    if levels is None and variable.lod_level:
        levels = one_sequence(variable, *shape[:1])
    if levels is not None:
        shape[:1] = [sum(levels[-1])]
    return in_sequences(variable, _FILLED[word](shape).astype(variable.dtype.dtype), levels)


def _from_file(path: str, name: str) -> Any:
    file, colon, member = path.rpartition(":")
    if colon and file.endswith(".npz"):
        path = file
    else:
        member = ""
    arrays = read(path).variables
    wanted = member or (name if name in arrays else "")
    if wanted and wanted in arrays:
        return arrays[wanted]
    if not wanted and len(arrays) == 1:
        return next(iter(arrays.values()))
    raise FeedError(
        f"{path} holds {', '.join(arrays) or 'no array'}; "
        f"say which of them {name!r} is: @{path}:NAME"
    )
