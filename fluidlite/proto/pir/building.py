"""From a file of Paddle 3 to a program: each operation becomes an operator, or a few."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from ...errors import AttributeValueError, FluidError
from ...ground.callsite import warn
from ...ground.dtypes import DType, Kind
from ...ground.quoting import terminal_text
from ...ir.block import Block
from ...ir.operator import Operator
from ...ir.program import Program
from ...ir.variable import Parameter
from ...opdef.definition import find
from ...opdef.spec import Spec
from .forms import OperationForm, form_of
from .operands import HeldNumbers, Operand, names_of, numbers_of
from .records import Operation, PirFile, Region, Result

#: given the decoder, the operation, and the block to which it is appended
Handler: TypeAlias = "Callable[[PirDecoder, Operation, Block], None]"
_PLAIN = ("NCHW", "NCL", "NCDHW")  #: layouts that operators without others have
_SHOWN = 5  # unknown operations that a warning names


class PirDecoder:
    """Fills a program with what a file of Paddle 3 says.

    Args:
        program: without variables and operators.
        data: the bytes of the file.
        name: what messages call it: its path.
        special: what appends operations that have no form, by name with dialect.

    Raises:
        FileFormatError: the bytes are no program of Paddle 3.
    """

    def __init__(
        self, program: Program, data: bytes, name: str, special: Mapping[str, Handler]
    ) -> None:
        self.file = PirFile(data, name)
        self.special = special
        self.program = program
        self.operands: dict[int, Operand] = {0: None}
        self.specs: dict[int, Any] = {}
        self.columns = 0  # of what is fed
        self.unknown: dict[str, None] = {}  # operations
        self.ignored: dict[str, None] = {}  # attributes

    def run(self) -> None:
        """Read everything."""
        block = self.program.global_block()
        block.create_var(name="feed", type=Kind.FEED_MINIBATCH, persistable=True)
        block.create_var(name="fetch", type=Kind.FETCH_LIST, persistable=True)
        self.region(self.file.region, block)
        for op in (op for each in self.program.blocks for op in each.ops):
            op.callsite = None  # no line of the user's made it
        self.tell(self.unknown, "the program can be looked at, not run")
        self.tell(self.ignored, "the program runs without them")

    def tell(self, names: Mapping[str, None], outcome: str) -> None:
        """Warn of what is not known, and say what comes of it."""
        if names:
            shown = ", ".join(terminal_text(each) for each in list(names)[:_SHOWN])
            more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
            warn(
                f"{self.file.name}: fluidlite does not know {shown}{more} (PIR version "
                f"{self.file.version}, written by Paddle 3); {outcome}",
                None,
            )

    def region(self, region: Region, block: Block) -> list[Operand]:
        """Append the operations of a region.

        Returns:
            what the region gives.
        """
        for op in region.operations:
            for result in op.results:
                self.specs[result.id] = result.spec
            if op.dialect == "cf" and op.name == "yield":
                return [self.operands[number] for number in op.operands]
            try:
                self.operation(op, block)
            except FluidError as error:
                raise type(error)(f"{self.file.name}: {op}: {error}") from error
            except (AttributeError, KeyError, IndexError, TypeError, ValueError) as error:
                self.file.fail(f"a whole operation {op}", f"{type(error).__name__}: {error}")
        return []

    def operation(self, op: Operation, block: Block) -> None:
        """Append one operation."""
        handler = self.special.get(str(op))
        if handler is not None:
            handler(self, op, block)
            return
        form = form_of(op.name)
        is_meant = all(op.attributes.get(name, True) for name in form.meant)
        if op.dialect != "pd_op" or find(form.type) is None or op.regions or not is_meant:
            self.append_unknown(op, block)
            return
        self.append_form(op, block, form)

    # -- operators ---------------------------------------------------------------------------------

    def append_form(self, op: Operation, block: Block, form: OperationForm, **attrs: Any) -> None:
        """Append an operation as its form says.

        Args:
            attrs: more attributes.
        """
        definition = find(form.type)
        assert definition is not None
        operands = form.operands or _slots(definition.inputs)
        results = form.results or _slots(definition.outputs)
        if len(op.operands) > len(operands):
            self.file.fail(f"at most {len(operands)} operands of {op}", len(op.operands))
        inputs: dict[str, list[str]] = {}
        from_operands: dict[str, Any] = {}
        for way, number in zip(operands, op.operands):
            self._give(way, self.operands[number], definition, inputs, from_operands)
        outputs: dict[str, list[str]] = {}
        for way, result in zip(results, op.results):
            slot, _, same = way.rstrip("*").partition("@")
            if slot == "_":
                self.operands[result.id] = None
            elif same:
                outputs[slot] = inputs[same]
                self.operands[result.id] = inputs[same][0]
            elif result.spec is not None:
                outputs[slot] = self.declare(result, op, block)
        attributes = {
            **form.fixed,
            **self._attributes(op, form, definition),
            **from_operands,
            **attrs,
        }
        bare = getattr(op.results[0].spec, "shape", None) == () if op.results else False
        meant = {"clips": not attributes.get("exclusive", True), "zero_d": bare}
        for name, attribute in definition.attributes.items():
            if attribute.edition and attribute.default is False:
                attributes.setdefault(name, meant.get(name, True))
        block.append_op(form.type, inputs=inputs, outputs=outputs, attrs=attributes)

    def _give(
        self,
        way: str,
        operand: Operand,
        definition: Any,
        inputs: dict[str, list[str]],
        from_operands: dict[str, Any],
    ) -> None:
        """One operand, to a slot or an attribute."""
        slot, to_attribute, attribute = way.partition("=")
        if slot == "_" or operand is None:
            return
        numbers = numbers_of(operand) if to_attribute else None
        if numbers is not None:
            kind = definition.attributes[attribute].kind
            first = numbers[0] if numbers else None
            from_operands[attribute] = (
                numbers if kind.startswith("list") else str(first) if kind == "str" else first
            )
        elif slot:
            inputs[slot.rstrip("*")] = names_of(operand)
        else:
            raise AttributeValueError(f"{attribute} has to be known before a run")

    def _attributes(self, op: Operation, form: OperationForm, definition: Any) -> dict[str, Any]:
        """What the attributes are here; None is what the definition has it be."""
        attributes = {}
        for name, value in op.attributes.items():
            ours = form.renamed.get(name, name)
            if ours in definition.attributes and value is not None:
                attributes[ours] = value
            elif name in form.ignored or name in form.meant:
                continue
            elif value and value not in _PLAIN:  # else it is off
                self.ignored[f"the attribute {name} of {op}"] = None
        return attributes

    def declare(self, result: Result, op: Operation, block: Block) -> list[str]:
        """Declare the variables of a result; returns their names."""
        is_list = isinstance(result.spec, tuple) and not isinstance(result.spec, Spec)
        name = f"{op.name.rstrip('_')}_{result.id}.tmp"
        if not is_list:
            self.operands[result.id] = _declared(block, f"{name}_0", result.spec)
            return names_of(self.operands[result.id])
        names = [_declared(block, f"{name}_{k}", spec) for k, spec in enumerate(result.spec)]
        self.operands[result.id] = list(names)
        return names

    def append(
        self,
        block: Block,
        type: str,
        inputs: Mapping[str, Sequence[str]],
        out: str,
        spec: Any = None,
        attrs: Mapping[str, Any] | None = None,
    ) -> str:
        """Append an operator with one result; returns its name."""
        _declared(block, out, spec)
        block.append_op(type, inputs=dict(inputs), outputs={"Out": [out]}, attrs=dict(attrs or {}))
        return out

    def append_unknown(self, op: Operation, block: Block) -> None:
        """An operator that is shown, and refused when it is to run."""
        self.unknown[f"the operation {op}"] = None
        inputs = {f"operand_{k}": names_of(self.operands[n]) for k, n in enumerate(op.operands)}
        outputs = {
            f"result_{k}": self.declare(result, op, block)
            for k, result in enumerate(op.results)
            if result.spec is not None
        }
        attrs = {name: value for name, value in op.attributes.items() if _is_plain(value)}
        named = {slot: tuple(names) for slot, names in outputs.items()}
        given = {slot: tuple(names) for slot, names in inputs.items()}
        block.take_op(Operator(block, str(op), given, named, attrs))


def _slots(slots: Sequence[Any]) -> tuple[str, ...]:
    return tuple(slot.name for slot in slots)


def _is_plain(value: Any) -> bool:
    listed = value if isinstance(value, list) else [value]
    return len({type(each) for each in listed} - {bool, int, float, str}) == 0


def _declared(block: Block, name: str, spec: Any) -> str:
    if isinstance(spec, Spec):
        block.create_var(name=name, shape=spec.shape, dtype=spec.dtype, type=spec.kind)
    else:
        block.create_var(name=name)
    return name


def parameter(decoder: PirDecoder, op: Operation, block: Block) -> None:
    """A value of the file beside the program."""
    attrs, spec = op.attributes, op.results[0].spec
    name = attrs["name"]
    decoder.operands[op.results[0].id] = name
    flags = {"persistable": attrs["persistable"], "stop_gradient": attrs["stop_gradient"]}
    if attrs["trainable"] and spec.shape and min(spec.shape) > 0:
        variable = Parameter(block, name, shape=spec.shape, dtype=spec.dtype, **flags)
        block.declare(variable)
    else:
        block.create_var(name=name, shape=spec.shape, dtype=spec.dtype, **flags)


def constant_of(
    decoder: PirDecoder, op: Operation, block: Block, values: Any, shape: Sequence[int]
) -> None:
    """Numbers that the program holds."""
    result = op.results[0]
    said = op.attributes.get("dtype")
    dtype: DType = result.spec.dtype if said is None else said
    name = f"{op.name}_{result.id}.tmp_0"
    decoder.operands[result.id] = HeldNumbers(block, values, shape, dtype, name)
