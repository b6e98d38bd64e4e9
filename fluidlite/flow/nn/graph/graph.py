"""Graphs: what their ``build`` says is a program, which is run again and again."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from ....eager.engine import located
from ....eager.mode import no_grad
from ....eager.recording import TensorRecord
from ....errors import ArgumentError, BuildError, StateDictError
from ....ir.program import Program
from ...amp import GradScaler, StaticGradScaler
from ...optim.lr_scheduler import LRScheduler
from ...optim.optimizer import Optimizer
from ...tensor import Tensor
from ..module import Module
from .building import GraphProgram, mapped
from .config import GraphConfig
from .parts import GraphModule

_STEP = "System-Train-TrainStep"
#: what optimizers keep -> what the states of graphs call it
_KEPT = {
    "momentum_buffer": "momentum", "exp_avg": "m", "exp_avg_sq": "v",
    "max_exp_avg_sq": "max_v", "square_avg": "mean_square",
}  # fmt: skip


class Graph:
    """Modules that are defined first and run as a program.

    A subclass sets modules as attributes in ``__init__``, after ``super().__init__()``, adds
    optimizers there by :meth:`add_optimizer`, and says in :meth:`build` what is computed; a loss
    that is to be trained is given a ``backward()`` there.  The first call builds the program;
    each call runs it, and then the steps of the optimizers.

    >>> class Fitting(fluid.flow.nn.Graph):
    ...     def __init__(self, net):
    ...         super().__init__()
    ...         self.net = net
    ...         self.add_optimizer(fluid.flow.optim.SGD(net.parameters(), lr=0.1))
    ...
    ...     def build(self, x, y):
    ...         loss = ((self.net(x) - y) ** 2).mean()
    ...         loss.backward()
    ...         return loss
    >>> fitting = Fitting(fluid.flow.nn.Linear(2, 1))
    >>> x, y = fluid.flow.ones(4, 2), fluid.flow.zeros(4, 1)
    >>> losses = [float(fitting(x, y)) for _ in range(20)]
    >>> losses[-1] < 1e-3 * losses[0] + 1e-6
    True
    """

    _numbers: ClassVar[dict[str, itertools.count[int]]] = {}
    config: GraphConfig
    _parts: dict[str, GraphModule]
    _optimizers: list[tuple[Optimizer, LRScheduler | None]]
    _built: GraphProgram | None
    _steps: int

    def __init__(self) -> None:
        own = type(self).__name__
        count = next(Graph._numbers.setdefault(own, itertools.count()))
        vars(self).update(
            _name=f"{own}_{count}",
            _parts={},
            _optimizers=[],
            _built=None,
            _steps=0,
            config=GraphConfig(),
        )

    def build(self, *args: Any, **kwargs: Any) -> Any:
        """What is computed: written by subclasses.

        Args:
            args, kwargs: tensors, and lists and dictionaries of them.
        """
        raise NotImplementedError(f"{type(self).__name__} needs a method build(self, ...)")

    # -- what it consists of -----------------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        if "_parts" not in vars(self):
            raise AttributeError(
                f"{type(self).__name__} has to call super().__init__() before it sets {name!r}"
            )
        if isinstance(value, TensorRecord):
            raise AttributeError(
                f"expected {name!r} to be no tensor: a graph takes tensors within modules"
            )
        if isinstance(value, Module):
            value = self._parts[name] = GraphModule(value, name)
        object.__setattr__(self, name, value)

    @property
    def name(self) -> str:
        """The name: that of the class, and a number."""
        return str(vars(self)["_name"])

    @property
    def is_compiled(self) -> bool:
        """Whether the program is there."""
        return self._built is not None

    @property
    def program(self) -> Program:
        """The program that the first call has built: it prints, is saved and changed as others.

        Raises:
            BuildError: there was no call.
        """
        if self._built is None:
            raise located(BuildError, f"{self.name} has no program before its first call")
        return self._built.program

    @property
    def training(self) -> bool:
        """Whether the graph trains."""
        return self.config.training

    def add_optimizer(
        self, optim: Optimizer, *, lr_sch: LRScheduler | None = None, is_sparse: bool = False
    ) -> None:
        """Have the parameters of an optimizer updated behind each run.

        Args:
            optim: the optimizer.
            lr_sch: sets its rates, from step to step of the graph.
            is_sparse: accepted: gradients of all kinds are taken.

        Raises:
            ArgumentError: that is no optimizer, or no scheduler.
        """
        if not isinstance(optim, Optimizer):
            raise located(ArgumentError, f"expected an optimizer, got {optim!r:.60}")
        if lr_sch is not None and not isinstance(lr_sch, LRScheduler):
            raise located(ArgumentError, f"expected a scheduler of rates, got {lr_sch!r:.60}")
        self._optimizers.append((optim, lr_sch))
        self.config.training = True

    def set_grad_scaler(self, grad_scaler: GradScaler | StaticGradScaler | None = None) -> None:
        """How losses are scaled where gradients have few bits: they have those of parameters here.

        Args:
            grad_scaler: accepted.
        """
        if not isinstance(grad_scaler, (GradScaler, StaticGradScaler, type(None))):
            raise located(ArgumentError, f"expected a GradScaler, got {grad_scaler!r:.60}")

    def debug(
        self,
        v_level: int = -1,
        *,
        ranks: int | list[int] | None = None,
        max_py_stack_depth: int = 2,
        only_user_py_stack: bool = True,
        op_repr_with_py_stack: bool = False,
    ) -> None:
        """A note for the log of building; ``repr`` of the graph has all of them.

        Args:
            v_level, ranks, max_py_stack_depth, only_user_py_stack, op_repr_with_py_stack: accepted.
        """

    # -- running -----------------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The outputs of ``build`` for inputs, and a step of each optimizer."""
        tensors: list[Any] = []
        mapped((args, kwargs), tensors.append, "input")
        if self._built is None:
            self.build_graph(*args, **kwargs)
        built: Any = self._built
        built.check(tensors)
        outputs, slopes = built.run(tensors)
        if built.has_loss:
            self._update({id(parameter): slope for parameter, slope in slopes})
        return outputs

    def build_graph(self, *args: Any, **kwargs: Any) -> None:
        """Make the program for inputs, without running it.

        Args:
            args, kwargs: of ``build``.

        Raises:
            BuildError: a loss is differentiated without an optimizer, or there is an optimizer and
                nothing is.
        """
        trained = [p for o, _ in self._optimizers for g in o.param_groups for p in g["params"]]
        inputs, steps = (args, kwargs), self.config.steps
        built = GraphProgram(self.build, inputs, steps, self._tensors(), trained)
        if built.has_loss and not self._optimizers:
            raise located(
                BuildError, "a loss has a backward() in build(), but no optimizer is added"
            )
        if self._optimizers and not built.has_loss:
            raise located(
                BuildError, "an optimizer is added, but no loss has a backward() in build()"
            )
        vars(self)["_built"] = built

    def finish_complie_and_init_runtime(self) -> None:
        """Nothing: a program that was built can be run."""

    def _tensors(self) -> dict[str, Any]:
        """Parameters and buffers by the names that the program gives them."""
        tensors: dict[str, Any] = {}
        seen: set[int] = set()
        for part in self._parts.values():
            for kind in (part.origin.named_parameters(), part.origin.named_buffers()):
                for name, tensor in kind:
                    if id(tensor) not in seen:
                        seen.add(id(tensor))
                        tensors[f"{part.name}.{name}"] = tensor
        return tensors

    def _update(self, slopes: Mapping[int, np.ndarray[Any, Any]]) -> None:
        """A step of each optimizer by the gradients of its parameters."""
        for optimizer, scheduler in self._optimizers:
            params = [p for group in optimizer.param_groups for p in group["params"]]
            before = [parameter.grad for parameter in params]
            rates = [group["lr"] for group in optimizer.param_groups]
            if scheduler is not None:
                for group, rate in zip(optimizer.param_groups, scheduler.rates(self._steps)):
                    group["lr"] = rate
            try:
                for parameter in params:
                    slope = slopes.get(id(parameter))
                    parameter.grad = None if slope is None else parameter.results(slope)
                with no_grad():
                    optimizer.clip_grad()
                    optimizer.step()
            finally:
                for parameter, gradient in zip(params, before):
                    parameter.grad = gradient
                for group, rate in zip(optimizer.param_groups, rates):
                    group["lr"] = rate
        vars(self)["_steps"] += 1

    # -- states ------------------------------------------------------------------------------------

    def state_dict(self, destination: dict[str, Any] | None = None) -> dict[str, Any]:
        """The states of the modules by their names, what optimizers keep of each parameter, and how
        many steps were made.

        Args:
            destination: what it is put into; an ordered dictionary when None.
        """
        state: dict[str, Any] = OrderedDict() if destination is None else destination
        for name, part in self._parts.items():
            state[name] = part.origin.state_dict()
        for place, what, value in self._kept():
            tensor = value if isinstance(value, TensorRecord) else Tensor.results(np.array(value))
            state[f"{place}-{_KEPT.get(what, what)}"] = tensor
        if self._optimizers:
            state[_STEP] = Tensor.results(np.array([self._steps]))
        return state

    def _kept(self) -> list[tuple[str, str, Any]]:
        """What optimizers keep: the parameter's name, that of the value, and the value."""
        names = {id(tensor): name for name, tensor in self._tensors().items()}
        triples = []
        for optimizer, _ in self._optimizers:
            params = [p for group in optimizer.param_groups for p in group["params"]]
            for number, values in optimizer.state_dict()["state"].items():
                place = names.get(id(params[number]), str(number))
                triples += [(place, what, value) for what, value in values.items()]
        return triples

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True) -> None:
        """Go on from a state.

        Args:
            state_dict: what :meth:`state_dict` gave.
            strict: refuse a state that lacks a module.

        Raises:
            StateDictError: a module is missing, or a name of one.
        """
        missing = self._parts.keys() - state_dict.keys()
        if strict and missing:
            raise located(StateDictError, f"the state lacks {sorted(missing)}")
        for name, part in self._parts.items():
            if name in state_dict:
                part.origin.load_state_dict(state_dict[name], strict)
        for optimizer, _ in self._optimizers:
            self._load_kept(optimizer, state_dict)
        if _STEP in state_dict:
            vars(self)["_steps"] = int(state_dict[_STEP].array.reshape(-1)[0])

    def _load_kept(self, optimizer: Optimizer, state_dict: Mapping[str, Any]) -> None:
        """Give an optimizer what a state says of its parameters."""
        names = {id(tensor): name for name, tensor in self._tensors().items()}
        words = {short: own for own, short in _KEPT.items()}
        state = optimizer.state_dict()
        params = [p for group in optimizer.param_groups for p in group["params"]]
        for number, parameter in enumerate(params):
            start = f"{names.get(id(parameter), number)}-"
            found = {k[len(start) :]: v for k, v in state_dict.items() if k.startswith(start)}
            values = {words.get(what, what): value for what, value in found.items()}
            if values:
                state["state"][number] = {
                    what: value.item() if what == "step" else value
                    for what, value in values.items()
                }
        optimizer.load_state_dict(state)

    # -- in words ----------------------------------------------------------------------------------

    def __repr__(self) -> str:
        lines = [repr(self.config)]
        described = [] if self._built is None else self._built.describe()
        lines += [line for line in described if line.startswith("(INPUT")]
        for part in self._parts.values():
            lines += part.lines()
        lines += [line for line in described if not line.startswith("(INPUT")]
        lines += [
            f"(OPTIMIZER: {type(optimizer).__name__} of {len(group['params'])} parameters)"
            for optimizer, _ in self._optimizers
            for group in optimizer.param_groups
            if described
        ]
        head = f"(GRAPH:{self.name}:{type(self).__name__}): ("
        return "\n".join([head, *[f"  {line}" for line in "\n".join(lines).splitlines()], ")"])

    @staticmethod
    def trace(func: Callable[..., Any]) -> Graph:
        """A graph of a function.

        Args:
            func: takes and gives what ``build`` does.

        >>> doubled = fluid.flow.nn.Graph.trace(lambda x: x * 2)
        >>> doubled(fluid.flow.ones(2))
        tensor([2., 2.], dtype=oneflow.float32)
        """
        traced: Any = _Traced()
        vars(traced)["build"] = func
        graph: Graph = traced
        return graph


class _Traced(Graph):
    """A graph of a function."""
