"""Expressions with ``paddle.vision.transforms``, and what paddle 2.6.2 gives for them.

    FLUIDLITE_PADDLE26=/path/to/python python tests/aids/vision_transforms.py

The variable names a Python that has paddlepaddle 2.6.2, OpenCV and Pillow.  What it gives is
written to ``tests/data/paddle_2/transforms.json.gz``.
"""

import gzip
import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path

import numpy as np

RECORDED = Path(__file__).resolve().parents[1] / "data" / "paddle_2" / "transforms.json.gz"
#: for each kind of picture: expressions in which I stands for it
GEOMETRIC = """
T.hflip(I) | T.vflip(I) | T.crop(I, 1, 2, 3, 4) | T.center_crop(I, 4) | T.center_crop(I, (3, 5))
T.pad(I, 2) | T.pad(I, (1, 2)) | T.pad(I, [1, 2, 3, 0], fill=7)
T.pad(I, 2, padding_mode='edge') | T.pad(I, (2, 1), padding_mode='reflect')
T.pad(I, 2, padding_mode='symmetric') | T.resize(I, 5) | T.resize(I, 13) | T.resize(I, (5, 8))
T.resize(I, (14, 18)) | T.resize(I, (4, 11), 'nearest') | T.resize(I, (11, 6), 'bicubic')
T.rotate(I, 30) | T.rotate(I, -45, 'bilinear') | T.rotate(I, 90, expand=True)
T.rotate(I, 25, 'bilinear', True) | T.rotate(I, 40, center=(2, 3), fill=9)
T.affine(I, 20, [1, 2], 0.8, [10, 5]) | T.affine(I, -15, (0, -1), 1.3, 12.0, 'bilinear', 5)
T.affine(I, 0, (1, 0), 1.0, [0, 0], center=(1, 1))
T.perspective(I, [[0, 0], [8, 0], [8, 6], [0, 6]], [[1, 1], [7, 0], [8, 5], [0, 6]])
T.perspective(I, [[0, 0], [8, 0], [8, 6], [0, 6]], [[2, 1], [7, 1], [6, 5], [0, 6]], 'bilinear', 3)
T.Resize(5)(I) | T.Resize((4, 6), 'nearest')(I) | T.CenterCrop(3)(I) | T.Pad(1, 4)(I)
T.RandomHorizontalFlip()(I) | T.RandomVerticalFlip(0.9)(I) | T.RandomCrop(4)(I)
T.RandomCrop((4, 3), padding=1)(I) | T.RandomCrop((8, 11), pad_if_needed=True, fill=2)(I)
T.RandomResizedCrop(4)(I) | T.RandomResizedCrop((5, 3), (0.3, 0.9), (0.5, 2.0), 'nearest')(I)
T.RandomRotation(30)(I) | T.RandomRotation((10, 50), 'bilinear')(I)
T.RandomRotation(90, expand=True)(I)
T.RandomAffine(20, translate=(0.2, 0.3), scale=(0.7, 1.2), shear=10)(I)
T.RandomAffine((5, 15), shear=[1, 5, 2, 9], fill=4)(I) | T.RandomAffine(10)(I)
T.RandomPerspective(1.0, 0.4)(I) | T.RandomPerspective(0.1)(I)
T.Compose([T.RandomCrop(5), T.RandomHorizontalFlip(), T.Resize(4, 'nearest')])(I)
"""
COLORFUL = """
T.adjust_brightness(I, 0.6) | T.adjust_brightness(I, 1.7) | T.adjust_contrast(I, 0.5)
T.adjust_contrast(I, 1.8) | F.adjust_saturation(I, 0.3) | F.adjust_saturation(I, 1.6)
T.adjust_hue(I, 0.2) | T.adjust_hue(I, -0.35) | T.to_grayscale(I) | T.to_grayscale(I, 3)
T.BrightnessTransform(0.4)(I) | T.ContrastTransform(0.5)(I) | T.SaturationTransform(0.6)(I)
T.HueTransform(0.3)(I) | T.ColorJitter(0.4, 0.4, 0.4, 0.2)(I) | T.Grayscale()(I)
T.Grayscale(3)(I)
"""
SINGLE = """
T.to_tensor(P) | T.to_tensor(L) | T.to_tensor(A) | T.to_tensor(G) | T.to_tensor(A * 1.0)
T.to_tensor(P, 'HWC') | T.ToTensor()(A) | T.ToTensor('HWC')(P)
T.normalize(A, [10.0, 20.0, 30.0], [2.0, 3.0, 4.0], 'HWC')
T.normalize(A, [10.0, 20.0, 30.0], [2.0, 3.0, 4.0], 'HWC', True)
T.normalize(A.transpose(2, 0, 1), [1.0], [2.0])
T.normalize(P, [1.0, 2.0, 3.0], [2.0, 3.0, 4.0], 'HWC')
T.normalize(X, [0.1, 0.2, 0.3], [0.5, 0.4, 0.3]) | T.Normalize(127.5, 127.5, 'HWC')(A)
T.Normalize([0.5, 0.4, 0.3], [0.2, 0.2, 0.2])(X) | T.Transpose()(A) | T.Transpose((1, 0, 2))(P)
T.Transpose()(G) | T.erase(A, 1, 2, 3, 4, 7) | T.erase(P, 1, 2, 3, 4, 7)
T.erase(X, 1, 2, 3, 4, 0.5) | T.erase(A, 0, 0, 2, 2, np.arange(3)) | T.RandomErasing(1.0)(A)
T.RandomErasing(1.0)(X) | T.RandomErasing(1.0, value='random')(A)
T.RandomErasing(1.0, value=[1.0, 2.0, 3.0])(X) | T.RandomErasing(1.0, value=(1, 2, 3))(A)
T.RandomErasing(0.0)(X) | T.RandomErasing(1.0, (0.3, 0.5), (0.5, 1.5), 3)(P)
T.RandomErasing(1.0, value='random')(P)
T.Compose([T.ToTensor(), T.Normalize([0.5], [0.2])])(P)
T.Resize(4, keys=('image', 'image'))((A, A)) | T.hflip(L) | T.resize(L, 4)
T.adjust_brightness(G, 0.5) | T.adjust_contrast(L, 0.5) | T.pad(L, 1, 8)
T.pad(P, 1, (1, 2, 3)) | T.rotate(A, 20, fill=(1, 2, 3)) | T.rotate(P, 20, fill=(1, 2, 3))
T.hflip(G) | T.resize(G, (4, 5)) | T.pad(G, 1) | T.resize(A * 1.0, (5, 6))
T.resize((A / 255.0).astype('float32'), (9, 6)) | T.resize(P, (4, 5), 'lanczos')
T.resize(P, (4, 5), 'box') | T.resize(P, (4, 5), 'hamming') | T.resize(A, (4, 5), 'area')
T.resize(A, (4, 5), 'lanczos') | T.resize(X, (14, 18), 'bilinear') | T.rotate(G, 20)
T.vflip(G) | T.adjust_hue(L, 0.1) | T.to_grayscale(L) | T.to_grayscale(L, 3)
"""
#: kind -> what is not compared: paddle turns arrays about their corner, draws how much color they
#: have, fills the rim of Pillow images with black, and refuses a mode of tensors
_APART = {
    "P": ("T.affine(P, -15", "'bilinear', 3)", "T.RandomAffine((5, 15)"),
    "A": ("T.affine(A, 20", "T.affine(A, -15", "Affine", "aturation", "ColorJitter"),
    "X": ("T.pad(X, 2, padding_mode='symmetric')",),
}


