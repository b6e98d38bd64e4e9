"""How long the steps of a training take, and how many samples go through in a second."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...profiler import clock


@dataclass
class StepTimes:
    """The times of steps, in seconds, and how many samples each had."""

    spent: list[float] = field(default_factory=list)
    samples: list[int] = field(default_factory=list)
    #: how many of them were told of
    told: int = 0
    began: int = 0

    def begin(self) -> None:
        """Forget the times, and begin with the first step."""
        self.spent, self.samples, self.told = [], [], 0
        self.began = clock()

    def step(self, samples: int | None) -> None:
        """End a step, and begin the next one.

        Args:
            samples: how many samples it had; None for what is not known.
        """
        now = clock()
        self.spent.append(max(now - self.began, 1) / 1e9)
        self.samples.append(samples or 0)
        self.began = now

    def info(self, unit: str | None) -> str:
        """Averages of the steps since this was asked last.

        Args:
            unit: what the samples are; steps are counted where their numbers are not known.
        """
        spent, samples = self.spent[self.told :], self.samples[self.told :]
        self.told = len(self.spent)
        if not spent:
            return ""
        known = all(samples)
        rate = (sum(samples) if known else len(spent)) / sum(spent)
        counted = (unit or "samples") if known else "steps"
        return f" batch_cost: {sum(spent) / len(spent):.5f} s ips: {rate:.3f} {counted}/s"

    def summary(self) -> str:
        """A table of all steps."""
        if not self.spent:
            return ""
        known = all(self.samples)
        rates = [
            (samples if known else 1) / spent for samples, spent in zip(self.samples, self.spent)
        ]
        rows = [
            f"{title:>12}{sum(each) / len(each):>17.5f}{max(each):>17.5f}{min(each):>17.5f}"
            for title, each in (("batch_cost", self.spent), ("ips", rates))
        ]
        counted = "samples" if known else "steps"
        head = f"Steps: seconds, and {counted} in a second"
        return "\n".join([head, f"{'':>12}{'avg':>17}{'max':>17}{'min':>17}", *rows])
