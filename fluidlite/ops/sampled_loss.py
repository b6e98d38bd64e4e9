"""Losses over many classes of which only some are looked at: samples, or the way down a tree."""

from __future__ import annotations

import functools
import math
from typing import Any, ClassVar

from ..errors import AttributeValueError, ShapeError
from ..ground.dtypes import DType
from ..opdef.annotations import Array, Arrays, Rules, Specs, Value
from ..opdef.attribute import REQUIRED, Long, attr, need_least
from ..opdef.definition import Detached, Op
from ..opdef.fluid_form import FluidForm
from ..opdef.spec import (
    Shape,
    Spec,
    agree,
    known,
    need_count,
    need_float,
    need_integer,
    need_ndim,
    need_shape,
    same_dtype,
    size_of,
)
from .gather import count_of, look_up

CUT = 40  #: scores of a tree's nodes are kept in [-CUT, CUT]
HIT = 1e20  #: what a sample loses that is a label


class RowsOfClasses(Op, abstract=True):
    """Scores of some classes: products of the input with rows of a table, one row for each class.

    is_sparse: the gradient of the table has only the rows that were used.
    """

    is_sparse: bool = False
    remote_prefetch: bool = attr(False, inert=True)
    trainer_id: int = attr(0, inert=True)
    height_sections: list[Long] = attr((), inert=True)
    epmap: list[str] = attr((), inert=True)
    table_names: list[str] = attr((), inert=True)
    table = ""  # the slot of the table
    lod: ClassVar[str | None] = None

    def sparse_gradients(self) -> frozenset[str]:
        return frozenset({self.table} if self.is_sparse else ())

    def scores(self, xp: Any, X: Array, table: Array, bias: Array, ids: Array) -> Array:
        """Products of row n of X with the rows ``ids[n]``, and their bias; [N, K].

        An id that is the number of rows stands for nothing: it scores 0.
        """
        absent = len(table)
        out = xp.matmul(look_up(xp, table, ids, absent), xp.expand_dims(X, 2))
        out = xp.squeeze(out, 2)
        if bias is None:
            return out
        return out + xp.squeeze(look_up(xp, xp.reshape(bias, (-1, 1)), ids, absent), 2)

    def cotangents(self, f, X, table, bias, ids, slopes, dloss, more=None):
        """What flows to the input, the table and the bias; a function for each.

        Args:
            ids: as of ``scores``.
            slopes, dloss, more: functions that give the derivatives of the loss by the scores, its
                cotangent, [N, 1], and what arrives at the scores beside that; the last may be None.
        """
        height = table.shape[0]
        flat_ids = lambda: f.reshape(ids, shape=[-1])

        def dscores():
            g = slopes() * dloss()
            return g if more is None else g + more()

        def through_rows(v):
            rows = f.lookup_table_v2(table, ids, padding_idx=height)
            return f.squeeze(f.matmul(f.unsqueeze(v, axes=[1]), rows), axes=[1])

        def dx():
            # by the cotangent last: terms of the sum may be beyond the range where it is not
            out = through_rows(slopes()) * dloss()
            return out if more is None else out + through_rows(more())

        def dtable():
            rows = f.matmul(f.unsqueeze(dscores(), axes=[2]), f.unsqueeze(X, axes=[1]))
            rows = f.reshape(rows, shape=[-1, table.shape[1]])
            if self.is_sparse:
                return f.selected_rows(flat_ids(), rows, height=height, padding_idx=height)
            return f.lookup_table_adjoint(flat_ids(), rows, size=height, padding_idx=height)

        def dbias():
            rows = f.reshape(dscores(), shape=[-1, 1])
            found = f.lookup_table_adjoint(flat_ids(), rows, size=height, padding_idx=height)
            flat = bias is not None and len(bias.shape) == 1
            return f.reshape(found, shape=[height]) if flat else found

        return dx, dtable, dbias

    def check(
        self, name: str, X: Spec, Label: Spec, table: Spec, bias: Spec | None, height: int
    ) -> None:
        """Refuse shapes and types that do not fit."""
        need_float(**{name: X})
        same_dtype(**{name: X, self.table: table, "Bias": bias})
        need_ndim(2, **{name: X, self.table: table})
        need_integer(Label=Label)
        wanted = (height, X.shape[1])
        need_shape(self.table, table, wanted, "a row for each class or node")
        if bias is not None and not (
            bias.ndim in (1, 2)
            and agree(bias.shape[0], height)
            and all(agree(n, 1) for n in bias.shape[1:])
        ):
            raise ShapeError(f"expected Bias of shape [{height}, 1], got {list(bias.shape)}")
        if (
            Label.ndim not in (1, 2)
            or not agree(Label.shape[0], X.shape[0])
            or 0 in Label.shape[1:]
        ):
            raise ShapeError(
                f"expected Label with as many rows as {name} {list(X.shape)} and at least one "
                f"column, got {list(Label.shape)}"
            )


