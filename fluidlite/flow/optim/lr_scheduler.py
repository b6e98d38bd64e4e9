"""Learning rates that change from step to step."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

from ... import schedules
from ...eager.engine import located
from ...errors import ArgumentError
from ...ground.docstrings import Family
from ...ground.fields import fields_of, from_fields
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
        "gamma": "the factor.",
        "eta_min": "the least rate.",
        "last_step": "the number of the step before; -1 at the beginning.",
        "verbose": "print each rate that is set.",
    },
    raises="ArgumentError: that is no optimizer, or an argument means nothing.",
)
_COMMON = ("optimizer", "last_step", "verbose")


@_SCHEDULERS
class LRScheduler(SetsRates):
    """Sets the rates of an optimizer's groups; subclasses say in ``get_lr`` to what."""

    #: what the rate is: a function of the base's, the step, and the fields
    formula: ClassVar[Callable[..., float]]
    optimizer: Any
    last_step: int
    verbose: bool

    def __init__(self, optimizer: Any, last_step: int = -1, verbose: bool = False) -> None:
        if not isinstance(optimizer, Optimizer):
            raise located(ArgumentError(f"expected an optimizer, got {optimizer!r:.60}"))
        self.optimizer, self.last_step, self.verbose = optimizer, last_step, verbose
        for group in optimizer.param_groups:
            group.setdefault("initial_lr", group["lr"])
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
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
        kind = type(self)
        if not hasattr(kind, "formula"):
            raise NotImplementedError(f"{kind.__name__} needs a method get_lr(self, ...)")
        own = (getattr(self, name) for name in fields_of(kind) if name not in _COMMON)
        return kind.formula(base_lr, step, *own)

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


@_SCHEDULERS
@from_fields
class StepLR(LRScheduler):
    """The rate times gamma, every so many steps.

    Args:
        step_size: how many.

    >>> w = fluid.flow.zeros(1, requires_grad=True)
    >>> sgd = fluid.flow.optim.SGD([w], lr=1.0)
    >>> rates = fluid.flow.optim.lr_scheduler.StepLR(sgd, 2)
    >>> for _ in range(2):
    ...     rates.step()
    >>> rates.get_last_lr()
    [0.1]
    """

    optimizer: Any
    step_size: int
    gamma: float = 0.1
    last_step: int = -1
    verbose: bool = False
    formula = staticmethod(schedules.stairs)

    def start(self) -> None:
        if self.step_size < 1:
            raise located(
                ArgumentError(f"expected step_size from 1 on, got {self.step_size!r:.60}")
            )
        super().start()


@_SCHEDULERS
@from_fields
class MultiStepLR(LRScheduler):
    """The rate times gamma at each milestone.

    Args:
        milestones: numbers of steps, in order.
    """

    optimizer: Any
    milestones: Sequence[int]
    gamma: float = 0.1
    last_step: int = -1
    verbose: bool = False
    formula = staticmethod(schedules.at_milestones)

    def start(self) -> None:
        self.milestones = sorted(self.milestones)
        super().start()


@_SCHEDULERS
@from_fields
class ExponentialLR(LRScheduler):
    """The rate times gamma in every step."""

    optimizer: Any
    gamma: float
    last_step: int = -1
    verbose: bool = False
    formula = staticmethod(schedules.exponential)


@_SCHEDULERS
@from_fields
class LambdaLR(LRScheduler):
    """The rate times what a function gives for the number of the step.

    Args:
        lr_lambda: a function, or one for each group.

    Raises:
        ArgumentError: there are more or fewer functions than groups.
    """

    optimizer: Any
    lr_lambda: Any
    last_step: int = -1
    verbose: bool = False

    def start(self) -> None:
        groups, given = len(self.optimizer.param_groups), self.lr_lambda
        listed = isinstance(given, (list, tuple))
        self.lr_lambdas: list[Callable[[int], float]] = list(given) if listed else [given] * groups
        if len(self.lr_lambdas) != groups:
            raise located(ArgumentError(f"expected {groups} functions, got {len(self.lr_lambdas)}"))
        super().start()

    def rates(self, step: int) -> list[float]:
        """The rates of all groups in a step."""
        return [base * float(f(step)) for base, f in zip(self.base_lrs, self.lr_lambdas)]


@_SCHEDULERS
@from_fields
class ConstantLR(LRScheduler):
    """The rate times a factor in the first steps, and the rate itself then.

    Args:
        factor: the factor.
        total_iters: how many steps.
    """

    optimizer: Any
    factor: float = 1.0 / 3
    total_iters: int = 5
    last_step: int = -1
    verbose: bool = False
    formula = staticmethod(schedules.at_first)


@_SCHEDULERS
@from_fields
class LinearLR(LRScheduler):
    """The rate times a factor that goes from one to another in the first steps.

    Args:
        start_factor, end_factor: the factors.
        total_iters: how many steps.
    """

    optimizer: Any
    start_factor: float = 1.0 / 3
    end_factor: float = 1.0
    total_iters: int = 5
    last_step: int = -1
    verbose: bool = False
    formula = staticmethod(schedules.along_line)


