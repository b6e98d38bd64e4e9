"""Arrays by name in files of NumPy."""

import io

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.io.arrays import member_name, write_npz

NAMES = ["w", "名", "ze\0ro", "not UTF-8 \udcff", "\\u0000", "\\\\u005c", "\\udcff \udcff", "\\"]


def test_names_of_any_characters_are_read_back(tmp_path):
    path = tmp_path / "a.npz"
    arrays = {name: np.array([k]) for k, name in enumerate(NAMES)}
    with open(path, "wb") as file:
        write_npz(file, arrays)
    found = fluid.io.read(path).variables
    assert {name: int(value[0]) for name, value in found.items()} == dict(zip(NAMES, range(9)))
    with np.load(path) as by_numpy:
        assert by_numpy.files == [member_name(name) for name in NAMES]


@pytest.mark.parametrize("name", ["w", "名", "C:\\utils", "\\u0041"])
def test_usual_names_stay_as_they_are(name):
    file = io.BytesIO()
    write_npz(file, {name: np.zeros(1)})
    file.seek(0)
    assert np.load(file).files == [name]