class nce(RowsOfClasses):
    """Cost = the loss of telling the labels of each row from classes drawn at random.

    With o the sigmoid of a class's score and b = num_neg_samples times the probability of drawing
    it, a label costs -log(o / (o + b)) and a drawn class -log(b / (o + b)) (Gutmann and Hyvarinen,
    Noise-contrastive estimation, AISTATS 2010).

    Input: [N, D].
    Label: the right classes, [N] or [N, T].
    Weight: a row for each class.
    Bias: [num_total_classes, 1], or without the 1.
    SampleWeight: a factor for each row of Cost, [N] or [N, 1].
    CustomDistProbs: the probability of drawing each class, for ``sampler`` 2.
    CustomDistAlias, CustomDistAliasProbs: not read: classes are drawn by their probabilities.
    SampleLogits: o of the labels, then of the drawn classes.
    SampleLabels: which classes these are.
    num_total_classes: how many classes there are.
    num_neg_samples: how many are drawn for each row.
    sampler: 0 draws all classes alike, 1 class k with a probability proportional to
        log((k + 2) / (k + 1)), but never the last one, and 2 by CustomDistProbs.
    seed: fixes what is drawn; with 0 it comes from the program's own stream.
    custom_neg_classes: classes to use in place of drawn ones.
    """

    signature = (
        "Input, Label!, Weight, Bias?, SampleWeight?!, CustomDistProbs?!, CustomDistAlias?!, "
        "CustomDistAliasProbs?! -> Cost, SampleLogits~, SampleLabels!~"
    )
    random: ClassVar[bool] = True
    table = "Weight"
    num_total_classes: int = REQUIRED
    num_neg_samples: int = 10
    sampler: int = 0
    seed: int = 0
    custom_neg_classes: list[int] = ()

    def infer(self, Input, Label, Weight, Bias, SampleWeight, CustomDistProbs):
        classes = self.num_total_classes
        if classes < 1 or self.num_neg_samples < 1:
            raise AttributeValueError(
                f"expected num_total_classes and num_neg_samples of at least 1, got {classes} and "
                f"{self.num_neg_samples}"
            )
        if self.sampler not in (0, 1, 2) or (self.sampler == 1 and classes < 2):
            raise AttributeValueError(
                f"expected sampler 0, 1 (of at least 2 classes) or 2, got {self.sampler}"
            )
        if self.sampler == 2 and (
            CustomDistProbs is None or not agree(size_of(CustomDistProbs.shape), classes)
        ):
            raise ShapeError(f"expected CustomDistProbs of {classes} numbers for sampler 2")
        if self.custom_neg_classes and len(self.custom_neg_classes) != self.num_neg_samples:
            raise AttributeValueError(
                f"expected {self.num_neg_samples} custom_neg_classes, as num_neg_samples says; got "
                f"{len(self.custom_neg_classes)}"
            )
        self.check("Input", Input, Label, Weight, Bias, classes)
        need_count("SampleWeight", SampleWeight, Input.shape[0], "one for each row of Input", Input)
        labels = Label.shape[1] if Label.ndim == 2 else 1
        width = -1 if labels == -1 else labels + self.num_neg_samples
        found = Input.with_dim(1, width)
        return Input.with_dim(1, 1), found, found.with_dtype(DType.INT64)

    def run(self, xp, rng, Input, Label, Weight, Bias, SampleWeight, CustomDistProbs):
        count = Label.shape[1] if Label.ndim == 2 else 1
        label = xp.in_range(xp.reshape(Label, (-1, count)), self.num_total_classes, "Label")
        drawn = self.draw(xp, rng, (len(label), self.num_neg_samples), CustomDistProbs)
        ids = xp.concatenate([label, drawn], axis=1).astype("int64")
        o = 1 / (1 + xp.exp(-self.scores(xp, Input, Weight, Bias, ids)))
        b = self.expected(xp, ids, CustomDistProbs).astype(o.dtype)
        cost = -xp.log(xp.where(xp.arange(ids.shape[1]) < count, o, b) / (o + b))
        total = xp.sum(cost, axis=1, keepdims=True)
        return total if SampleWeight is None else total * xp.reshape(SampleWeight, (-1, 1)), o, ids

    def draw(self, xp: Any, rng: Any, shape: Shape, CustomDistProbs: Array) -> Array:
        """Classes to tell from the labels."""
        classes = self.num_total_classes
        if self.custom_neg_classes:
            given = xp.in_range(xp.asarray(self.custom_neg_classes), classes, "custom_neg_classes")
            return xp.broadcast_to(given, shape)
        generator = rng(self.seed)
        if self.sampler == 0:
            return generator.integers(0, classes, shape)
        if self.sampler == 1:
            return log_uniform(xp, generator, classes - 1, shape)
        bounds = xp.cumsum(xp.reshape(CustomDistProbs, -1), dtype="float64")
        drawn = xp.searchsorted(bounds, generator.random(shape) * bounds[-1], side="right")
        return xp.minimum(drawn, classes - 1)

    def expected(self, xp: Any, ids: Array, CustomDistProbs: Array) -> Array:
        """How often each of some classes is expected among those that are drawn."""
        if self.sampler == 0:
            chances = xp.full(ids.shape, 1 / self.num_total_classes)
        elif self.sampler == 1:
            chances = log_uniform_chance(xp, ids, self.num_total_classes - 1)
        else:
            chances = xp.take(xp.reshape(CustomDistProbs, -1), ids)
        return chances * self.num_neg_samples

    def grad(
        self,
        f,
        Input,
        Label,
        Weight,
        Bias,
        SampleWeight,
        CustomDistProbs,
        CustomDistAlias,
        CustomDistAliasProbs,
        SampleLogits,
        SampleLabels,
        dCost,
        dSampleLogits=None,
    ):
        o = SampleLogits

        def slopes():
            labels = Label.shape[1] if len(Label.shape) == 2 else 1
            b = self.expected_by(f, SampleLabels, CustomDistProbs, o)
            parts = dict(axis=1, sections=[labels, self.num_neg_samples])
            # the cost falls with the score of a label, and rises with that of another class
            falls, rises = f.split((1.0 - o) / (o + b), **parts)
            return f.concat(
                [-falls * f.split(b, **parts)[0], rises * f.split(o, **parts)[1]], axis=1
            )

        def dloss():
            return dCost if SampleWeight is None else dCost * f.reshape(SampleWeight, shape=[-1, 1])

        more = None if dSampleLogits is None else (lambda: dSampleLogits * o * (1.0 - o))
        dx, dtable, dbias = self.cotangents(
            f, Input, Weight, Bias, SampleLabels, slopes, dloss, more
        )
        return dict(Input=dx, Weight=dtable, Bias=dbias)

    def expected_by(self, f: Any, ids: Value, CustomDistProbs: Value, like: Value) -> Value:
        """``expected`` by operators, in the element type of ``like``."""
        if self.sampler == 0:
            share = self.num_neg_samples / self.num_total_classes
            return f.fill_zeros_like(like) + share
        if self.sampler == 1:
            k = f.cast(ids, in_dtype=ids.dtype, out_dtype=like.dtype)
            share = self.num_neg_samples / math.log(self.num_total_classes)
            return f.log((k + 2.0) / (k + 1.0)) * share
        flat = [f.reshape(v, shape=[-1]) for v in (CustomDistProbs, ids)]
        return f.reshape(f.gather(*flat), shape=list(ids.shape)) * self.num_neg_samples


