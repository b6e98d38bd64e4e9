"""The tables and the time series in the package, and data that is made."""

import numpy as np
import pytest

from fluidlite.dataset import iris, made, sunspots, wine
from fluidlite.errors import ArgumentError


@pytest.mark.parametrize("table, counts", [(iris, [50] * 3), (wine, [59, 71, 48])])
def test_a_table_has_all_samples_of_all_classes(table, counts):
    splits = [table.arrays(name) for name in ("train", "test")]
    labels = np.concatenate([labels for _, labels in splits])
    assert np.bincount(labels[:, 0]).tolist() == counts
    for (features, classes), reader in zip(splits, (table.train, table.test)):
        assert features.dtype == np.float32 and features.shape[1] == len(table.FEATURES)
        assert classes.dtype == np.int64 and set(classes[:, 0]) == {0, 1, 2}
        for row, (values, label) in enumerate(reader()()):
            assert np.array_equal(values, features[row]) and label == classes[row, 0]
    with pytest.raises(ArgumentError, match='"train" or "test"'):
        table.arrays("valid")


def test_the_values_are_those_of_the_data_sets():
    features = np.concatenate([iris.arrays(name)[0] for name in ("train", "test")])
    np.testing.assert_allclose(features.mean(0), [5.8433, 3.0573, 3.758, 1.1993], atol=1e-3)
    features = np.concatenate([wine.arrays(name)[0] for name in ("train", "test")])
    assert features[:, -1].min() == 278 and features[:, -1].max() == 1680


def test_windows_of_the_time_series_are_followed_by_the_next_year():
    years, counts = sunspots.series()
    assert years[0] == 1700 and years[-1] == 2008 and np.isclose(counts.max(), 190.2)
    windows, behind = sunspots.arrays("train", 5)
    np.testing.assert_allclose(windows[0], counts[:5] / 100)
    np.testing.assert_allclose(behind[:10, 0], counts[5:15] / 100)
    assert len(windows) + len(sunspots.arrays("test", 5)[0]) == 309 - 5
    assert next(sunspots.test()())[0].shape == (12,)
    for arguments in (("valid",), ("train", 0)):
        with pytest.raises(ArgumentError):
            sunspots.arrays(*arguments)


def test_a_spiral_lies_nearest_to_itself():
    points, labels = made.spirals(600, arms=3, noise=0.01)
    others, truth = made.spirals(90, arms=3, noise=0.01, seed=1)
    nearest = ((points[None] - others[:, None]) ** 2).sum(-1).argmin(1)
    assert np.mean(labels[nearest] == truth) > 0.97


def test_shapes_have_their_areas():
    images, labels = made.shapes(400, noise=0.0)
    areas = [images[labels[:, 0] == k].sum((1, 2, 3)).mean() for k in range(4)]
    assert areas[1] > areas[0] > areas[3] > areas[2]
    assert np.array_equal(images, made.shapes(400, noise=0.0)[0])
    assert not np.array_equal(images, made.shapes(400, noise=0.0, seed=1)[0])


def test_sequences_come_again_later():
    read, said = made.sequences(5, length=9, delay=4, symbols=3)
    assert np.array_equal(read[:, :5], said[:, 4:]) and not said[:, :4].any()
    assert set(np.unique(read)) == {1, 2}


@pytest.mark.parametrize(
    "function, arguments",
    [
        (made.spirals, (0,)),
        (made.spirals, (5, 0)),
        (made.shapes, (5, 4)),
        (made.sequences, (5, 3, 3)),
        (made.sequences, (0,)),
    ],
)
def test_what_cannot_be_made_is_refused(function, arguments):
    with pytest.raises(ArgumentError):
        function(*arguments)
