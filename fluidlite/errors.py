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
    """The base of all errors that fluidlite raises on purpose.

    >>> isinstance(fluid.errors.ShapeError(), fluid.FluidError)
    True
    """

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.__module__ == __name__ and cls.__doc__ and ">>> " not in cls.__doc__:
            kind = next(base for base in cls.__mro__ if base.__module__ == "builtins").__name__
            cls.__doc__ += f"\n\n>>> issubclass(fluid.errors.{cls.__name__}, {kind})\nTrue"

    def __str__(self) -> str:
        # messages name what programs hold, and terminals show them
        return terminal_text(super().__str__())


class DefinitionError(FluidError, TypeError):
    """A definition of an operator contradicts itself; raised while its class is created."""


class UnknownOperatorError(FluidError, ValueError, LookupError):
    """No operator of that type is defined.

    >>> fluid.default_main_program().global_block().append_op("no_such_operator", {}, {}, {})
    Traceback (most recent call last):
    ...
    fluidlite.errors.UnknownOperatorError: ...
    """


class SlotError(FluidError, ValueError, AssertionError):
    """An operator has an unknown slot, or a slot holds too many variables, too few or none."""


class AttributeValueError(FluidError, ValueError, TypeError):
    """An operator has an unknown attribute, or a value of the wrong type or range.

    >>> fluid.layers.dropout(fluid.data("x", [2]), dropout_prob=3.0)
    Traceback (most recent call last):
    ...
    fluidlite.errors.AttributeValueError: ...
    """


class ShapeError(FluidError, ValueError, AssertionError, RuntimeError):
    """Shapes do not fit together.

    >>> fluid.reshape(fluid.ones([2, 3]), [4])
    Traceback (most recent call last):
    ...
    fluidlite.errors.ShapeError: ...
    """


class TruthError(ShapeError, RuntimeError):
    """A tensor of several elements has no truth value."""


class AxisError(ShapeError, IndexError):
    """A tensor has no such dimension.

    >>> fluid.sum(fluid.ones([2, 3]), axis=2)
    Traceback (most recent call last):
    ...
    fluidlite.errors.AxisError: expected axis in [-2, 2) for shape [2, 3], got 2
    """


class LoDError(ShapeError, RuntimeError):
    """Sequences are missing, or their levels and lengths do not agree."""


class DTypeError(FluidError, TypeError, ValueError, RuntimeError):
    """Element types do not fit together, or an operator does not take one.

    >>> fluid.data("x", [2], dtype="float24")
    Traceback (most recent call last):
    ...
    fluidlite.errors.DTypeError: ...
    """


class ArgumentError(FluidError, TypeError, ValueError, AssertionError):
    """An argument has a type or a value that the function does not take.

    >>> fluid.to_tensor("three")
    Traceback (most recent call last):
    ...
    fluidlite.errors.ArgumentError: ...
    """


class RepeatedTensorError(ArgumentError, RuntimeError):
    """A list that takes each tensor once holds one twice."""


class NameTakenError(ArgumentError, KeyError):
    """A name is in use, unknown or not allowed.

    >>> layer = fluid.dygraph.Layer()
    >>> layer.add_parameter("training", fluid.dygraph.Linear(1, 1).weight)
    Traceback (most recent call last):
    ...
    fluidlite.errors.NameTakenError: Layer has an attribute 'training' already
    """

    __str__ = Exception.__str__  # a KeyError shows its message in quotes


class VersionError(FluidError, RuntimeError):
    """A script needs another version.

    >>> fluid.require_version("99.0")
    Traceback (most recent call last):
    ...
    fluidlite.errors.VersionError: ...
    """


class UnknownVariableError(FluidError, ValueError, LookupError):
    """No variable has this name.

    >>> fluid.default_main_program().global_block().var("no such variable")
    Traceback (most recent call last):
    ...
    fluidlite.errors.UnknownVariableError: block 0 has no variable 'no such variable'
    """


class DuplicateVariableError(FluidError, ValueError):
    """A variable of that name exists with another shape, dtype or kind.

    >>> x = fluid.data("x", [2])
    >>> x = fluid.data("x", [3], dtype="int64")
    Traceback (most recent call last):
    ...
    fluidlite.errors.DuplicateVariableError: ...
    """


class DeviceError(ArgumentError, RuntimeError):
    """A place cannot hold tensors."""


