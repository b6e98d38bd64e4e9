"""``paddle.io``: what comes is what came from paddle 2.6.2 behind the same seeds of NumPy."""

import numpy as np
import pytest

from fluidlite import paddle
from fluidlite.paddle.io import (
    BatchSampler,
    ChainDataset,
    ComposeDataset,
    ConcatDataset,
    DataLoader,
    Dataset,
    DistributedBatchSampler,
    IterableDataset,
    RandomSampler,
    Sampler,
    SequenceSampler,
    Subset,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
    get_worker_info,
    random_split,
)


class Pairs(Dataset):
    def __init__(self, count=10):
        self.count = count

    def __getitem__(self, number):
        return np.float32([number, number + 1]), number

    def __len__(self):
        return self.count


class Stream(IterableDataset):
    """As many samples as the number of the process says."""

    def __init__(self, count):
        self.count = count

    def __iter__(self):
        own = get_worker_info()
        for number in range(self.count * (1 if own is None else 1 + own.id)):
            yield np.int64([number, -1 if own is None else own.id])


class Counting(Dataset):
    """Counts how often this copy of it was asked."""

    def __init__(self):
        self.calls = 0

    def __getitem__(self, number):
        self.calls += 1
        return np.int64([number, self.calls])

    def __len__(self):
        return 3


class Given(Dataset):
    def __init__(self, *samples):
        self.samples = samples

    def __getitem__(self, number):
        return self.samples[number]

    def __len__(self):
        return len(self.samples)


def plain(value):
    """A batch with lists in place of its tensors."""
    if isinstance(value, paddle.Tensor):
        return value.tolist()
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list) else value


def batches(*args, **options):
    return [plain(batch) for batch in DataLoader(*args, **options)]


def test_orders_are_those_of_the_real_one():
    np.random.seed(3)
    assert list(RandomSampler(Pairs())) == [5, 4, 1, 2, 9, 6, 7, 0, 3, 8]
    np.random.seed(3)
    drawn = list(RandomSampler(Pairs(), replacement=True, num_samples=6))
    assert drawn == [8, 9, 3, 8, 8, 0]
    np.random.seed(3)
    sampler = BatchSampler(Pairs(), shuffle=True, batch_size=3, drop_last=True)
    assert list(sampler) == [[5, 4, 1], [2, 9, 6], [7, 0, 3]]
    assert list(sampler) == [[3, 8, 2], [1, 9, 4], [0, 6, 7]]
    weights = np.array([0.1, 0.3, 0.5, 0.7, 0.2])
    np.random.seed(3)
    assert list(WeightedRandomSampler(weights, 5)) == [3, 3, 2, 3, 4]
    np.random.seed(3)
    assert list(WeightedRandomSampler(weights, 5, False)) == [3, 2, 4, 1, 0]
    np.random.seed(3)
    assert [b[1][0] for b in batches(Pairs(5), shuffle=True)] == [3, 4, 1, 0, 2]
    np.random.seed(3)
    loaded = batches(Pairs(5), shuffle=True, batch_size=5, num_workers=2)
    assert loaded[0][1] == [4, 2, 0, 3, 1]


def test_processes_share_the_batches_of_an_epoch():
    def shares(count, size, ranks, **options):
        samplers = [
            DistributedBatchSampler(Pairs(count), size, ranks, k, **options) for k in range(ranks)
        ]
        return [[list(each) for each in samplers] for _ in range(2)]

    first, second = shares(10, 2, 3, shuffle=True)
    assert first == [[[6, 1], [1, 7]], [[4, 0], [9, 3]], [[2, 8], [0, 5]]]
    assert second == [[[2, 3], [0, 7]], [[4, 0], [1, 9]], [[1, 6], [8, 5]]]
    assert shares(7, 2, 3)[0] == [[[0, 1], [6]], [[2, 3], [0]], [[4, 5], [1]]]
    again = DistributedBatchSampler(Pairs(), 2, 3, 1, shuffle=True, drop_last=True)
    again.set_epoch(5)
    assert list(again) == [[2, 9], [0, 0]]
    assert len(again) == 2
    assert len(DistributedBatchSampler(Pairs(), 4)) == 3


def test_a_generator_gives_the_numbers():
    assert list(RandomSampler(Pairs(), generator=iter([3, 1, 2]))) == [3, 1, 2]
    assert list(RandomSampler(Pairs(2), generator=iter(range(20)))) == [0, 1]


def test_parts_of_a_data_set_have_all_samples():
    parts = random_split(Pairs(), [3, 7])
    assert sorted(number for part in parts for number in part.indices) == list(range(10))
    assert sorted(SubsetRandomSampler([4, 7])) == [4, 7]
    assert Subset(Pairs(), [3, 1])[0][1] == 3


