"""What an operator is: one class with its slots, attributes, shape rule, kernel and gradient rule.

    class tanh(Op):
        \"""Out = tanh(X).\"""
        signature = "X -> Out"
        ufunc = np.tanh

        def grad(self, f, Out, dOut):
            return dict(X=lambda: dOut * (1.0 - Out * Out))

Everything else derives from it.  A definition that cannot be right fails when its class is created.
An instance is an operator's type with the values of its attributes: what interpreters pass around.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, ClassVar, TypeAlias

from ..errors import (
    AttributeValueError,
    DefinitionError,
    FluidError,
    NoGradientError,
    UnknownOperatorError,
    suggestion,
)
from ..ground.extension import ExtensionPoint
from .attribute import REQUIRED, Attribute, read_attributes
from .conjugation import OfComplex, conjugate_rules, is_unusual, refuse_element_types
from .effect import EXCHANGE, Effect
from .fluid_form import FluidForm, refuse_loose_fields
from .prepared import Prepared, preparation_of
from .redefinition import redefinitions
from .rule import RuleArgument, rule_arguments
from .signature import Signature, Slot, parse_signature
from .spec import Spec, as_whole, need_numbers, sized, unexpected
from .structure import Structure
from .user_results import check_results, no_input

#: defines the built-in operators
BUILT_IN: ExtensionPoint[object] = ExtensionPoint("the built-in operators")
_REGISTRY: dict[str, Definition] = {}
defined = _REGISTRY.get  #: the definition of a type that was looked up before; None for others
_HINTS = 8  # of many unknown types, how many get one
_HIGHEST_ORDER = 50  # of gradient operators
#: type of a gradient operator with a name of its own -> the forward operator's
_TYPE_BEHIND: dict[str, str] = {}
#: what makes the definition of a gradient operator of that of the forward operator
_derivations: list[Callable[[Definition], Definition]] = []


class Op(Structure):
    """The base of all operators.

    Class attributes of a definition:

    ``signature`` slots in order, ``"inputs -> outputs"``, with marks: ``?`` may be absent, ``*`` a
        list, ``!`` constant, ``~`` not returned by layers, ``[]`` the kernel takes a LoDTensor.
    annotated attributes
        the operator's attributes with their defaults; the annotation is the wire type.
    ``infer(self, <input slots>)``
        specs in, spec (or a tuple of them) out.  Default: every output is like the first input.
    ``run(self, xp, <input slots>)`` the kernel, on arrays of any backend.  ``run_numpy`` or
        ``run_jax`` override it for one.  A parameter ``rng`` receives a source of random numbers:
        ``rng(self.seed)``.
    ``expand(self, f, <input slots>)``
        instead of ``run``: the operator as a composition of others.
    ``execute(self, run)``
        instead of ``run``: a control operator, which drives blocks.
    ``grad(self, f, <slots>, d<outputs>)`` the gradient rule: ``{input slot: function without
        arguments that gives its cotangent}``.  ``grad = None`` where no gradient flows;
        absent: not supported.
    ``width(self, <all input slots>)``
        how many variables a list output holds; gets variables, shapes may be unknown.
    ``lod``
        the input whose LoD the outputs share: its slot, ``"first"`` (the first that is there) or
        None.  Of a list it is that of the first value; ``"joined"``: of the first slot's values
        one after the other.
    ``lods(self, ins)``
        the LoD of outputs by slot, where it is not that of an input: from the values of the inputs.
    ``per_sequence``
        the outputs that have one row for each sequence.
    ``grad_numpy(self, xp, <parameters of the rule>)``
        a faster kernel for all that the rule, or the composition, says of the first order: arrays
        by input slot, or functions that give them.
    ``whole``
        of a composition, or a gradient, that has a kernel, too: whether compiled plans take the
        kernel.  Else that is for interpreted steps alone, and plans see the parts.
    ``reads_shapes``
        the kernel reads only shapes and element types of its inputs, and which sequences they form.
    ``folds``
        the kernel may run once, when all its inputs are known before a program runs.
    ``unrolls``
        of a control operator: the number of passes through its block follows from shapes.
    ``prepare(self, *specs)``
        a faster form of ``run`` for values of these shapes: see ``opdef/prepared.py``.
    ``effect``
        what the operator does outside of the scope: see ``opdef/effect.py``; said of operators that
        communicate silently.
    ``sparse_gradients(self)``
        the inputs whose gradients are SelectedRows.
    ``of_complex``, ``of_bfloat16`` how it takes these types: see ``opdef/conjugation.py``.
    ``fluid``
        what is said only for the exact text of fluid 1.8's programs: a :class:`FluidForm`.
    ``random``, ``host``
        draws random numbers; has outputs whose shape depends on values.

    What passes over plans ask of it is in ``opdef/structure.py``.
    """

    type: ClassVar[str] = ""
    signature = ""
    inputs: ClassVar[tuple[Slot, ...]] = ()
    outputs: ClassVar[tuple[Slot, ...]] = ()
    attributes: ClassVar[dict[str, Attribute]] = {}
    abstract: ClassVar[bool] = True
    random: ClassVar[bool] = False
    host: ClassVar[bool] = False
    lod: ClassVar[str | None] = "first"
    per_sequence: ClassVar[tuple[str, ...]] = ()
    whole: ClassVar[bool] = True
    reads_shapes: ClassVar[bool] = False
    folds: ClassVar[bool] = True
    unrolls: ClassVar[bool] = False
    of_complex: ClassVar[OfComplex | None] = None
    of_bfloat16: ClassVar[bool] = False
    fluid: ClassVar[FluidForm] = FluidForm()
    sees_outputs: ClassVar[bool] = False  #: whether it is told how many variables outputs have
    output_widths: Mapping[str, int] = MappingProxyType({})  #: what it is told: slot -> number
    effect: ClassVar[Effect | None] = None
    derived_from: ClassVar[Definition | None] = None
    #: the slots that methods take whose parameters are ``*specs``, or ``**ins``; None for all
    takes: ClassVar[tuple[str, ...] | None] = None
    ufunc: ClassVar[Callable[..., Any] | None] = None
    _plain_run: ClassVar[Any] = None  #: the kernel that only calls ``ufunc``

    run: Any = None
    expand: Any = None
    execute: Any = None
    grad: Any = NotImplemented
    grad_numpy: Any = None

    # derived when the class is created
    input_slots: ClassVar[dict[str, Slot]] = {}
    output_slots: ClassVar[dict[str, Slot]] = {}
    required_attributes: ClassVar[tuple[str, ...]] = ()
    grad_type: ClassVar[str] = ""  #: the type of the derived gradient operator
    visible_outputs: ClassVar[tuple[str, ...]] = ()
    required_inputs: ClassVar[tuple[str, ...]] = ()
    required_outputs: ClassVar[tuple[str, ...]] = ()
    block_attributes: ClassVar[tuple[str, ...]] = ()
    has_sparse_gradients: ClassVar[bool] = False
    says_lod: ClassVar[bool] = False  #: whether ``infer`` says the levels of results
    run_reads: ClassVar[dict[str, tuple[str, ...]]] = {}
    rule_arguments: ClassVar[tuple[RuleArgument, ...]] = ()
    forms: ClassVar[dict[Any, dict[str, Any]]] = {}  #: attributes and inputs -> results, as known
    last_made: ClassVar[tuple[Any, Op] | None] = None  #: attributes, and the operator with them

    def __init_subclass__(
        cls, type: str | None = None, abstract: bool = False, **more: Any
    ) -> None:
        super().__init_subclass__(**more)
        cls.type = type or cls.__name__
        cls.abstract = abstract
        inherited = [vars(base).get("attributes", {}) for base in reversed(cls.__mro__)]
        cls.attributes = {name: a for attributes in inherited for name, a in attributes.items()}
        cls.attributes.update(read_attributes(cls))
        refuse_loose_fields(cls.type, vars(cls), {a.field for a in cls.attributes.values()})
        cls.grad_type = cls.fluid.grad_type or cls.type + "_grad"
        if not abstract:
            _complete(cls)
            _register(cls)

    def __init__(self, attrs: Mapping[str, Any] | None = None) -> None:
        """The operator with the values of its attributes.

        Args:
            attrs: name in programs -> value; what is left out has its default.

        Raises:
            AttributeValueError: an attribute is unknown, of a wrong type, or required and not
                given.
        """
        if attrs:
            known, values = self.attributes, self.__dict__
            for name, value in attrs.items():
                attribute = known.get(name)
                if attribute is None:
                    raise AttributeValueError(
                        f"{self.type} has no attribute {name!r}{suggestion(name, known)}; it has "
                        f"{', '.join(known)}"
                    )
                values[attribute.field] = attribute.convert(value, self.type)
        for name in self.required_attributes:
            if self.attributes[name].field not in self.__dict__:
                raise AttributeValueError(f"{self.type} needs a value of its attribute {name!r}")

    def attr_values(self) -> dict[str, Any]:
        """The attributes that do not have their default: name in programs -> value."""
        values = self.__dict__
        if not values:
            return {}
        return {
            a.name: values[a.field]
            for a in self.attributes.values()
            if a.field in values and (a.default is REQUIRED or values[a.field] != a.default)
        }

    def like(self, definition: Definition) -> Op:
        """An operator with the values of this one's attributes.

        Args:
            definition: has the same attributes: that of the operator that this one is derived from.
        """
        made = definition.__new__(definition)
        made.__dict__.update(self.__dict__)  # nothing is converted and checked again
        return made

    def prepare(self, *specs: Any) -> Prepared | None:
        """A kernel for values of these shapes; None where there is nothing better than ``run``.

        Args:
            specs: of the values that ``run`` takes, in its order; lists of them, or None.
        """
        return None

    def prepared(self, specs: Sequence[Any]) -> Prepared | None:
        """The kernel that ``kernels/`` has, or the operator itself; None if there is none.

        Args:
            specs: of the values that ``run`` takes, in its order.
        """
        if any(map(is_unusual, specs)):  # kernels are of other types
            return None
        preparation = preparation_of(self.type)
        forward = self.derived_from
        subject = self if forward is None else self.like(forward)
        found = None if preparation is None else preparation(subject, *specs)
        if found is not None:
            return found
        if self.ufunc is not None and type(self).run is type(self)._plain_run:
            return Prepared(self.ufunc, out=True, over=tuple(range(len(specs))))
        return self.prepare(*specs)

    def frozen_attrs(self) -> Any:
        """Something hashable that is equal for equal attributes."""
        return tuple(self.attr_values().items())

    def given_attrs(self) -> dict[str, Any]:
        """The attributes that were given, those at their default too: name in programs -> value."""
        given = self.__dict__
        return {a.name: given[a.field] for a in self.attributes.values() if a.field in given}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self.attr_values() == other.attr_values()

    def __hash__(self) -> int:
        return hash((self.type, tuple(sorted(self.attr_values().items()))))

    def __repr__(self) -> str:
        return f"{self.type}({', '.join(f'{k}={v!r}' for k, v in self.attr_values().items())})"

    def infer(self, *specs: Spec | None) -> Any:
        """Specs of the outputs from those of the inputs and the attributes alone, since what it
        gives is kept for equal ones.  Default: every output is like the first input.
        """
        first = next((s for s in specs if s is not None), None)
        first = first[0] if isinstance(first, list) else first
        return first if len(self.outputs) == 1 else (first,) * len(self.outputs)

    def infer_outputs(self, ins: Mapping[str, Any]) -> dict[str, Any]:
        """Specs by output slot (lists of them for list slots, None for unknown ones).

        Args:
            ins: specs by input slot.

        Raises:
            FluidError: the inputs do not fit the operator or each other.
        """
        refuse_element_types(self, ins)
        for name in self.fluid.numbers:
            need_numbers(name, ins.get(name))
        given = ((name, ins.get(name)) for name in self.run_reads["infer"])
        try:
            found = self.infer(
                *[s if name in self.fluid.rows else as_whole(s) for name, s in given]
            )
            return sized(self.by_slot(found))
        except FluidError:
            raise
        except Exception as error:  # the rule met what it did not expect
            raise unexpected(ins, error) from error

    def kept_names(self, inputs: Mapping[str, tuple[str, ...]]) -> Iterable[str]:
        """Of a control operator: variables of its block whose values it reads after a pass.

        Args:
            inputs: names by input slot.
        """
        return ()

    def lods(self, ins: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The LoD of outputs by slot; None where ``lod`` says whose they share.

        Args:
            ins: values by input slot; in ragged slots LoDTensors, where there are sequences.
        """
        return None

    def random_key(self, output: str) -> str:
        """Of a random operator: what tells its draws from others, beside the run.

        Args:
            output: the name of its first output.
        """
        return output

    def bound_names(self, inputs: Mapping[str, tuple[str, ...]]) -> Iterable[str]:
        """Of a control operator: variables of its block that it gives values to before a pass.

        Args:
            inputs: names by input slot.
        """
        return ()

    def sparse_gradients(self) -> frozenset[str]:
        """The inputs whose gradients are SelectedRows."""
        return frozenset()

    @staticmethod
    def gradient_attrs(attrs: Mapping[str, Any]) -> Mapping[str, Any]:
        """The attributes of a gradient operator in programs, from those of the operator."""
        return attrs

    def carries(self) -> Sequence[str]:
        """Those of ``fluid.carried`` that the gradient operator of this one has."""
        return self.fluid.carried

    def counts(self, f: Any, **given: Any) -> Mapping[str, Callable[[], Any]]:
        """What fluid's gradient operator makes of ``fluid.counted``: functions by slot.

        Args:
            f: the interpreter.
            given: values by the parameters of the rule.
        """
        return {}

    def by_slot(self, found: Any) -> dict[str, Any]:
        """What a method returned, by output slot: a value, a tuple in the slots' order, or a
        dictionary.
        """
        if isinstance(found, dict):
            return found
        if len(self.outputs) == 1 and type(found) is not tuple:  # a Spec is a tuple too
            return {self.outputs[0].name: found}
        return dict(zip([slot.name for slot in self.outputs], found, strict=True))

    def outputs_for(
        self, f: Any, ins: Mapping[str, Any], want: Iterable[str] | None = None
    ) -> dict[str, Any]:
        """Values by output slot, from the composition that defines this operator.

        Args:
            f: the interpreter that runs the parts.
            ins: values by input slot.
            want: the output slots to compute; None for all.
        """
        result = self.expand(f, **{name: ins.get(name) for name in self.run_reads["expand"]})
        if not isinstance(result, dict):
            return self.by_slot(result)
        return {
            name: part() if callable(part) else part
            for name, part in result.items()
            if want is None or name in want
        }

    @property
    def is_composite(self) -> bool:
        """Whether the operator is a composition of others."""
        return self.expand is not None

    @property
    def infers(self) -> bool:
        """Whether the definition has a shape rule of its own."""
        return type(self).infer is not Op.infer

    @property
    def is_control(self) -> bool:
        """Whether the operator drives blocks instead of computing arrays."""
        return self.execute is not None


