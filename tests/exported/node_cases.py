"""The cases by which the standard tests its operators, which come with the package `onnx`.

python tests/exported/node_cases.py            the table of docs/onnx.md, with what fails
python tests/exported/node_cases.py Conv       the cases of one operator
"""

import collections
import sys
import traceback
import warnings

import numpy as np

import fluidlite as fluid
from fluidlite.errors import UnsupportedError


def cases():
    """All cases."""
    from onnx.backend.test.loader import load_model_tests

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return load_model_tests(kind="node")


def operator_of(case):
    """The operator that a case is of, or whose definition it is of."""
    (first, *rest) = case.model.graph.node
    return first.op_type if not rest else "(functions)"


def computed(case):
    """What is computed for a case, and what is right."""
    given, right = case.data_sets[0]
    names = [each.name for each in case.model.graph.input]
    feed = {n: v if isinstance(v, list) else np.asarray(v) for n, v in zip(names, given)}
    constants = {}
    for attempt in range(2):
        scope = fluid.Scope()
        with fluid.scope_guard(scope):
            try:
                program, feeds, fetches = fluid.onnx.load(case.model, constants=constants)
            except UnsupportedError as error:
                if attempt or "must be known when" not in str(error):
                    raise
                constants = {
                    n: feed[n]
                    for n in names[len(names) > 1 :]
                    if feed[n].dtype.kind in "iub" or feed[n].ndim < 2
                }

                continue
            found = fluid.Executor().run(
                program, feed={n: feed[n] for n in feeds}, fetch_list=fetches
            )
        return found, right
    raise AssertionError


def check(case):
    """Compute a case and compare.

    Raises:
        AssertionError: something else came out.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found, right = computed(case)
    assert len(found) == len(right)
    for a, b in zip(found, right):
        b = np.asarray(b)
        a = np.asarray(a)
        assert a.dtype == b.dtype, f"{a.dtype}, not {b.dtype}"
        assert a.shape == b.shape, f"{a.shape}, not {b.shape}"
        np.testing.assert_allclose(a, b, rtol=case.rtol, atol=case.atol)


def main(words):
    """Run the cases and print what passed."""
    passed, count = collections.Counter(), collections.Counter()
    for case in cases():
        name = operator_of(case)
        if words and name not in words and case.name not in words:
            continue
        count[name] += 1
        try:
            check(case)
            passed[name] += 1
        except Exception as error:
            if words:
                print(case.name, "opset", case.model.opset_import[0].version)
            if words and case.name in words:
                traceback.print_exc()
            line = next((x for x in str(error).strip().splitlines()[1:] if x.strip()), str(error))
            print(f"FAIL {name} {case.name}: {type(error).__name__} {line.strip()[:200]}")
    for name in sorted(count):
        if passed[name] < count[name]:
            print(name, passed[name], "of", count[name])
    print(passed.total(), "of", count.total())


if __name__ == "__main__":
    main(sys.argv[1:])