@_SCHEDULERS
@from_fields
class CosineAnnealingLR(LRScheduler):
    """The rate along a cosine, down to a least one and up again.

    Args:
        T_max: steps from the top to the bottom.
    """

    optimizer: Any
    T_max: int
    eta_min: float = 0.0
    last_step: int = -1
    verbose: bool = False
    formula = staticmethod(schedules.annealed)


@_SCHEDULERS
@from_fields
class CosineDecayLR(LRScheduler):
    """The rate along a cosine, down to a share of it, where it stays.

    Args:
        decay_steps: steps to the bottom.
        alpha: the share.
    """

    optimizer: Any
    decay_steps: int
    alpha: float = 0.0
    last_step: int = -1
    verbose: bool = False

    def get_lr(self, base_lr: float, step: int) -> float:
        """The rate of a group in a step."""
        steps = self.decay_steps
        return schedules.annealed(base_lr, min(step, steps), steps, base_lr * self.alpha)


@_SCHEDULERS
@from_fields
class CosineAnnealingWarmRestarts(LRScheduler):
    """The rate down along a cosine, again and again.

    Args:
        T_0: steps of the first time.
        T_mult: each time takes so many times the steps of the one before.
        decay_rate: each time begins with so much of the one before.
        restart_limit: after so many times the rate stays the least one; 0 for no limit.
    """

    optimizer: Any
    T_0: int
    T_mult: int = 1
    eta_min: float = 0.0
    decay_rate: float = 1.0
    restart_limit: int = 0
    last_step: int = -1
    verbose: bool = False
    formula = staticmethod(schedules.restarted)


@_SCHEDULERS
@from_fields
class PolynomialLR(LRScheduler):
    """The rate down to another one along a power.

    Args:
        decay_batch: how many steps.
        end_learning_rate: the rate behind them.
        power: the power.
        cycle: begin anew behind them, from lower and lower.
    """

    optimizer: Any
    decay_batch: int
    end_learning_rate: float = 0.0001
    power: float = 1.0
    cycle: bool = False
    last_step: int = -1
    verbose: bool = False
    formula = staticmethod(schedules.polynomial)

    def get_lr(self, base_lr: float, step: int) -> float:
        """The rate of a group in a step."""
        return super().get_lr(base_lr, max(step, 1) if self.cycle else step)  # as OneFlow does


@_SCHEDULERS
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

    def __init__(
        self,
        scheduler_or_optimizer: Any,
        warmup_factor: float = 1.0 / 3,
        warmup_iters: int = 5,
        warmup_method: str = "linear",
        warmup_prefix: bool = False,
        last_step: int = -1,
        verbose: bool = False,
    ) -> None:
        if warmup_method not in ("linear", "constant"):
            raise located(
                ArgumentError(f"expected 'linear' or 'constant', got {warmup_method!r:.60}")
            )
        given = scheduler_or_optimizer
        self.behind = given if isinstance(given, LRScheduler) else None
        self.warmup_factor, self.warmup_iters = warmup_factor, warmup_iters
        self.warmup_method, self.warmup_prefix = warmup_method, warmup_prefix
        super().__init__(given if self.behind is None else given.optimizer, last_step, verbose)

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
        self.schedulers = list(schedulers)
        super().__init__(_one_optimizer(self.schedulers))

    def rates(self, step: int) -> list[float]:
        """The rates of all groups in a step."""
        found = list(self.base_lrs)
        for each in self.schedulers:
            factors = [r / b if b else 0.0 for r, b in zip(each.rates(step), each.base_lrs)]
            found = [rate * factor for rate, factor in zip(found, factors)]
        return found


@_SCHEDULERS
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

    def __init__(
        self,
        optimizer: Any,
        schedulers: Sequence[LRScheduler],
        milestones: Sequence[int],
        interval_rescaling: Any = False,
        last_step: int = -1,
        verbose: bool = False,
    ) -> None:
        changes = len(schedulers) - 1
        if len(milestones) != changes:
            raise located(ArgumentError(f"expected {changes} milestones, got {len(milestones)}"))
        given = interval_rescaling
        self.rescaling = [given] * changes if isinstance(given, bool) else list(given)
        self.schedulers, self.milestones = list(schedulers), list(milestones)
        super().__init__(optimizer, last_step, verbose)

    def rates(self, step: int) -> list[float]:
        """The rates of all groups in a step."""
        place = bisect_right(self.milestones, step)
        if place and self.rescaling[place - 1]:
            step -= self.milestones[place - 1]
        return self.schedulers[place].rates(step)


def _one_optimizer(schedulers: Sequence[LRScheduler]) -> Any:
    if not schedulers or any(s.optimizer is not schedulers[0].optimizer for s in schedulers):
        raise located(ArgumentError("expected schedulers of one optimizer"))
    return schedulers[0].optimizer


list_public_names(globals())
api_boundaries(globals())
