"""The cases by which the standard tests its operators, which come with the package `onnx`.

python tests/exported/node_cases.py            writes what passes into docs/onnx.md
python tests/exported/node_cases.py Conv       runs the cases of one operator
"""

import collections
import functools
import pathlib
import sys
import traceback
import warnings

import numpy as np

import fluidlite as fluid
from fluidlite.errors import UnsupportedError
from fluidlite.onnx.widened import BFLOAT16, HELD

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "onnx.md"
BEGIN, END = "<!-- node cases -->", "<!-- end of node cases -->"
#: texts of failures -> the reason that stands in the table
REASONS = {
    "expected an element type": "element types",
    "not object": "element types",
    "it is no tensor": "sequences and optional values",
    "inhomogeneous": "sequences and optional values",
    "is of a kind that has no form": "sequences and optional values",
    "Sequence": "sequences and optional values",
    "of the domain": "another domain",
    "no element type": "element types",
    "are not rounded to": "element types",
    "Mismatched": "random numbers",
}

#: element types of NumPy that variables have not, and those that hold their values
WIDER = {"uint16": "int32", "uint32": "int64", "bfloat16": "float32"}


@functools.cache
def cases():
    """All cases by operator; those of its definition as a function among them."""
    from onnx.backend.test.loader import load_model_tests

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        listed = load_model_tests(kind="node")
    types = {c.name: c.model.graph.node[0].op_type for c in listed if "_expanded" not in c.name}
    found = collections.defaultdict(list)
    for case in listed:
        found[types[case.name.split("_expanded")[0]]].append(case)
    return dict(sorted(found.items()))


def array_of(value):
    """A value of a case as an array, where it is one; in a wider element type where variables have
    not the model's.
    """
    from onnx import TensorProto, numpy_helper

    if isinstance(value, TensorProto):
        array = numpy_helper.to_array(value)
        return array.astype(HELD[value.data_type][0]) if value.data_type in HELD else array
    if isinstance(value, list):
        return value
    array = np.asarray(value)
    return array.astype(WIDER.get(array.dtype.name, array.dtype))


def computed(case):
    """What is computed for a case, what is right, and whether inputs were taken as constants."""
    given, right = case.data_sets[0]
    names = [each.name for each in case.model.graph.input]
    feed = {name: array_of(value) for name, value in zip(names, given)}
    settings = {
        name: value
        for number, (name, value) in enumerate(feed.items())
        if isinstance(value, np.ndarray)
        and (number or len(names) == 1 or not value.ndim)
        and (value.dtype.kind in "iub" or value.ndim < 2)
    }
    with fluid.scope_guard(fluid.Scope()):
        try:
            model, fixed = fluid.onnx.load(case.model), False
        except UnsupportedError as error:
            if "must be known when the model is loaded" not in str(error):
                raise
            model, fixed = fluid.onnx.load(case.model, constants=settings), True
        fed = {name: feed[name] for name in model.feeds}
        return fluid.Executor().run(model.program, fed, model.fetches), right, fixed


def tolerances(case, out, right):
    """What may differ: as the case says, but as much as its element type rounds at least."""
    short = out.type.tensor_type.elem_type == BFLOAT16  # computed with in single precision
    unit = 2**-8 if short else 2**-24
    finite = right[np.isfinite(right)] if right.dtype == np.float32 else np.zeros(0)
    most = float(np.abs(finite).max(initial=0.0))
    return dict(rtol=max(case.rtol, 2 * unit), atol=max(case.atol, unit * most))


def check(case):
    """Compute a case and compare; gives whether inputs were taken as constants.

    Raises:
        AssertionError: something else came out.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found, right, fixed = computed(case)
    assert len(found) == len(right)
    ends = zip(case.model.graph.output, map(np.asarray, found), map(array_of, right))
    for out, ours, theirs in ends:
        assert ours.dtype == theirs.dtype, f"{ours.dtype}, not {theirs.dtype}"
        assert ours.shape == theirs.shape, f"{ours.shape}, not {theirs.shape}"
        np.testing.assert_allclose(ours, theirs, **tolerances(case, out, theirs))
    return fixed


def failed(type):
    """What fails of the cases of an operator, by name, and how many others took constants."""
    failures, fixed = {}, 0
    for case in cases()[type]:
        try:
            fixed += check(case)
        except Exception as error:
            failures[case.name] = f"{error.__class__.__name__}: {error}"
    return failures, fixed


def reason(text):
    """Why a case fails, in a few words."""
    return next((why for part, why in REASONS.items() if part in text), "no form")


def table():
    """The part of the page that says what passes."""
    import onnx

    whole, partly, none, fixed, passed, count = [], [], [], 0, 0, 0
    for type, listed in cases().items():
        failures, some = failed(type)
        good = len(listed) - len(failures)
        count, passed, fixed = count + len(listed), passed + good, fixed + some
        if not failures:
            whole.append(f"{type} {good}")
            continue
        why = ", ".join(sorted({reason(text) for text in failures.values()}))
        if good:
            partly.append(f"| {type} | {good} of {len(listed)} | {why} |")
        else:
            none.append(f"{type} ({why})")
    return "\n".join(
        [
            BEGIN,
            f"Of the {count} cases of onnx {onnx.__version__}, {passed} pass; for {fixed} of them "
            "inputs that say axes, sizes and the like were given as `constants`.",
            "",
            "All cases of these operators, with their number:",
            ", ".join(whole) + ".",
            "",
            "| operator | passed | what the others ask for |",
            "|---|---|---|",
            *partly,
            "",
            "No case of these: " + ", ".join(none) + ".",
            END,
        ]
    )


def write_page():
    """Write the table into the page."""
    text = PAGE.read_text(encoding="utf-8")
    begin, end = text.index(BEGIN), text.index(END) + len(END)
    PAGE.write_text(text[:begin] + table() + text[end:], encoding="utf-8")


def main(words):
    """Write the page, or run the cases of some operators."""
    if not words:
        write_page()
    for type in words:
        for case in cases()[type]:
            try:
                check(case)
            except Exception:
                print(f"{case.name} (version {case.model.opset_import[0].version}) fails")
                traceback.print_exc()


if __name__ == "__main__":
    main(sys.argv[1:])