def log_uniform(xp: Any, generator: Any, count: int, shape: Any) -> Array:
    """Numbers in [0, count), k with a probability proportional to log((k + 2) / (k + 1))."""
    drawn = xp.exp(generator.random(shape) * math.log(count + 1)).astype("int64") - 1
    return xp.minimum(drawn, count - 1)  # rounding may reach the bound


def log_uniform_chance(xp: Any, k: Array, count: int) -> Array:
    """The probabilities of numbers from ``log_uniform``."""
    return xp.log((k + 2) / (k + 1)) / math.log(count + 1)


class tree_path(Detached):
    """Node = the inner nodes from a class up to the root of a tree, Code = the turns taken there.

    Label: classes, [N] or [N, 1].
    PathTable, PathCode: nodes and turns, [N, L], with -1 for none; if absent, the tree is the
        complete binary one.
    num_classes: how many leaves that has.
    absent: stands for no node.
    """

    signature = "Label!, PathTable?!, PathCode?! -> Node, Code"
    num_classes: int = REQUIRED
    absent: int = REQUIRED

    def infer(self, Label: Spec, PathTable: Spec, PathCode: Spec) -> Specs:
        need_integer(Label=Label, PathTable=PathTable, PathCode=PathCode)
        if PathTable is not None:
            need_ndim(2, PathTable=PathTable)
            need_shape("PathCode", PathCode, PathTable.shape, "as PathTable")
            spec = PathTable.with_shape(map(known, PathTable.shape, PathCode.shape))
            return (spec.with_dtype(DType.INT64),) * 2
        count_of("Label", Label)
        spec = Label.with_shape((Label.shape[0], self.depth)).with_dtype(DType.INT64)
        return spec, spec

    @property
    def depth(self) -> int:
        """The largest number of inner nodes on a path."""
        return (self.num_classes - 1).bit_length()

    def run(self, xp: Any, Label: Array, PathTable: Array, PathCode: Array) -> Array:
        if PathTable is not None:
            on = PathTable >= 0
            node, code = PathTable, PathCode
        else:
            # leaf c has the number c + num_classes, and half a node's number is that above
            label = xp.in_range(xp.reshape(Label, (-1, 1)), self.num_classes, "Label")
            leaf, level = label + self.num_classes, xp.arange(self.depth)
            node, code = (leaf >> (level + 1)) - 1, (leaf >> level) & 1
            on = node >= 0
        return (
            xp.where(on, v, other).astype("int64") for v, other in ((node, self.absent), (code, 0))
        )


