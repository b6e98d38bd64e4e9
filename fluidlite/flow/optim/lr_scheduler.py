"""Learning rates that change from step to step."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, TypeVar, cast

from ... import schedules
from ...eager.engine import located
from ...errors import ArgumentError
from ...ground.docstrings import Family
from ...ground.fields import dataclass_transform, from_fields
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries
from .optimizer import Optimizer
from .plateau import ReduceLROnPlateau
from .rates import SetsRates

__all__ = [
    "ChainedScheduler", "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts",
    "CosineDecayLR", "ExponentialLR", "LRScheduler", "LambdaLR", "LinearLR", "MultiStepLR",
    "PolynomialLR", "ReduceLROnPlateau", "SequentialLR", "StepLR", "WarmUpLR", "WarmupLR",
]  # fmt: skip


_SCHEDULERS = Family(
    {
        "optimizer": "whose.",
        "last_step": "the number of the step before; -1 at the beginning.",
        "verbose": "print each rate that is set.",
    },
    raises="ArgumentError: that is no optimizer, or an argument means nothing.",
)
T = TypeVar("T", bound=type)


@dataclass_transform(eq_default=False)
def _scheduler(kind: T) -> T:
    """A class of schedulers: its constructor takes its fields, its docstring is its formula's."""
    return schedules.spelled(kind, _SCHEDULERS, "lr", "step")


@_SCHEDULERS
class LRScheduler(schedules.ByFormula, SetsRates):
    """Sets the rates of an optimizer's groups; subclasses say in ``get_lr`` to what."""

    optimizer: Optimizer
    last_step: int
    verbose: bool

    def __init__(self, optimizer: Optimizer, last_step: int = -1, verbose: bool = False) -> None:
        if not isinstance(optimizer, Optimizer):
            raise located(ArgumentError, f"expected an optimizer, got {optimizer!r:.60}")
        self.optimizer, self.last_step, self.verbose = optimizer, last_step, verbose
        for group in optimizer.param_groups:
            group.setdefault("initial_lr", group["lr"])
        self.base_lrs: list[Any] = [group["initial_lr"] for group in optimizer.param_groups]
        self.step()

    def begin(self, given: dict[str, Any]) -> None:
        """Take over the arguments of a subclass that lists them as fields, and start."""
        vars(self).update(given)
        self.start()

    def start(self) -> None:
        """Set the first rates."""
        LRScheduler.__init__(self, self.optimizer, self.last_step, self.verbose)

    def get_lr(self, base_lr: float, step: int) -> float:
        """The rate of a group in a step: written by subclasses.

        Args:
            base_lr: the rate that the optimizer was made with.
            step: the number of the step, from 0.
        """
        return self.rate_in(base_lr, step)

    def rates(self, step: int) -> list[float]:
        """The rates of all groups in a step."""
        return [float(self.get_lr(base, step)) for base in self.base_lrs]

    def step(self) -> None:
        """Set the rates of the next step."""
        self.last_step += 1
        self.update_lrs(self.rates(self.last_step))

    def update_lrs(self, lrs: Sequence[float]) -> None:
        """Set the rates of all groups."""
        self._last_lr = list(lrs)
        for k, (group, rate) in enumerate(zip(self.optimizer.param_groups, lrs)):
            group["lr"] = rate
            if self.verbose:
                self.print_lr(k, rate)

    def print_lr(self, group: int, lr: float) -> None:
        """Print the rate of a group."""
        print(f"step {self.last_step}: learning rate of group {group} is {lr:.6g}")


@from_fields
class _OfOptimizer:
    """The argument that comes first."""

    optimizer: Optimizer


@from_fields
class _Steps(LRScheduler):
    """A scheduler whose last arguments are these, behind those of the classes beside it."""

    last_step: int = -1
    verbose: bool = False


@_scheduler
class StepLR(_Steps, schedules.Stairs, _OfOptimizer):
    """
    >>> w = fluid.flow.zeros(1, requires_grad=True)
    >>> sgd = fluid.flow.optim.SGD([w], lr=1.0)
    >>> rates = fluid.flow.optim.lr_scheduler.StepLR(sgd, 2)
    >>> for _ in range(2):
    ...     rates.step()
    >>> rates.get_last_lr()
    [0.1]
    """

    def start(self) -> None:
        if self.step_size < 1:
            raise located(
                ArgumentError, f"expected step_size from 1 on, got {self.step_size!r:.60}"
            )
        super().start()