class BuildError(FluidError, RuntimeError, AssertionError):
    """A graph cannot be built or called in this way."""


class UsageError(ArgumentError):
    """The command ``fluidlite`` does not take these arguments."""


class ModelNameError(FluidError, RuntimeError, LookupError):
    """A model has no input or output of this name."""


class FeedError(FluidError, ValueError):
    """A fed value does not fit the program's data variables.

    >>> y = 2 * fluid.data("x", [2])
    >>> fluid.Executor().run(feed={"x": np.ones(3, "float32")}, fetch_list=[y])
    Traceback (most recent call last):
    ...
    fluidlite.errors.FeedError: ...
    """


class FeedTypeError(FeedError, TypeError, RuntimeError):
    """The feed is not a dictionary of arrays.

    >>> y = 2 * fluid.data("x", [2])
    >>> fluid.Executor().run(feed=[1, 2], fetch_list=[y])
    Traceback (most recent call last):
    ...
    fluidlite.errors.FeedTypeError: ...
    """


class FetchError(FluidError, ValueError, LookupError, RuntimeError):
    """A variable to fetch does not exist.

    >>> fluid.Executor().run(fetch_list=["no such variable"])
    Traceback (most recent call last):
    ...
    fluidlite.errors.FetchError: ...
    """


class FetchTypeError(FetchError, TypeError):
    """An entry of the fetch list is neither a variable nor a name.

    >>> fluid.Executor().run(fetch_list=[3])
    Traceback (most recent call last):
    ...
    fluidlite.errors.FetchTypeError: ...
    """


class NotInitializedError(FluidError, RuntimeError, ValueError):
    """An operator reads a variable that holds no value.

    >>> y = fluid.layers.fc(fluid.data("x", [1, 3]), 2)
    >>> fluid.Executor().run(feed={"x": np.ones((1, 3), "float32")}, fetch_list=[y])
    Traceback (most recent call last):
    ...
    fluidlite.errors.NotInitializedError: ...
    """


class OpError(FluidError, RuntimeError, ValueError):
    """A kernel failed."""


class ConditionError(OpError, AssertionError):
    """A condition that a program asserts does not hold."""


class ForeignEffectError(FluidError, PermissionError):
    """An operator from a file would have an effect that the caller did not allow."""


class BudgetError(FluidError, MemoryError, ValueError):
    """A program does not fit into its memory budget."""

    smallest: int = 0  #: bytes of the smallest budget that was found


class WorkLimitError(FluidError, MemoryError):
    """An inspected program would do more work than its size justifies."""


class OutOfRangeError(OpError, IndexError):
    """An index is out of range.

    >>> fluid.gather(fluid.ones([2]), fluid.to_tensor([5]))
    Traceback (most recent call last):
    ...
    fluidlite.errors.OutOfRangeError: ...
    """


class NonFiniteError(OpError, ArithmeticError, RuntimeError):
    """An operator computed a value that is not finite, while the check for such values is on."""


class ConcurrentUpdateError(FluidError, RuntimeError):
    """A second run has updated a variable that this run was about to update."""


class ClosedError(FluidError, RuntimeError):
    """The executor has been closed.

    >>> exe = fluid.Executor()
    >>> exe.close()
    >>> exe.run()
    Traceback (most recent call last):
    ...
    fluidlite.errors.ClosedError: the executor has been closed; make another one
    """


class NoGradientError(FluidError, NotImplementedError):
    """A gradient would pass an operator that has no gradient rule."""


class UnsupportedError(FluidError, NotImplementedError):
    """fluidlite does not have this computation.

    >>> fluid.nn.functional.sparse_attention(None, None, None, None, None)
    Traceback (most recent call last):
    ...
    fluidlite.errors.UnsupportedError: ...
    """


class NoDeviceError(UnsupportedError, ValueError, TypeError, RuntimeError, AssertionError):
    """The named device does not exist: programs run on the CPU.

    >>> fluid.paddle.set_device("npu:0")
    Traceback (most recent call last):
    ...
    fluidlite.errors.NoDeviceError: there is no device 'npu:0': programs run on 'cpu'
    """


class GradientCheckError(FluidError, AssertionError):
    """A gradient differs from finite differences."""