Definition: TypeAlias = type[Op]


class Detached(Op, abstract=True):
    """Nothing flows through it, and its outputs do not have the sequences of its inputs."""

    lod: ClassVar[str | None] = None
    grad = None


class ValueShaped(Op, abstract=True):
    """Shapes of outputs depend on values; they do not have the sequences of inputs."""

    host = True
    lod: ClassVar[str | None] = None


class DetachedValues(Detached, ValueShaped, abstract=True):
    """Both: nothing flows through it, and shapes of outputs depend on values."""


def first_slot(op: Op, given: Mapping[str, Any]) -> str:
    """The first input slot that holds something.

    Args:
        op: the operator.
        given: values, or what is known of them, by slot.
    """
    return next((slot for slot in op.input_slots if given.get(slot) is not None), "")


def lookup(type: str) -> type[Op]:
    """The definition of an operator, derived first where it is a gradient operator.

    Raises:
        UnknownOperatorError: nothing of that type is defined, with the closest name that is.
        NoGradientError: the forward operator has no rule to derive it from.
    """
    found = _found(type)
    if found is None:
        raise UnknownOperatorError(unknown_text([type]))
    return found


def unknown_text(types: Sequence[str]) -> str:
    """That nobody defined operators of these types, each once, with what was probably meant."""
    if len(types) == 1:
        return f"there is no operator {types[0]!r}{suggestion(types[0], _built_in())}"
    hints = [suggestion(type, _built_in()).removeprefix("; ") for type in types[:_HINTS]]
    hints += [""] * (len(types) - len(hints))
    named = [f"{type!r} ({hint})" if hint else repr(type) for type, hint in zip(types, hints)]
    return f"there are no operators {', '.join(named)}"


