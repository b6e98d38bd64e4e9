"""Samples of operators with extreme values, on each engine that runs programs.

A program of an operator and its gradients is run with an ordinary batch, and then again and again
with something extreme in one of its inputs, or in the gradient that comes in.  What interpretation
computes is held against what each engine does: the same places of NaN, of infinities and of the
signs of zeros, and finite numbers within the bound.  ``docs/extremes.md`` says what an engine does
by its nature; ``allowed`` has the same rules.
"""

import contextlib
import ctypes
import warnings
from collections import namedtuple
from dataclasses import replace
from unittest import mock

import numpy as np
from elementwise_graphs import Recording
from random_programs.ways import kernels

import fluidlite as fluid
from fluidlite.backend import onednn
from fluidlite.backend.native.compiler import COMPILER, Compiler
from fluidlite.ground.values import LoDTensor, bare
from fluidlite.opdef.definition import lookup, registered
from fluidlite.runtime import session

from cases import Case, cases_of, is_float, is_list
from samples.form import GENERATORS

#: what is put into inputs
EXTREMES = {
    "NaN": np.nan, "inf": np.inf, "-inf": -np.inf, "3e38": 3e38, "-3e38": -3e38,
    "1e-40": 1e-40, "-1e-40": -1e-40, "0": 0.0, "-0": -0.0,
}  # fmt: skip
BATCHES = (5, 1, 0)  #: and that of the sample
RUNS = 12  #: of each feed: interpreted, compiled, bound, recorded, with either set of buffers
NEAR = 1e-5  #: how far numbers may be apart, as a share of the larger of the usual and their own
PLACES = 4  #: units in the last place that they may be apart in any case

#: operators of which JAX may give a zero the other sign: XLA takes ``0 + x`` for ``x``
OTHER_ZEROS = frozenset([
    "abs", "add_item", "add_rows", "arctan2", "bicubic_interp", "bilinear_interp", "bpr_loss",
    "brelu", "crop", "crop_tensor", "cumsum", "dist", "elu",
    "fake_quantize_dequantize_moving_average_abs_max", "fake_quantize_moving_average_abs_max",
    "fake_quantize_range_abs_max", "floor_divide", "fsp", "index_select", "l1_norm", "matmul",
    "max_pool2d_with_index", "mean", "nearest_interp", "neighbour_slopes", "nll_loss", "p_norm",
    "pad", "pad2d", "pad_constant_like", "partial_concat", "partial_sum", "pool2d",
    "pool2d_adjoint", "pool3d", "pool3d_adjoint", "reduce_mean", "reduce_sum", "relu6", "selu",
    "sign", "slice", "spectral_norm", "spp", "strided_slice", "take_item", "take_rows",
    "trilinear_interp", "unfold", "unfold_adjoint",
])  # fmt: skip
#: and where something on the way is beyond the range, NaN or an infinity in the other's place
OTHER_ORDER = frozenset([
    "batch_norm", "ftrl", "fusion_squared_mat_sub", "group_norm", "inplace_abn", "layer_norm",
])  # fmt: skip
#: of which it makes something else of what is not finite, large or a denormal
OTHERWISE = frozenset([
    "adadelta", "box_coder", "cast", "conv2d", "conv2d_adjoint_filter", "conv2d_adjoint_input",
    "conv2d_transpose", "conv3d", "conv3d_adjoint_filter", "conv3d_adjoint_input",
    "conv3d_transpose", "data_norm", "deformable_conv", "deformable_conv_v1",
    "depthwise_conv2d", "depthwise_conv2d_transpose", "elementwise_mod", "elementwise_pow",
    "grid_sampler", "gru_unit", "lstm_layers", "margin_rank_loss", "neighbours", "pow",
    "recurrent_layer", "remainder", "rmsprop", "row_conv", "sigmoid_focal_loss",
])  # fmt: skip
#: what those are fed beside the usual
ORDINARY = ("0 in", "-0 in")

#: how one engine differs: the sample, the engine, what was fed, the result, and how
Finding = namedtuple("Finding", "sample engine feed result how")


def engines():
    """The names of the engines that are installed."""
    found = ["numpy", "numpy/large"]
    if Compiler().version:
        found.append("native")
    if onednn.description() is not None:
        found += ["onednn", "onednn/large"]
    found.append("auto/large")
    with contextlib.suppress(ImportError):
        import jax  # noqa: F401

        found.append("jax")
    return found


@contextlib.contextmanager
def running(engine, flushed=False):
    """What is run inside runs on an engine; gives what an executor is made with.

    Args:
        engine: its name.
        flushed: whether the processor takes denormals for zeros, as XLA lets it do.
    """
    with contextlib.ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        stack.enter_context(np.errstate(all="ignore"))
        if engine == "interpreted":
            stack.enter_context(mock.patch.object(session, "function_for", return_value=None))
            if flushed:
                stack.enter_context(without_denormals())
        elif engine != "jax":
            stack.enter_context(kernels(engine))
        yield dict(backend="jax" if engine == "jax" else "numpy")