class ParseError(FluidError, ValueError):
    """A text is not a program; the message has line and column.

    >>> fluid.Program.parse("this is no program")
    Traceback (most recent call last):
    ...
    fluidlite.errors.ParseError: ...
    """


class PassError(FluidError, RuntimeError):
    """A pass finds a condition that does not hold, or breaks its contract."""


class PatchError(FluidError, ValueError):
    """A text is not a patch, or the patch belongs to another program."""


class MergeConflictError(FluidError, ValueError):
    """Two changes touch the same part of a program; ``conflicts`` lists them."""

    conflicts: tuple[Any, ...] = ()


class VerifyError(FluidError, ValueError):
    """A program breaks a rule that every program must keep."""


class RewriteError(FluidError, ValueError, RuntimeError):
    """A rewriting rule fails, or its result cannot replace the match."""


class EquivalenceError(FluidError, AssertionError):
    """Two programs compute different results."""


class FileError(FluidError, OSError, ValueError, RuntimeError):
    """A file cannot be opened, read or written; the message names the file and the reason."""

    def __reduce__(self) -> Any:
        made: tuple[Any, ...] = super().__reduce__()  # type: ignore[assignment]
        kind, args, *_ = made
        return kind, args, {**vars(self), "errno": self.errno}


class MissingFileError(FileError, FileNotFoundError):
    """A file or folder does not exist.

    >>> fluid.paddle.load("no such file")
    Traceback (most recent call last):
    ...
    fluidlite.errors.MissingFileError: ...
    """


class FileFormatError(FluidError, ValueError, RuntimeError):
    """A file has wrong contents; the message has the file, the byte and the expected contents."""


class ReleasedError(FluidError, RuntimeError, SystemError):
    """An earlier gradient has released the graph that this gradient needs.

    >>> x = fluid.to_tensor([1.0], stop_gradient=False)
    >>> y = x * x
    >>> y.backward()
    >>> y.backward()
    Traceback (most recent call last):
    ...
    fluidlite.errors.ReleasedError: ...
    """


class OverwrittenError(FluidError, RuntimeError):
    """A gradient needs a value that was overwritten in place.

    >>> x = fluid.to_tensor([1.0], stop_gradient=False)
    >>> y = x * 2
    >>> z = y * y
    >>> _ = y.add_(fluid.to_tensor([1.0]))
    >>> z.backward()
    Traceback (most recent call last):
    ...
    fluidlite.errors.OverwrittenError: ...
    """


class InplaceError(FluidError, RuntimeError, ValueError):
    """A tensor cannot be written in place.

    >>> fluid.to_tensor([1.0], stop_gradient=False).add_(fluid.to_tensor([1.0]))
    Traceback (most recent call last):
    ...
    fluidlite.errors.InplaceError: ...
    """


class UnreachableError(FluidError, RuntimeError, ValueError):
    """A tensor does not contribute to the differentiated result.

    >>> x = fluid.to_tensor([1.0], stop_gradient=False)
    >>> y = fluid.to_tensor([1.0], stop_gradient=False)
    >>> fluid.grad(2 * x, y)
    Traceback (most recent call last):
    ...
    fluidlite.errors.UnreachableError: ...
    """


class GradientShapeError(ShapeError, RuntimeError):
    """A gradient and its tensor have different shapes.

    >>> x = fluid.to_tensor([1.0], stop_gradient=False)
    >>> fluid.grad(2 * x, x, grad_outputs=fluid.ones([3]))
    Traceback (most recent call last):
    ...
    fluidlite.errors.GradientShapeError: ...
    """


class GradientTypeError(DTypeError, RuntimeError):
    """Integers and truth values have no gradient.

    >>> fluid.to_tensor([1], stop_gradient=True).astype("float32")
    Tensor(shape=[1], dtype=float32, place=Place(cpu), stop_gradient=True,
           [1.])
    >>> fluid.flow.tensor([1]).requires_grad_()
    Traceback (most recent call last):
    ...
    fluidlite.errors.GradientTypeError: ...
    """


class GradientStateError(FluidError, RuntimeError):
    """A tensor stops gradients, or holds none, but the call needs one.

    >>> fluid.flow.tensor([1.0]).sum().backward()
    Traceback (most recent call last):
    ...
    fluidlite.errors.GradientStateError: ...
    """


class ParameterListError(ArgumentError, AttributeError):
    """An optimizer of eager tensors has no list of parameters.

    >>> fluid.paddle.optimizer.SGD(0.1)
    Traceback (most recent call last):
    ...
    fluidlite.errors.ParameterListError: ...
    """


