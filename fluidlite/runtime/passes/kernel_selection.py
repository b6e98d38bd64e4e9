"""Kernel selection and layout assignment.

For each instruction the kernel with the lowest cost is chosen among those of NumPy and of the
kernel libraries.  A library may lay its values out as it likes: a value may exist in several
layouts, and where it does not exist in the one that a kernel takes, a reorder goes before.  What
exists is never reordered to again, so no two reorders cancel each other.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from ...ground.dtypes import DType
from ...opdef.prepared import KernelLibrary, Offer
from ...opdef.spec import Spec
from ...opdef.structure import Structure
from ..graph import Graph, Instruction
from ..value import Value
from .dead_code import eliminate_dead_code
from .epilogues import epilogues_of
from .form import Context, Pass


class Reorder(Structure):
    """Out = X, laid out in another way."""

    type = "reorder"
    derived_from = None

    def __repr__(self) -> str:
        return "reorder()"


_REORDER = Reorder()


def select_kernels(graph: Graph, context: Context) -> bool:
    """Choose a kernel for each instruction, lay values out, and let kernels do what follows them.

    Rounding: kernels of other libraries add up in another order, and have other approximations.
    """
    selection = _Selection(graph, context)
    for instruction in graph:
        if instruction.graph is not None:  # it was no epilogue of one before
            selection.choose(instruction)
    selection.restore_outputs()
    if selection.orphans:
        eliminate_dead_code(graph, context)
    return True


class _Selection:
    def __init__(self, graph: Graph, context: Context) -> None:
        self._graph, self._context = graph, context
        self._libraries: tuple[KernelLibrary, ...] = tuple(context.libraries)
        #: by number of a value, its versions by layout; nothing where it is only plain
        self._versions: dict[int, dict[Any, Value]] = {}
        self._workspaces: dict[Any, Value] = {}
        #: whether a kernel reads what an operand was made of, so that nothing may need that
        self.orphans = False

    @cached_property
    def _position(self) -> dict[Instruction, int]:
        """The numbers of instructions, before any becomes part of another one."""
        return {instruction: index for index, instruction in enumerate(self._graph)}

    def choose(self, instruction: Instruction) -> None:
        """Choose the kernel of an instruction."""
        if instruction.bodies or instruction.phase or instruction.kernel is not None:
            self._take(instruction, Offer(instruction.kernel), None, "it was chosen before")
            return
        shared = instruction.typed
        why = "NumPy"
        for cost, library, layouts in self._candidates(instruction):
            epilogues = epilogues_of(instruction, self._position)
            offer = library.offer(instruction, layouts, epilogues)
            if offer is not None:
                self._fuse(instruction, offer, epilogues)
                self._take(instruction, offer, library, f"{library.name}, cost {cost:g}")
                return
            why = f"NumPy: {library.name} has none for this"
        kernel = shared.kernel if shared is not None and shared.is_static else None
        self._take(instruction, Offer(kernel), None, why)

    def _candidates(
        self, instruction: Instruction
    ) -> list[tuple[float, KernelLibrary, dict[int, list[Any]]]]:
        """The libraries with a kernel that costs less than NumPy's, the cheapest first, and the
        layouts that they may take values in.
        """
        candidates = []
        for library in self._libraries:
            layouts = self._layouts(instruction, library)
            cost = library.cost(instruction, layouts)
            if cost is not None and cost < 1.0:
                candidates.append((cost, library, layouts))
            elif cost is not None:
                self._context.choices[instruction] = f"NumPy: {library.name} costs {cost:g}"
        return sorted(candidates, key=lambda each: each[0])

    def _layouts(self, instruction: Instruction, library: KernelLibrary) -> dict[int, list[Any]]:
        """By number of a value read, the layouts that a library may take it in without a copy; only
        that of plain arrays where it exists in those of other libraries.
        """
        if not self._versions:
            return {value.number: [None] for value in instruction.inputs}
        layouts: dict[int, list[Any]] = {}
        for value in instruction.inputs:
            versions = self._versions.get(value.number, {None: value})
            known = [layout for layout, v in versions.items() if v.library in (None, library)]
            layouts[value.number] = known or [None]
        return layouts

    def _fuse(self, instruction: Instruction, offer: Offer, epilogues: Any) -> None:
        """Let an instruction make what its epilogues made."""
        last = None
        for _, epilogue in epilogues.chain[: offer.fused]:
            last = epilogue.results[0]
            epilogue.set_outs({})
            first = next(iter(instruction.outs))
            instruction.set_outs({**instruction.outs, first: last})
            self._graph.erase(epilogue)
            self._context.composed.add(instruction)
        if offer.masks:
            mask = epilogues.mask
            (reader,) = mask.result.users
            self._context.composed.add(reader)
            cotangent = mask.operands[1]
            reader.set_operands(
                [cotangent if each is mask.result else each for each in reader.operands]
            )
            self._graph.erase(mask)

    def _take(
        self, instruction: Instruction, offer: Offer, library: KernelLibrary | None, why: str
    ) -> None:
        """Give an instruction its kernel, and its values their layouts."""
        instruction.kernel = offer.kernel
        instruction.library = "" if library is None else library.name
        self._context.choices.setdefault(instruction, why)
        sources = instruction.operands if offer.operands is None else list(offer.operands)
        takes = offer.takes or (None,) * len(sources)
        if self._versions or offer.operands is not None or offer.reads or any(takes):
            operands = [
                self._in_layout(value, layout, library, instruction)
                for value, layout in zip(sources, takes, strict=True)
            ]
            operands += [self._workspaces[key] for key in offer.reads]
            if offer.operands is not None:
                self.orphans = self.orphans or not {v.number for v in instruction.inputs} <= {
                    v.number for v in offer.operands if isinstance(v, Value)
                }
            slots = instruction.slots
            if len(operands) != len(slots):
                slots = tuple(f"In{k}" for k in range(len(operands)))
            instruction.set_operands(operands, slots)
        for value, layout in zip(instruction.results, offer.gives or ()):
            if layout is not None and library is not None:
                value.layout, value.library = layout, library
                self._versions[value.number] = {layout: value}
        for key, shape in offer.makes:
            made = self._workspaces[key] = self._graph.value(Spec(shape, DType.UINT8))
            slot = f"Workspace{len(instruction.outs)}"
            instruction.set_outs({**instruction.outs, slot: made})

    def _in_layout(
        self, value: Any, layout: Any, library: KernelLibrary | None, reader: Instruction | None
    ) -> Any:
        """A value in a layout of a library, or as a plain array, for an instruction that reads it;
        for the end of the graph where that is None.
        """
        if isinstance(value, list):
            return [self._in_layout(each, layout, library, reader) for each in value]
        known = self._versions.get(value.number) if isinstance(value, Value) else None
        if known is None:
            if layout is None or value is None:
                return value
            known = self._versions[value.number] = {None: value}
        if layout not in known:
            held = next(iter(known.values()))
            if layout is not None and held.library not in (None, library):
                held = self._in_layout(value, None, None, reader)  # all libraries take plain arrays
            converted = self._graph.value(value.spec)
            if layout is not None:
                converted.layout, converted.library = layout, library
            near = held.producer if reader is None else reader
            origin = None if near is None else near.origin
            reorder = Instruction(_REORDER, ("X",), [held], {"Out": converted}, origin)
            copying = converted.library or held.library
            reorder.kernel = copying.reorder(held.layout, layout, value.shape)
            reorder.library = copying.name
            self._graph.insert(reorder, reader)
            known[layout] = converted
        return known[layout]

    def restore_outputs(self) -> None:
        """Give plain arrays back."""
        for name, value in list(self._graph.outputs.items()):
            if value.number in self._versions:
                self._graph.set_output(name, self._in_layout(value, None, None, None))


KERNEL_SELECTION = Pass("kernel_selection", select_kernels, exact=False)