def find(type: str) -> type[Op] | None:
    """The definition of an operator; None where :func:`lookup` raises."""
    try:
        return defined(type) or _found(type)
    except NoGradientError:
        return None


def _found(type: str) -> type[Op] | None:
    found = _REGISTRY.get(type) or _built_in().get(type)
    if found is not None:
        return found
    forward = _TYPE_BEHIND.get(type) or (type[: -len("_grad")] if type.endswith("_grad") else None)
    if forward is None or forward.count("_grad") >= _HIGHEST_ORDER:
        return None
    behind = _found(forward)
    return _derivations[0](behind) if behind is not None and behind.grad_type == type else None


def derives_gradients(
    derivation: Callable[[Definition], Definition],
) -> Callable[[Definition], Definition]:
    """A decorator that registers what :func:`lookup` makes gradient operators with."""
    _derivations[:] = [derivation]
    return derivation


def is_defined(type: str) -> bool:
    """Whether :func:`lookup` would find the operator."""
    return find(type) is not None


def registered() -> list[type[Op]]:
    """All definitions that were written (none of the derived ones), in order of type."""
    known = _built_in()
    return [known[name] for name in sorted(known) if known[name].derived_from is None]


def _built_in() -> dict[str, Definition]:
    """The registry with the built-in definitions in it; they are read when first needed."""
    BUILT_IN.get()
    return _REGISTRY