@_scheduler
class MultiStepLR(_Steps, schedules.Milestones, _OfOptimizer):
    def start(self) -> None:
        self.milestones: Any = sorted(self.milestones)
        super().start()


@_scheduler
class ExponentialLR(_Steps, schedules.Exponential, _OfOptimizer): ...


@_scheduler
class CosineAnnealingLR(_Steps, schedules.Annealed, _OfOptimizer): ...


@_scheduler
class LambdaLR(LRScheduler):
    """The rate times what a function gives for the number of the step.

    Args:
        lr_lambda: a function, or one for each group.

    Raises:
        ArgumentError: there are more or fewer functions than groups.
    """

    optimizer: Optimizer
    lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]]
    last_step: int = -1
    verbose: bool = False

    def start(self) -> None:
        groups, given = len(self.optimizer.param_groups), vars(self).pop("lr_lambda")
        self.lr_lambdas: list[Callable[[int], float]] = (
            [given] * groups if callable(given) else list(given)
        )
        if len(self.lr_lambdas) != groups:
            raise located(ArgumentError, f"expected {groups} functions, got {len(self.lr_lambdas)}")
        super().start()

    def rates(self, step: int) -> list[float]:
        """The rates of all groups in a step."""
        return [base * float(f(step)) for base, f in zip(self.base_lrs, self.lr_lambdas)]


@_scheduler
class ConstantLR(LRScheduler):
    optimizer: Optimizer
    factor: float = 1.0 / 3
    total_iters: int = 5
    last_step: int = -1
    verbose: bool = False
    formula: ClassVar[Callable[..., Any]] = staticmethod(schedules.at_first)


@_scheduler
class LinearLR(LRScheduler):
    optimizer: Optimizer
    start_factor: float = 1.0 / 3
    end_factor: float = 1.0
    total_iters: int = 5
    last_step: int = -1
    verbose: bool = False
    formula: ClassVar[Callable[..., Any]] = staticmethod(schedules.along_line)


@_scheduler
class CosineDecayLR(LRScheduler):
    """The rate along a cosine, down to a share of it, where it stays.

    Args:
        decay_steps: steps to the bottom.
        alpha: the share.
    """

    optimizer: Optimizer
    decay_steps: int
    alpha: float = 0.0
    last_step: int = -1
    verbose: bool = False

    def get_lr(self, base_lr: float, step: int) -> float:
        """The rate of a group in a step."""
        steps = self.decay_steps
        return schedules.annealed(base_lr, min(step, steps), steps, base_lr * self.alpha)


@_scheduler
class CosineAnnealingWarmRestarts(LRScheduler):
    optimizer: Optimizer
    T_0: int
    T_mult: int = 1
    eta_min: float = 0.0
    decay_rate: float = 1.0
    restart_limit: int = 0
    last_step: int = -1
    verbose: bool = False
    formula: ClassVar[Callable[..., Any]] = staticmethod(schedules.restarted)


@from_fields
class _Polynomial(schedules.ByFormula):
    decay_batch: int
    end_learning_rate: float = 0.0001
    power: float = 1.0
    cycle: bool = False
    formula: ClassVar[Callable[..., Any]] = staticmethod(schedules.polynomial)


@_scheduler
class PolynomialLR(_Steps, _Polynomial, _OfOptimizer):
    def start(self) -> None:
        self.max_decay_steps: int = vars(self).pop("decay_batch")  # as states of OneFlow have it
        super().start()

    def get_lr(self, base_lr: float, step: int) -> float:
        """The rate of a group in a step."""
        counted = max(step, 1) if self.cycle else step  # as OneFlow does
        shape = self.max_decay_steps, self.end_learning_rate, self.power, self.cycle
        return float(self.formula(base_lr, counted, *shape))