class hierarchical_sigmoid(RowsOfClasses):
    """Out = the loss of the turns on the way to the right leaf of a tree of classes.

    A turn costs log(1 + e^s) - c s with the node's score s and the turn c (Morin and Bengio,
    Hierarchical probabilistic neural network language model, AISTATS 2005).  A path that is shorter
    than others pays log 2 for each turn that it lacks.

    X: [N, D].
    W: a row for each inner node.
    Label: the right classes, [N] or [N, 1].
    PathTable, PathCode: nodes and turns for each row of X, [N, L], with -1 for none; if absent, the
        tree is the complete binary one.
    Bias: a number for each inner node, [nodes, 1].
    PreOut: log(1 + e^s) of the nodes on the way.
    W_Out: stays as it is.
    num_classes: how many classes there are.
    """

    signature = "X, W, Label!, PathTable?!, PathCode?!, Bias? -> Out, PreOut~, W_Out!~"
    lod: ClassVar[str | None] = "X"
    table = "W"
    fluid: ClassVar[FluidForm] = FluidForm(idle=("W_Out",))
    num_classes: int = 2

    def infer(self, X, W, Label, PathTable, PathCode, Bias):
        need_least(self, 2, "num_classes")
        if (PathTable is None) != (PathCode is None):
            raise ShapeError("expected both of PathTable and PathCode, or none of them")
        custom = PathTable is not None
        need_ndim(2, W=W)
        if Label.ndim == 2 and not agree(Label.shape[1], 1):
            raise ShapeError(f"expected Label of shape [n] or [n, 1], got {list(Label.shape)}")
        self.check("X", X, Label, W, Bias, W.shape[0] if custom else self.num_classes - 1)
        if not custom:
            return X.with_dim(1, 1), X.with_dim(1, self.path(W).depth), None
        paths = self.path(W).infer(Label, PathTable, PathCode)[0].shape
        if not agree(paths[0], X.shape[0]):
            raise ShapeError(
                f"expected PathTable with a row for each of X {list(X.shape)}, got {list(paths)}"
            )
        return X.with_dim(1, 1), X.with_dim(1, paths[1]), None

    def path(self, W: Array) -> Any:
        """The operator that finds the way to a class."""
        return tree_path(dict(num_classes=self.num_classes, absent=max(W.shape[0], 0)))

    def run(self, xp, X, W, Label, PathTable, PathCode, Bias):
        nodes, turns = self.path(W).run(xp, Label, PathTable, PathCode)
        s = xp.clip(self.scores(xp, X, W, Bias, nodes), -CUT, CUT)
        cost = xp.logaddexp(0, s)
        return xp.sum(cost - turns.astype(s.dtype) * s, axis=1, keepdims=True), cost, None

    def grad(self, f, X, W, Label, PathTable, PathCode, Bias, PreOut, dOut, dPreOut=None):
        @functools.cache
        def way():
            attrs = dict(num_classes=self.num_classes, absent=W.shape[0])
            return f.tree_path(Label, PathTable, PathCode, **attrs)

        sigmoid = lambda: 1.0 - f.exp(-PreOut)  # of the scores

        def slopes():
            turns = f.cast(way()[1], in_dtype=DType.INT64, out_dtype=PreOut.dtype)
            return sigmoid() - turns

        more = None if dPreOut is None else (lambda: sigmoid() * dPreOut)

        def rule(k):
            return self.cotangents(f, X, W, Bias, way()[0], slopes, lambda: dOut, more)[k]()

        return {slot: functools.partial(rule, k) for k, slot in enumerate(("X", "W", "Bias"))}


