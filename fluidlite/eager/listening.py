"""Listening to the operators that a thread runs on tensors, and to their gradients.

The methods that run them are other ones while somebody listens, so that they do without a test
whether that is so.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import FluidError, with_context
from ..opdef.definition import Op
from .recording import EagerCall, listened
from .sweep import BackwardPass

_thread = threading.local()  # .listener: who listens in the thread
_lock = threading.Lock()
_listening = 0  # in all threads
_everywhere: Listener | None = None  # who hears all threads
_CALLS = {name: getattr(EagerCall, name) for name in ("sole", "pair", "one", "every")}
_RUN, _PULL = BackwardPass.run, BackwardPass.pull


class Listener:
    """A listener to operators; each method may be overridden."""

    inside: bool = False  #: an operator that is being run may run others

    def ran(self, op: Op, ins: Any, outs: dict[str, Any]) -> None:
        """An operator has run.

        Args:
            op: the operator.
            ins: what it was given.
            outs: tensors by the names of its outputs.
        """

    def sweeps(self, recording: bool) -> None:
        """Gradients are about to be made.

        Args:
            recording: whether they are made by operators.
        """

    def swept(self, sweep: BackwardPass, run: Callable[[BackwardPass], None]) -> None:
        """Make gradients.

        Args:
            sweep: what is to flow.
            run: lets it flow.
        """
        self.sweeps(sweep.recording)
        run(sweep)

    def passes(self, node: Any) -> None:
        """Gradients are about to flow back through a node.

        Args:
            node: of the eager graph.
        """

    def updates(self, steps: Any, pairs: Any) -> None:
        """An optimizer is about to make a step.

        Args:
            steps: its eager half.
            pairs: of parameters and what they are updated with.
        """

    def updated(self, steps: Any, rate: float) -> None:
        """An optimizer has made the step.

        Args:
            steps: its eager half.
            rate: the learning rate.
        """

    def pulled(self, kind: str, flows: list[Any]) -> None:
        """The gradients of an operator's inputs are there.

        Args:
            kind: the type of the operator.
            flows: they.
        """


def listener() -> Listener | None:
    """Who listens in this thread."""
    found: Listener | None = getattr(_thread, "listener", None)
    return found


@contextmanager
def heard_by(new: Listener) -> Iterator[None]:
    """A guard under which the thread's operators notify one listener, and no other.

    Args:
        new: the listener.
    """
    before = start(new)
    try:
        yield
    finally:
        stop(before)


def start(new: Listener) -> Listener | None:
    """Let the thread's operators tell somebody from here on; who listened before."""
    before = listener()
    _switch(1)
    _thread.listener = new
    return before


def stop(before: Listener | None) -> None:
    """End what :func:`start` began.

    Args:
        before: who listens again.
    """
    _thread.listener = before
    _switch(-1)


def hear_everywhere(new: Listener | None) -> None:
    """Let the operators of all threads tell somebody, too; None for nobody."""
    global _everywhere
    before, _everywhere = _everywhere, new
    if before is not new:
        _switch((new is not None) - (before is not None))


def _switch(change: int) -> None:
    global _listening
    with _lock:
        _listening += change
        listened[:] = [each for each in listened if each is not Listener]
        if _listening:
            listened.append(Listener)
        for name, method in _CALLS.items():
            setattr(EagerCall, name, _telling(name, method) if _listening else method)
        BackwardPass.run = _told_run if _listening else _RUN  # type: ignore[method-assign]
        BackwardPass.pull = _told_pull if _listening else _PULL  # type: ignore[method-assign]


def _telling(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of an operator's call that tells the thread's listener what it did."""

    @functools.wraps(method)
    def told(self: EagerCall, *given: Any) -> Any:
        heard, other = listener(), _everywhere
        if heard is not None and heard.inside:
            heard = None
        if heard is None and other is None:
            return method(self, *given)
        given = given[:3]  # without the slots of outputs that are tensors: all are, to be told of
        if heard is not None:
            heard.inside = True
        try:
            out = method(self, *given)
        finally:
            if heard is not None:
                heard.inside = False
        prepared, ins = (self.plain, given) if name in ("sole", "pair") else given[:2]
        op = prepared.op
        outs = out if name == "every" else {op.outputs[0].name: out}
        for each in (heard, other):
            if each is not None:
                each.ran(op, ins, outs)
        return out

    return told


def _told_run(self: BackwardPass) -> None:
    heard = listener()
    if heard is None:
        _RUN(self)
    else:
        heard.swept(self, _RUN)


def _told_pull(self: BackwardPass, node: Any, cotangent: Any, take: Any) -> Any:
    if (passed := listener()) is not None:
        passed.passes(node)
    pairs = list(_PULL(self, node, cotangent, take))
    try:
        for heard in (listener(), _everywhere):
            if heard is not None:
                heard.pulled(node.type, [flow for _, flow in pairs])
    except FluidError as error:
        where = f"  in the gradient of {node.type}, which was called at {node.site}"
        raise with_context(error, where) from None
    return pairs
