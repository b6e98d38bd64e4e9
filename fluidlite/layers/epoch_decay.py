"""Learning rates that change from epoch to epoch, or when a loss gets no better."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

from .. import schedules
from ..errors import ArgumentError
from ..ground.arguments import Check, a_function, count, finite, one_of, rising, yes_or_no
from ..ground.fields import dataclass_transform, fields_of, from_fields
from ..opdef.operand import Operand
from .decay import DECAYS, LearningRateDecay

T = TypeVar("T", bound=type)
#: the type of a field -> what it has to be
_CHECKS: Mapping[str, Check] = {"float": finite, "int": count, "bool": yes_or_no}


@dataclass_transform(eq_default=False)
def _decay(kind: T) -> T:
    """A class of decays: its constructor takes its fields, its docstring is its formula's."""
    return schedules.spelled(kind, DECAYS, "learning_rate", "epoch")


class FieldsDecay(schedules.ByFormula, LearningRateDecay):
    """A decay that lists its arguments as fields, and goes by a formula of them."""

    #: field -> what it has to be, where that is not what its type says; None for anything
    checks: ClassVar[Mapping[str, Check | None]] = {}

    def begin(self, given: dict[str, Any]) -> None:
        """Check the arguments, and start.

        Args:
            given: arguments by name.
        """
        kinds = fields_of(type(self))
        for name, value in given.items():
            check = self.checks.get(name, _CHECKS.get(kinds[name]))
            if check is not None and name not in schedules.COMMON:
                value = check(self, name, value)
            setattr(self, name, value)
        self.start()

    def start(self) -> None:
        """Begin with arguments that are checked."""
        raise NotImplementedError


@DECAYS
class EpochDecay(FieldsDecay):
    """The base of rates that change from epoch to epoch, whenever ``epoch()`` is called."""

    _shown = "step_num=step_num"

    learning_rate: float
    counts_steps: ClassVar[bool] = False
    kept: ClassVar[Mapping[str, str]] = {"epoch_num": "epoch_num", "learning_rate": "learning_rate"}

    def __init__(self, learning_rate: float, dtype: str = "float32") -> None:
        step = vars(self).get("step_size", 1)  # which StepDecay means otherwise
        LearningRateDecay.__init__(self, step=step, dtype=dtype)
        self.base_lr: float = finite(self, "learning_rate", learning_rate)
        self.learning_rate = self.base_lr
        self.epoch_num: int = 0

    def start(self) -> None:
        EpochDecay.__init__(self, self.learning_rate)

    def get_lr(self) -> float:
        """The rate of the epoch ``self.epoch_num``."""
        return self.rate_in(self.base_lr, self.epoch_num)

    def epoch(self, epoch: int | None = None) -> None:
        """Begin the next epoch.

        Args:
            epoch: its number; one more than that of the last one when None.
        """
        self.epoch_num = self.epoch_num + 1 if epoch is None else epoch
        self.learning_rate = self.number(self.get_lr())

    def step(self) -> float:
        return self.learning_rate

    def current(self) -> float:
        return self.learning_rate


@_decay
class StepDecay(EpochDecay, schedules.FirstRate):
    """
    >>> rate = fluid.dygraph.StepDecay(1.0, step_size=1, decay_rate=0.5)
    >>> rate.epoch()
    >>> float(rate())
    0.5
    """

    step_size: int
    decay_rate: float = 0.1
    formula: ClassVar[Callable[..., Any]] = staticmethod(schedules.stairs)


@_decay
class MultiStepDecay(EpochDecay, schedules.FirstRate):
    """
    >>> rate = fluid.dygraph.MultiStepDecay(1.0, milestones=[1, 2], decay_rate=0.5)
    >>> rate.epoch(2)
    >>> float(rate())
    0.25
    """

    milestones: Sequence[int]
    decay_rate: float = 0.1
    formula: ClassVar[Callable[..., Any]] = staticmethod(schedules.at_milestones)
    checks: ClassVar[Mapping[str, Any]] = {"milestones": rising}


@_decay
class LambdaDecay(EpochDecay, schedules.OfFunction, schedules.FirstRate):
    """
    >>> rate = fluid.dygraph.LambdaDecay(1.0, lambda epoch: 0.5**epoch)
    >>> rate.epoch()
    >>> float(rate())
    0.5
    """

    checks: ClassVar[Mapping[str, Any]] = {"lr_lambda": a_function}


def _share(owner: object, what: str, value: Any) -> float:
    """A number in [0, 1)."""
    if not 0 <= finite(owner, what, value) < 1:
        raise ArgumentError(f"expected {what} in [0, 1), got {value}")
    return float(value)


@schedules.PLATEAU
@from_fields
class ReduceLROnPlateau(FieldsDecay):
    """A rate that is multiplied by ``decay_rate`` when a loss, given to ``step``, gets no better.

    >>> rate = fluid.dygraph.ReduceLROnPlateau(1.0, decay_rate=0.5, patience=0)
    >>> rate.step(3.0)
    >>> rate.step(4.0)
    >>> float(rate())
    0.5
    """

    _shown: ClassVar[str] = "step_num=step_num"

    kept: ClassVar[Mapping[str, str]] = {
        name: name
        for name in (
            *("cooldown_counter", "best_loss", "num_bad_epochs", "epoch_num", "learning_rate"),
        )
    }

    learning_rate: float
    mode: str = "min"
    decay_rate: float = 0.1
    patience: int = 10
    verbose: bool = False
    threshold: float = 0.0001
    threshold_mode: str = "rel"
    cooldown: int = 0
    min_lr: float = 0
    eps: float = 1e-08
    dtype: str = "float32"
    checks: ClassVar[Mapping[str, Any]] = {
        "mode": one_of("min", "max"),
        "threshold_mode": one_of("rel", "abs"),
        "decay_rate": _share,
        "patience": None,
        "cooldown": None,
    }

    def start(self) -> None:
        LearningRateDecay.__init__(self, dtype=self.dtype)
        self.learning_rate = finite(self, "learning_rate", self.learning_rate)
        self.best_loss: float | None = None
        self.cooldown_counter: int = 0
        self.num_bad_epochs: int = 0
        self.epoch_num: int = 0

    def __call__(self) -> Any:
        self._last = self.learning_rate
        return self.create_lr_var(self._last)

    def current(self) -> float:
        return self.learning_rate

    def step(self, loss: float | Operand | None = None) -> None:
        """Look whether a loss is better than the best one.

        Args:
            loss: a number, or a tensor of one element.

        Raises:
            ArgumentError: it is something else.
        """
        value = self.number(loss)
        self.epoch_num += 1
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            return
        if self.best_loss is None or self._is_better(value, self.best_loss):
            self.best_loss = value
            self.num_bad_epochs = 0
            return
        self.num_bad_epochs += 1
        if self.num_bad_epochs > self.patience:
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
            rate = max(self.learning_rate * self.decay_rate, self.min_lr)
            if self.learning_rate - rate > self.eps:
                self.learning_rate = rate
                if self.verbose:
                    self.tell()

    def tell(self) -> None:
        """Print the rate that has changed."""
        print(f"epoch {self.epoch_num}: the learning rate is {self.learning_rate} from now on")

    def _is_better(self, loss: float, best: float) -> bool:
        much = abs(best) * self.threshold if self.threshold_mode == "rel" else self.threshold
        return loss < best - much if self.mode == "min" else loss > best + much