@_scheduler
class WarmupLR(LRScheduler):
    """A smaller rate in the first steps, in front of another scheduler.

    Args:
        scheduler_or_optimizer: what says the rates behind; an optimizer for its own rate.
        warmup_factor: the factor to begin with.
        warmup_iters: how many steps.
        warmup_method: "linear", or "constant".
        warmup_prefix: the other scheduler begins behind these steps; if not, it has counted them.

    Raises:
        ArgumentError: there is no such method.
    """

    scheduler_or_optimizer: LRScheduler | Optimizer
    warmup_factor: float = 1.0 / 3
    warmup_iters: int = 5
    warmup_method: str = "linear"
    warmup_prefix: bool = False
    last_step: int = -1
    verbose: bool = False

    def start(self) -> None:
        inner = self.scheduler_or_optimizer
        if self.warmup_method not in ("linear", "constant"):
            raise located(
                ArgumentError, f"expected 'linear' or 'constant', got {self.warmup_method!r:.60}"
            )
        self.behind: LRScheduler | None = inner if isinstance(inner, LRScheduler) else None
        self.optimizer: Optimizer = inner.optimizer if isinstance(inner, LRScheduler) else inner
        super().start()

    def rates(self, step: int) -> list[float]:
        """The rates of all groups in a step."""
        start = self.warmup_iters if self.warmup_prefix else 0
        if step >= self.warmup_iters:
            return self._behind(step - start)
        first = [base * self.warmup_factor for base in self.base_lrs]
        if self.warmup_method == "constant":
            return first
        part, last = step / self.warmup_iters, self._behind(self.warmup_iters - start)
        return [schedules.line(a, b, part) for a, b in zip(first, last)]

    def _behind(self, step: int) -> list[float]:
        return self.base_lrs if self.behind is None else self.behind.rates(step)


WarmUpLR = WarmupLR


@_SCHEDULERS
class ChainedScheduler(LRScheduler):
    """Schedulers whose factors are multiplied.

    Args:
        schedulers: of one optimizer.
    """

    def __init__(self, schedulers: Iterable[LRScheduler]) -> None:
        self.schedulers: list[LRScheduler] = list(schedulers)
        super().__init__(_one_optimizer(self.schedulers))

    def rates(self, step: int) -> list[float]:
        """The rates of all groups in a step."""
        rates = list(self.base_lrs)
        for each in self.schedulers:
            factors = [r / b if b else 0.0 for r, b in zip(each.rates(step), each.base_lrs)]
            rates = [rate * factor for rate, factor in zip(rates, factors)]
        return rates


@_scheduler
class SequentialLR(LRScheduler):
    """Schedulers one after the other.

    Args:
        schedulers: in order.
        milestones: the numbers of steps at which the second, the third, ... take over.
        interval_rescaling: whether a scheduler counts from where it took over, and not from the
            beginning; for all of them, or for each milestone.

    Raises:
        ArgumentError: there are not as many milestones as there are changes.
    """

    optimizer: Optimizer
    schedulers: Sequence[LRScheduler]
    milestones: Sequence[int]
    interval_rescaling: bool | Sequence[bool] = False
    last_step: int = -1
    verbose: bool = False

    def start(self) -> None:
        changes = len(self.schedulers) - 1
        if len(self.milestones) != changes:
            raise located(
                ArgumentError, f"expected {changes} milestones, got {len(self.milestones)}"
            )
        given = self.interval_rescaling
        self.interval_rescaling = [given] * changes if isinstance(given, bool) else list(given)
        self.schedulers, self.milestones = list(self.schedulers), list(self.milestones)
        super().start()

    def rates(self, step: int) -> list[float]:
        """The rates of all groups in a step."""
        place = bisect_right(self.milestones, step)
        if place and cast("Any", self.interval_rescaling)[place - 1]:
            step -= self.milestones[place - 1]
        return self.schedulers[place].rates(step)


def _one_optimizer(schedulers: Sequence[LRScheduler]) -> Any:
    if not schedulers or any(s.optimizer is not schedulers[0].optimizer for s in schedulers):
        raise located(ArgumentError, "expected schedulers of one optimizer")
    return schedulers[0].optimizer


list_public_names(globals())
api_boundaries(globals())
