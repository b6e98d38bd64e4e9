"""How good a detector is, over one batch and over many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import unique_name
from ..errors import ArgumentError
from ..ground.dtypes import DType
from ..ground.protected import answers_protected
from ..ground.reprs import Described
from ..initializer import Constant
from ..ir.program import Program, program_guard
from ..ir.variable import Variable
from .creation import fill_constant
from .joining import concat
from .layer import LayerBuilder, layer
from .math import cast

if TYPE_CHECKING:
    from ..runtime.executor import Executor


@answers_protected
class DetectionMAP(Described):
    """The mean average precision of the boxes that a detector found, of a batch and since a reset.

    Everingham, Van Gool, Williams, Winn and Zisserman, The PASCAL visual object classes challenge,
    IJCV 2010.

    Args:
        input: boxes that were found, [n, 6]: class, score and box, those of an image being a
            sequence; as ``detection_output`` gives them.
        gt_label: the true classes, [m, 1], those of an image being a sequence.
        gt_box: the true boxes, [m, 4], in parts of the image; sequences as ``gt_label``.
        gt_difficult: 1 for boxes that are hard to find, [m, 1]; None if there are none.
        class_num: how many classes there are, with the background.
        background_label: the class that does not count.
        overlap_threshold: how much a box has to overlap a true one.
        evaluate_difficult: whether difficult boxes count.
        ap_version: "integral", or "11point": the mean of the best precisions from recalls 0, 0.1,
            ..., 1 on.

    Raises:
        ArgumentError: there is no ``class_num``.

    >>> found = fluid.data("found", [None, 6], lod_level=1)
    >>> label, box = (fluid.data(n, [None, k], lod_level=1) for n, k in (("l", 1), ("b", 4)))
    >>> metric = fluid.metrics.DetectionMAP(found, label, box, class_num=3)
    >>> now, since = metric.get_map_var()
    >>> now.shape, since.shape
    ((1,), (1,))
    """

    def __init__(
        self,
        input: Variable,
        gt_label: Variable,
        gt_box: Variable,
        gt_difficult: Variable | None = None,
        class_num: int | None = None,
        background_label: int = 0,
        overlap_threshold: float = 0.5,
        evaluate_difficult: bool = True,
        ap_version: str = "integral",
    ) -> None:
        if class_num is None:
            raise ArgumentError("expected class_num, how many classes there are, got None")
        label = [cast(gt_label, gt_box.dtype)]
        if gt_difficult is not None:
            label.append(cast(gt_difficult, gt_box.dtype))
        true = concat([*label, gt_box], axis=1)
        attrs = {
            "class_num": class_num,
            "background_label": background_label,
            "overlap_threshold": overlap_threshold,
            "evaluate_difficult": evaluate_difficult,
            "ap_type": ap_version,
        }
        self.cur_map: Variable = _detection_map(input, true, attrs)
        stem = unique_name.generate("map_eval")
        counts = _counts(stem, class_num, input.dtype)
        self.has_state: Variable = counts["HasState"]
        self.accum_map: Variable = _detection_map(input, true, attrs, counts)
        fill_constant(shape=[1], dtype="int32", value=1, out=self.has_state)

    def get_map_var(self) -> tuple[Variable, Variable]:
        """The variables of the precision of a batch, and of all batches since a reset."""
        return self.cur_map, self.accum_map

    def reset(self, executor: Executor, reset_program: Program | None = None) -> None:
        """Forget all batches.

        Args:
            executor: runs the program that does.
            reset_program: where to append that; a new program when None.
        """
        program = Program() if reset_program is None else reset_program
        with program_guard(program):
            state = program.current_block().declare_var(
                name=self.has_state.name, shape=[1], dtype="int32", persistable=True
            )
            fill_constant(shape=[1], dtype="int32", value=0, out=state)
        executor.run(program)


@layer("map_eval")
def _counts(f: LayerBuilder, stem: str, class_num: int, dtype: Any) -> dict[str, Variable]:
    """Persistable variables of what is counted, by input slot; nothing at first."""
    counters = {}
    for slot, suffix, shape, kind in (
        ("PosCount", "accum_pos_count", [class_num, 1], DType.INT32),
        ("TruePos", "accum_true_pos", [0, 2], dtype),
        ("FalsePos", "accum_false_pos", [0, 2], dtype),
        ("HasState", "has_state", [1], DType.INT32),
    ):
        name = f"{unique_name.generate(stem)}_{suffix}"
        counters[slot] = f.persistable(name, shape, kind, Constant(0.0))
        counters[slot].stop_gradient = slot == "HasState"
    return counters


@layer("detection_map")
def _detection_map(
    f: LayerBuilder,
    found: Variable,
    true: Variable,
    attrs: dict[str, Any],
    counts: dict[str, Variable] | None = None,
) -> Variable:
    """The precision, of what is counted so far too, where there is that; it is counted on."""
    score = f.new_variable()
    slots = ("PosCount", "TruePos", "FalsePos")
    outs = {f"Accum{slot}": counts[slot] if counts else f.new_variable() for slot in slots}
    f.into(
        "detection_map",
        {"DetectRes": found, "Label": true, **(counts or {})},
        {"MAP": score, **outs},
        **attrs,
    )
    return score
