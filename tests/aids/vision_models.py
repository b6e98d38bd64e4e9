"""What the models of ``paddle.vision`` are made of, and what they compute, here and in paddle.

    FLUIDLITE_PADDLE26=/path/to/python python tests/aids/vision_models.py [NAME ...]

The variable names a Python that has paddlepaddle 2.6.2.  Each named model is compared with that of
paddle, all of them when none is named: names and shapes of weights, how it is shown, counts, and
what it computes with the same weights.  ``--record`` writes what the tests compare with.
"""

import contextlib
import hashlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

RECORDED = Path(__file__).resolve().parents[1] / "data" / "paddle_2" / "models.json"
#: models that are run in the tests: name -> arguments, and the size of images
SMALL = {
    "LeNet": ({}, 28),
    "squeezenet1_0": ({"num_classes": 5}, 32),
    "shufflenet_v2_x0_25": ({"num_classes": 5}, 32),
    "shufflenet_v2_swish": ({"num_classes": 0}, 32),
    "mobilenet_v1": ({"scale": 0.25, "num_classes": 5}, 32),
    "mobilenet_v2": ({"scale": 0.35, "num_classes": 5}, 32),
    "mobilenet_v3_small": ({"scale": 0.5, "num_classes": 5}, 32),
    "mobilenet_v3_large": ({"scale": 0.35, "num_classes": 0, "with_pool": False}, 64),
    "resnet18": ({"num_classes": 5}, 32),
    "googlenet": ({"num_classes": 0, "with_pool": False}, 64),
}
_SIZES = {"LeNet": 28, "googlenet": 224, "alexnet": 224, "inception_v3": 120}


def with_drawn_weights(net):
    """Give a network weights that do not depend on who made it."""
    drawn = np.random.RandomState(0).standard_normal(10007).astype("float32")
    state = {}
    for place, (name, value) in enumerate(net.state_dict().items()):
        shape = value.shape
        weight = np.resize(np.roll(drawn, 31 * place), shape)
        if name.endswith("_variance"):
            weight = np.abs(weight) + 0.5
        elif len(shape) > 1:
            weight *= (1.5 / np.prod(shape[1:] if len(shape) == 4 else shape[:1])) ** 0.5
        else:
            weight = weight * 0.1 + name.endswith("weight")
        state[name] = weight.astype("float32")
    net.set_state_dict(state)
    net.eval()
    return net


def made_of(net):
    """A digest of the names and shapes of weights."""
    told = [[name, [*value.shape]] for name, value in net.state_dict().items()]
    return [len(told), hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]]


def computed(net, name, size):
    """Shapes and first elements of what a network makes of one image."""
    drawn = np.random.RandomState(1)
    image = drawn.rand(1, 1 if name == "LeNet" else 3, size, size).astype("float32")
    result = net(paddle.to_tensor(image))
    results = result if isinstance(result, (list, tuple)) else [result]
    return [[[*each.shape], each.numpy().ravel()[:6].tolist()] for each in results]


def described(name):
    """All that is compared of a model."""
    with paddle.utils.unique_name.guard():
        net = getattr(paddle.vision.models, name)()
    names = [each.name for each in net.state_dict().values()]
    size = _SIZES.get(name, 64)
    shape = [1, 1 if name == "LeNet" else 3, size, size]
    with contextlib.redirect_stdout(io.StringIO()):
        counts = [paddle.summary(net, tuple(shape)), paddle.flops(net, shape)]
    shown = hashlib.sha256(json.dumps([str(net), names]).encode()).hexdigest()
    return {
        "made of": made_of(net),
        "shown": shown,
        "counts": counts,
        "computed": computed(with_drawn_weights(net), name, size),
    }


def small():
    """What the tests compare with."""
    build = paddle.vision.models
    with paddle.LazyGuard():
        structures = {name: made_of(getattr(build, name)()) for name in LISTED}
    results = {
        name: computed(with_drawn_weights(getattr(build, name)(**options)), name, size)
        for name, (options, size) in SMALL.items()
    }
    return {"structures": structures, "results": results}


def _alike(ours, theirs):
    if isinstance(ours, float):
        return abs(ours - theirs) < 1e-5 * max(1.0, abs(theirs))
    if isinstance(ours, list):
        return len(ours) == len(theirs) and all(map(_alike, ours, theirs))
    return ours == theirs


def _compare(names):
    """Print how each model differs; how many do."""
    differing = 0
    for name in names:
        command = [os.environ["FLUIDLITE_PADDLE26"], __file__, "--real", name]
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        theirs, ours = (
            json.loads(out.splitlines()[-1]),
            json.loads(json.dumps(described(name), default=int)),
        )
        apart = [each for each in theirs if not _alike(ours[each], theirs[each])]
        differing += bool(apart)
        print(name, f"differs: {apart}" if apart else "is the same", flush=True)
    return differing


if __name__ == "__main__" and sys.argv[1:2] == ["--real"]:
    import paddle
else:
    from fluidlite import paddle

LISTED = [
    name
    for name in paddle.vision.models.__all__
    if name == "LeNet" or (name.islower() and callable(getattr(paddle.vision.models, name)))
]

if __name__ == "__main__":
    _options = sys.argv[1:]
    if _options[:1] == ["--real"]:
        _told = described(_options[1]) if _options[1:] else small()
        print(json.dumps(_told, default=int))
    elif _options == ["--record"]:
        _command = [os.environ["FLUIDLITE_PADDLE26"], __file__, "--real"]
        _out = subprocess.run(_command, capture_output=True, text=True, check=True).stdout
        _told = json.loads(_out.splitlines()[-1])
        _lines = [
            f' "{part}": {{\n'
            + ",\n".join(f'  "{name}": {json.dumps(value)}' for name, value in values.items())
            + "\n }"
            for part, values in _told.items()
        ]
        RECORDED.write_text("{\n" + ",\n".join(_lines) + "\n}\n")
    else:
        sys.exit(_compare(_options or LISTED) > 0)
