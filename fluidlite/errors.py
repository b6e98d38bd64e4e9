"""Errors that users can cause, and how a failure learns which operator it belongs to.

Every class derives from :class:`FluidError` and from the built-in exceptions it resembles, so that
an old ``except ValueError`` keeps working.  fluid 1.8 reported some mistakes by ``assert``: where
its scripts may catch those, ``AssertionError`` is among the bases.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .ground.public_names import list_public_names
from .ground.quoting import terminal_text


class FluidError(Exception):
    """The base of all errors that fluidlite raises on purpose."""

    def __str__(self) -> str:
        # messages name what programs hold, and terminals show them
        return terminal_text(super().__str__())


class DefinitionError(FluidError, TypeError):
    """A definition of an operator contradicts itself; raised while its class is created."""


class UnknownOperatorError(FluidError, ValueError, LookupError):
    """No operator of that type is defined."""


class SlotError(FluidError, ValueError, AssertionError):
    """An operator was given an unknown slot, too many or too few variables in one, or nothing."""


class AttributeValueError(FluidError, ValueError, TypeError):
    """An operator was given an unknown attribute, or a value of the wrong type or range."""


class ShapeError(FluidError, ValueError, AssertionError, RuntimeError):
    """Shapes do not fit together."""


class TruthError(ShapeError, RuntimeError):
    """Several elements are no truth value."""


class AxisError(ShapeError, IndexError):
    """There is no such dimension."""


class LoDError(ShapeError, RuntimeError):
    """Sequences do not fit: none where they are needed, or levels and lengths that do not agree."""


class DTypeError(FluidError, TypeError, ValueError, RuntimeError):
    """Element types do not fit together, or an operator does not take one."""


class ArgumentError(FluidError, TypeError, ValueError, AssertionError):
    """A function was given an argument of a type or a value that it does not take."""


class RepeatedTensorError(ArgumentError, RuntimeError):
    """A tensor is listed twice where each may be listed once."""


class NameTakenError(ArgumentError, KeyError):
    """A name stands for something else already, for nothing, or is none that may be used."""

    __str__ = Exception.__str__  # a KeyError shows its message in quotes


class VersionError(FluidError, RuntimeError):
    """A script needs another version."""


class UnknownVariableError(FluidError, ValueError, LookupError):
    """No variable of that name is there."""


class DuplicateVariableError(FluidError, ValueError):
    """A variable of that name exists with another shape, dtype or kind."""


class DeviceError(ArgumentError, RuntimeError):
    """A place where no tensors are."""


class BuildError(FluidError, RuntimeError, AssertionError):
    """A graph is built, or called, in a way in which it cannot be."""


class UsageError(ArgumentError):
    """The words behind the command ``fluidlite`` are not such as it takes."""


class ModelNameError(FluidError, RuntimeError, LookupError):
    """A model has no input and no output of a name."""


class FeedError(FluidError, ValueError):
    """What was fed does not fit the program's data variables."""


class FeedTypeError(FeedError, TypeError, RuntimeError):
    """What was fed is no dictionary of arrays."""


class FetchError(FluidError, ValueError, LookupError, RuntimeError):
    """A variable to fetch is not there."""


class FetchTypeError(FetchError, TypeError):
    """What is to be fetched is neither a variable nor a name."""


class NotInitializedError(FluidError, RuntimeError, ValueError):
    """An operator reads a variable that holds no value."""


class OpError(FluidError, RuntimeError, ValueError):
    """A kernel failed."""


class ForeignEffectError(FluidError, PermissionError):
    """An operator that came from a file or from bytes would have an effect that nobody allowed."""


class BudgetError(FluidError, MemoryError, ValueError):
    """A program cannot be made to take as little memory as it may."""

    smallest: int = 0  #: bytes of the smallest budget that was found


class WorkLimitError(FluidError, MemoryError):
    """A program that is only looked at would do more than its size justifies."""


class OutOfRangeError(OpError, IndexError):
    """An index lies outside of what it selects from."""


class NonFiniteError(OpError, ArithmeticError, RuntimeError):
    """An operator computed a value that is not finite while such values are looked for."""


class ConcurrentUpdateError(FluidError, RuntimeError):
    """Another run has updated what a run that calls the user's functions was about to update."""


class ClosedError(FluidError, RuntimeError):
    """The executor has been closed."""


class NoGradientError(FluidError, NotImplementedError):
    """Nobody wrote a gradient rule for an operator that lies on the way of a gradient."""


class UnsupportedError(FluidError, NotImplementedError):
    """There is no such computation here."""


class NoDeviceError(UnsupportedError, ValueError, TypeError, RuntimeError, AssertionError):
    """A device is named that is not there: programs run on the CPU."""


class GradientCheckError(FluidError, AssertionError):
    """A gradient is not what finite differences give."""


class ParseError(FluidError, ValueError):
    """A text is no program; says line and column."""


class PassError(FluidError, RuntimeError):
    """A pass needs what does not hold, or breaks what it says to keep."""


