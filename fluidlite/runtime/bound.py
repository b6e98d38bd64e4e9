"""Bound calls: the fast path of a program that is one compiled segment.

A call is written for its segment, and compiled.  Here the feed is ``x``, and the plan writes ``n``:

>>> from fluidlite.runtime.bound import bound_call
>>> x, n = fluid.data("x", [2]), fluid.layers.create_global_var([1], 0.0, "float32", True, name="n")
>>> total = fluid.layers.reduce_sum(x) + n
>>> fluid.layers.assign(total, n).name
'n'
>>> exe = fluid.Executor()
>>> _ = exe.run(fluid.default_startup_program())
>>> for _ in range(3):
...     (found,) = exe.run(feed={"x": np.ones(2, "float32")}, fetch_list=[total])
>>> print(bound_call(exe.plan(fetch_list=[total]), fluid.global_scope()).source)
def call(feed, draw, sources=(), is_turn=False):
    if turns.have_met and not is_turn: return again(feed, draw, sources, False)
    if len(feed) != 1: return None
    g0 = feed.get("x")
    if type(g0) is not ndarray or g0.shape != (2,): return None
    if g0.dtype is not t0 and g0.dtype != t0: return None
    g1 = v1.value
    if type(g1) is not ndarray or g1.shape != (1,): return None
    if g1.dtype is not t1 and g1.dtype != t1: return None
    try:
        made = run((), [donated.pop("n", None), ], draw, g0, g1)
    except Exception: return None
    if refs(made[0]) <= alone and made[0].base is None: r0 = made[0].view(one)
    else: r0 = array(made[0]).view(one)
    results = [r0]
    del r0
    news = [made[1] if refs(made[1]) <= alone and made[1].base is None else array(made[1]), state.count + 1]
    commit = map(setattr, targets, attributes, news)
    if v1.value is not g1: return again(feed, draw, sources, is_turn)
    del made, g0, g1
    olds = [c0.value]
    any(commit)
    if type(olds[0]) is ndarray and refs(olds[0]) <= alone and olds[0].base is None:
        if olds[0].flags.writeable: donated["n"] = olds[0]
    return results
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from math import prod
from operator import attrgetter, is_not
from sys import getrefcount, version_info
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

import numpy as np

from ..ground.quoting import python_string
from ..ground.values import OneElement, as_fetched
from ..opdef.spec import Spec
from ..scope import Scope
from .in_place import InPlaceCall
from .ownership import ALONE
from .plan import Plan
from .run import Run
from .run_state import RunState
from .segment import FUNCTIONS_KEPT
from .session import Session
from .turn import retried
from .value import CountingSpec

if TYPE_CHECKING:
    from .compile import CompiledSegment


class BoundCall(NamedTuple):
    """A compiled segment with its inputs and results bound to variables of a scope.

    It is valid as long as the names in the scope do not change, and leaves out every look-up and
    check whose outcome follows from that: it is written for the segment, one line for each input,
    result and variable, or loops over them where there are many.
    """

    draws: bool  #: whether it takes random numbers
    #: of feeds by name, what draws random numbers, and what batches were read from, which goes on
    #: as values are committed: the fetched values; None, and nothing is committed, where the run
    #: has to be planned: feeds or variables have other shapes, or the segment failed
    run: Callable[..., Any]
    source: str


def run_bound(plan: Plan, run: Run, state: RunState, backend: Any) -> list[Any] | None:
    """Run a plan by the call that is bound to a scope.

    Args:
        plan, run: what is run, and how.
        state: what is remembered of the program.
        backend: whose random numbers are drawn.

    Returns:
        the fetched values; None, and nothing has happened, where the run has to be planned.

    Raises:
        Exception: there is no batch to read.
    """
    program, scope, feed = run.program, run.scope, run.feed or {}
    call = bound_call(plan, scope)
    if call is None:
        return None
    draw = partial(state.draw, program, backend) if call.draws else None
    results: list[Any] | None
    if not plan.reading.steps:
        results = call.run(feed, draw)
        return results
    with scope.turns.calls:  # the batch that is looked at is this run's
        session = Session(backend, state.seed_of(program), state.count)
        values, sources = plan.reading.peek(session, scope)
        if values is None or not values.keys().isdisjoint(feed):
            return None
        results = call.run({**feed, **values}, draw, sources)
        return results


def bound_call(plan: Plan, scope: Scope) -> BoundCall | None:
    """The call of a plan that is bound to a scope; None if there is none."""
    calls, segment = plan.bound.of(scope), plan.compiled
    if calls is None or segment is None:
        return None
    if segment.improvement is not None and segment.improvement.is_ready():
        return None  # a planned run takes what is there now
    revision, call = calls.get(segment, _UNBOUND)
    return call if revision == scope.revision else None


_UNBOUND: tuple[int, BoundCall | None] = -1, None
#: inputs and commits up to which a call has a line for each: without loops the smallest steps take
#: three quarters of the time, and the lines of thousands would take seconds to compile
MOST_LINES = 32
SWITCHES_AT_JUMPS = version_info < (3, 11)  #: Python 3.10 changes threads at jumps, too


def bind(
    plan: Plan, feed: Mapping[str, Any], fetches: Sequence[str], scope: Scope, state: RunState
) -> None:
    """Bind a plan that has just been run to a scope, where that is possible."""
    segment = plan.compiled
    if segment is None or not segment.is_ready:
        return
    calls = plan.bound.of(scope)
    if calls is None:
        calls = plan.bound.keep(scope, {})
    if calls.get(segment, _UNBOUND)[0] != scope.revision:
        for retired in calls.keys() - plan.functions:  # which would keep their memory
            calls.pop(retired, None)
        while len(calls) >= FUNCTIONS_KEPT:
            calls.pop(next(iter(calls)))
        calls[segment] = scope.revision, _bound(plan, segment, feed, fetches, scope, state)


def _bound(
    plan: Plan,
    segment: CompiledSegment,
    feed: Collection[str],
    fetches: Sequence[str],
    scope: Scope,
    state: RunState,
) -> BoundCall | None:
    reading = plan.reading
    commits = [name for name in plan.commits if name not in reading.makes]
    if set(feed) - {*segment.names, *reading.names} or set(commits) - segment.fresh:
        return None
    feed = {*feed, *reading.names}
    if not {*segment.names, *segment.results} >= set(fetches):
        return None
    needed = [*(name for name in segment.names if name not in feed), *commits]
    variables = {n: v for n in needed if (v := scope.find_var(n)) and type(v.value) is np.ndarray}
    if len(variables) < len(set(needed)):
        return None
    inputs = [(None if n in feed else variables[n], n) for n in segment.names]
    types = [spec.dtype.dtype for spec in segment.specs]
    places = {name: k for k, name in enumerate(segment.results)}
    names: dict[str, Any] = {
        **dict(ndarray=np.ndarray, array=np.array, fetched=as_fetched, refs=getrefcount),
        **dict(alone=ALONE, one=OneElement, state=state, turns=scope.turns),
        **dict(chain=chain, is_not=is_not, value=attrgetter("value")),
        "held": [variable for variable, _ in inputs if variable is not None],
        **dict(buffers=segment.buffers, donated=segment.donated, run=_quiet(segment, segment.run)),
        "targets": [*(variables[name] for name in commits), state],
        "attributes": [*["value"] * len(commits), "count", *["held"] * reading.count],
        "inputs": inputs,
        "last_numbers": [
            (k, spec.last) for k, spec in enumerate(segment.specs) if _counts_rows(spec)
        ],
        "forms": [(tuple(spec.shape), each) for spec, each in zip(segment.specs, types)],
        "donatable": segment.donatable,
        "places": [places[name] for name in commits],
        "replaced": [(k, name) for k, name in enumerate(commits) if name in segment.donatable],
    }
    if not _has_loops(segment, commits):
        names |= {f"v{k}": variable for k, (variable, _) in enumerate(inputs)}
        names |= {f"t{k}": each for k, each in enumerate(types)}
        names |= {f"c{k}": variables[name] for k, name in enumerate(commits)}
    source = "\n".join(_lines(segment, feed, fetches, commits, reading.count))
    exec(compile(source, "<compiled plan>", "exec"), names)
    again = names["again"] = retried(scope.turns, names["call"])
    if segment.late is not None:
        written = {name: variables[name] for name in commits}
        run = _quiet(segment, segment.run_early)
        names["in_place"] = InPlaceCall(segment, run, inputs, fetches, written, state, again)
    return BoundCall(any(each.draws for each in segment.order), names["call"], source)


def _has_loops(segment: CompiledSegment, commits: Sequence[str]) -> bool:
    """Whether a call has loops over inputs and commits, in place of lines for each."""
    is_long = len(segment.names) + len(commits) > MOST_LINES
    return is_long or segment.late is not None or SWITCHES_AT_JUMPS


def _lines(
    segment: CompiledSegment,
    feed: Collection[str],
    fetches: Sequence[str],
    commits: Sequence[str],
    reads: int,
) -> Iterator[str]:
    """The source of a bound call, which is fed so many batches of readers."""
    loops = _has_loops(segment, commits)
    inputs = [f"given[{k}]" if loops else f"g{k}" for k in range(len(segment.names))]
    yield "def call(feed, draw, sources=(), is_turn=False):"
    if commits:
        yield "    if turns.have_met and not is_turn: return again(feed, draw, sources, False)"
    yield f"    if len(feed) != {len(feed)}: return None"
    yield from _LOOP_OF_INPUTS if loops else _inputs(segment, feed)
    if loops and any(map(_counts_rows, segment.specs)):
        yield "    for k, last in last_numbers:"
        yield "        if given[k].item(-1) != last: return None"
    if loops:
        taken = "*[donated.pop(name, None) for name in donatable]"
    else:
        taken = "".join(f"donated.pop({python_string(name)}, None), " for name in segment.donatable)
    if segment.late is not None:
        fits = "in_place.fits(given)"
        yield f"    if {fits}: return in_place(feed, given, draw, sources, is_turn)"
    holds = bool(segment.assigned.makers)
    memory = "memory" if holds else "()"
    arguments = [memory, f"[{taken}]", "draw", *(["*given"] if loops else inputs)]
    if holds:
        yield "    memory = buffers.take()"
    yield "    try:"
    yield f"        made = run({', '.join(arguments)})"
    yield "    except Exception: return None"  # a planned run says what is wrong
    if holds:
        yield "    buffers.give_back(memory)"
    yield from _fetching(segment, fetches, inputs)
    if not commits and not reads:
        yield "    state.count += 1"
    else:
        place = {name: f"made[{k}]" for k, name in enumerate(segment.results)}
        if loops:
            news = [f"*[{_owned('made[k]')} for k in places]"]
            olds = "[variable.value for variable in targets[:-1]]"
        else:
            news = [_owned(place[n]) for n in commits]
            olds = f"[{', '.join(f'c{k}.value' for k in range(len(commits)))}]"
        yield f"    news = [{', '.join([*news, 'state.count + 1'])}{', None' * reads}]"
        yield from _committing(segment, feed, inputs, olds, bool(commits), loops, bool(reads))
        if loops:
            yield "    for k, name in replaced:"
            yield from _donating("olds[k]", "name", "        ")
        else:
            for k, name in enumerate(commits):
                if name in segment.donatable:
                    yield from _donating(f"olds[{k}]", python_string(name), "    ")
    yield "    return results"


def _committing(
    segment: CompiledSegment,
    feed: Collection[str],
    given: Sequence[str],
    olds: str,
    commits: bool,
    loops: bool,
    reads: bool,
) -> Iterator[str]:
    """The lines that commit, in one call of C as ``at_once`` says, where what was taken from the
    scope is there still; else another run was faster.

    Python changes threads behind calls and at the end of a loop's body only, from 3.11 on: where
    there is neither between looking and committing, they are one.
    """
    reached = "[*targets, *sources]" if reads else "targets"
    yield f"    commit = map(setattr, {reached}, attributes, news)"
    taken = [g for g, name in zip(given, segment.names, strict=True) if name not in feed]
    overtaken = "return again(feed, draw, sources, is_turn)"
    if commits and loops:
        yield "    taken = [g for g, (v, _) in zip(given, inputs) if v is not None]"
        yield "    commit = chain(map(is_not, map(value, held), taken), commit)"
    elif commits and taken:
        pairs = zip(taken, (f"v{g[1:]}" for g in taken))
        yield f"    if {' or '.join(f'{v}.value is not {g}' for g, v in pairs)}: {overtaken}"
    # so that what is replaced is seen to be nobody's
    yield f"    del {', '.join(['made', *(['given'] if loops else given)])}"
    yield f"    olds = {olds}"
    if commits and loops:
        yield f"    if any(commit): {overtaken}"
        yield "    del taken"
    else:
        yield "    any(commit)"


def _inputs(segment: CompiledSegment, feed: Collection[str]) -> Iterator[str]:
    """The lines that take inputs and look at them."""
    for k, (name, spec) in enumerate(zip(segment.names, segment.specs, strict=True)):
        key = python_string(name)
        yield f"    g{k} = feed.get({key})" if name in feed else f"    g{k} = v{k}.value"
        yield f"    if type(g{k}) is not ndarray or g{k}.shape != {tuple(spec.shape)}: return None"
        yield f"    if g{k}.dtype is not t{k} and g{k}.dtype != t{k}: return None"
        if _counts_rows(spec):
            yield f"    if g{k}.item(-1) != {spec.last}: return None"


def _counts_rows(spec: Spec) -> TypeGuard[CountingSpec]:
    """Whether the last number of an input is part of what a segment was compiled for."""
    return isinstance(spec, CountingSpec) and 0 not in spec.shape


#: the same for many inputs
_LOOP_OF_INPUTS = (
    "    given = [feed.get(name) if v is None else v.value for v, name in inputs]",
    "    for k, (shape, dtype) in enumerate(forms):",
    "        if type(given[k]) is not ndarray or given[k].shape != shape: return None",
    "        if given[k].dtype is not dtype and given[k].dtype != dtype: return None",
)


def _donating(old: str, name: str, indent: str) -> Iterator[str]:
    """The lines that keep an array that was replaced for the next run, where nobody else has it."""
    yield f"{indent}if type({old}) is ndarray and {_is_owned(old)}:"
    yield f"{indent}    if {old}.flags.writeable: donated[{name}] = {old}"


def _owned(item: str) -> str:
    """An item that nobody else can change: itself, or a copy."""
    return f"{item} if {_is_owned(item)} else array({item})"


def _is_owned(item: str) -> str:
    """Whether nobody but a list or tuple can reach the memory of its item: nobody else holds the
    array, and it is no view of another one.
    """
    return f"refs({item}) <= alone and {item}.base is None"


def _fetching(
    segment: CompiledSegment, fetches: Sequence[str], given: Sequence[str]
) -> Iterator[str]:
    """The lines that give users values: the array itself, where nobody else holds it."""
    places = {name: place for place, name in enumerate(segment.results)}
    for k, name in enumerate(fetches):
        if name not in places:
            yield f"    r{k} = fetched(array({given[segment.names.index(name)]}))"
            continue
        item, shape = f"made[{places[name]}]", segment.forms[places[name]]
        if name not in segment.fresh:
            yield f"    r{k} = fetched(array({item}))"
            continue
        if shape is None:
            form = "fetched({})"
        else:
            form = "{}.view(one)" if shape and prod(shape) == 1 else "{}"
        yield f"    if {_is_owned(item)}: r{k} = {form.format(item)}"
        yield f"    else: r{k} = {form.format(f'array({item})')}"
    yield f"    results = [{', '.join(f'r{k}' for k in range(len(fetches)))}]"
    if fetches:  # which would count as holders
        yield f"    del {', '.join(f'r{k}' for k in range(len(fetches)))}"


def _quiet(
    segment: CompiledSegment, run: Callable[..., Any] | None
) -> Callable[..., tuple[Any, ...]]:
    """A function of a segment, with infinities as values; from NumPy 2 on several threads may run
    what has been decorated, which takes half the time.  Generated kernels do not warn.
    """
    assert run is not None
    if all(i.library == "native" or (i.kernel and i.kernel.quiet) for i in segment.order):
        return run
    if np.lib.NumpyVersion(np.__version__) >= "2.0.0":
        return np.errstate(all="ignore")(run)
    return partial(_run_quietly, run)


def _run_quietly(run: Callable[..., tuple[Any, ...]], *given: Any) -> tuple[Any, ...]:
    with np.errstate(all="ignore"):
        return run(*given)
