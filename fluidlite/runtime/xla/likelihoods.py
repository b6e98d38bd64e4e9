"""Losses of probabilities that a softmax gives, computed from its logits: ``cross_entropy`` of a
``softmax`` as ``softmax_with_cross_entropy``, and its gradient, too.

A gradient is then not divided by probabilities that it is multiplied with in the next step, and a
row with one element at its label is not summed up.  What nothing reads any more is left out by JAX.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from jax import lax
from jax import numpy as jnp

from ...opdef.definition import lookup
from ...opdef.gradient import GRAD
from ...opdef.interpreter import Eval
from ..step import Step


class _Pulled(NamedTuple):
    """The gradient of probabilities, and what it was made of."""

    value: Any
    probabilities: Any
    label: Any
    of_loss: Any
    how: dict[str, Any]  #: the attributes of the loss


class Likelihoods:
    """Which values are probabilities, and which gradients are those of losses of them: found by the
    values themselves, which are held as long as this is.

    Args:
        f: the interpreter.
    """

    def __init__(self, f: Eval) -> None:
        self._f: Any = f
        self._logits: dict[int, tuple[Any, Any]] = {}
        self._matched: dict[int, tuple[Any, Any]] = {}
        self._pulled: dict[int, _Pulled] = {}

    def improve(self, step: Step, ins: Mapping[str, Any], outs: dict[str, Any]) -> None:
        """Put what is computed from logits in place of what a step has made.

        Args:
            step: that has been computed.
            ins: what it read, by slot.
            outs: what it made, by slot.
        """
        form = _FORMS.get(step.instance.type)
        if form is not None:
            form(self, step.instance, ins, outs)

    def probabilities(self, op: Any, ins: Mapping[str, Any], outs: dict[str, Any]) -> None:
        """A softmax: note what it is of."""
        x, out = ins["X"], outs["Out"]
        if op.axis % x.ndim == x.ndim - 1 and x.dtype.name in _EXACT:
            self._logits[id(out)] = out, x

    def loss(self, op: Any, ins: Mapping[str, Any], outs: dict[str, Any]) -> None:
        """A loss of probabilities, or of anything else."""
        out, logits = self._logits.get(id(ins["X"]), (None, None))
        if out is None:
            return
        if (match := outs.get("MatchX")) is not None:
            self._matched[id(match)] = match, out
        if (like := outs.get("Y")) is None:
            return
        label = _columns(ins["Label"], out)
        with self._f.backend.checks.guard([]):  # what must hold of labels has been noted
            made = self._f.softmax_with_cross_entropy.all(logits, label, **_attributes(op))
        outs["Y"] = made["Loss"].reshape(like.shape)

    def of_probabilities(self, op: Any, ins: Mapping[str, Any], outs: dict[str, Any]) -> None:
        """The gradient of probabilities: note which loss it is of."""
        if "MatchX" in ins:
            _, out = self._matched.get(id(ins["MatchX"]), (None, None))
        else:
            out = ins["X"]
        value = outs.get("X" + GRAD)
        if id(out) in self._logits and ins.get("MatchX" + GRAD) is None and value is not None:
            label, of_loss = _columns(ins["Label"], out), _columns(ins["Y" + GRAD], out)
            self._pulled[id(value)] = _Pulled(value, out, label, of_loss, _attributes(op))

    def of_logits(self, op: Any, ins: Mapping[str, Any], outs: dict[str, Any]) -> None:
        """The gradient of logits, from that of probabilities."""
        pulled = self._pulled.get(id(ins["Out" + GRAD]))
        if pulled is None or pulled.probabilities is not ins["Out"] or "X" + GRAD not in outs:
            return
        given = {"Label": pulled.label, "Softmax": ins["Out"], "Loss" + GRAD: pulled.of_loss}
        gradient = lookup("softmax_with_cross_entropy_grad")(pulled.how)
        made = self._f.apply(gradient, given)
        self.at_labels(gradient, given, made)
        outs["X" + GRAD] = made["Logits" + GRAD]

    def at_labels(self, op: Any, ins: Mapping[str, Any], outs: dict[str, Any]) -> None:
        """The gradient of logits, from that of a loss: by one pass where labels are indices."""
        out, of_loss = ins["Softmax"], ins["Loss" + GRAD]
        forward = op.like(op.derived_from)
        if not forward.use_softmax:
            return
        if forward.soft_label or ins.get("Softmax" + GRAD) is not None or of_loss is None:
            return
        label, axis = ins["Label"], forward.axis % out.ndim
        if label.shape != of_loss.shape or out.dtype.name not in _EXACT:
            return
        at = jnp.where(label == forward.ignore_index, 0, of_loss)
        classes = lax.broadcasted_iota(label.dtype, out.shape, axis)
        outs["Logits" + GRAD] = out * at - jnp.where(classes == label, at, 0)


def _attributes(op: Any) -> dict[str, Any]:
    return {"soft_label": getattr(op, "soft_label", False), "ignore_index": op.ignore_index}


def _columns(value: Any, like: Any) -> Any:
    """Labels, or what belongs to them, as ``softmax_with_cross_entropy`` takes them."""
    return value if value.ndim == like.ndim else value.reshape((*like.shape[:-1], 1))


#: element types in which no probability is 0, as no logit counts for less than -64
_EXACT = frozenset({"float32", "float64"})

_FORMS = {
    "softmax": Likelihoods.probabilities,
    "cross_entropy": Likelihoods.loss,
    "cross_entropy2": Likelihoods.loss,
    "cross_entropy_grad": Likelihoods.of_probabilities,
    "cross_entropy_grad2": Likelihoods.of_probabilities,
    "softmax_grad": Likelihoods.of_logits,
    "softmax_with_cross_entropy_grad": Likelihoods.at_labels,
}
