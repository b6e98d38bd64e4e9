"""What schedulers of learning rates in paddle 2's spelling have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from ...errors import ArgumentError
from ...ground.docstrings import Family
from ...ground.fields import fields_of
from ...layers.decay import LearningRateDecay, finite, positive
from ...layers.epoch_decay import ReduceLROnPlateau

SCHEDULERS = Family(
    {
        "learning_rate": "the rate that the others are made of.",
        "gamma": "what the rate falls by.",
        "eta_min": "the least rate.",
        "max_learning_rate": "the largest rate.",
        "last_epoch": "the number of the epoch before the first one.",
        "verbose": "print each rate.",
    },
    raises="ArgumentError: an argument is out of range.",
)


@SCHEDULERS
class LRScheduler(LearningRateDecay):
    """The base of rates that change whenever ``step()`` is called.

    A scheduler of your own says in ``get_lr`` what the rate is in the epoch ``self.last_epoch``; it
    may read ``self.base_lr`` and ``self.last_lr``.  An optimizer of eager parameters takes a
    scheduler as its learning rate.

    >>> class Halved(fluid.optimizer.lr.LRScheduler):
    ...     def get_lr(self):
    ...         return self.base_lr * 0.5**self.last_epoch
    >>> rate = Halved(0.8)
    >>> rate.step()
    >>> rate()
    0.4
    """

    _shown = "last_epoch=last_epoch"

    learning_rate: Any
    counts_steps: ClassVar[bool] = False
    kept: ClassVar[Mapping[str, str]] = {"last_epoch": "last_epoch", "last_lr": "last_lr"}

    #: what the rate is: a function of the base's, the epoch, and the fields
    formula: ClassVar[Callable[..., float]]
    #: field -> what it has to be, where that is not what its type says
    checks: ClassVar[Mapping[str, Callable[..., Any]]] = {}

    def __init__(
        self, learning_rate: float = 0.1, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        super().__init__(step=vars(self).get("step_size", 1))  # which StepDecay means otherwise
        self.base_lr = self.learning_rate = finite(self, "learning_rate", learning_rate)
        if self.base_lr < 0:
            raise ArgumentError(
                f"{type(self).__name__}: expected learning_rate of at least 0, got {learning_rate}"
            )
        self.last_epoch, self.verbose = int(last_epoch), bool(verbose)
        self.last_lr = self.base_lr
        self.step()

    def begin(self, given: dict[str, Any]) -> None:
        """Check the arguments of a subclass that lists them as fields, and start."""
        kinds = fields_of(type(self))
        for name, value in given.items():
            if name not in _COMMON:
                check = self.checks.get(name) or _CHECKS[kinds[name]]
                value = check(self, name, value)
            setattr(self, name, value)
        self.start()

    def start(self) -> None:
        """Go to the first epoch, with arguments that are checked."""
        LRScheduler.__init__(self, self.learning_rate, self.last_epoch, self.verbose)

    def __call__(self) -> float:
        """The rate of this epoch."""
        return self.last_lr

    def current(self) -> float:
        return self.last_lr

    def get_lr(self) -> float:
        """The rate of the epoch ``self.last_epoch``."""
        kind = type(self)
        if not hasattr(kind, "formula"):
            raise NotImplementedError(f"{kind.__name__} needs a method get_lr(self)")
        own = (getattr(self, name) for name in fields_of(kind) if name not in _COMMON)
        return float(kind.formula(self.base_lr, self.last_epoch, *own))

    def step(self, epoch: int | None = None) -> None:
        """Begin the next epoch.

        Args:
            epoch: its number; one more than that of the last one when None.
        """
        before = self.last_epoch
        self.last_epoch = before + 1 if epoch is None else int(epoch)
        try:
            self.last_lr = self.number(self.get_lr())
        except BaseException:
            self.last_epoch = before
            raise
        if self.verbose:
            print(f"epoch {self.last_epoch}: the learning rate is {self.last_lr}")


@SCHEDULERS
class ReduceOnPlateau(ReduceLROnPlateau):
    """A rate that is multiplied by ``factor`` when what ``step`` is given gets no better.

    Args:
        mode: whether smaller values ("min") or larger ones ("max") are better.
        factor: what the rate is multiplied by.
        patience: how many values in a row may be no better.
        threshold: how much better a value must be than the best one.
        threshold_mode: whether that is a share of the best one ("rel"), or a difference ("abs").
        cooldown: how many values are not counted after a change.
        min_lr: the least rate.
        epsilon: changes that are not larger are not made.

    >>> rate = fluid.optimizer.lr.ReduceOnPlateau(1.0, factor=0.5, patience=0)
    >>> rate.step(3.0)
    >>> rate.step(4.0)
    >>> rate()
    0.5
    """

    _shown = "factor=decay_rate epsilon=eps"

    kept: ClassVar[Mapping[str, str]] = {
        "cooldown_counter": "cooldown_counter",
        "best": "best_loss",
        "num_bad_epochs": "num_bad_epochs",
        "last_epoch": "epoch_num",
        "last_lr": "learning_rate",
    }

    def __init__(
        self,
        learning_rate: float,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float = 0,
        epsilon: float = 1e-8,
        verbose: bool = False,
    ) -> None:
        limits = (threshold, threshold_mode, cooldown, min_lr, epsilon)
        super().__init__(learning_rate, mode, factor, patience, verbose, *limits)

    def __call__(self) -> float:
        return self.learning_rate

    @property
    def last_lr(self) -> float:
        """The rate of this epoch."""
        return self.learning_rate

    @property
    def last_epoch(self) -> int:
        """The number of this epoch."""
        return self.epoch_num

    def step(self, metrics: Any = None, epoch: int | None = None) -> None:
        """Look whether a value is better than the best one.

        Args:
            metrics: the value: a number, or a tensor of one element.
            epoch: the number of the epoch; one more than that of the last one when None.
        """
        super().step(metrics)
        if epoch is not None:
            self.epoch_num = int(epoch)


def a_function(scheduler: Any, what: str, given: Any) -> Callable[[int], float]:
    """A function that a scheduler was given.

    Raises:
        ArgumentError: it is none.
    """
    if not callable(given):
        raise ArgumentError(
            f"{type(scheduler).__name__}: expected {what} to be a function of a number, got "
            f"{given!r:.60}"
        )
    found: Callable[[int], float] = given
    return found


def count(scheduler: Any, what: str, given: Any) -> int:
    """A whole number above 0 that a scheduler was given.

    Raises:
        ArgumentError: it is none.
    """
    number = positive(scheduler, what, given)
    if number != int(number):
        raise ArgumentError(
            f"{type(scheduler).__name__}: expected {what} to be a whole number, got {given!r:.60}"
        )
    return int(number)


def rising(scheduler: Any, what: str, given: Any) -> list[int]:
    """Epochs that a scheduler was given, in order.

    Raises:
        ArgumentError: they are not.
    """
    found = [int(finite(scheduler, f"one of {what}", each)) for each in given]
    if sorted(set(found)) != found:
        raise ArgumentError(
            f"{type(scheduler).__name__}: expected {what} that grow, got {given!r:.60}"
        )
    return found


def numbers(scheduler: Any, what: str, given: Any) -> list[float]:
    """Numbers that a scheduler was given."""
    return [finite(scheduler, f"one of {what}", each) for each in given]


def one_of(*known: str) -> Callable[..., str]:
    """What takes one of some words."""

    def checked(scheduler: Any, what: str, given: Any) -> str:
        if given not in known:
            listed = " or ".join([", ".join(known[:-1]), known[-1]])
            raise ArgumentError(
                f"{type(scheduler).__name__}: expected {what} {listed}, got {given!r:.60}"
            )
        return str(given)

    return checked


def or_none(check: Callable[..., Any]) -> Callable[..., Any]:
    """What takes None, too."""

    def checked(scheduler: Any, what: str, given: Any) -> Any:
        return None if given is None else check(scheduler, what, given)

    return checked


def yes_or_no(scheduler: Any, what: str, given: Any) -> bool:
    """Whether a scheduler was told to."""
    return bool(given)


def within(scheduler: Any, what: str, given: Any, most: float = 1.0) -> float:
    """A number above 0, and up to ``most``, that a scheduler was given.

    Raises:
        ArgumentError: it is none.
    """
    number = positive(scheduler, what, given)
    if number > most:
        raise ArgumentError(
            f"{type(scheduler).__name__}: expected {what} of at most {most:g}, got {given!r:.60}"
        )
    return number


_COMMON = ("learning_rate", "last_epoch", "verbose")
#: the type of a field -> what it has to be
_CHECKS = {"float": finite, "int": count, "bool": yes_or_no}
