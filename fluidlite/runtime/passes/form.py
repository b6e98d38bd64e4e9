"""What a pass over plans is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ...ground.contracts import Condition, Contract, Invariant
from ...opdef.definition import Definition
from ...opdef.prepared import KernelLibrary
from ...opdef.structure import Structure
from ..graph import Graph, Instruction
from ..lower import Lowering
from ..value import Value


@dataclass
class Context:
    """What passes may use beside the graph.

    Args:
        builder: puts instructions into the graph.
        libraries: kernel libraries for this graph, beside NumPy's kernels.
        choices: of each instruction, which kernel was chosen and why; filled by kernel selection.
        composed: instructions whose kernel does more than their operator says; filled by it, too.

    >>> from fluidlite.runtime import passes
    >>> @passes.plan_pass()
    ... def add_instead_of_doubling(graph, context):
    ...     doubles = [each for each in graph if each.op.type == "scale" and each.op.scale == 2.0]
    ...     for each in doubles:
    ...         (x,) = each.inputs
    ...         with context.builder.at(each) as f:
    ...             total = f.elementwise_add(x, x)
    ...         context.replace(graph, each, total)
    ...     return bool(doubles)
    >>> exe = fluid.Executor(passes=[add_instead_of_doubling, *passes.PIPELINE])
    >>> y = fluid.layers.scale(fluid.data("x", [2], "float32"), 2.0)
    >>> for _ in range(3):  # the second run makes the plan
    ...     result = exe.run(feed={"x": np.ones(2, "float32")}, fetch_list=[y])
    >>> result[0].tolist()
    [2.0, 2.0]
    """

    builder: Lowering
    libraries: Sequence[KernelLibrary] = ()
    choices: dict[Instruction, str] = field(default_factory=dict)
    composed: set[Instruction] = field(default_factory=set)

    def replace(self, graph: Graph, instruction: Instruction, value: Value) -> None:
        """Let another value, in the shape of the result of an instruction, stand for it."""
        result = instruction.result
        if value.shape != result.shape:
            with self.builder.at(instruction) as f:
                value = f.reshape(value, shape=list(result.shape))
        graph.replace(instruction, value)


class Pass(NamedTuple):
    """A rewriting of graphs, with a name by which it can be left out.

    >>> from fluidlite.runtime import passes
    >>> nothing = passes.Pass("nothing", lambda graph, context: False)
    >>> nothing.name, nothing.exact
    ('nothing', True)
    """

    name: str
    #: rewrites the graph; says whether it changed anything
    run: Callable[[Graph, Context], bool]
    #: whether results keep every bit; the docstring of ``run`` states the rounding of the others
    exact: bool = True
    #: what it needs, gives and keeps beside values by name
    contract: Contract[Graph] = Contract()
    #: whether it may change instructions of a definition; it is skipped where none of a graph's is
    #: such a one
    concerns: Callable[[Definition], bool] | None = None


def differing_in(*names: str) -> Callable[[Definition], bool]:
    """Whether a definition differs in one of these names from what ``Structure`` says of operators
    that say nothing.
    """
    usual = [(name, getattr(Structure, name)) for name in names]
    return lambda definition: any(getattr(definition, name) is not it for name, it in usual)


def plan_pass(
    *,
    name: str | None = None,
    exact: bool = True,
    needs: Sequence[Condition[Graph]] = (),
    gives: Sequence[Condition[Graph]] = (),
    keeps: Sequence[Invariant[Graph]] = (),
) -> Callable[[Callable[[Graph, Context], bool]], Pass]:
    """A decorator that makes a pass of a function of a graph and a context.  The function changes
    the graph and says whether it did.

    Args:
        name: of the pass; the function's when None.
        exact: whether results keep every bit; else the function's docstring has a line that begins
            with ``Rounding:``.
        needs, gives, keeps: what is checked before and behind it.

    >>> from fluidlite.runtime import passes
    >>> @passes.plan_pass(needs=[passes.no_blocks])
    ... def drop_scales_by_one(graph, context):
    ...     changed = False
    ...     for instruction in graph:
    ...         op = instruction.op
    ...         if op.type == "scale" and op.scale == 1.0 and not op.bias:
    ...             graph.replace(instruction, instruction.inputs[0])
    ...             changed = True
    ...     return changed
    >>> exe = fluid.Executor(passes=[drop_scales_by_one, *passes.PIPELINE])
    """

    def make(run: Callable[[Graph, Context], bool]) -> Pass:
        contract = Contract(tuple(needs), tuple(gives), tuple(keeps))
        return Pass(name or run.__name__, run, exact, contract)

    return make


def _blocks_fault(graph: Graph) -> str | None:
    found = next((instruction for instruction in graph if instruction.bodies), None)
    return None if found is None else f"{found.title} has a block"


def _sizes_fault(graph: Graph) -> str | None:
    values = [*graph.inputs.values(), *(v for each in graph for v in each.results)]
    found = next((value for value in values if not value.is_static), None)
    return None if found is None else f"{found} has a size that is known when it runs"


#: no instruction has a block
no_blocks: Condition[Graph] = Condition("no instruction has a block", _blocks_fault)
#: all sizes are known before the program runs
static_sizes: Condition[Graph] = Condition("all sizes are known", _sizes_fault)


def _forms(graph: Graph) -> dict[str, object]:
    return {name: str(value.spec) for name, value in graph.outputs.items()}


#: what a graph gives, by name: shapes and element types
outputs: Invariant[Graph] = Invariant("the outputs", _forms)