def _register(cls: type[Op]) -> None:
    there = _built_in().get(cls.type)
    if there is not None:
        raise DefinitionError(f"operator {cls.type} is defined twice, in {there.__module__} too")
    _REGISTRY[cls.type] = cls
    if cls.grad_type != cls.type + "_grad":
        _TYPE_BEHIND[cls.grad_type] = cls.type


@contextmanager
def redefining(cls: Definition) -> Iterator[None]:
    """Define an operator anew in a ``with`` block; if that fails, the old definition is back."""
    gone, behind = {cls.type: cls}, dict(_TYPE_BEHIND)
    for name, known in list(_REGISTRY.items()):  # gradients stand behind what they are derived from
        if known.derived_from is not None and known.derived_from in gone.values():
            gone[name] = known
    for name in gone:
        del _REGISTRY[name]
    _TYPE_BEHIND.pop(cls.grad_type, None)
    try:
        yield
    except BaseException:
        for name in gone:
            _REGISTRY.pop(name, None)
        _REGISTRY.update(gone)
        _TYPE_BEHIND.update(behind)
        raise
    redefinitions.count += 1
    for listener in redefinitions.listeners:
        listener(gone)


def _complete(cls: type[Op]) -> None:
    """Fill in what follows from a definition, and check that it can be right."""
    if not isinstance(cls.signature, Signature):
        cls.inputs, cls.outputs = parse_signature(cls.signature)
    else:
        cls.inputs, cls.outputs = cls.signature
    cls.input_slots = {slot.name: slot for slot in cls.inputs}
    cls.output_slots = {slot.name: slot for slot in cls.outputs}
    cls.visible_outputs = tuple(slot.name for slot in cls.outputs if not slot.hidden)
    cls.required_attributes = tuple(
        a.name for a in cls.attributes.values() if a.default is REQUIRED
    )
    drives = cls.execute is not None  # a list of what its block uses may be empty
    cls.required_inputs = tuple(
        s.name for s in cls.inputs if not s.optional and not (s.many and drives)
    )
    cls.required_outputs = tuple(
        s.name for s in cls.outputs if not s.optional and not s.hidden and not (s.many and drives)
    )
    cls.block_attributes = tuple(
        a.name for a in cls.attributes.values() if a.kind in ("BlockRef", "list[BlockRef]")
    )
    cls.says_lod = (
        cls.lods is not Op.lods
        or cls.derived_from is not None
        or any(slot.ragged for slot in cls.outputs)
    )
    cls.has_sparse_gradients = cls.sparse_gradients is not Op.sparse_gradients
    clash = set(cls.attributes) & (set(cls.input_slots) | set(cls.output_slots))
    if clash:
        raise DefinitionError(f"{cls.type}: {sorted(clash)} are both slots and attributes")
    if cls.ufunc is not None and cls.run is None:
        _run_by_ufunc(cls)
    ways = [way for way in ("run", "expand", "execute") if getattr(cls, way) is not None]
    if len(ways) != 1:
        raise DefinitionError(
            f"{cls.type} needs one of run, expand and execute; it has {ways or 'none'}"
        )
    cls.fluid.check(cls.type, cls.input_slots, cls.output_slots)
    if cls.communicates and cls.effect is None:
        cls.effect = EXCHANGE
    cls.run_reads, cls.forms, cls.last_made = {}, {}, None
    for method in ("run", "run_numpy", "run_jax", "expand", "infer"):
        function = getattr(cls, method, None)
        if function is not None:
            cls.run_reads[method] = _parameters(function, cls)
    cls.rule_arguments = rule_arguments(cls)
    check_results(cls)
    conjugate_rules(cls)


def _run_by_ufunc(cls: type[Op]) -> None:
    """A kernel that calls the array library's function of the same name as ``ufunc``."""
    name = cls.ufunc.__name__  # type: ignore[union-attr]

    def run(self: Op, xp: Any, *values: Any) -> Any:
        return getattr(xp, name)(*values)

    cls.run = cls._plain_run = run


def _parameters(function: Any, cls: type[Op]) -> tuple[str, ...]:
    """The slots that a method takes, in its order; checked against the signature."""
    code = inspect.unwrap(function).__code__
    names = code.co_varnames[1 : code.co_argcount]
    names = tuple(name for name in names if name not in ("xp", "f", "rng"))
    if code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
        every = tuple(cls.input_slots) if cls.takes is None else cls.takes
        return (*names, *(name for name in every if name not in names))
    for name in names:
        if name not in cls.input_slots and name not in cls.fluid.updates:
            raise no_input(cls, function, name)
    return names
