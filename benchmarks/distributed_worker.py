"""One of several processes that train together; process 0 prints what it measured, as JSON.

    mpiexec -n 2 python distributed_worker.py fluidlite|torch STEP ROUNDS STEPS

The step is one of ``steps.py`` or a net of ``large.py``.
Each way of training takes a turn in each round: ``apart`` (nothing is sent), ``together``
(gradients are summed while others are computed) and, on fluidlite, ``one by one`` (a message for
each gradient, which is waited for).  ``messages`` is the time of the messages of a step alone.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import programs
from large import NETS, UPDATES, Words
from problems import FULL, problem

WARM = 6  # steps, until plans are made
KERNELS = 3.0  # seconds in which kernels are compiled beside the first steps

Steps = dict[str, Callable[[int], Any]]


class OnFluidlite:
    """The ways of training of fluidlite.

    Args:
        name: of a step or a net.
    """

    def __init__(self, name: str) -> None:
        import fluidlite as fluid

        self._fluid, self._name = fluid, name
        self.group: Any = fluid.distributed.join()
        self.size, self.rank = self.group.size, self.group.rank
        self.steps: Steps = {"apart": self._trainer(lambda main, startup: None)}
        if self.size > 1:
            self.steps["together"] = self._trainer(fluid.distributed.data_parallel)
            self.steps["one by one"] = self._trainer(self._one_by_one)

    def _programs(self) -> tuple[Any, Any, Any, Any, Any]:
        """Main program, startup program, loss, batches, and the first values of parameters that the
        startup program does not draw.
        """
        if self._name in FULL:
            subject = problem(self._name)
            return (*programs.build(self._fluid, subject), subject.feeds, subject.start)
        with self._fluid.unique_name.guard():
            update = UPDATES.get(self._name, "adam")
            *built, feed = Words("fluidlite").program(NETS[self._name], False, update)
        self.batch = len(feed["x0"])
        return (*built, [feed], {})

    def _trainer(self, rewrite: Callable[[Any, Any], Any]) -> Callable[[int], Any]:
        fluid = self._fluid
        main, startup, loss, feeds, start = self._programs()
        rewrite(main, startup)
        scope, exe = fluid.Scope(), fluid.Executor()
        exe.run(startup, scope=scope)
        for name, value in start.items():
            scope.find_var(name).get_tensor().set(value)

        def step(number: int) -> Any:
            feed = feeds[(number + self.rank) % len(feeds)]
            return exe.run(main, feed=feed, fetch_list=[loss], scope=scope)

        return step

    def _one_by_one(self, main: Any, startup: Any) -> None:
        """A sum behind each gradient, which the next operator waits for."""
        block = main.global_block()
        for param in main.all_parameters():
            name = f"{param.name}@GRAD"
            places = [k for k, op in enumerate(block.ops) if op.writes(name)]
            if places:  # statistics have no gradient
                given = ({"X": name}, {"Out": name}, {"op_role": 1})
                block.insert_op(places[-1] + 1, "c_allreduce_sum", *given)

    def traffic(self, step: Callable[[int], Any]) -> dict[str, Any]:
        """What a step sends."""
        before = self.group.traffic.messages, self.group.traffic.bytes
        step(0)
        after = self.group.traffic
        return {"count": after.messages - before[0], "bytes": after.bytes - before[1]}

    def messages(self) -> Callable[[int], Any]:
        """What sends the messages of a step, and nothing else."""
        main, startup, *_ = self._programs()
        self._fluid.distributed.data_parallel(main, startup)
        ops = [op for op in main.global_block().ops if op.type == "c_allreduce_wait"]
        sizes = [sum(self._sizes(op)) for op in ops]
        buffers = [np.zeros(size, np.float32) for size in sizes]

        def send(number: int) -> None:
            handles = [self.group.start_all_reduce(b, "sum", 0) for b in buffers]
            for handle in handles:
                self.group.wait(handle)

        return send

    @staticmethod
    def _sizes(op: Any) -> list[int]:
        import math

        sizes, found = list(op.attrs["shape_concat"]), []
        for rank in op.attrs["ranks"]:
            found.append(math.prod(sizes[:rank]))
            del sizes[:rank]
        return found

    def barrier(self) -> None:
        """Wait until all are here."""
        if self.size > 1:
            self.group.all_reduce(np.zeros(1), "sum", 0)

    def close(self) -> None:
        """Nothing: processes end together by themselves."""


class OnTorch:
    """The same on PyTorch, with ``DistributedDataParallel`` over gloo."""

    def __init__(self, name: str) -> None:
        import torch
        from torch import distributed

        torch.set_num_threads(1)
        self.rank = int(os.environ.get("PMI_RANK", "0"))
        self.size = int(os.environ.get("PMI_SIZE", "1"))
        self._torch, self._distributed = torch, distributed
        if self.size > 1:
            distributed.init_process_group("gloo", rank=self.rank, world_size=self.size)
        net, optimizer, feeds = (self._step if name in FULL else self._large)(name)
        self._parts = dict(net.named_parameters())

        def trainer(module: Any) -> Callable[[int], Any]:
            def run(number: int) -> Any:
                optimizer.zero_grad()
                loss = module(feeds[(number + self.rank) % len(feeds)])
                loss.backward()
                optimizer.step()
                return float(loss.detach())

            return run

        self.steps: Steps = {"apart": trainer(net)}
        if self.size > 1:
            wrapped = torch.nn.parallel.DistributedDataParallel(net)
            together = trainer(wrapped)

            def alone(number: int) -> Any:
                with wrapped.no_sync():
                    return together(number)

            self.steps = {"apart": alone, "together": together}

    def _module(self, parameters: Any, loss: Callable[[Any], Any]) -> Any:
        """The loss of a batch, as what DDP wraps."""

        class Net(self._torch.nn.Module):  # type: ignore[misc, name-defined]
            def forward(self, batch: Any) -> Any:
                return loss(batch)

        net = Net()
        for name, value in parameters:
            net.register_parameter(name.replace(".", "_"), value)
        return net

    def _step(self, name: str) -> tuple[Any, Any, Any]:
        """The loss of a step, its optimizer, and batches."""
        from peers import torch_

        subject = problem(name)
        step = torch_.Step(subject)
        step.load(subject.start)

        def loss(batch: Any) -> Any:
            fed = {k: torch_._laid_out(self._torch.from_numpy(v)) for k, v in batch.items()}
            return step._loss(step._values, fed, step._more)

        return self._module(step._values.items(), loss), step._optimizer, subject.feeds

    def _large(self, name: str) -> tuple[Any, Any, Any]:
        """The same of a large net."""
        words = Words("torch")
        net, call, fed = NETS[name](words, False)
        rule = words.rule(net, UPDATES.get(name, "adam"))
        self.batch, batch = len(fed[0]), [words.tensor(each) for each in fed]
        return self._module(net.named_parameters(), lambda given: call(*given)), rule, [batch]

    def traffic(self, step: Callable[[int], Any]) -> dict[str, Any]:
        """What a step sends."""
        sizes = [value.numel() * value.element_size() for value in self._parts.values()]
        return {"count": len(self._buckets()), "bytes": sum(sizes)}

    def _buckets(self) -> list[int]:
        """The elements of each message: the first of 1 MiB, the others of 25."""
        found, limit = [0], 1 << 20
        for value in reversed(list(self._parts.values())):
            found[-1] += value.numel()
            if found[-1] * value.element_size() >= limit:
                found.append(0)
                limit = 25 << 20
        return [n for n in found if n]

    def messages(self) -> Callable[[int], Any]:
        """What sends the messages of a step, and nothing else."""
        buffers = [self._torch.zeros(n) for n in self._buckets()]

        def send(number: int) -> None:
            begun = [self._distributed.all_reduce(b, async_op=True) for b in buffers]
            for each in begun:
                each.wait()

        return send

    def barrier(self) -> None:
        """Wait until all are here."""
        if self.size > 1:
            self._distributed.barrier()

    def close(self) -> None:
        """Part."""
        if self.size > 1:
            self._distributed.destroy_process_group()


def measured(on: Any, step: Callable[[int], Any], count: int) -> list[tuple[float, float]]:
    """Of each step the seconds from when all processes are ready until all are done, and those that
    this process was on a processor, which others on the machine change less.
    """
    found = []
    for number in range(count):
        on.barrier()
        begin, busy = time.perf_counter(), time.process_time()
        step(number)
        busy = time.process_time() - busy
        on.barrier()
        found.append((time.perf_counter() - begin, busy))
    return found


def main(library: str, name: str, rounds: int, count: int) -> None:
    """Measure, and print."""
    on: Any = (OnFluidlite if library == "fluidlite" else OnTorch)(name)
    ways = dict(on.steps)
    if on.size > 1:
        ways["messages"] = on.messages()
    for pause in (KERNELS, 0.0):
        for step in ways.values():
            for number in range(WARM):
                step(number)
        time.sleep(pause)
    found: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
    for _ in range(rounds):
        for way, step in ways.items():
            found[way] += measured(on, step, count)
    sent = {} if on.size == 1 else on.traffic(ways["together"])
    if on.rank == 0:
        batch = FULL[name]["batch"] if name in FULL else on.batch
        told = {"seconds": found, "sent": sent, "size": on.size, "batch": batch}
        print(json.dumps(told), flush=True)
    on.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
