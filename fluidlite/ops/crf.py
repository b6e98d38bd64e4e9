"""Linear chains of labels: how likely they are, and the likeliest one."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..errors import OutOfRangeError, ShapeError
from ..ground.dtypes import DType
from ..ground.values import LoDTensor, bare, offsets_from
from ..opdef.annotations import Array, Arrays, Specs, Value, Values
from ..opdef.definition import Op
from ..opdef.diagnostics import WarnsOfInput
from ..opdef.gradient import differentiated_as, pulled_through
from ..opdef.sequences import lengths_text, lod_of, offsets_of, padded_lengths, positions_in
from ..opdef.spec import Spec, agree, need_integer, need_ndim, same_float
from .crf_steps import ChainSteps, viterbi
from .time_order import TimeOrder, time_order


class Chains(NamedTuple):
    """Which rows of the scores belong to which chain, whether they lie one after the other or
    are padded.
    """

    offsets: tuple[int, ...]  #: of the chains, without padding
    numbers: Any  #: of each of their rows, its number among the rows of the scores
    order: TimeOrder

    @property
    def count(self) -> int:
        """The number of chains."""
        return len(self.offsets) - 1

    @property
    def by_steps(self) -> Any:
        """The numbers of the rows, ordered by steps."""
        return self.numbers[self.order.rows]


def chains_of(Emission: Any, Length: Array, Label: Any = None) -> Any:
    """The chains that the scores are of.

    Args:
        Emission, Length: as operators take them.
        Label: has chains of its own, if any, which go before.

    Raises:
        LoDError: the scores have neither sequences nor lengths.
        ShapeError: there are not as many lengths as rows.
        OutOfRangeError: a length is negative, or more than there is.
    """
    if Length is None:
        offsets = offsets_of(Emission, "Emission")
        offsets = lod_of(Label)[-1] if lod_of(Label) else offsets
        return Chains(offsets, np.arange(offsets[-1]), time_order(offsets))
    many, width = bare(Emission).shape[:2]
    offsets = offsets_from(padded_lengths(bare(Length), many, width, "Length"))
    number, place = positions_in(offsets)
    return Chains(offsets, number * width + place, time_order(offsets))


def labels_of(Label: Any, chains: Any, rows: int) -> Array:
    """The labels of the rows of chains.

    Args:
        Label: as the operator takes it.
        chains: of the scores.
        rows: how many rows the scores have.

    Raises:
        ShapeError: there are not as many labels as rows.
    """
    labels = bare(Label).reshape(-1)
    if len(labels) != rows:
        raise ShapeError(f"expected a label for each of {rows} rows, got {len(labels)} in Label")
    return labels[chains.numbers]


def outside(labels: Array, chains: Any, tags: int) -> str | None:
    """What to say of labels that are no tags; None where all are.

    Args:
        labels: of the rows of chains.
        chains: of the scores.
        tags: how many labels there are.
    """
    wrong = (labels < 0) | (labels >= tags)
    if not wrong.any():
        return None
    at = int(wrong.argmax())
    chain = int(np.searchsorted(chains.offsets, at, side="right")) - 1
    return (
        f"expected labels in [0, {tags}), the tags that Transition has, got {int(labels[at])} "
        f"in sequence {chain} of Label"
    )


def labels_in(Label: Any, chains: Any, tags: int, rows: int) -> Array:
    """The labels of the rows of chains, all of them tags.

    Args:
        Label, chains, rows: as of :func:`labels_of`.
        tags: how many labels there are.

    Raises:
        OutOfRangeError: a label is outside the tags.
    """
    labels = labels_of(Label, chains, rows)
    wrong = outside(labels, chains, tags)
    if wrong is not None:
        raise OutOfRangeError(wrong)
    return labels


class Chain(WarnsOfInput, Op, abstract=True):
    """What operators on chains of labels share.

    Emission: what speaks for each label at each place: sequences of rows, [n, tags], or padded,
        [chains, width, tags].
    Transition: what speaks for a label at the begin (row 0), at the end (row 1), and behind
        another one (row 2 + that), [tags + 2, tags].
    Length: how many rows of each padded chain count, [chains, 1].
    """

    chains_from = "Emission"  #: the slot whose sequences are the chains

    def input_warnings(self, ins: Any) -> Iterator[Any]:
        """Labels may form other sequences than scores."""
        scores, labels = lod_of(ins["Emission"]), lod_of(ins.get("Label"))
        if ins.get("Length") is None and labels and scores[-1:] != labels[-1:]:
            yield (
                f"expected Label with the sequences of Emission, lengths {lengths_text(scores)}, "
                f"got {lengths_text(labels)}: those of {self.chains_from} count"
            )

    def checked(self, Emission: Any, Transition: Any, Label: Any, Length: Any) -> None:
        """Raise what the shapes have against each other."""
        same_float(Emission=Emission, Transition=Transition)
        need_integer(Label=Label, Length=Length)
        need_ndim(2, Transition=Transition)
        tags = Transition.shape[1]
        if tags != -1 and not agree(Transition.shape[0], tags + 2):
            raise ShapeError(f"expected Transition [tags + 2, tags], got {list(Transition.shape)}")
        need_ndim(2 if Length is None else 3, Emission=Emission)
        if not agree(Emission.shape[-1], tags):
            raise ShapeError(
                f"expected Emission with {tags} columns for Transition {list(Transition.shape)}, "
                f"got {list(Emission.shape)}"
            )


class linear_chain_crf(Chain):
    """LogLikelihood = the logarithm of the sum of exp(score) over all chains of labels, less the
    score of Label: the cost of a conditional random field.

    The score of a chain is the sum of Emission for its labels and of Transition between them, at
    the begin and at the end.

    (Lafferty, McCallum and Pereira, Conditional random fields: probabilistic models for segmenting
    and labeling sequence data, ICML 2001; by forward and backward sums as in Rabiner, A tutorial on
    hidden Markov models, Proceedings of the IEEE 77(2), 1989.)

    Emission: what speaks for each label at each place: sequences of rows, [n, tags], or padded,
        [chains, width, tags].
    Transition: what speaks for a label at the begin (row 0), at the end (row 1), and behind
        another one (row 2 + that), [tags + 2, tags].
    Label: a label for each row.
    Length: how many rows of each padded chain count, [chains, 1].
    Alpha: forward sums, of sum 1 in each row.
    EmissionExps: exp(Emission less the largest of its row).  TransitionExps: exp(Transition).
    LogLikelihood: [chains, 1].
    """

    chains_from = "Label"
    signature = (
        "Emission[], Transition, Label![], Length?! -> "
        "Alpha~, EmissionExps~, TransitionExps~, LogLikelihood"
    )
    lod: ClassVar[str | None] = None
    host: ClassVar[bool] = True
    per_sequence: ClassVar[tuple[str, ...]] = ("LogLikelihood",)

    def infer(self, Emission: Spec, Transition: Spec, Label: Spec, Length: Spec) -> Specs:
        self.checked(Emission, Transition, Label, Length)
        like = Emission._replace(lod_level=0)
        chains = -1 if Length is None else Emission.shape[0]
        return like, like, Transition, like.with_shape([chains, 1])

    def lods(self, ins: Mapping[str, Any]) -> Mapping[str, Any] | None:
        return {}

    def expand(
        self, f: Any, Emission: Value, Transition: Value, Label: Value, Length: Value
    ) -> Values:
        chains = chains_of(Emission, Length, Label)
        order, tags = chains.order, Transition.shape[1]
        e = f.bare_rows(Emission)
        shape = list(e.shape)
        e = f.reshape(e, shape=[-1, tags])
        labels = labels_in(Label, chains, tags, e.shape[0])
        rows = lambda v, a, b: f.slice(v, axes=[0], starts=[a], ends=[b])
        top = f.reduce_max(e, dim=[1], keep_dim=True)
        exps = f.exp(f.elementwise_sub(e, top))
        weights = f.exp(Transition)
        between = rows(weights, 2, tags + 2)
        begin, end = (f.reshape(rows(weights, k, k + 1), shape=[-1]) for k in (0, 1))

        @functools.cache
        def sums():
            """Forward sums by steps, and the logarithms of what they were divided by."""
            x = f.take_rows(exps, chains.by_steps)
            alphas, logs, alpha = [], [], None
            for a, b in order.steps:
                if alpha is None:
                    alpha = f.elementwise_mul(rows(x, a, b), begin, axis=1)
                else:
                    alpha = f.matmul(rows(alpha, 0, b - a), between) * rows(x, a, b)
                whole = f.reduce_sum(alpha, dim=[1], keep_dim=True)
                alpha = f.elementwise_div(alpha, whole)
                alphas.append(alpha)
                logs.append(f.log(whole))
            if not alphas:
                return None
            return f.concat(alphas, axis=0), f.concat(logs, axis=0)

        def alpha():
            if sums() is None:
                return f.scale(f.reshape(e, shape=shape), scale=0.0)
            found = f.add_rows(chains.by_steps, sums()[0], size=e.shape[0])
            return f.reshape(found, shape=shape)

        def cost():
            cells = f.reshape(e, shape=[-1, 1])
            if sums() is None:
                return f.segment_sum(f.take_rows(cells, chains.numbers), chains.offsets)
            alphas, logs = sums()
            in_order = f.take_rows(logs, order.back) + f.take_rows(top, chains.numbers)
            offsets = np.asarray(chains.offsets)
            filled = np.flatnonzero(np.diff(offsets))
            last = f.take_rows(alphas, order.back[offsets[filled + 1] - 1])
            last = f.reduce_sum(f.elementwise_mul(last, end, axis=1), dim=[1], keep_dim=True)
            ends = f.add_rows(filled, f.log(last), size=chains.count)
            flat = f.reshape(Transition, shape=[-1, 1])
            _, place = positions_in(chains.offsets)
            before = np.where(place > 0, np.concatenate([[0], labels[:-1]]) + 2, 0)
            passed = f.take_rows(flat, before * tags + labels)
            score = f.take_rows(cells, chains.numbers * tags + labels) + passed
            closing = f.take_rows(flat, tags + labels[offsets[filled + 1] - 1])
            closing = f.add_rows(filled, closing, size=chains.count)
            return ends - closing + f.segment_sum(in_order - score, offsets)

        return {
            "Alpha": alpha,
            "EmissionExps": lambda: f.reshape(exps, shape=shape),
            "TransitionExps": weights,
            "LogLikelihood": cost,
        }

    def run_numpy(
        self, xp: Any, Emission: Array, Transition: Array, Label: Array, Length: Array
    ) -> Arrays:
        chains, e = chains_of(Emission, Length, Label), bare(Emission)
        flat = e.reshape(-1, e.shape[-1])
        labels = labels_in(Label, chains, e.shape[-1], len(flat))
        steps = ChainSteps(chains, flat, Transition)
        steps.forward()
        alpha = np.zeros_like(flat)
        alpha[chains.by_steps] = steps.alpha
        with np.errstate(over="ignore"):  # the cost is computed without it
            weights = np.exp(Transition)
        cost = steps.log_sum() - steps.score(labels)
        cost = cost.astype(e.dtype).reshape(-1, 1)
        return alpha.reshape(e.shape), steps.exps.reshape(e.shape), weights, cost

    def grad_numpy(
        self,
        xp,
        Emission,
        Transition,
        Label,
        Length,
        Alpha,
        EmissionExps,
        TransitionExps,
        dLogLikelihood,
        dAlpha=None,
        dEmissionExps=None,
        dTransitionExps=None,
    ):
        flows = dict(dAlpha=dAlpha, dEmissionExps=dEmissionExps, dTransitionExps=dTransitionExps)
        if any(v is not None for v in flows.values()):
            given = dict(Emission=Emission, Transition=Transition, Label=Label, Length=Length)
            return pulled_through(self, xp, given | flows | dict(dLogLikelihood=dLogLikelihood))
        chains, e = chains_of(Emission, Length, Label), bare(Emission)
        flat = e.reshape(-1, e.shape[-1])
        labels = labels_in(Label, chains, e.shape[-1], len(flat))
        steps = ChainSteps(chains, flat, Transition)
        if steps.is_scaled:
            steps.alpha = Alpha.reshape(flat.shape)[chains.by_steps]
        else:
            steps.forward()
        found, transition = steps.backward(labels, dLogLikelihood.reshape(-1))
        return {"Emission": found.reshape(e.shape), "Transition": transition}

    grad = differentiated_as(grad_numpy)


class crf_decoding(Chain):
    """ViterbiPath = the chain of labels with the highest score; with Label, 1 where it has that
    label and 0 elsewhere.

    (Viterbi, Error bounds for convolutional codes and an asymptotically optimum decoding algorithm,
    IEEE Transactions on Information Theory 13(2), 1967.)

    Emission, Transition, Length: as of ``linear_chain_crf``.
    Label: a label for each row.
    ViterbiPath: [n, 1], or padded with 0, [chains, width].
    """

    signature = "Emission![], Transition!, Label?![], Length?! -> ViterbiPath"
    grad = None
    lod: ClassVar[str | None] = None

    def infer(self, Emission: Spec, Transition: Spec, Label: Spec, Length: Spec) -> Specs:
        self.checked(Emission, Transition, Label, Length)
        rows = Emission.shape[0]
        shape = [rows, 1] if Length is None else [rows, Emission.shape[1]]
        return Emission.with_shape(shape).with_dtype(DType.INT64)

    def input_warnings(self, ins: Any) -> Iterator[Any]:
        yield from super().input_warnings(ins)
        if ins.get("Label") is not None:
            chains, tags = chains_of(ins["Emission"], ins.get("Length")), ins["Transition"].shape[1]
            labels = labels_of(ins["Label"], chains, bare(ins["Label"]).size)
            wrong = outside(labels, chains, tags)
            if wrong is not None:
                yield f"{wrong}: no path has it"

    def lods(self, ins: Mapping[str, Any]) -> Mapping[str, Any] | None:
        return {"ViterbiPath": lod_of(ins["Emission"]) if ins.get("Length") is None else ()}

    def run(
        self, xp: Any, Emission: Array, Transition: Array, Label: Array, Length: Array
    ) -> Array:
        chains, e = chains_of(Emission, Length), bare(Emission)
        flat = e.reshape(-1, e.shape[-1])
        path = np.zeros(len(flat), np.int64)
        path[chains.numbers] = viterbi(chains, flat, Transition)
        if Label is not None:
            labels = labels_of(Label, chains, len(flat))
            path[chains.numbers] = path[chains.numbers] == labels
        if Length is not None:
            return path.reshape(e.shape[:2])
        return LoDTensor(path.reshape(-1, 1), Emission.offsets)