class RateConflictError(ArgumentError, RuntimeError):
    """A scheduler gives the learning rate, so a number cannot be set.

    >>> rate = fluid.paddle.optimizer.lr.StepDecay(0.1, 10)
    >>> layer = fluid.paddle.nn.Linear(1, 1)
    >>> optimizer = fluid.paddle.optimizer.SGD(rate, parameters=layer.parameters())
    >>> optimizer.set_lr(0.2)
    Traceback (most recent call last):
    ...
    fluidlite.errors.RateConflictError: ...
    """


class StateDictError(FluidError, RuntimeError, LookupError, AssertionError):
    """A state lacks the value of a parameter or of an optimizer's variable.

    >>> fluid.flow.nn.Linear(1, 1).load_state_dict({})
    Traceback (most recent call last):
    ...
    fluidlite.errors.StateDictError: ...
    """


class ExplainedError(FluidError, AttributeError):
    """An object has no attribute of this name.

    The reason is computed only when the error is shown, because ``hasattr`` raises it often.

    Args:
        explain: a function that returns the text, or the text itself.
        given: the arguments of the function.

    >>> issubclass(fluid.errors.ExplainedError, AttributeError)
    True
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
    """A warning that ``fluidlite.strict()`` has turned into an error."""


class FluidWarning(UserWarning):
    """A script is probably wrong, but fluid 1.8 runs it.

    ``fluidlite.strict()`` makes errors of all these warnings.

    >>> issubclass(fluid.errors.FluidWarning, UserWarning)
    True
    """


class EOFException(Exception):
    """A reader of a program has reached its end.

    It is not a :class:`FluidError`, as in fluid 1.8: loops over the batches of a program end with
    it.

    >>> issubclass(fluid.errors.EOFException, Exception)
    True
    """


_COMPARED = 32  #: names that are looked at closely for a suggestion
_RANKED = 5  #: of these, those that are compared with each other


def suggestion(name: str, known: Iterable[str]) -> str:
    """``"; did you mean 'x'?"`` when one of the ``known`` names is close to ``name``, else an empty
    text.

    >>> fluid.errors.suggestion("softmx", ["softmax", "relu"])
    "; did you mean 'softmax'?"
    """
    import difflib

    by_lower = {str(k).lower(): str(k) for k in known}
    wanted = str(name).lower()
    letters = set(wanted)

    def shared(other: str) -> float:
        return len(letters.intersection(other)) / (len(letters) + len(set(other)) or 1)

    # comparing takes long, and most of hundreds of names have few letters of the wanted one
    near = sorted(by_lower, key=shared, reverse=True)[:_COMPARED]
    close = difflib.get_close_matches(wanted, near, n=_RANKED, cutoff=0.6)
    if not close:
        return ""

    def rank(other: str) -> tuple[bool, float, int]:
        """Letters in another order come first; of equally close names, that which begins alike."""
        begin = next((k for k, (a, b) in enumerate(zip(wanted, other)) if a != b), len(wanted))
        ratio = difflib.SequenceMatcher(None, other, wanted).ratio()
        return sorted(other) == sorted(wanted), ratio, begin

    return f"; did you mean {by_lower[max(close, key=rank)]!r}?"


def with_context(error: FluidError, context: str) -> FluidError:
    """The same error with lines added that say where it happened.

    Args:
        error: what was raised; its class is kept.
        context: lines to put below the message.

    >>> print(fluid.errors.with_context(ValueError("no shape"), "in operator 3"))
    no shape
    in operator 3
    """
    located = with_text(error, f"{error}\n{context}")
    located.__cause__ = error.__cause__
    located.__suppress_context__ = error.__suppress_context__
    return located


def with_text(error: FluidError, text: str) -> FluidError:
    """The same error with another text; its class and what it knows are kept.

    >>> fluid.errors.with_text(ValueError("old"), "new")
    ValueError('new')
    """
    parts: tuple[Any, ...] = error.__reduce__()  # type: ignore[assignment]
    kind, _, *state = parts
    said: FluidError = kind(text)
    said.__setstate__(*state or [None])
    said.args = (text,)  # from Python 3.12 on, the state of some errors has the arguments, too
    return said


list_public_names(globals())