class PatchError(FluidError, ValueError):
    """A text is no patch, or a program is not the one that a patch is of."""


class MergeConflictError(FluidError, ValueError):
    """Two changes of a program are about the same part of it; ``conflicts`` lists them."""

    conflicts: tuple[Any, ...] = ()


class VerifyError(FluidError, ValueError):
    """A program breaks one of the rules that every program keeps."""


class RewriteError(FluidError, ValueError, RuntimeError):
    """A rule of a rewriting fails, or gives what cannot stand in place of what it found."""


class EquivalenceError(FluidError, AssertionError):
    """Two programs that ought to compute the same do not."""


class FileError(FluidError, OSError, ValueError, RuntimeError):
    """A file cannot be opened, read or written; says which, and why."""

    def __reduce__(self) -> Any:
        made: tuple[Any, ...] = super().__reduce__()  # type: ignore[assignment]
        kind, args, *_ = made
        return kind, args, {**vars(self), "errno": self.errno}


class FileFormatError(FluidError, ValueError, RuntimeError):
    """A file does not hold what it should; says which, at which byte, and what was expected."""


class ReleasedError(FluidError, RuntimeError, SystemError):
    """A gradient is asked for whose graph an earlier one has released."""


class OverwrittenError(FluidError, RuntimeError):
    """A gradient needs a value that was written over in place."""


class InplaceError(FluidError, RuntimeError, ValueError):
    """A tensor cannot be written in place."""


class UnreachableError(FluidError, RuntimeError, ValueError):
    """A tensor does not take part in what is differentiated."""


class GradientShapeError(ShapeError, RuntimeError):
    """A gradient has not the shape of what it belongs to."""


class GradientTypeError(DTypeError, RuntimeError):
    """A gradient is asked for with respect to what has none: integers, truth values."""


class GradientStateError(FluidError, RuntimeError):
    """A tensor wants no gradient, or holds none, where one is needed."""


class ParameterListError(ArgumentError, AttributeError):
    """An optimizer of eager tensors was not told which parameters to update."""


class RateConflictError(ArgumentError, RuntimeError):
    """A number was set as the learning rate that a scheduler gives."""


class StateDictError(FluidError, RuntimeError, LookupError, AssertionError):
    """A state lacks the value of a parameter or of an optimizer's variable."""


class ExplainedError(FluidError, AttributeError):
    """Something has no attribute of a name.  Why is worked out when the error is shown: ``hasattr``
    asks often, and shows nothing.

    Args:
        explain: a function that gives the text, or the text itself.
        given: what the function takes.
    """

    def __str__(self) -> str:
        if not self.args or not callable(self.args[0]):
            return super().__str__()
        explain, *given = self.args
        try:
            return terminal_text(str(explain(*given)))
        except Exception:  # what shows an error must not meet another one
            return f"there is no attribute {self.name!r}"

    def __reduce__(self) -> Any:
        return type(self), (str(self),), {**vars(self), "name": self.name}


class StrictError(FluidError, ValueError):
    """What is a warning otherwise, after ``fluidlite.strict()``."""


class FluidWarning(UserWarning):
    """Something is probably a mistake, and fluid 1.8 runs on.

    ``fluidlite.strict()`` makes errors of all these warnings.
    """


class EOFException(Exception):
    """A reader of a program has come to its end.

    It is no :class:`FluidError`, as it was no error of the engine in fluid 1.8: loops over the
    batches of a program end with it.
    """


_COMPARED = 32  #: names that are looked at closely for a suggestion


def suggestion(name: str, known: Iterable[str]) -> str:
    """``"; did you mean 'x'?"`` when one of the ``known`` names is close to ``name``, else an empty
    text.
    """
    import difflib

    by_lower = {str(k).lower(): str(k) for k in known}
    wanted = str(name).lower()
    letters = set(wanted)

    def shared(other: str) -> float:
        return len(letters.intersection(other)) / (len(letters) + len(set(other)) or 1)

    # comparing takes long, and most of hundreds of names have few letters of the wanted one
    near = sorted(by_lower, key=shared, reverse=True)[:_COMPARED]
    close = difflib.get_close_matches(wanted, near, n=1, cutoff=0.6)
    return f"; did you mean {by_lower[close[0]]!r}?" if close else ""


def with_context(error: FluidError, context: str) -> FluidError:
    """The same error with lines added that say where it happened.

    Args:
        error: what was raised; its class is kept.
        context: lines to put below the message.
    """
    located = with_text(error, f"{error}\n{context}")
    located.__cause__ = error.__cause__
    located.__suppress_context__ = error.__suppress_context__
    return located


def with_text(error: FluidError, text: str) -> FluidError:
    """The same error with another text; its class and what it knows are kept."""
    parts: tuple[Any, ...] = error.__reduce__()  # type: ignore[assignment]
    kind, _, *state = parts
    said: FluidError = kind(text)
    said.__setstate__(*state or [None])
    said.args = (text,)  # from Python 3.12 on, the state of some errors has the arguments, too
    return said


list_public_names(globals())
