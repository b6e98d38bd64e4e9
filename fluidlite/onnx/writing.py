"""Writing operators down as ONNX nodes: the interpreter that does it, and the forms it looks up.

An operator's form is looked up in this order: the function that stands in ``maps/``; the
composition that defines it; its kernel, run on arrays that write down what is done to them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..backend import numpy_
from ..errors import FluidError, OpError, UnsupportedError
from ..ground.dtypes import as_dtype
from ..ground.values import LoDTensor
from ..opdef.definition import Op
from ..opdef.interpreter import Eval, Interpreter
from ..opdef.spec import Spec
from .graph import OnnxGraph
from .namespace import has_traced, namespace
from .tracing import SizesNeeded, TracedArray

#: type of an operator -> the function that writes it down
MAPS: dict[str, Form] = {}
Form = Callable[..., Any]
#: operators whose compositions and kernels only reshape by the size of a batch: they are written
#: for one that is not known
KEEP_BATCHES = frozenset(
    {"add_position_encoding", "affine_grid", "anchor_generator", "batch_norm", "bpr_loss", "cross"}
    | {"density_prior_box", "fused_elemwise_activation", "inplace_abn", "lrn", "lstm_unit"}
    | {"partial_concat", "partial_sum", "polygon_box_transform", "pool2d", "pool3d", "prior_box"}
    | {"rank_loss", "row_conv", "sigmoid_focal_loss", "smooth_l1_loss", "spp"}
    | {"squared_l2_distance", "take_diagonal", "take_elements", "trace", "unbind", "unsqueeze"}
    | {"unsqueeze2", "unstack", "yolo_box"}
)
_RANDOM = "it draws random numbers, and ONNX draws others"


def maps(*types: str) -> Callable[[Form], Form]:
    """A decorator: the function writes operators of these types down.

    It takes the graph, the operator and the values of the input slots that are its parameters;
    gives the outputs, as kernels do; ``NotImplemented`` where the attributes have no form of their
    own, so that composition or kernel are written out.  A parameter ``want`` gets the output
    slots that anything reads, None where nobody knows.
    """

    def register(form: Form) -> Form:
        MAPS.update(dict.fromkeys(types, form))
        return form

    return register


class Writer(Interpreter):
    """The interpreter that appends nodes to a graph.

    Args:
        graph: takes them.
    """

    def __init__(self, graph: OnnxGraph) -> None:
        self.graph: Any = graph
        self._eval = Eval(numpy_)
        #: types of operators -> how they were written: "map", "composition" or "kernel"
        self.ways: dict[str, str] = {}

    def apply(
        self, op: Op, ins: Mapping[str, Any], want: Iterable[str] | None = None
    ) -> dict[str, Any]:
        ins = {slot: taken_as(op, slot, value) for slot, value in ins.items()}
        if op.execute is not None:
            raise UnsupportedError("it drives a block, and that has no form in ONNX here")
        if not op.random and not has_traced(list(ins.values())):
            return self._eval.apply(op, ins, want)
        try:
            outs, way = self.written(op, ins, want)
        except FluidError:
            raise
        except Exception as error:  # attributes of a file, which nobody has looked at yet
            raise _refusal(op, ins, error) from error
        self.ways[op.type] = way
        self._complete(op, ins, outs)
        return outs

    def written(self, op: Op, ins: dict[str, Any], want: Any) -> tuple[dict[str, Any], str]:
        """The outputs of an operator by slot, written down, and the way that took."""
        form = MAPS.get(op.type)
        if form is not None:
            names = form.__code__.co_varnames[2 : form.__code__.co_argcount]
            given = (want if name == "want" else ins.get(name) for name in names)
            outs = form(self.graph.innermost, op, *given)
            if outs is not NotImplemented:
                return op.by_slot(outs), "map"
        if op.random:
            raise UnsupportedError(_RANDOM)
        if op.type in KEEP_BATCHES and not self.graph.top.keeps_batch:
            result = self._for_any_batch(op, ins, want)
            if result is not None:
                return result
        if op.is_composite:
            return op.outputs_for(self, ins, want), "composition"
        nodes = self.graph.innermost.nodes
        count = len(nodes)
        try:
            return kernel_outputs(op, namespace(self.graph), ins), "kernel"
        except UnsupportedError:  # it may write into an array that it makes
            del nodes[count:]
            return kernel_outputs(op, namespace(self.graph, True), ins), "kernel"

    def _for_any_batch(self, op: Op, ins: dict[str, Any], want: Any) -> Any:
        """What is written where the size of a batch is not known; None where that asks for more."""
        graph = self.graph.innermost
        count, graph.top.keeps_batch = len(graph.nodes), True
        try:
            return self.written(op, ins, want)
        except (FluidError, TypeError, ValueError, AttributeError, IndexError):
            del graph.nodes[count:]
            return None
        finally:
            graph.top.keeps_batch = False

    def _complete(self, op: Op, ins: dict[str, Any], outs: dict[str, Any]) -> None:
        """Fill in the shapes that forms leave to the operator's own rule."""
        missing = [
            v
            for value in outs.values()
            for v in (value if isinstance(value, list) else [value])
            if isinstance(v, TracedArray) and v.spec is None
        ]
        if not missing:
            return
        specs = op.infer_outputs({slot: spec_of(value) for slot, value in ins.items()})
        for slot, value in outs.items():
            listed, known = _listed(value), _listed(specs.get(slot))
            for v, s in zip(listed, known, strict=False):
                if isinstance(v, TracedArray) and v.spec is None:
                    v.spec = s


def _refusal(op: Op, ins: Mapping[str, Any], error: Exception) -> FluidError:
    """Why an operator cannot be written: by its shape rule, which knows better, if that refuses."""
    try:
        op.infer_outputs({slot: spec_of(value) for slot, value in ins.items()})
    except FluidError as refused:
        return refused
    except Exception:
        pass
    return OpError(f"{op.type} cannot be written: {type(error).__name__}: {error}")


def kernel_outputs(op: Op, xp: Any, ins: Mapping[str, Any], *more: Any) -> dict[str, Any]:
    """What the kernel of an operator gives, by slot.

    Args:
        op: the operator.
        xp: the array namespace.
        ins: values by input slot.
        more: what the kernel takes before the values.
    """
    name = "run" if op.run is not None else "run_numpy"
    values = [ins.get(slot) for slot in op.run_reads[name]]
    outs = op.by_slot(getattr(op, name)(xp, *more, *values))
    return {slot: v() if callable(v) else v for slot, v in outs.items()}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def spec_of(value: Any) -> Any:
    """The spec of a value, or of each of a list."""
    if value is None:
        return None
    if isinstance(value, list):
        return [spec_of(each) for each in value]
    if isinstance(value, TracedArray):
        if value.spec is None:
            raise SizesNeeded("the shape of an intermediate value is not known")
        return value.spec._replace(lod_level=len(value.offsets))
    data = value.data if isinstance(value, LoDTensor) else value
    return Spec(data.shape, as_dtype(data.dtype), lod_level=len(getattr(value, "offsets", ())))


def taken_as(op: Op, slot: str, value: Any) -> Any:
    """A value as a slot of an operator takes it: without sequences, but where it asks for them."""
    if isinstance(value, list):
        return [taken_as(op, slot, each) for each in value]
    declared = op.input_slots.get(slot)
    if declared is not None and declared.ragged:
        return value
    if isinstance(value, LoDTensor):
        return value.data
    return value.bare() if isinstance(value, TracedArray) else value
