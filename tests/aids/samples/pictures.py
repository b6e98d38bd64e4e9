"""Samples of files of pictures."""

import numpy as np

from .form import Sample, samples

#: a JPEG file of 2x2 gray pixels, by Pillow
JPEG = bytes.fromhex(
    "ffd8ffe000104a46494600010100000100010000ffdb004300281c1e231e19282321232d2b28303c64413c3737"
    "3c7b585d4964918099968f808c8aa0b4e6c3a0aadaad8a8cc8ffcbdaeef5ffffff9bc1fffffffaffe6fdfff8ff"
    "c0000b080002000201011100ffc40014000100000000000000000000000000000005ffc4001d10000102070000"
    "0000000000000000000001000203041422324161ffda0008010100003f004e5dada68568c06b8bffd9"
)


@samples("read_file")
def read_file(rng):
    yield Sample({}, dict(filename=__file__))


@samples("decode_jpeg")
def decode_jpeg(rng):
    yield Sample(dict(X=np.frombuffer(JPEG, "uint8")))
    yield Sample(dict(X=np.frombuffer(JPEG, "uint8")), dict(mode="rgb"), name="rgb")
