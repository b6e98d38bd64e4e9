"""Writes ``programs.json.gz``: models that paddlepaddle 3.3.1 saved, and what they compute.

    python record_programs.py FOLDER

FOLDER has, for each model, ``NAME.json`` and perhaps ``NAME.pdiparams`` as ``paddle.jit.save``
wrote them, and ``NAME.npz`` with the arrays ``in0``, ... that were fed and ``out0``, ... that came
out.  Models are taken until every operation of all of them is there.
"""

import base64
import gzip
import json
import sys
from pathlib import Path

import numpy as np

FILE = Path(__file__).with_name("programs.json.gz")
TESTED = ("abs", "F_gelu", "nn_LSTMCell", "nn_RNN")  #: that tests name


def operations(region):
    """The names of the operations of a region and of those in it."""
    for block in region["blocks"]:
        for op in block["ops"]:
            yield op["#"]
            for inner in op.get("regions", ()):
                yield from operations(inner)


def listed(array):
    elements = array.ravel()
    if array.dtype.kind == "f":
        elements = [float(f"{x:.9g}") for x in elements.tolist()]
    elif array.dtype.kind == "c":
        return [array.dtype.name, list(array.shape), listed(elements.view(elements.real.dtype))]
    else:
        elements = elements.tolist()
    return [array.dtype.name, list(array.shape), elements]


def model(folder, name):
    values = folder / f"{name}.pdiparams"
    held = base64.b64encode(values.read_bytes()).decode() if values.exists() else None
    with np.load(folder / f"{name}.npz") as arrays:
        count = {side: sum(key.startswith(side) for key in arrays) for side in ("in", "out")}
        fed = [listed(arrays[f"in{k}"]) for k in range(count["in"])]
        fetched = [listed(arrays[f"out{k}"]) for k in range(count["out"])]
    text = (folder / f"{name}.json").read_text()
    return {"program": text, "values": held, "fed": fed, "fetched": fetched}


def main(folder):
    names = sorted(path.stem for path in folder.glob("*.npz"))
    used = {}
    for name in names:
        (region,) = json.loads((folder / f"{name}.json").read_text())["program"]["regions"]
        used[name] = set(operations(region))
    chosen = list(TESTED)
    missing = set().union(*used.values()).difference(*(used[name] for name in TESTED))
    while missing:
        best = max(names, key=lambda name: (len(used[name] & missing), -len(used[name])))
        chosen.append(best)
        missing -= used[best]
    table = {name: model(folder, name) for name in sorted(chosen)}
    FILE.write_bytes(gzip.compress(json.dumps(table).encode(), mtime=0))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