def test_data_sets_are_joined():
    rows = TensorDataset([paddle.to_tensor([[1.0, 2], [3, 4]]), paddle.to_tensor([1, 2])])
    assert [each.tolist() for each in rows[1]] == [[3.0, 4.0], 2]
    joined = ConcatDataset([Pairs(3), Pairs(2)])
    assert (joined[3][1], joined[-1][1], joined.cumulative_sizes) == (0, 1, [3, 5])
    assert ConcatDataset.cumsum([Pairs(3), Pairs(2)]) == [3, 5]
    assert ComposeDataset([Pairs(3), Given(7, 8, 9)])[1][1:] == (1, 8)
    assert [each[0] for each in ChainDataset([Stream(2), Stream(1)])] == [0, 1, 0]


@pytest.mark.parametrize(
    "make, kind",
    [
        (lambda: RandomSampler(Pairs(), replacement=1), TypeError),
        (lambda: RandomSampler(Pairs(), num_samples=2), ValueError),
        (lambda: WeightedRandomSampler([0.1], 0), ValueError),
        (lambda: WeightedRandomSampler([0.1], 1, replacement=1), ValueError),
        (lambda: list(WeightedRandomSampler([-0.1, 0.3], 1)), AssertionError),
        (lambda: list(WeightedRandomSampler([0.0, 0.3], 2, False)), AssertionError),
        (lambda: SubsetRandomSampler([]), ValueError),
        (lambda: random_split(Pairs(), [3, 6]), ValueError),
        (lambda: random_split(Pairs(), [0.3, 0.7]), ValueError),
        (lambda: BatchSampler(), AssertionError),
        (lambda: BatchSampler(Pairs(), SequenceSampler(Pairs())), AssertionError),
        (lambda: BatchSampler(sampler=[1, 2]), AssertionError),
        (lambda: BatchSampler(sampler=SequenceSampler(Pairs()), shuffle=True), AssertionError),
        (lambda: BatchSampler(Pairs(), batch_size=0), AssertionError),
        (lambda: BatchSampler(Stream(2)), AssertionError),
        (lambda: DistributedBatchSampler(Pairs(), 1, 0), AssertionError),
        (lambda: DistributedBatchSampler(Pairs(), 1, 2, -1), AssertionError),
        (lambda: TensorDataset([np.ones([2]), np.ones([3])]), AssertionError),
        (lambda: ComposeDataset([Pairs(3), Pairs(4)]), AssertionError),
        (lambda: ComposeDataset([Stream(1)]), AssertionError),
        (lambda: ComposeDataset([[1]]), AssertionError),
        (lambda: ChainDataset([]), AssertionError),
        (lambda: ChainDataset([Pairs()]), AssertionError),
        (lambda: ConcatDataset([Stream(1)]), AssertionError),
        (lambda: ConcatDataset([Pairs(3)])[-5], ValueError),
        (lambda: iter(Sampler(Pairs())), NotImplementedError),
        (lambda: Stream(1)[0], RuntimeError),
        (lambda: len(DataLoader(Stream(1))), ValueError),
        (lambda: DataLoader(Pairs(), batch_sampler=[[0]], shuffle=True), AssertionError),
        (lambda: DataLoader(Stream(1), shuffle=True), ValueError),
        (lambda: DataLoader(Stream(1), batch_sampler=[[0]]), ValueError),
        (lambda: DataLoader(Pairs(), batch_size=0), AssertionError),
        (lambda: DataLoader(Pairs(), num_workers=-1), AssertionError),
        (lambda: DataLoader(Pairs(), timeout=-1), AssertionError),
        (lambda: DataLoader(Pairs(), prefetch_factor=0), AssertionError),
        (lambda: batches(Given([1, 2], [3]), batch_size=2), RuntimeError),
        (lambda: batches(Given(np.ones(2), np.ones(3)), batch_size=2), ValueError),
        (lambda: batches(Given(None, None), batch_size=2), TypeError),
        (lambda: batches(Given({"a": 1, "b": 1}, {"a": 1}), batch_size=2), KeyError),
    ],
)
def test_a_wrong_argument_has_the_class_of_the_real_error(make, kind):
    with pytest.raises(kind):
        make()


@pytest.mark.parametrize(
    "samples, expected, dtype",
    [
        ([{"a": 1, "b": np.float32([1, 2])}] * 2, {"a": [1, 1], "b": [[1, 2]] * 2}, None),
        ([("x", 1), ("y", 2)], [["x", "y"], [1, 2]], None),
        ([1.5, 2.5], [1.5, 2.5], paddle.float64),
        ([True, False], [True, False], paddle.bool),
        ([np.int32(1), np.int32(2)], [1, 2], paddle.int32),
        ([([1, 2], (3.0, np.ones(1)))] * 2, [[[1, 1], [2, 2]], [[3.0, 3.0], [[1.0], [1.0]]]], None),
        ([paddle.ones([2])] * 2, [[1, 1], [1, 1]], paddle.float32),
    ],
)
def test_samples_become_a_batch_part_by_part(samples, expected, dtype):
    (batch,) = DataLoader(Given(*samples), batch_size=2)
    assert plain(batch) == expected
    assert dtype is None or batch.dtype == dtype


def test_samples_come_one_by_one_without_a_size():
    assert batches(Pairs(2), batch_size=None) == [[[0.0, 1.0], 0], [[1.0, 2.0], 1]]
    assert batches(Stream(2), batch_size=None) == [[0, -1], [1, -1]]
    assert len(DataLoader(Pairs(5), batch_size=None)) == 5


