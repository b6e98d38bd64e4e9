"""What all optimizers have in common: a loss becomes gradients, and gradients become steps.

An optimizer says which operator makes its step (``type``), which variables it keeps for every
parameter (``states``) and what else the operator is given (``attrs``, ``inputs``).  With variables
of a program the steps are appended to it; with eager parameters they are made at once.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from ..backward.program import loss_gradients
from ..clip import GradientClipBase, append_gradient_clip_ops, error_clip_callback
from ..eager.mode import no_grad
from ..errors import ArgumentError
from ..ground.arguments import is_finite, text_or_none
from ..ground.callsite import warn
from ..ground.dtypes import DType
from ..ground.protected import answers_protected
from ..ground.reprs import Described
from ..ground.weak_tables import WeakTable
from ..ir.block import Block
from ..ir.device import device_guard
from ..ir.name_scope import name_scope
from ..ir.operator import Operator, OpRole
from ..ir.program import Program, default_main_program, default_startup_program, program_guard
from ..ir.rollback import all_or_nothing
from ..ir.variable import Parameter, Variable, is_tensor
from ..layers.decay import LearningRateDecay
from ..opdef.definition import lookup
from ..regularizer import WeightDecayRegularizer, append_regularization_ops, check_regularizer
from .arguments import (
    COMMON,
    MORE_OF_PADDLE2,
    OPTIMIZERS,
    Arguments,
    Pair,
    Pairs,
    checked_pairs,
    checked_parameters,
    decay_of,
    in_words_of_paddle2,
    kept_attributes,
    programs_of,
    reached,
    stepping_within,
)
from .eager import EagerSteps, not_eager
from .groups import eager_groups, holds_groups
from .old_names import OldOptimizer
from .options import HasOptions, a_clip
from .rates import HasRate
from .states import State, States

if TYPE_CHECKING:
    from ..eager.tensor_core import TensorCore
    from ..scope import Scope


@answers_protected
@OPTIMIZERS
class Optimizer(Arguments, OldOptimizer, HasRate, HasOptions, Described):
    """The base of all optimizers.

    Raises:
        ArgumentError: an argument is of another kind.
        ParameterListError: within ``dygraph.guard()``, there is no ``parameter_list``.

    >>> x = fluid.data("x", [None, 3], "float32")
    >>> loss = fluid.layers.mean(fluid.layers.fc(x, 1))
    >>> ops, pairs = fluid.optimizer.SGD(learning_rate=0.1).minimize(loss)
    >>> [op.type for op in ops]
    ['sgd', 'sgd']

    >>> w = fluid.create_parameter([2], "float32")
    >>> sgd = fluid.optimizer.SGD(learning_rate=0.1, parameter_list=[w])
    >>> before = w.numpy()
    >>> fluid.sum(w * 3.0).backward()
    >>> sgd.step()
    >>> (before - w.numpy()).round(4)
    array([0.3, 0.3], dtype=float32)
    """

    #: the type of the operator that makes a step
    type: str = ""
    #: further arguments that only paddle 2 has, as far as they were given
    _more: Mapping[str, Any] = {}
    #: the variables that are kept for every parameter
    states: ClassVar[Sequence[State]] = ()
    #: the attributes of that operator, as words ``attribute=argument``
    attributes: ClassVar[str] = ""

    def __init__(
        self,
        learning_rate: float | Variable | LearningRateDecay | None = None,
        parameter_list: Iterable[Variable | str] | None = None,
        regularization: WeightDecayRegularizer | None = None,
        grad_clip: GradientClipBase | None = None,
        name: str | None = None,
        *,
        parameters: Iterable[Any] | None = None,
        weight_decay: float | WeightDecayRegularizer | None = None,
    ) -> None:
        if is_finite(regularization) and "regularization" not in self._named:
            regularization, weight_decay = None, regularization  # by place, as in paddle 2
        given = {"parameter_list": parameter_list, "regularization": regularization}
        fluids = {name: value for name, value in given.items() if name in self._named}
        paddle2s = {"parameters": parameters, "weight_decay": weight_decay, **self._more}
        words = in_words_of_paddle2(self._kind, fluids, paddle2s)
        self.in_paddle2_words: bool = words or self.of_paddle2
        listed = checked_parameters(self, parameter_list if parameters is None else parameters)
        eager = eager_groups(self._kind, listed, self.group_options)
        self.in_paddle2_words |= holds_groups(listed)
        if self.in_paddle2_words and (eager is not None or self.of_paddle2):
            self.by_paddle2 = True
            self.type = self.type_of_paddle2 or self.type
        self._learning_rate = self._checked_rate(self.usual("learning_rate", learning_rate))
        self._parameter_list = listed if eager is None else eager.parameters
        self._loss_dtype = DType.FP32
        regularization = regularization or decay_of(self._kind, weight_decay)
        check_regularizer(regularization, f"regularization of {self._kind}")
        self.regularization = regularization
        self._grad_clip = a_clip(self, "grad_clip", grad_clip)
        self._name = text_or_none(self, "name", name)
        #: what to keep of the forward values; what lies between is computed again
        self._checkpoints: list[Variable | str] | None = None
        self._states = States(self._kind, name)
        #: program -> the name of the learning rate's variable
        self._rates: WeakTable[Program, str] = WeakTable()
        #: what makes the steps of eager parameters in programs, once there are such
        self._twin: Optimizer | None = None
        #: what makes steps on eager parameters; None for an optimizer of programs
        self._eager: EagerSteps | None = None
        if eager is not None:
            self._eager = EagerSteps(self, eager, self._learning_rate, grad_clip, name)
        elif (
            isinstance(self._learning_rate, LearningRateDecay) and self._learning_rate.counts_steps
        ):
            raise ArgumentError(
                f"{self._kind}: a decay of fluid.dygraph is for eager parameters; give their "
                f"parameter_list, or use a schedule of fluid.layers or of fluid.optimizer.lr"
            )

    def begin(self, given: dict[str, Any]) -> None:
        """Take over the arguments of a subclass with fields: argument ``x`` is kept as ``_x``."""
        self._more = {n: given[n] for n, usual in MORE_OF_PADDLE2.items() if _says(given, n, usual)}
        Optimizer.__init__(self, **{name: given.pop(name) for name in COMMON})
        for name, value in given.items():
            given[name] = self.checked(name, self.usual(name, value))
            setattr(self, f"_{name}", given[name])
        if any(isinstance(state.value, str) for state in self.states):
            vars(self)["states"] = [state.resolved(self) for state in self.states]

    @property
    def _kind(self) -> str:
        return type(self).__name__

    # -- from a loss to steps ----------------------------------------------------------------------

    def minimize(
        self,
        loss: Variable,
        startup_program: Program | None = None,
        parameter_list: Iterable[Variable | str] | None = None,
        no_grad_set: Iterable[Variable | str] | None = None,
        *,
        memory: str | float | None = None,
        batch_size: int | None = None,
    ) -> tuple[list[Operator], Pairs]:
        """Append the gradients of a loss and one step that uses them to the loss's program.

        When it fails, the programs are as they were.  With eager parameters, make the step, with
        the gradients that ``backward()`` of the loss has found.

        Args:
            loss: a variable of one element.
            startup_program: where the optimizer's variables get their first values; the default one
                when None.
            parameter_list: the parameters, or their names, to update; when None or empty those that
                the optimizer was made with.
            no_grad_set: variables, or their names, at which gradients stop.
            memory, batch_size: as of ``append_backward``, but that gradients are not held to the
                end.

        Returns:
            the operators of the step, and pairs of a parameter and its gradient as the loss has it,
            before clipping and regularization.

        Raises:
            ArgumentError: an argument is of another kind.
            NoGradientError: an operator on the way has no gradient rule.
            BudgetError: the memory is too little; the error says how much is enough.
        """
        with stepping_within(loss, startup_program, memory, batch_size):
            return self.step_of(loss, startup_program, parameter_list, no_grad_set)

    def step_of(
        self, loss: Variable, startup_program: Program | None, *given: Any
    ) -> tuple[list[Operator], Pairs]:
        """What :meth:`minimize` does, for optimizers around others to do in their way.

        Args:
            loss, startup_program: as of :meth:`minimize`.
            given: its other arguments.
        """
        if self._is_of_program(loss):
            return self._in_programs().step_of(loss, startup_program, *given)
        if self._eager is not None:
            pairs = self.backward(loss, None, *given)
            with no_grad():
                return self.apply_optimize(loss, None, pairs), pairs
        main, startup = programs_of(loss, startup_program)
        with all_or_nothing(main, startup):
            pairs = self.backward(loss, startup, *given)
            return self.apply_optimize(loss, startup, pairs), pairs

    def backward(
        self,
        loss: Variable,
        startup_program: Program | None = None,
        parameter_list: Iterable[Variable | str] | None = None,
        no_grad_set: Iterable[Variable | str] | None = None,
        callbacks: Sequence[Callable[..., Any]] | None = None,
    ) -> Pairs:
        """Append the gradients of a loss: the first half of :meth:`minimize`.

        With eager parameters nothing is computed: the gradients are there, since ``backward()`` of
        the loss was called.

        Args:
            loss, startup_program, parameter_list, no_grad_set: as of :meth:`minimize`.
            callbacks: called after each appended gradient operator, in place of clipping the
                gradients of variables that have an ``error_clip``.

        Returns:
            pairs of a parameter and its gradient.
        """
        return self.gradients_of(loss, startup_program, parameter_list, no_grad_set, callbacks)

    def gradients_of(self, loss: Variable, startup_program: Program | None, *given: Any) -> Pairs:
        """What :meth:`backward` does, for optimizers around others to do in their way.

        Args:
            loss, startup_program: as of :meth:`backward`.
            given: its other arguments.
        """
        parameter_list, no_grad_set, callbacks = given
        if self._is_of_program(loss):
            return self._in_programs().gradients_of(loss, startup_program, *given)
        if self._eager is not None:
            return self._eager.pairs_for(
                loss, checked_parameters(self, parameter_list), no_grad_set
            )
        main, startup = programs_of(loss, startup_program)
        self._loss_dtype = loss.dtype
        listed = checked_parameters(self, parameter_list) or self._parameter_list
        frozen = [p.name for p in main.all_parameters() if not p.trainable]
        stops = no_grad_set if not frozen else [*(no_grad_set or ()), *frozen]
        if callbacks is None and any(v.error_clip is not None for v in main.list_vars()):
            callbacks = [error_clip_callback]
        with all_or_nothing(main, startup), program_guard(main, startup):
            pairs = loss_gradients(loss, listed, stops, callbacks, self._checkpoints)
            return reached(pairs, self._kind, loss, listed)

    def _is_of_program(self, value: object) -> bool:
        """Whether an optimizer of eager parameters is given a variable of a program."""
        given = isinstance(value, Variable) and not is_tensor(value)
        return given and self.of_paddle2 and self._eager is not None

    def _in_programs(self) -> Optimizer:
        """This optimizer for the programs to which layers with its parameters were appended: there
        the parameters have the same names.
        """
        if self._twin is None:
            assert self._eager is not None
            twin = copy.copy(self)
            twin._eager = None
            twin._parameter_list = [each.name for each in self._eager.parameters]
            twin._states, twin._rates = States(self._kind, self._name), WeakTable()
            self._twin = twin
        return self._twin

    def apply_gradients(self, params_grads: Iterable[Pair]) -> list[Operator]:
        """Append clipping, regularization and one step: the second half of :meth:`minimize`.

        With eager parameters, do it.

        Args:
            params_grads: pairs of a parameter and its gradient; without one it is not updated.

        Returns:
            the operators of the step.

        Raises:
            ArgumentError: an argument is of another kind.
        """
        if self._eager is not None:
            given = list(params_grads)
            if given and self._is_of_program(given[0][0]):
                return self._in_programs().apply_gradients(given)
            self._eager.apply(given)
            return []
        pairs = checked_pairs(params_grads)
        main = pairs[0][0].program if pairs else default_main_program()
        return self._apply(pairs, main, default_startup_program())

    def apply_optimize(
        self, loss: Variable, startup_program: Program | None, params_grads: Iterable[Pair]
    ) -> list[Operator]:
        """:meth:`apply_gradients`, for the program of a loss.

        Args:
            loss: its program gets the steps.
            startup_program: as of :meth:`minimize`.
            params_grads: pairs of a parameter and its gradient.
        """
        if self._is_of_program(loss):
            return self._in_programs().apply_optimize(loss, startup_program, params_grads)
        if self._eager is not None:
            return self.apply_gradients(params_grads)
        return self._apply(checked_pairs(params_grads), *programs_of(loss, startup_program))

    def step(self) -> None:
        """Make one step with the gradients that eager parameters have.

        Raises:
            ArgumentError: the optimizer is one of programs.

        >>> with fluid.dygraph.guard():
        ...     net = fluid.dygraph.Linear(2, 1)
        ...     adam = fluid.optimizer.Adam(0.01, parameter_list=net.parameters())
        ...     x = fluid.dygraph.to_variable(np.ones([4, 2], "float32"))
        ...     fluid.layers.mean(net(x)).backward()
        ...     adam.step()
        ...     adam.clear_grad()
        >>> net.weight.gradient().tolist()
        [[0.0], [0.0]]
        """
        steps = self._need_eager("step")
        steps.apply(steps.pairs())

    def clear_grad(self, set_to_zero: bool = True) -> None:
        """Make the gradients of eager parameters zero, or drop them.

        Args:
            set_to_zero: False: there are none afterwards.

        Raises:
            ArgumentError: the optimizer is one of programs.
        """
        self._need_eager("clear_grad").clear_gradients(set_to_zero)

    def clear_gradients(self) -> None:
        """Make the gradients of eager parameters zero; fluid 1.8's name for ``clear_grad``."""
        self._need_eager("clear_gradients").clear_gradients(True)

    def _need_eager(self, what: str) -> EagerSteps:
        if self._eager is None:
            raise not_eager(self._kind, what, self._parameter_list)
        return self._eager

    def _apply(self, pairs: list[Pair], main: Program, startup: Program) -> list[Operator]:
        for param, grad in pairs:
            if any(v is not None and v.program is not main for v in (param, grad)):
                raise ArgumentError(
                    f"parameter {param.name!r} or its gradient is a variable of another program"
                )
        pairs.sort(key=lambda pair: pair[0].name)
        if self._grad_clip is not None and any(
            getattr(param, "gradient_clip_attr", None) is not None for param, _ in pairs
        ):
            warn(
                f"{self._kind} has a grad_clip, so what set_gradient_clip said has no effect", None
            )
        with all_or_nothing(main, startup), program_guard(main, startup):
            clip = self._grad_clip or append_gradient_clip_ops
            decayed = append_regularization_ops(clip(pairs), self.regularization)
            return self._append_steps(main, startup, decayed)

    def _append_steps(self, main: Program, startup: Program, pairs: list[Pair]) -> list[Operator]:
        block = main.current_block()
        begin = len(block.ops)
        updated = [(p, g) for p, g in pairs if not isinstance(p, Parameter) or p.trainable]
        self._rate_first(main, startup, updated[0][0].dtype if updated else self._loss_dtype)
        for param, _ in updated:
            for state in self.states:
                self._states.make(main, startup, state, param)
        self._create_accumulators(block, [param for param, grad in updated if grad is not None])
        self._rate(main, startup, updated[0][0].dtype if updated else self._loss_dtype)
        devices = {name: op.device for op in block.ops if op.device for name in op.output_arg_names}
        for param, grad in updated:
            if grad is not None:
                with (
                    main.as_role(OpRole.OPTIMIZE, (param, grad)),
                    name_scope("optimizer"),
                    device_guard(devices.get(grad.name)),
                ):
                    self._append_optimize_op(block, (param, grad))
        self._finish_update(block, [(p, g) for p, g in updated if g is not None])
        return block.ops[begin:]

    def append_step(
        self, block: Block, param: Variable, grad: Variable, rate: Variable
    ) -> Operator:
        """Append the operator of a parameter's step.

        Args:
            block: where to append.
            param, grad: the parameter, and what it is updated with.
            rate: the parameter's learning rate.
        """
        inputs = {"Param": param, "Grad": grad, **self.inputs(param)}
        if "LearningRate" in lookup(self.type).input_slots:
            inputs["LearningRate"] = rate
        outputs = {"ParamOut": param}
        for state in self.states:
            inputs[state.slot] = self._states.of(state, param)
        outputs.update({slot: self._states.of(state, param) for state, slot in self.written})
        return block.append_op(self.type, inputs, outputs, self.attrs(param))

    @property
    def written(self) -> list[tuple[State, str]]:
        """The states that a step writes, and the slots where it does."""
        slots = lookup(self.type).output_slots
        named = [(state, state.out or f"{state.slot}Out") for state in self.states]
        return [(state, slot) for state, slot in named if slot in slots]

    # -- what an optimizer says --------------------------------------------------------------------

    def decay_of(self, param: Variable | TensorCore) -> float:
        """How much a parameter shrinks before its step, as a part of the learning rate."""
        return 0.0

    def ratio_of(self, param: Variable | TensorCore) -> float:
        """The factor of a parameter's learning rate."""
        return 1.0

    def attrs(self, param: Variable) -> dict[str, Any]:
        """The attributes of a parameter's step; where that goes element by element, those of all
        parameters of a group.
        """
        options = self.options_of(param) or {}
        return {
            name: options[kept] if kept in options else getattr(self, kept)
            for name, kept in kept_attributes(self.attributes)
        }

    def inputs(self, param: Variable) -> dict[str, Variable]:
        """What a parameter's step reads besides parameter, gradient, rate and states."""
        return {}

    def finish(self, block: Block, pairs: Sequence[tuple[Variable, Variable]]) -> None:
        """Append what follows when all parameters have been updated.

        Args:
            block: where to append.
            pairs: the parameters that are updated, and what they are updated with.
        """

    def finish_eagerly(self, steps: EagerSteps, parameters: Sequence[Any]) -> None:
        """Do what follows when all eager parameters have been updated.

        Args:
            steps: has what is kept for them.
            parameters: those that were updated.
        """

    # -- states ------------------------------------------------------------------------------------

    def state_of(self, state: State | str, param: Variable) -> Variable:
        """What is kept for a parameter.

        Args:
            state: which one; or its name, as ``"velocity"``.
            param: the parameter.

        Raises:
            ArgumentError: nothing of the kind is kept.
        """
        if self._eager is not None:
            name = state.name if isinstance(state, State) else state
            return self._eager.states.of(name, param)
        return self._states.of(state, param)

    def get_opti_var_name_list(self) -> list[str]:
        """The names of all states, in order of creation."""
        return self._states.names() if self._eager is None else list(self._eager.states.named())

    def state_dict(self, scope: Scope | None = None) -> dict[str, Any]:
        """Copies of the values of all states in a scope, by the names of their variables.

        With eager parameters the states themselves, which ``save_dygraph`` writes to a file, and
        that of the learning rate where it changes.

        Args:
            scope: where the program is run, as ``fluid.global_scope()``.

        Raises:
            ArgumentError: the scope is missing.
            NotInitializedError: the scope has no value of a state.

        >>> x = fluid.data("x", [None, 3], "float32")
        >>> loss = fluid.layers.mean(fluid.layers.fc(x, 1, bias_attr=False))
        >>> momentum = fluid.optimizer.Momentum(0.1, 0.9)
        >>> ops, pairs = momentum.minimize(loss)
        >>> _ = fluid.Executor().run(fluid.default_startup_program())
        >>> kept = momentum.state_dict(fluid.global_scope())
        >>> kept["fc_0.w_0_velocity_0"].tolist()
        [[0.0], [0.0], [0.0]]
        >>> momentum.set_dict(kept, fluid.global_scope())
        """
        if scope is not None and self._twin is not None:
            return Optimizer.state_dict(self._twin, scope)
        if self._eager is not None:
            return self._eager.state_dict()
        if scope is None:
            raise self._needs_scope("state_dict(fluid.global_scope())")
        return self._states.values(scope)

    def set_dict(
        self, state_dict: Mapping[str, Any], scope: Scope | None = None, by_position: bool = False
    ) -> None:
        """Go on from states that :meth:`state_dict` gave.

        With eager parameters it may be called before the first step or after it.

        Args:
            state_dict: arrays by the names of the states' variables.  In programs others are passed
                over.
            scope: where the program is run, as ``fluid.global_scope()``.
            by_position: the first parameter that names in ``state_dict`` speak of is this
                optimizer's first one, whatever they are called: for states of an equal net.

        Raises:
            ArgumentError: the scope or a state is missing, or a state has another shape or element
                type.
            StateDictError: with eager parameters, or by position, a state is missing, or a name is
                that of none; with eager parameters the first step says which parameters lack all.
            ShapeError: with eager parameters, a state has another shape.
            NotInitializedError: the scope has no value of a state.

        >>> w, v = fluid.create_parameter([2], "float32"), fluid.create_parameter([2], "float32")
        >>> first = fluid.optimizer.Momentum(parameters=[w])
        >>> fluid.sum(w).backward()
        >>> first.step()
        >>> again = fluid.optimizer.Momentum(parameters=[v])
        >>> again.set_state_dict(first.state_dict(), by_position=True)
        >>> fluid.sum(v).backward()
        >>> again.step()
        >>> again.state_of("velocity", v).numpy()
        array([1.9, 1.9], dtype=float32)
        """
        if scope is not None and self._twin is not None:
            Optimizer.set_dict(self._twin, state_dict, scope, by_position)
            return
        if self._eager is not None:
            self._eager.set_dict(state_dict, by_position)
            return
        if scope is None:
            raise self._needs_scope("set_dict(states, fluid.global_scope())")
        self._states.set_values(state_dict, scope, by_position)

    set_state_dict = set_dict

    def __getstate__(self) -> dict[str, Any]:
        # what belongs to programs stays with them
        return {k: v for k, v in self.__dict__.items() if k not in ("_rates", "_states")}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__dict__.update(kept)
        self._rates = WeakTable()
        self._states = States(self._kind, self._name)

    def _needs_scope(self, call: str) -> ArgumentError:
        return ArgumentError(
            f"{self._kind} has its learning rate and states in variables of the program, and "
            f"scopes hold the values of variables; give one: {call}"
        )


def _says(given: Mapping[str, Any], name: str, usual: Any) -> bool:
    return name in given and given[name] != usual