@contextlib.contextmanager
def without_denormals():
    """The processor reads denormals as zeros, and writes zeros in their place."""
    library, state, bits = ctypes.CDLL("libm.so.6"), (ctypes.c_uint32 * 16)(), 0x8040
    library.fegetenv(state)
    before = state[7]  # the control register of vector instructions of x86-64
    state[7] = before | bits
    library.fesetenv(state)
    try:
        yield
    finally:
        library.fegetenv(state)
        state[7] = before
        library.fesetenv(state)


def with_batch(case, batch):
    """A case with another number of rows in all inputs that have as many as the first one; None
    where the operator takes no such batch.
    """
    inputs = case.sample.inputs
    arrays = [v for v in flattened(inputs.values()) if isinstance(v, np.ndarray) and v.ndim]
    if not arrays or case.sample.lods:
        return None
    rows = arrays[0].shape[0]

    def cut(value):
        if is_list(value):
            return [cut(each) for each in value]
        if not isinstance(value, np.ndarray) or not value.ndim or value.shape[0] != rows:
            return value
        return value[np.arange(batch) % max(rows, 1)]

    changed = {slot: cut(value) for slot, value in inputs.items()}
    made = Case(case.op, replace(case.sample, inputs=changed))
    try:
        with np.errstate(all="ignore"):
            return made if made.outputs is not None else None
    except Exception:  # the operator takes no such batch
        return None


def flattened(values):
    """The elements of lists among values, too."""
    for value in values:
        if is_list(value):
            yield from flattened(value)
        elif value is not None:
            yield value


class Trial:
    """A program of a case and its gradients, and what is fed to it."""

    def __init__(self, case, name):
        self.name, self.case = name, case
        self.one = case.program(but=("ReserveSpace",))
        found = []
        if case.differentiated:
            found = self.one.gradients(case.targets, case.variable, case.cotangents)
        self.fetched = [*self.one.all_outputs, *(g for g in found if g is not None)]
        self.names = [variable.name for variable in self.fetched]
        self.draws = bool(case.op.random) or not case.sample.values_matter
        self.usual = self.one.feed

    def feeds(self):
        """Names of feeds, and the feeds: the usual one, and those with something extreme."""
        yield "usual", self.usual
        for name, value in self.usual.items():
            if not is_float(value) or not bare(value).size:
                continue
            for extreme, number in EXTREMES.items():
                yield f"{extreme} in {name}", {**self.usual, name: with_number(value, number)}
            yield f"all in {name}", {**self.usual, name: with_all(value)}

    def run(self, executor, feed):
        """What a run gives; the type of its error where it fails."""
        self.one.feed = feed
        try:
            return [np.array(v) for v in flattened(self.one.run(self.fetched, executor=executor))]
        except Exception as error:
            return type(error)