class sample_logits(Op):
    """SampledLogits = Logits of the labels and of classes drawn at random, less log(Probabilities).

    What ``softmax`` over few classes needs in place of all of them (Jean et al., On using very
    large target vocabulary, ACL 2015).

    Logits: [N, K].
    Labels: [N, T].
    CustomizedSamples: classes to use in place of drawn ones, [N, T + num_samples], labels first.
    CustomizedProbabilities: how many times each of them is expected.
    Samples: the classes; the drawn ones are the same for all rows, and different.
    Probabilities: how probable it is that each of them is drawn.
    LogitsDim, LabelsDim: hold nothing; their shapes are those of Logits and Labels, with a size 0
        added.
    SampledLabels: where the labels are among the samples: 0 ... T - 1.
    use_customized_samples: take CustomizedSamples and CustomizedProbabilities.
    uniq: not read: drawn classes are always different.
    remove_accidental_hits: of drawn classes that are labels SampledLogits loses 1e20.
    num_samples: how many classes are drawn, k with a probability that falls with k.
    seed: fixes what is drawn; with 0 it comes from the program's own stream.
    """

    signature = (
        "Logits, Labels!, CustomizedSamples?!, CustomizedProbabilities?! -> Samples!~, "
        "Probabilities!~, LogitsDim!~, LabelsDim!~, SampledLogits~, SampledLabels!"
    )
    random: ClassVar[bool] = True
    use_customized_samples: bool = False
    uniq: bool = attr(True, inert=True)
    remove_accidental_hits: bool = True
    num_samples: int = REQUIRED
    seed: int = 0
    lod: ClassVar[str | None] = None

    def infer(
        self, Logits: Spec, Labels: Spec, CustomizedSamples: Spec, CustomizedProbabilities: Spec
    ) -> Specs:
        need_float(Logits=Logits)
        need_ndim(2, Logits=Logits)
        need_integer(Labels=Labels)
        need_ndim(2, Labels=Labels)
        if not agree(Labels.shape[0], Logits.shape[0]):
            raise ShapeError(
                f"expected Labels with as many rows as Logits {list(Logits.shape)}, got "
                f"{list(Labels.shape)}"
            )
        self.need_classes(Logits.shape[1])
        count = Labels.shape[1]
        width = -1 if count == -1 else count + self.num_samples
        if self.use_customized_samples:
            given = dict(
                CustomizedSamples=CustomizedSamples, CustomizedProbabilities=CustomizedProbabilities
            )
            for name, s in given.items():
                wanted = (Logits.shape[0], width)
                if s is None or s.ndim != 2 or not all(map(agree, s.shape, wanted)):
                    got = "none" if s is None else list(s.shape)
                    raise ShapeError(f"expected {name} of shape {list(wanted)}, got {got}")
            need_integer(CustomizedSamples=CustomizedSamples)
            same_dtype(Logits=Logits, CustomizedProbabilities=CustomizedProbabilities)
        found = Logits.with_dim(1, width)
        labels = Labels.with_dtype(DType.INT64)
        empty = (s.with_shape((*s.shape, 0)).with_dtype(Logits.dtype) for s in (Logits, Labels))
        return found.with_dtype(DType.INT64), found, *empty, found, labels

    def run(self, xp, rng, Logits, Labels, CustomizedSamples, CustomizedProbabilities):
        count = Labels.shape[1]
        if self.use_customized_samples:
            samples, chances = CustomizedSamples, CustomizedProbabilities
        else:
            samples, chances = self.draw(xp, rng(self.seed), Labels, Logits.shape[1])
        samples, chances = samples.astype("int64"), chances.astype(Logits.dtype)
        index = xp.in_range(samples, Logits.shape[1], "a sample")
        logits = xp.take_along_axis(Logits, index, 1) - xp.log(chances)
        if self.remove_accidental_hits:
            hits = xp.any(samples[:, None, count:] == samples[:, :count, None], axis=1)
            lost = xp.concatenate([xp.zeros(Labels.shape, bool), hits], axis=1)
            logits = xp.where(lost, logits - xp.asarray(HIT, logits.dtype), logits)
        places = xp.broadcast_to(xp.arange(count), Labels.shape)
        empty = (xp.zeros((*v.shape, 0), Logits.dtype) for v in (Logits, Labels))
        return samples, chances, *empty, logits, places

    def need_classes(self, classes: int) -> None:
        """Check that there are classes to draw, as far as their number is known."""
        if self.num_samples < 1 or -1 < classes < self.num_samples:
            raise AttributeValueError(
                f"expected num_samples from 1 to the number of classes, {classes}; got "
                f"{self.num_samples}"
            )

    def draw(self, xp: Any, generator: Any, Labels: Array, classes: int) -> Arrays:
        """Labels and classes drawn once each, and how probable it is to draw them so often."""
        self.need_classes(classes)
        values = log_uniform(xp, generator, classes, self.num_samples)
        while len(first := xp.unique(values, return_index=True)[1]) < self.num_samples:
            more = log_uniform(xp, generator, classes, len(values))
            values = xp.concatenate([values, more])
        first = xp.sort(first)[: self.num_samples]
        drawn = xp.broadcast_to(values[first], (len(Labels), self.num_samples))
        samples = xp.concatenate([Labels, drawn], axis=1)
        once, tries = log_uniform_chance(xp, samples, classes), int(first[-1]) + 1
        return samples, -xp.expm1(tries * xp.log1p(-once))

    def grad(
        self, f: Any, Samples: Value, LogitsDim: Value, LabelsDim: Value, dSampledLogits: Value
    ) -> Rules:
        size = LogitsDim.shape[1]
        return dict(Logits=lambda: f.add_along(Samples, dSampledLogits, axis=1, size=size))