def test_a_function_of_the_user_makes_the_batch():
    made = {"mean": np.ones(2), "names": ["a", None, 3]}
    assert batches(Pairs(2), batch_size=2, collate_fn=lambda samples: made) == [
        {"mean": [1.0, 1.0], "names": ["a", None, 3]}
    ]
    assert batches(Pairs(4), batch_sampler=[[0, 3]])[0][1] == [0, 3]


def test_processes_read_a_stream_in_turn():
    assert batches(Stream(3), batch_size=2, num_workers=2, drop_last=True) == [
        [[0, 0], [1, 0]], [[0, 1], [1, 1]], [[2, 1], [3, 1]], [[4, 1], [5, 1]],
    ]  # fmt: skip


def test_processes_stay_where_they_are_told_to():
    loader = DataLoader(Counting(), num_workers=1, persistent_workers=True)
    assert [plain(each) for each in loader] == [[[0, 1]], [[1, 2]], [[2, 3]]]
    assert [plain(each) for each in loader] == [[[0, 4]], [[1, 5]], [[2, 6]]]
    loader = DataLoader(Stream(2), batch_size=2, num_workers=1, persistent_workers=True)
    assert [plain(each) for _ in range(2) for each in loader] == [[[0, 0], [1, 0]]] * 2


def test_static_mode_gives_values_to_be_fed():
    paddle.enable_static()
    x = paddle.static.data("x", [None, 2], "float32")
    y = paddle.static.data("y", [None], "int64")
    rows = [np.array(field).tolist() for field in next(iter(DataLoader(Pairs(2), batch_size=2)))]
    assert rows == [[[0.0, 1.0], [1.0, 2.0]], [0, 1]]
    total, exe = paddle.sum(x), paddle.static.Executor()
    loader = DataLoader(Pairs(3), [x, y], return_list=False, batch_size=2)
    totals = [float(exe.run(feed=feed, fetch_list=[total])[0]) for feed in loader]
    assert totals == [4.0, 5.0]
    with pytest.raises(AssertionError):
        DataLoader(Pairs(3), return_list=False)
    with pytest.raises(ValueError, match="expected a batch of 1 values"):
        list(DataLoader(Pairs(3), [x], return_list=False))
    pair = [paddle.CPUPlace()] * 2
    (step,) = DataLoader(Pairs(3), [x, y], pair, return_list=False, batch_size=2)
    assert [np.array(each["y"]).tolist() for each in step] == [[0, 1], [2]]


def test_modules_of_loaders_stand_where_paddle_wrote_them():
    from fluidlite.paddle.io.dataloader.collate import default_collate_fn
    from fluidlite.paddle.io.dataloader.sampler import RandomSampler

    assert RandomSampler is paddle.io.RandomSampler
    batch = default_collate_fn([{"a": 1, "b": [2.0]}, {"a": 3, "b": [4.0]}])
    assert batch["a"].tolist() == [1, 3] and batch["b"][0].tolist() == [2.0, 4.0]
    assert paddle.io.dataloader.worker.get_worker_info() is None
    assert "dataloader" not in paddle.io.__all__


def test_fields_of_texts_become_tuples_and_tensors_stay_tensors():
    from fluidlite.paddle.io.dataloader.collate import default_collate_fn, default_convert_fn

    ones = paddle.ones([2])
    assert default_collate_fn(["a", "b"]) == ["a", "b"]
    assert default_collate_fn([(["a", "b"], b"c"), (["d", "e"], b"f")]) == [
        [("a", "d"), ("b", "e")], (b"c", b"f"),
    ]  # fmt: skip
    (batch,) = default_collate_fn([(ones,), (2 * ones,)])
    assert isinstance(batch, paddle.Tensor) and batch.tolist() == [[1, 1], [2, 2]]
    assert default_convert_fn({"a": ("x", ones)})["a"][1] is ones
    with pytest.raises(ValueError, match="shapes"):
        default_collate_fn([ones, paddle.ones([3])])


@pytest.mark.parametrize(
    "data, options, expected",
    [
        (Pairs(), {"batch_size": 2}, (2, True, 2, 0, False)),
        (Pairs(), {"batch_size": None}, (None, True, 2, 0, False)),
        (
            Pairs(),
            {"batch_sampler": BatchSampler(Pairs(), batch_size=3)},
            (None, True, 2, 0, False),
        ),
        (Pairs(), {"batch_size": 4, "shuffle": True, "drop_last": True}, (4, True, 2, 0, True)),
        (*(Pairs(), {"use_buffer_reader": False, "prefetch_factor": 5}), (1, False, 5, 0, False)),
        (Stream(3), {"batch_size": 2}, (2, True, 2, 1, False)),
    ],
)
def test_a_loader_tells_what_it_was_made_with(data, options, expected):
    loader = DataLoader(data, **options)
    names = ("batch_size", "use_buffer_reader", "prefetch_factor", "dataset_kind", "drop_last")
    assert tuple(getattr(loader, name) for name in names) == expected
