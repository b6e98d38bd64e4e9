"""Snippets of imperative mode give what they give in the real system."""

import numpy as np

import fluidlite as fluid
from oracle.golden import GRADIENT, every, holds, load

RECORDED = load("dygraph_cases.json.gz")
CASES = {case["id"]: case for case in RECORDED["cases"]}


@every("dygraph", "out")
def test_a_snippet_gives_what_it_gives_in_the_real_system(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "snippet.py"  # what is translated is read from its file
    path.write_text(RECORDED["prelude"] + CASES[name]["code"])
    names = {"fluid": fluid, "__file__": str(path), "__name__": "snippet"}
    with holds("dygraph", name, "out"), fluid.unique_name.guard():
        exec(compile(path.read_text(), str(path), "exec"), names)
        compare("out", plain(names["out"]), CASES[name]["out"])


def plain(value):
    """A result as the recording writes it."""
    if isinstance(value, np.ndarray):
        flat = value.reshape(-1).tolist()
        return {"array": flat, "shape": list(value.shape), "dtype": str(value.dtype)}
    if isinstance(value, dict):
        return {"dict": {str(key): plain(each) for key, each in value.items()}}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return value.item() if isinstance(value, np.generic) else value


def compare(what, mine, golden):
    """Floats within the tolerance, all else exactly."""
    if isinstance(golden, dict):
        assert sorted(mine) == sorted(golden), what
        for key in golden:
            compare(f"{what}.{key}", mine[key], golden[key])
    elif isinstance(golden, list):
        assert len(mine) == len(golden), what
        for k, (one, other) in enumerate(zip(mine, golden)):
            compare(f"{what}[{k}]", one, other)
    elif isinstance(golden, float) and not isinstance(mine, bool):
        assert np.isclose(mine, golden, *GRADIENT, equal_nan=True), f"{what}: {mine}, want {golden}"
    elif isinstance(golden, str):
        assert str(mine) == golden or np.dtype(mine).name == golden, what
    else:
        assert (type(mine), mine) == (type(golden), golden), what