def expressions():
    """All of them."""
    split = lambda text: [each.strip() for line in text.split("\n") for each in line.split("|")]
    for name, apart in _APART.items():
        for text in filter(None, split(GEOMETRIC + COLORFUL)):
            text = re.sub(r"\(I\b", f"({name}", text)
            if not any(part in text for part in apart):
                yield text
    yield from filter(None, split(SINGLE))


def names(paddle):
    """What stands in the expressions."""
    from PIL import Image

    drawn = np.random.RandomState(7)
    array = drawn.randint(0, 256, (7, 9, 3)).astype("uint8")
    tensor = paddle.to_tensor(drawn.rand(3, 7, 9).astype("float32"))
    return {
        "P": Image.fromarray(array), "L": Image.fromarray(array[:, :, 0]), "A": array,
        "G": array[:, :, 0].copy(), "X": tensor, "T": paddle.vision.transforms,
        "F": paddle.vision.transforms.functional, "np": np,
    }  # fmt: skip


def plain(result):
    """The kind, shape, type and elements of a picture."""
    if isinstance(result, (list, tuple)):
        return [plain(each) for each in result]
    kind = type(result).__name__
    kind = "tensor" if "Tensor" in kind else "array" if kind == "ndarray" else "Pillow"
    array = np.asarray(result.numpy() if kind == "tensor" else result)
    values = array.ravel().tolist()
    if array.dtype.kind == "f":
        values = [float(f"{each:.6g}") for each in values]
    return [kind, [*array.shape], str(array.dtype), values]


def evaluated(paddle, text):
    """What an expression gives, or the error that it ends in."""
    random.seed(3)
    np.random.seed(3)
    try:
        return plain(eval(text, names(paddle)))
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:200]


if __name__ == "__main__":
    if sys.argv[1:] == ["--real"]:
        import paddle

        found = {text: evaluated(paddle, text) for text in expressions()}
        print("\n" + json.dumps(found))
    else:
        command = [os.environ["FLUIDLITE_PADDLE26"], __file__, "--real"]
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        text = json.dumps(json.loads(out.splitlines()[-1]), separators=(",", ":"))
        RECORDED.write_bytes(gzip.compress(text.encode(), mtime=0))
