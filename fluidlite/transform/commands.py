"""The commands that change programs in files: ``fluidlite cut``, ``rename``, ``set-attr``,
``replace``, ``merge``, ``transform``, ``verify`` and ``apply``.

Each reads a program with the values of its variables, changes both, and writes them at once, to
another place or, with ``--in-place``, to where they were.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from ..errors import FileFormatError, FluidError, MergeConflictError, UsageError
from ..ground.console import complain, say
from ..ground.files import read_text
from ..ground.options import end_with
from ..ground.quantities import quantity
from ..ground.quoting import printable
from ..io.any_file import read_file
from ..io.contents import saved_names
from ..ir.literal import ELEMENT_TYPES
from ..ir.program import Program
from ..ir.variable import Variable
from .applying import apply_patch
from .attribute_values import set_attributes
from .checking import (
    ROUNDING,
    OutputCheck,
    compared,
    inputs_of,
    outputs_of,
    random_feeds,
    run_once,
    with_random_values,
)
from .cutting import cut
from .merging import merge, names_in_merge
from .named_passes import passes_of
from .naming import rename, renamed_states
from .patch_text import Patch
from .pipelines import Pipeline
from .replacing import replace
from .saved_models import (
    SavedModel,
    check_in_place,
    check_target,
    is_same_file,
    read_model,
    value_faults,
    write_in_place,
    write_model,
)
from .three_way import merge3
from .three_way_values import merge3_values

_MODEL = "a program in a file, or a saved model"
_CUT = """\
examples:
  fluidlite cut model/ --inputs image --outputs fc_0.tmp_2 -o part/
  fluidlite cut net.pdmodel --inputs relu_3.tmp_0 --outputs prob -o head.pdmodel --check
"""
_RENAME = """\
Gradients and the like are renamed with their variables. @FILE.json is an object of old and new
names.

examples:
  fluidlite rename model/ x=image fc_0.w_0=weight -o renamed/
  fluidlite rename model/ @names.json --in-place
"""
_SET_ATTR = """\
OPERATORS is a type, a variable that they write, a position in block 0, or BLOCK:POSITION.
A VALUE is JSON, an element type, or a text.

examples:
  fluidlite set-attr model/ dropout is_test=true -o test/
  fluidlite set-attr net.txt 0:7 scale=0.5 --in-place --check
"""
_REPLACE = """\
examples:
  fluidlite replace net.txt relu_0.tmp_0 tanh_0.tmp_0 -o other.txt
"""
_MERGE = """\
Without --base, the result does what A does, and then what B does; parameters of the same name are
shared, if they are equal; --shared alone shares none. With --base it has what both changed of
BASE: a three-way merge.
The exit status is 1 where changes clash.

examples:
  fluidlite merge encoder/ decoder/ --shared code=features -o both/
  fluidlite merge --base model/ mine/ yours/ -o merged/
"""
_TRANSFORM = """\
PASSES are names with options, in order: for_test, expand, fold_constants, share, simplify, and
those that --from FILE.py defines by transform.program_pass. That file is run.

examples:
  fluidlite transform model/ "for_test, simplify(exact=True)" -o simple/ --check
  fluidlite transform net.txt "mine(width=3)" --from passes.py --stages -o out.txt
"""
_VERIFY = """\
The exit status is 0 where all of them keep the rules, 1 where one does not.

examples:
  fluidlite verify model/ other/net.pdmodel
  fluidlite verify net.txt --check
"""
_APPLY = """\
Nothing is written where the program is not the one that the patch is of. fluidlite diff --patch
makes patches.

examples:
  fluidlite diff --patch before/ after/ > x.patch
  fluidlite apply x.patch before/ -o patched/
  fluidlite apply x.patch patched/ --reverse --in-place
