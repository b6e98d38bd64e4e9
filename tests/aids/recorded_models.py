"""Saved models of the real thing, with what they were fed and what came out."""

import numpy as np

import fluidlite as fluid

import saved_models

MODELS = [
    path.rpartition("/")[0]
    for archive, path in saved_models.programs()
    if archive == saved_models.FLUID18 and "/inference" in path
]
OF_PADDLE2 = ["dense", "image"]


def recorded(model, folder):
    """The folder of a model, what it was fed, and what came out.

    Args:
        model: one of :data:`MODELS` or :data:`OF_PADDLE2`.
        folder: where to unpack it.
    """
    if model in OF_PADDLE2:
        known = saved_models.arrays(f"{model}.npz", saved_models.PADDLE2)
        folder = saved_models.unpack(folder, model, saved_models.PADDLE2)
        return folder, {"x": known["x"]}, [known["y"]]
    name = model.split("/")[0]
    folder = saved_models.unpack(folder, f"{name}/")
    known = saved_models.arrays(f"{name}/io.npz")
    feeds = {k.split("/")[1]: v for k, v in known.items() if k.startswith("infer_feed/")}
    for key, lengths in known.items():
        if key.startswith("infer_feed_lod/"):
            name = key.split("/")[1]
            feeds[name] = fluid.create_lod_tensor(feeds[name], [lengths.tolist()], None)
    outputs = [v for k, v in known.items() if k.startswith("infer_out/")]
    return folder / model.split("/")[1], feeds, outputs


def loaded(model, folder, executor):
    """A model's program, whose parameters are in the global scope; what it was fed; what came out.

    Args:
        model: one of :data:`MODELS` or :data:`OF_PADDLE2`.
        folder: where to unpack it.
        executor: loads it.
    """
    place, feeds, outputs = recorded(model, folder)
    names = {}
    if model.endswith("combined"):
        names = {"model_filename": "model", "params_filename": "params"}
    program, _, _ = fluid.io.load_inference_model(place, executor, **names)
    return program, feeds, outputs


def array_of(recorded):
    """An array that a file of JSON holds: element type, shape, elements."""
    dtype, shape, elements = recorded
    if dtype.startswith("complex"):
        return array_of(elements).view(dtype).reshape(shape)
    return np.asarray(elements, dtype).reshape(shape)
