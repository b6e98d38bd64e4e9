"""The saved models of the tests' data: how each is loaded, what it is fed, and what it computes."""

import base64
import gzip
import json
from pathlib import Path

import models_of_paddle2
import numpy as np
import recorded_models

import fluidlite as fluid

import saved_models

DATA = Path(__file__).parents[1] / "data"
ROWS = np.arange(6, dtype="float32").reshape(2, 3)


def sources(folder):
    """Name of a model -> a function of an executor that loads it into the global scope: its
    program, what it is fed, what it gives, and what the real thing computed; None where nobody
    wrote that down.

    Args:
        folder: where to unpack files.
    """
    return {
        **of_fluid(folder),
        **of_paddle2(folder),
        **of_paddle3(),
        **single_files(folder),
        **quantizable(),
    }


def of_fluid(folder):
    """As of :func:`sources`, of fluid 1.8 and the first of paddle 2."""

    def loading(name):
        def load(exe):
            program, feeds, outputs = recorded_models.loaded(name, folder / "fluid", exe)
            return program, feeds, program_fetches(program), outputs

        return load

    return {n: loading(n) for n in (*recorded_models.MODELS, *recorded_models.OF_PADDLE2)}


def loading(fed, wanted, *files):
    """What loads a model of files: a path, or contents."""

    def load(exe):
        where = (files[0], exe) if len(files) == 1 else (None, exe, *files)
        program, feeds, fetches = fluid.io.load_inference_model(*where)
        return program, dict(zip(feeds, fed)), [each.name for each in fetches], wanted

    return load


def of_paddle2(folder):
    """As of :func:`sources`, of the layers of paddle 2.6."""
    paths = models_of_paddle2.models(models_of_paddle2.unpacked(folder))
    return {Path(path).name: loading(*models_of_paddle2.known(path), path) for path in paths}


def of_paddle3():
    """As of :func:`sources`, of paddle 3."""
    found = {}
    packed = gzip.decompress((DATA / "paddle_3" / "programs.json.gz").read_bytes())
    for name, model in json.loads(packed).items():
        held = model["values"]
        sides = (list(map(recorded_models.array_of, model[side])) for side in ("fed", "fetched"))
        files = (model["program"].encode(), held and base64.b64decode(held))
        found[f"paddle_3.{name}"] = loading(*sides, *files)
    return found


def single_files(folder):
    """As of :func:`sources`, of those that tests of their own read."""
    served, twice = DATA / "served", DATA / "paddle26_model" / "twice"
    newer, linear = (np.load(DATA / p) for p in ("served/newer.npz", "paddle_2/linalg_program.npz"))
    (Path(folder) / "linear.pdmodel").write_bytes(
        gzip.decompress((DATA / "paddle_2" / "linalg_program.pdmodel.gz").read_bytes())
    )
    gated = saved_models.arrays("io.npz", "excitation.zip")
    gate = (saved_models.file(f"inference/{n}", "excitation.zip") for n in ("model", "params"))
    words = fluid.create_lod_tensor(np.array([[1], [2]], "int64"), [[1, 1]], None)
    rows = fluid.create_lod_tensor(ROWS, [[1, 1]], None)
    outputs = [newer[f"o{k}"] for k in range(len(newer.files) - 1)]
    solved = [linear[f"arr_{k}"] for k in range(len(linear.files) - 2)]
    return {
        "served.dense": loading([ROWS, ROWS], None, str(served / "dense")),
        "served.rolls": loading([ROWS], None, str(served / "rolls")),
        "served.newer": loading([newer["arr_0"]], outputs, str(served / "newer")),
        "served.sequences": loading(
            [ROWS, rows, words],
            None,
            *((served / f"sequences.{end}").read_bytes() for end in ("model", "params")),
        ),
        "twice": loading([ROWS], None, str(twice)),
        "linear algebra": loading([linear["x"], linear["y"]], solved, str(Path(folder) / "linear")),
        "excitation": loading([gated["x0"]], [gated["y0"]], *gate),
    }


def quantizable():
    """As of :func:`sources`, of the nets that quantization is tried on."""
    packed = gzip.decompress((DATA / "quantization26" / "nets.json.gz").read_bytes())
    image = np.random.default_rng(0).normal(size=(2, 2, 6, 6)).astype("float32")
    return {
        f"quantizable.{name}": loading(
            [image], None, *(base64.b64decode(net[file]) for file in ("pdmodel", "pdiparams"))
        )
        for name, net in json.loads(packed).items()
    }


def program_fetches(program):
    """What the operators of a program fetch."""
    return [op.input("X")[0] for op in program.global_block().ops if op.type == "fetch"]