"""


def add_cut(parser: argparse.ArgumentParser) -> None:
    """Say what ``fluidlite cut`` takes."""
    _changing(parser, _cut, _CUT, explains=True)
    parser.add_argument("model", metavar="MODEL", help=_MODEL)
    parser.add_argument(
        "--inputs", nargs="+", action="extend", default=[], metavar="NAME", help="what it is fed"
    )
    parser.add_argument(
        "--outputs",
        nargs="+",
        action="extend",
        required=True,
        metavar="NAME",
        help="what it computes",
    )


def add_rename(parser: argparse.ArgumentParser) -> None:
    """Say what ``fluidlite rename`` takes."""
    _changing(parser, _rename, _RENAME, explains=True)
    parser.add_argument("model", metavar="MODEL", help=_MODEL)
    parser.add_argument(
        "names", nargs="+", metavar="OLD=NEW", help="the old and the new name; or @FILE.json"
    )


def add_set_attr(parser: argparse.ArgumentParser) -> None:
    """Say what ``fluidlite set-attr`` takes."""
    _changing(parser, _set_attr, _SET_ATTR, explains=True)
    parser.add_argument("model", metavar="MODEL", help=_MODEL)
    parser.add_argument("operators", metavar="OPERATORS", help="which operators, see below")
    parser.add_argument("values", nargs="+", metavar="NAME=VALUE", help="the new values")


def add_replace(parser: argparse.ArgumentParser) -> None:
    """Say what ``fluidlite replace`` takes."""
    _changing(parser, _replace, _REPLACE, explains=True)
    parser.add_argument("model", metavar="MODEL", help=_MODEL)
    parser.add_argument("old", metavar="OLD", help="the variable that is read")
    parser.add_argument("new", metavar="NEW", help="the variable to be read")


def add_merge(parser: argparse.ArgumentParser) -> None:
    """Say what ``fluidlite merge`` takes."""
    _changing(parser, _merge, _MERGE, explains=True)
    parser.add_argument("model", metavar="A", help=_MODEL)
    parser.add_argument("other", metavar="B", help="the other one")
    parser.add_argument("--base", metavar="BASE", help="what A and B were both made of")
    parser.add_argument(
        "--shared",
        nargs="*",
        action="extend",
        metavar="NAME",
        help="variables of both that are one, these alone; NAME_IN_B=NAME_IN_A where names differ",
    )


def add_apply(parser: argparse.ArgumentParser) -> None:
    """Say what ``fluidlite apply`` takes."""
    _changing(parser, _apply, _APPLY)
    parser.add_argument("patch", metavar="PATCH", help="a file of fluidlite diff --patch")
    parser.add_argument("model", metavar="MODEL", help=_MODEL)
    parser.add_argument("--reverse", action="store_true", help="take the patch back")
    parser.add_argument(
        "--exact", action="store_true", help="refuse all but the program that the patch is of"
    )
    parser.add_argument(
        "--values", metavar="FILE", help="where the values are of variables that the patch adds"
    )


def add_transform(parser: argparse.ArgumentParser) -> None:
    """Say what ``fluidlite transform`` takes."""
    _changing(parser, _transform, _TRANSFORM)
    parser.add_argument("model", metavar="MODEL", help=_MODEL)
    parser.add_argument("passes", metavar="PASSES", help="names, with commas between")
    parser.add_argument("--from", dest="source", metavar="FILE.py", help="has passes, too")
    parser.add_argument("--stages", action="store_true", help="print what each pass changes")
    parser.add_argument("--html", metavar="FILE", help="write that as a page")


def add_verify(parser: argparse.ArgumentParser) -> None:
    """Say what ``fluidlite verify`` takes."""
    end_with(parser, _VERIFY)
    parser.set_defaults(run=_verify)
    parser.add_argument("models", nargs="+", metavar="MODEL", help=_MODEL)
    parser.add_argument(
        "--inputs",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME",
        help="what is fed, where the file does not say it",
    )
    parser.add_argument("--check", action="store_true", help="run them on random values, too")


def _changing(
    parser: argparse.ArgumentParser, run: Callable[..., Any], examples: str, explains: bool = False
) -> None:
    """Say what a command takes that writes what it changed.

    Args:
        parser: of the command.
        run: runs it.
        examples: end its help.
        explains: whether it can print what the function of its name prints with ``explain=True``.
    """
    end_with(parser, examples)
    parser.set_defaults(run=run)
    targets = parser.add_mutually_exclusive_group(required=True)
    targets.add_argument(
        "-o", "--output", metavar="TARGET", help="a folder/, .pdmodel, .txt or .onnx to write"
    )
    targets.add_argument("--in-place", action="store_true", help="write over what was read")
    parser.add_argument(
        "--check", action="store_true", help="run before and after on random values, and compare"
    )
    parser.add_argument(
        "--within",
        type=float,
        metavar="NUMBER",
        help="how much outputs may differ in the check, of the largest value",
    )
    if explains:
        parser.add_argument(
            "--explain", action="store_true", help="print what came of each operator that changed"
        )


def _written(
    given: argparse.Namespace,
    model: SavedModel,
    sources: Sequence[SavedModel],
    checks: Callable[[], Iterable[OutputCheck]],
    within: float | None,
) -> int:
    """Check and write a changed model.

    Args:
        given: the arguments.
        model: the changed model.
        sources: what was read; the first one may be written over.
        checks: runs before and after.
        within: what the check allows where the arguments do not say it; None for any difference.
    """
    if given.in_place:
        check_in_place(model)
    else:
        check_target(given.output, sources)
    if given.check or given.within is not None:
        _report([*checks()], within if given.within is None else given.within)
    place = write_in_place(model) if given.in_place else write_model(model, given.output)
    say(f"wrote {printable(place)}: {_size(model)}")
    return 0


def _report(checks: Sequence[OutputCheck], within: float | None) -> None:
    """Say how outputs differ.

    Raises:
        FluidError: by more than is allowed.
    """
    for check in checks:
        say(f"check: {check}")
    if not checks:
        say("check: no output is there before and after")
    wrong = (
        [] if within is None else [check.name for check in checks if not check.relative <= within]
    )
    if wrong:
        raise FluidError(
            f"the check failed, and nothing was written: outputs differ by more than {within:g}: "
            f"{', '.join(map(printable, wrong))}"
        )


def _same_outputs(before: SavedModel, after: SavedModel) -> list[OutputCheck]:
    """How outputs of one name differ."""
    feeds, others = random_feeds(before.program), random_feeds(after.program)
    gone, come = ([n for n in a if n not in b] for a, b in ((feeds, others), (others, feeds)))
    olds, news = (model.program.global_block().vars for model in (before, after))
    if [olds[name].spec for name in gone] == [news[name].spec for name in come]:  # only renamed
        others.update((new, feeds[old]) for old, new in zip(gone, come))
    feeds = {**others, **feeds}
    values = with_random_values(before.program, before.values)
    news = {**values, **with_random_values(after.program, after.values)}
    results = [
        run_once(model.program, feeds, known, outputs_of(model.program))
        for model, known in ((before, values), (after, news))
    ]
    return compared(*results)


# -- the commands ----------------------------------------------------------------------------------


def _cut(given: argparse.Namespace) -> int:
    model = read_model(given.model)
    part = model.becoming(
        cut(model.program, given.inputs, given.outputs, explain=given.explain), model.values
    )

    def checks() -> list[OutputCheck]:
        values = with_random_values(model.program, model.values)
        feeds = random_feeds(model.program)
        _refuse_several(model.program, given.inputs)
        computed = [n for n in given.inputs if n not in feeds and n not in values]
        wanted = [*given.outputs, *computed]
        before = run_once(model.program, feeds, values, wanted)
        inside = {**feeds, **{name: before[name] for name in computed}}
        after = run_once(part.program, inside, values, given.outputs)
        return compared({name: before[name] for name in given.outputs}, after)

    return _written(given, part, [model], checks, ROUNDING)


def _refuse_several(program: Program, inputs: Iterable[str]) -> None:
    """Refuse to check a cut at variables that hold several values in turn.

    Raises:
        UsageError: names them.
    """
    ops = [op for op in program.global_block().ops if op.type != "feed"]
    several = [name for name in inputs if sum(op.writes(name) for op in ops) > 1]
    if several:
        raise UsageError(
            f"--check cannot see the value of {', '.join(several)} at the cut: it holds several in "
            "turn; leave --check out"
        )


def _rename(given: argparse.Namespace) -> int:
    names: dict[str, str] = {}
    for text in given.names:
        in_file = text.startswith("@") and "=" not in text
        pairs = _names_in(text[1:]) if in_file else dict([_pair("OLD=NEW", text)])
        twice = next((old for old, new in pairs.items() if names.get(old, new) != new), None)
        if twice is not None:
            raise UsageError(f"{twice!r} has two new names, {names[twice]!r} and {pairs[twice]!r}")
        names.update(pairs)
    model = read_model(given.model)
    renaming: dict[str | Variable, str] = dict(names.items())
    program = rename(model.program, renaming, explain=given.explain)
    states = renamed_states(model.program, renaming)
    values = {states.get(name, name): value for name, value in model.values.items()}
    renamed = model.becoming(program, values)

    def checks() -> list[OutputCheck]:
        feeds = random_feeds(model.program)
        known = with_random_values(model.program, model.values)
        olds, news = outputs_of(model.program), outputs_of(program)
        before = run_once(model.program, feeds, known, olds)
        others = {names.get(name, name): value for name, value in feeds.items()}
        theirs = {states.get(name, name): value for name, value in known.items()}
        after = run_once(program, others, theirs, news)
        return compared(before, after, dict(zip(olds, news)))

    return _written(given, renamed, [model], checks, ROUNDING)


def _names_in(path: str) -> dict[str, str]:
    """The old and new names in a file of JSON.

    Raises:
        UsageError: it holds something else.
    """
    try:
        names = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}: expected an object of JSON: {error}") from None
    texts = isinstance(names, dict) and all(isinstance(each, str) for each in names.values())
    if not texts:
        raise UsageError(f"{path}: expected an object of JSON, of old and new names")
    return dict(names)


def _set_attr(given: argparse.Namespace) -> int:
    values = {name: _value(text) for name, text in map(_assigned, given.values)}
    model = read_model(given.model)
    operators = _operators(given.operators)
    program = set_attributes(model.program, operators, values, explain=given.explain)
    changed = model.becoming(program, model.values)
    return _written(given, changed, [model], lambda: _same_outputs(model, changed), None)


def _assigned(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    return (name, value) if name and equals else _pair("NAME=VALUE", text)


def _operators(text: str) -> str | int | tuple[int, int]:
    block, colon, position = text.partition(":")
    if text.isdecimal():
        return int(text)
    if colon and block.isdecimal() and position.isdecimal():
        return int(block), int(position)
    return text


def _value(text: str) -> Any:
    """A value of an attribute."""
    if text in ELEMENT_TYPES:
        return ELEMENT_TYPES[text]
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _replace(given: argparse.Namespace) -> int:
    model = read_model(given.model)
    program = replace(model.program, given.old, given.new, explain=given.explain)
    changed = model.becoming(program, model.values)
    return _written(given, changed, [model], lambda: _same_outputs(model, changed), None)


def _transform(given: argparse.Namespace) -> int:
    model = read_model(given.model)
    staged = Pipeline.parse(given.passes, passes_of(given.source)).run(model.program)
    if given.stages:
        say(staged)
    changed = model.becoming(staged.program, model.values)
    status = _written(given, changed, [model], lambda: _same_outputs(model, changed), None)
    if given.html:
        staged.to_html(given.html)
    return status


def _apply(given: argparse.Namespace) -> int:
    patch = Patch.parse(read_text(given.patch))
    model = read_model(given.model)
    program = apply_patch(patch, model.program, given.reverse, given.exact)
    more = read_file(given.values).variables if given.values else {}
    known = {name: value for name, value in model.values.items() if name not in more}
    changed = model.becoming(program, {**known, **more})
    beside = [each for each in (given.patch, given.values) if each]
    if not given.in_place and any(map(partial(is_same_file, given.output), beside)):
        raise UsageError(f"{given.output} is what was read; write the model elsewhere")
    return _written(given, changed, [model], lambda: _same_outputs(model, changed), None)


# -- merging ---------------------------------------------------------------------------------------


def _merge(given: argparse.Namespace) -> int:
    if given.base and given.explain:
        raise UsageError("--explain is about two models; fluidlite diff shows what others change")
    if given.base and given.shared:
        raise UsageError("--shared is about two models; a merge with --base needs none")
    first, second = read_model(given.model), read_model(given.other)
    if given.base:
        return _merge3(given, read_model(given.base), first, second)
    shared = None if given.shared is None else dict(map(_shared, given.shared))
    scopes = first.scope(), second.scope()
    program = merge(first.program, second.program, shared, scopes, explain=given.explain)
    names = names_in_merge(first.program, second.program, shared)
    theirs = {names.get(name, name): value for name, value in second.values.items()}
    merged = first.becoming(program, {**theirs, **first.values})

    def checks() -> list[OutputCheck]:
        return list(_merged_outputs(first.program, second.program, merged, names))

    return _written(given, merged, [first, second], checks, ROUNDING)


def _shared(text: str) -> tuple[str, str]:
    return _pair("NAME_IN_B=NAME_IN_A", text) if "=" in text else (text, text)


def _merged_outputs(
    first: Program, second: Program, merged: SavedModel, names: Mapping[str, str]
) -> Iterable[OutputCheck]:
    """How outputs of two programs differ from those of the program that they were merged to.

    Args:
        first, second: the programs.
        merged: the merged one.
        names: name in the second program -> name in the merged one, where they differ.
    """
    values = with_random_values(merged.program, merged.values)
    feeds = random_feeds(merged.program)
    for program, new in ((first, {}), (second, names)):
        outputs = {name: new.get(name, name) for name in outputs_of(program)}
        inputs = {name: new.get(name, name) for name in inputs_of(program)}
        computed = [name for name in inputs.values() if name not in feeds]
        after = run_once(merged.program, feeds, values, [*outputs.values(), *computed])
        known = {**after, **feeds}
        own = {name: values[new.get(name, name)] for name in saved_names(program)}
        given = {name: known[name_after] for name, name_after in inputs.items()}
        yield from compared(run_once(program, given, own, [*outputs]), after, outputs)


def _merge3(
    given: argparse.Namespace, base: SavedModel, ours: SavedModel, theirs: SavedModel
) -> int:
    sides = (base, ours, theirs)
    try:
        program = merge3(base.program, ours.program, theirs.program)
        values = merge3_values(program, *(model.values for model in sides))
    except MergeConflictError as error:
        for conflict in error.conflicts:
            say(conflict)
        count = len(error.conflicts)
        complain(f"{count} conflict{'s' * (count != 1)}; nothing was written")
        return 1
    merged = ours.becoming(program, values)
    sources = [ours, theirs, base]
    return _written(given, merged, sources, lambda: _same_outputs(ours, merged), None)


# -- verifying -------------------------------------------------------------------------------------


def _verify(given: argparse.Namespace) -> int:
    status = 0
    for path in given.models:
        try:
            say(f"{printable(path)}: {_verified(path, given.inputs, given.check)}")
        except (FluidError, OSError) as error:
            said = str(error)
            complain(said if said.startswith(f"{path}: ") else f"{path}: {said}")
            status = 1
    return status


def _verified(path: str, inputs: Sequence[str], runs: bool) -> str:
    """What is right about a program, in words.

    Raises:
        FluidError: it breaks a rule, or its values do not fit, or it cannot be run.
    """
    model = read_model(path)
    program = model.program
    program.verify(inputs)
    names = saved_names(program)
    lacking = [repr(name) for name in names if name not in model.values]
    if lacking and not model.contents.is_program_alone:
        raise FileFormatError(f"values are missing of {', '.join(lacking[:5])}")
    faults = value_faults(program, model.values)
    if faults:
        raise FileFormatError("; ".join(faults[:5]))
    ran = ""
    if runs:
        outputs = outputs_of(program)
        values = with_random_values(program, model.values)
        results = run_once(program, random_feeds(program), values, outputs)
        ran = f", runs ({quantity(len(results), 'output')})"
    return f"right: {_size(model)}{ran}"


def _size(model: SavedModel) -> str:
    operators = sum(len(block.ops) for block in model.program.blocks)
    variables = quantity(len(model.values), "variable")
    return f"{quantity(operators, 'operator')}, {variables} with values"


# -- words -----------------------------------------------------------------------------------------


def _pair(form: str, text: str) -> tuple[str, str]:
    """What stands on both sides of ``=``.

    Raises:
        UsageError: there is none, or nothing on a side.
    """
    name, _, value = text.partition("=")
    if not name or not value:
        raise UsageError(f"expected {form}, got {text!r:.120}")
    return name, value
