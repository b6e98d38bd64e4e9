"""What schedulers of learning rates in paddle 2's spelling have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

from ... import schedules
from ...errors import ArgumentError
from ...ground.aliases import Alias
from ...ground.arguments import finite
from ...ground.docstrings import Family
from ...ground.fields import dataclass_transform, from_fields
from ...layers.decay import LearningRateDecay
from ...layers.epoch_decay import FieldsDecay, ReduceLROnPlateau

SCHEDULERS = Family(
    {
        "learning_rate": "the rate that the others are made of.",
        "max_learning_rate": "the largest rate.",
        "last_epoch": "the number of the epoch before the first one.",
        "verbose": "print each rate.",
    },
    raises="ArgumentError: an argument is out of range.",
)
T = TypeVar("T", bound=type)


@dataclass_transform(eq_default=False)
def scheduler(kind: T) -> T:
    """A class of schedulers: its constructor takes its fields, its docstring is its formula's."""
    return schedules.spelled(kind, SCHEDULERS, "learning_rate", "epoch")


class _HasKeys(LearningRateDecay):
    """What a state has is what ``state_keys`` says."""

    keys: list[str]

    def state_keys(self) -> None:
        """Say in ``self.keys`` which attributes a state has; a scheduler of your own may name
        others.
        """
        self.keys = [*self.kept]

    def state_dict(self) -> dict[str, Any]:
        self.state_keys()
        return {key: getattr(self, self.kept.get(key, key)) for key in self.keys}


@SCHEDULERS
class LRScheduler(_HasKeys, FieldsDecay):
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
    last_epoch: int
    verbose: bool
    counts_steps: ClassVar[bool] = False
    kept: ClassVar[Mapping[str, str]] = {"last_epoch": "last_epoch", "last_lr": "last_lr"}

    def __init__(
        self, learning_rate: float = 0.1, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        step = vars(self).get("step_size", 1)  # which StepDecay means otherwise
        LearningRateDecay.__init__(self, step=step)
        self.base_lr: float = finite(self, "learning_rate", learning_rate)
        self.learning_rate = self.base_lr
        if self.base_lr < 0:
            raise ArgumentError(
                f"{type(self).__name__}: expected learning_rate of at least 0, got {learning_rate}"
            )
        self.last_epoch, self.verbose = int(last_epoch), bool(verbose)
        self.last_lr: float = self.base_lr
        self.step()

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
        return self.rate_in(self.base_lr, self.last_epoch)

    def rate_of_epoch(self) -> float:
        """The rate of an epoch that was jumped to; of some schedulers the next one follows from the
        one before.
        """
        return self.get_lr()

    def step(self, epoch: int | None = None) -> None:
        """Begin the next epoch.

        Args:
            epoch: its number; one more than that of the last one when None.
        """
        before = self.last_epoch
        self.last_epoch = before + 1 if epoch is None else int(epoch)
        try:
            rate = self.get_lr() if epoch is None else self.rate_of_epoch()
            self.last_lr = self.number(rate)
        except BaseException:
            self.last_epoch = before
            raise
        if self.verbose:
            told(self, self.last_epoch, self.last_lr)


def told(scheduler: object, epoch: int, rate: float) -> None:
    """Print a rate."""
    print(f"Epoch {epoch}: {type(scheduler).__name__} set learning rate to {rate}.")


@from_fields
class Epochs(LRScheduler):
    """A scheduler whose last arguments are these, behind those of the classes beside it."""

    last_epoch: int = -1
    verbose: bool = False


@schedules.PLATEAU
class ReduceOnPlateau(_HasKeys, ReduceLROnPlateau):
    """A rate that is multiplied by ``factor`` when what ``step`` is given gets no better.

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
        self.base_lr: float = self.learning_rate

    def __call__(self) -> float:
        return self.learning_rate

    last_lr: Alias[float] = Alias("learning_rate", "The rate of this epoch.", written=True)
    last_epoch: Alias[int] = Alias("epoch_num", "The number of this epoch.", written=True)
    best: Alias[Any] = Alias("best_loss", "The best value; None before the first.", written=True)
    factor: Alias[float] = Alias("decay_rate", "What the rate is multiplied by.", written=True)
    epsilon: Alias[float] = Alias("eps", "Changes that are not larger are not made.", written=True)

    def get_lr(self) -> float:
        """The rate of this epoch."""
        return self.learning_rate

    def tell(self) -> None:
        told(self, self.epoch_num, self.learning_rate)

    def step(self, metrics: Any = None, epoch: int | None = None) -> None:
        """Look whether a value is better than the best one.

        Args:
            metrics: the value: a number, or a tensor of one element.
            epoch: the number of the epoch; one more than that of the last one when None.
        """
        super().step(metrics)
        if epoch is not None:
            self.epoch_num: int = int(epoch)