def with_number(value, number):
    """A value with a number in its middle."""
    changed = np.array(bare(value))
    changed.flat[changed.size // 2] = number
    return like(value, changed)


def with_all(value):
    """A value of which all elements are extreme, but for those that make sums depend on the order
    of their terms.
    """
    array = bare(value)
    numbers = [number for name, number in EXTREMES.items() if name not in ("3e38", "-3e38")]
    return like(value, np.resize(np.array(numbers, array.dtype), array.shape))


def like(value, array):
    array.flags.writeable = False
    return LoDTensor(array, value.offsets) if isinstance(value, LoDTensor) else array


def trials(types, batches=BATCHES):
    """The trials of operators of some types, in single precision, with each batch they take."""
    for type in types:
        for k, case in enumerate(cases_of(lookup(type))):
            if not isinstance(case, Case):
                continue
            case = case.in_single_precision()
            name = f"{type}-{case.sample.name or k}"
            yield Trial(case, name)
            for batch in batches:
                other = with_batch(case, batch)
                if other is not None:
                    try:
                        yield Trial(other, f"{name} of {batch}")
                    except fluid.FluidError:
                        continue


TYPES = sorted(
    op.type
    for op in registered()
    if op.execute is None and op.type in GENERATORS and op.type not in ("feed", "fetch")
)


def compared(trial, names, runs=RUNS):
    """What engines compute otherwise than interpretation.

    Args:
        trial: it.
        names: of the engines.
        runs: of each feed.
    """
    feeds = list(trial.feeds())
    meant = meaning(trial, feeds, runs)
    flushed = meaning(trial, feeds, runs, flushed=True) if "jax" in names else meant
    usual = meant[0][0]
    for engine in names:
        rule = allowed(trial.case, engine)
        with running(engine) as how:
            executor = fluid.Executor(**how)
            for (label, feed), *either in zip(feeds, meant, flushed):
                if rule == "ordinary" and not label.startswith(("usual", *ORDINARY)):
                    continue
                for number, found in distinct(trial, executor, feed, runs):
                    ways = either if engine == "jax" else either[:1]
                    wants = [right[number % len(right)] for right in ways]
                    wrong = [differences(trial, found, want, usual, engine) for want in wants]
                    if all(wrong):
                        yield Finding(trial.name, engine, f"{label}, run {number}", *wrong[0][0])
                        break


def distinct(trial, executor, feed, runs):
    """The numbers of runs, and what those give that gives something else than those before; all of
    an operator that draws.
    """
    seen = []
    for number in range(runs):
        found = trial.run(executor, feed)
        if trial.draws or not any(same(found, other) for other in seen):
            seen.append(found)
            yield number, found


def meaning(trial, feeds, runs, flushed=False):
    """What interpretation gives for each feed, in each run where they differ."""
    times = runs if trial.draws else 1
    with running("interpreted", flushed) as how:
        executor = fluid.Executor(**how)
        return [[trial.run(executor, feed) for _ in range(times)] for _, feed in feeds]


def same(found, other):
    """Whether results are the same to the last bit."""
    if isinstance(found, type) or isinstance(other, type):
        return found is other
    return len(found) == len(other) and all(
        a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
        for a, b in zip(found, other)
    )


def differences(trial, found, right, usual, engine):
    """The results that differ, and how."""
    if isinstance(found, type) or isinstance(right, type):
        names = [r.__name__ if isinstance(r, type) else "results" for r in (found, right)]
        return [] if found is right else [("", f"{names[0]} in place of {names[1]}")]
    if len(found) != len(right):
        return [("", f"{len(found)} results in place of {len(right)}")]
    if engine == "jax" and trial.draws:
        return []  # JAX's generator draws other numbers
    wrong = []
    for k, (mine, want) in enumerate(zip(found, right)):
        scale = 0.0 if isinstance(usual, type) else largest(usual[k])
        text = apart(mine, want, scale, allowed(trial.case, engine))
        if text:
            wrong.append((trial.names[k] if k < len(trial.names) else str(k), text))
    return wrong


def largest(array):
    """The largest finite element in size."""
    if array.dtype.kind not in "fc":
        return 0.0
    return float(np.abs(array[np.isfinite(array)]).max(initial=0))


def allowed(case, engine):
    """What an engine may do otherwise, by its nature.

    Returns:
        ``"zeros"``: zeros have another sign, and denormals may be zeros.  ``"order"``: so, and
        something on the way may be beyond the range of numbers, or not.  ``"ordinary"``: so, and
        only usual numbers and zeros agree.  Empty where nothing is.
    """
    if engine != "jax":
        return ""
    rules = {"zeros": OTHER_ZEROS, "order": OTHER_ORDER, "ordinary": OTHERWISE}
    return next((rule for rule, types in rules.items() if case.op.type in types), "")


def apart(mine, want, scale, rule=""):
    """How two arrays differ; empty where they do not.

    Args:
        mine, want: the arrays.
        scale: the largest element of such a result with usual values.
        rule: of :func:`allowed`.
    """
    if (mine.shape, mine.dtype) != (want.shape, want.dtype):
        return f"{mine.dtype}{mine.shape} in place of {want.dtype}{want.shape}"
    if want.dtype.kind == "c":  # the parts beside each other
        mine, want = (np.stack([v.real, v.imag], -1) for v in (mine, want))
    if want.dtype.kind != "f":
        wrong = mine != want
    else:
        with np.errstate(all="ignore"):
            near = NEAR * np.maximum(scale, np.abs(want))
            near = np.maximum(near, PLACES * np.spacing(np.abs(want)))
            close = np.abs(mine - want) <= near
        same_sign = (want != 0) | (mine != 0) | (np.signbit(want) == np.signbit(mine))
        exact = ((mine == want) & same_sign) | (np.isnan(mine) & np.isnan(want))
        right = exact | (close & np.isfinite(want) & same_sign)
        if rule:
            tiny = np.finfo(want.dtype).tiny
            right |= np.abs(mine - want) <= tiny
        if rule in ("order", "ordinary"):
            right |= beyond(mine) & beyond(want)
        wrong = ~right
    if not wrong.any():
        return ""
    at = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
    where = [int(i) for i in at]
    return f"{wrong.sum()} of {wrong.size}, at {where}: {mine[at]!r} in place of {want[at]!r}"


def beyond(array):
    """Where numbers are beyond what they can be, or nearly so."""
    return ~(np.abs(array) < np.finfo(array.dtype).max * 1e-4)


def compile_kernels(given, names, level="-O3"):
    """Compile what generated kernels trials ask for, all at once."""
    recording = Recording()
    COMPILER.switch(recording)
    for engine in {"native", "auto", "auto/large"} & set(names):
        with running(engine) as how:
            for trial in given:
                executor = fluid.Executor(**how)
                for _ in range(3):
                    trial.run(executor, trial.usual)
    if recording.seen:
        recording.together(list(recording.seen.values()), level)
