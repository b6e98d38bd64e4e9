"""The digits in the package."""

import numpy as np
import pytest

from fluidlite.dataset import digits

SPLITS = {"train": (digits.train, 1500), "test": (digits.test, 297)}


@pytest.fixture(params=SPLITS)
def split(request):
    return request.param


def test_a_reader_yields_flat_images_and_int_labels(split):
    reader, size = SPLITS[split]
    samples = list(reader()())
    assert len(samples) == size
    for image, label in samples:
        assert image.shape == (64,) and image.dtype == np.float32
        assert type(label) is int and 0 <= label <= 9


def test_a_reader_starts_again_at_every_call(split):
    read = SPLITS[split][0]()
    first, second = read(), read()
    next(first)
    once, again = next(read()), next(second)
    assert np.array_equal(once[0], again[0]) and once[1] == again[1]


def test_arrays_hold_the_samples_of_the_reader_in_order(split):
    reader, size = SPLITS[split]
    images, labels = digits.arrays(split)
    assert images.shape == (size, 64) and images.dtype == np.float32
    assert labels.shape == (size, 1) and labels.dtype == np.int64
    for row, (image, label) in enumerate(reader()()):
        assert np.array_equal(image, images[row]) and label == labels[row, 0]


def test_pixels_cover_the_range_from_minus_one_to_one(split):
    images, _ = digits.arrays(split)
    assert images.min() == -1 and images.max() == 1
    assert np.array_equal(np.unique(images), np.arange(17, dtype=np.float32) / 8 - 1)


def test_every_class_is_well_represented(split):
    _, labels = digits.arrays(split)
    counts = np.bincount(labels[:, 0], minlength=10)
    assert counts.min() > 0.07 * len(labels)


def test_no_image_is_in_both_splits():
    train, test = ({image.tobytes() for image in digits.arrays(name)[0]} for name in SPLITS)
    assert not train & test


def test_the_samples_are_those_of_the_data_set():
    counts = np.bincount(np.concatenate([digits.arrays(name)[1][:, 0] for name in SPLITS]))
    assert counts.tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    ink = sum(float((digits.arrays(name)[0] + 1).sum(dtype=np.float64)) for name in SPLITS)
    assert ink * 8 == 561718


def test_the_order_is_fixed():
    _, labels = digits.arrays("train")
    assert labels[:12, 0].tolist() == [2, 8, 2, 6, 6, 7, 1, 9, 8, 5, 2, 8]
    _, labels = digits.arrays("test")
    assert labels[:12, 0].tolist() == [2, 2, 9, 8, 8, 3, 6, 0, 4, 4, 7, 6]


def test_changing_the_arrays_does_not_change_the_data():
    images, labels = digits.arrays("test")
    images[:], labels[:] = 5, 5
    images, labels = digits.arrays("test")
    assert images.max() == 1 and labels.max() == 9


def test_neighbouring_images_of_a_class_look_alike():
    """Labels belong to their images: the nearest training image nearly always has the label."""
    images, labels = digits.arrays("train")
    others, truth = digits.arrays("test")
    distance = (images**2).sum(axis=1) - 2 * others @ images.T
    assert np.mean(labels[distance.argmin(axis=1)] == truth) > 0.97


@pytest.mark.parametrize("name", ["valid", "", "TRAIN", None, ["train"]])
def test_an_unknown_split_is_an_error_that_names_the_known_ones(name):
    with pytest.raises(ValueError, match='"train" or "test"') as caught:
        digits.arrays(name)
    assert repr(name) in str(caught.value)
