"""Data sets that are files of slots, and executors that run programs on them."""

import gzip
import io
import sys

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import (
    ArgumentError,
    FileError,
    FileFormatError,
    NotInitializedError,
    UnknownVariableError,
    UnsupportedError,
)
from fluidlite.readers.data_generator import (
    DataGenerator,
    MultiSlotDataGenerator,
    MultiSlotStringDataGenerator,
)
from fluidlite.readers.dataset_runs import FetchHandler

LINES = "1 1 2 0.5 0.25\n2 3 4 2 1.5 2.5\n", "3 5 6 7 2 3.5 4.5\n"


@pytest.fixture
def files(tmp_path):
    """Two files of three lines."""
    paths = [tmp_path / name for name in ("part-0", "part-1")]
    for path, text in zip(paths, LINES, strict=True):
        path.write_text(text)
    return [str(path) for path in paths]


@pytest.fixture
def variables():
    return [fluid.data("a", [None, 1], "int64", lod_level=1), fluid.data("b", [None, 2])]


def dataset_of(variables, paths, kind="QueueDataset", size=2):
    dataset = fluid.DatasetFactory().create_dataset(kind)
    dataset.set_use_var(variables)
    dataset.set_filelist(paths)
    dataset.set_batch_size(size)
    return dataset


def shown(dataset):
    """The lengths of the sequences, and the dense values, of each batch."""
    return [(f["a"].recursive_sequence_lengths()[0], f["b"].tolist()) for f in dataset.feeds()]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_batches_have_the_lines_of_the_files_in_their_order(variables, files, threads):
    dataset = dataset_of(variables, files[::-1])
    dataset.set_thread(threads)
    expected = [([3, 1], [[3.5, 4.5], [0.5, 0.25]]), ([2], [[1.5, 2.5]])]
    assert shown(dataset) == shown(dataset) == expected
    (first, _) = dataset.feeds()
    assert np.array(first["a"]).tolist() == [[5], [6], [7], [1]]
    assert first["b"].dtype == "float32" and first["a"].data.dtype == "int64"


def test_lines_go_through_a_command(variables, files):
    dataset = dataset_of(variables, files[:1])
    dataset.set_pipe_command("sed 's/5/6/g' | cat")
    (feed,) = dataset.feeds()
    np.testing.assert_allclose(feed["b"], [[0.6, 0.26], [1.6, 2.6]], rtol=1e-6)


def test_a_compressed_file_is_decompressed(variables, tmp_path):
    path = tmp_path / "part.gz"
    path.write_bytes(gzip.compress(LINES[1].encode()))
    assert shown(dataset_of(variables, [str(path)])) == [([3], [[3.5, 4.5]])]


def test_numbers_of_64_bits_keep_theirs(tmp_path):
    path = tmp_path / "part"
    path.write_text(f"3 {2**64 - 1} {2**63} 5\n")
    a = fluid.data("a", [None, 1], "int64", lod_level=1)
    (feed,) = dataset_of([a], [str(path)]).feeds()
    assert np.array(feed["a"]).ravel().tolist() == [-1, -(2**63), 5]


def test_a_command_that_nobody_reads_on_from_is_ended(variables, files):
    dataset = dataset_of(variables, files)
    dataset.set_pipe_command("yes '1 1 2 1 1'")
    feeds = dataset.feeds()
    assert next(feeds)["b"].tolist() == [[1, 1], [1, 1]]
    feeds.close()


@pytest.mark.parametrize(
    "line, message",
    [
        ("x 9 2 1 2", "line 2: expected how many values slot 'a' has, 1 or more, got 'x'"),
        ("0 2 1 2", "slot 'a' has, 1 or more, got '0'"),
        ("2 9", "expected 2 values of slot 'a', the line ends after 1"),
        ("1 9", "how many values slot 'b' has, the line ends"),
        ("", "how many values slot 'a' has, the line ends"),
        ("1 9 3 1 2 3", r"expected 2 values of slot 'b', as its variable of shape \[-1, 2\]"),
        ("1 9 2 1 x", "expected numbers in slot 'b', got '1 x'"),
        ("1 9.5 2 1 1", "expected integers in slot 'a', got '9.5'"),
    ],
)
def test_a_line_that_is_none_is_told_with_its_place(variables, tmp_path, line, message):
    path = tmp_path / "part"
    path.write_text(f"{LINES[1]}{line}\n")
    with pytest.raises(FileFormatError, match=message) as caught:
        list(dataset_of(variables, [str(path)]).feeds())
    assert str(path) in str(caught.value)


def test_a_file_that_is_not_there_is_named(variables):
    with pytest.raises(FileError, match="cannot read nowhere: there is no such file"):
        list(dataset_of(variables, ["nowhere"]).feeds())


def test_a_command_that_fails_is_named(variables, files):
    dataset = dataset_of(variables, files)
    dataset.set_pipe_command("false")
    with pytest.raises(FileError, match=r"command of .*part-0 ended with exit status 1: false"):
        list(dataset.feeds())


@pytest.mark.parametrize(
    "use, message",
    [
        (lambda d: d.set_batch_size(0), "batch_size to be a positive integer"),
        (lambda d: d.set_thread(0), "thread_num to be a positive integer"),
        (lambda d: d.set_filelist("part-0"), "a list of paths"),
        (lambda d: d.set_use_var(fluid.data("x", [1])), "a list of variables"),
        (lambda d: d.set_use_var([fluid.data("x", [1], "float64")]), "'x' is float64"),
        (lambda d: d.feeds(), "call its set_use_var first"),
    ],
)
def test_a_data_set_says_what_it_was_given_wrongly(use, message):
    with pytest.raises(ArgumentError, match=message):
        use(fluid.DatasetFactory().create_dataset())


def test_a_data_set_of_an_unknown_kind_is_refused():
    with pytest.raises(ArgumentError, match="one of QueueDataset, InMemoryDataset"):
        fluid.DatasetFactory().create_dataset("Dataset")


@pytest.mark.parametrize(
    "method, given", [("local_shuffle", ()), ("global_shuffle", ()), ("slots_shuffle", (["a"],))]
)
def test_what_is_not_there_is_refused(method, given):
    dataset = fluid.DatasetFactory().create_dataset()
    with pytest.raises(UnsupportedError, match=f"QueueDataset.{method}: "):
        getattr(dataset, method)(*given)


@pytest.mark.parametrize("kind", ["QueueDataset", "InMemoryDataset"])
def test_what_says_where_other_files_are_changes_nothing(variables, files, kind):
    dataset = dataset_of(variables, files, kind)
    dataset.set_hdfs_config("hdfs:/there", "name,word")
    dataset.set_download_cmd("fetch")
    dataset.set_fea_eval(10)
    if kind == "InMemoryDataset":
        dataset.set_generate_unique_feasigns(True, 2)
        dataset.generate_local_tables_unlock(0, 8, 1, 1, 2)
        dataset.load_into_memory()
    assert [words for words, _ in shown(dataset)] == [[1, 2], [3]]
    dataset.set_filelist(["hdfs:/there/part-0"])
    with pytest.raises(FileError, match="files are local; fetch it first"):
        list(dataset.feeds() if kind == "QueueDataset" else dataset.load_into_memory())


@pytest.mark.parametrize("kind", ["QueueDataset", "InMemoryDataset"])
def test_no_files_are_no_batches_and_a_warning(variables, kind):
    dataset = dataset_of(variables, [], kind)
    with pytest.warns(UserWarning, match="nothing is done: call its set_filelist first"):
        found = dataset.load_into_memory() if kind == "InMemoryDataset" else dataset.feeds()
    assert list(found or ()) == []


# -- in memory -------------------------------------------------------------------------------------


def test_lines_in_memory_stay_until_they_are_released(variables, files):
    dataset = dataset_of(variables, files, "InMemoryDataset")
    dataset.load_into_memory()
    assert dataset.get_memory_data_size() == 3 and dataset.get_shuffle_data_size() == 0
    assert shown(dataset) == shown(dataset) == [([1, 2], [[0.5, 0.25], [1.5, 2.5]]),
                                                ([3], [[3.5, 4.5]])]  # fmt: skip
    dataset.release_memory()
    assert dataset.get_memory_data_size() == 0


@pytest.mark.parametrize("trained", [False, True])
@pytest.mark.parametrize("how", ["load", "preload"])
def test_loading_again_replaces_the_lines_also_where_nothing_was_released(
    variables, files, trained, how
):
    # fluid 1.8.5 goes on with the lines of the first files, and says nothing: set_filelist and
    # load_into_memory have an effect there only behind release_memory.
    dataset = dataset_of(variables, files, "InMemoryDataset")
    dataset.load_into_memory()
    if trained:
        shown(dataset)
    dataset.set_filelist(files[1:])
    if how == "load":
        dataset.load_into_memory()
    else:
        dataset.preload_into_memory()
        dataset.wait_preload_done()
    assert dataset.get_memory_data_size() == 1
    assert shown(dataset) == [([3], [[3.5, 4.5]])]


def test_lines_are_loaded_while_something_else_is_done(variables, files):
    dataset = dataset_of(variables, files, "InMemoryDataset")
    dataset.preload_into_memory(thread_num=2)
    dataset.wait_preload_done()
    assert dataset.get_memory_data_size() == 3
    with pytest.raises(ArgumentError, match="preload_into_memory"):
        dataset.wait_preload_done()


@pytest.mark.parametrize("shuffle", ["local_shuffle", "global_shuffle"])
def test_lines_in_memory_are_shuffled_whole(variables, tmp_path, shuffle):
    path = tmp_path / "part"
    path.write_text("".join(f"1 {k} 2 {k} {k}\n" for k in range(30)))
    dataset = dataset_of(variables, [str(path)], "InMemoryDataset", size=30)
    dataset.load_into_memory()
    getattr(dataset, shuffle)()
    (feed,) = dataset.feeds()
    order = np.array(feed["a"]).ravel().tolist()
    assert sorted(order) == list(range(30)) != order
    assert feed["b"][:, 0].tolist() == order


def test_a_slot_is_shuffled_alone(variables, tmp_path):
    path = tmp_path / "part"
    path.write_text("".join(f"1 {k} 2 {k} {k}\n" for k in range(30)))
    dataset = dataset_of(variables, [str(path)], "InMemoryDataset", size=30)
    dataset.load_into_memory()
    with pytest.raises(ArgumentError, match="set_fea_eval"):
        dataset.slots_shuffle(["a"])
    dataset.set_fea_eval(100, True)
    dataset.slots_shuffle(["a"])
    (feed,) = dataset.feeds()
    assert sorted(np.array(feed["a"]).ravel()) == list(range(30)) == feed["b"][:, 0].tolist()
    assert np.array(feed["a"]).ravel().tolist() != list(range(30))
    with pytest.raises(UnknownVariableError, match="'c'"):
        dataset.slots_shuffle(["c"])


def test_nothing_in_memory_is_told(variables, files):
    dataset = dataset_of(variables, files, "InMemoryDataset")
    with pytest.warns(UserWarning, match="load_into_memory"):
        assert list(dataset.feeds()) == []
    for shuffle in (dataset.local_shuffle, dataset.global_shuffle):
        with pytest.warns(UserWarning, match="load_into_memory"):
            shuffle()
    dataset.set_fea_eval(1)
    with pytest.raises(ArgumentError, match="nothing is in memory"):
        dataset.slots_shuffle(["a"])
    with pytest.raises(UnsupportedError, match="one process"):
        dataset.load_into_memory()
        dataset.global_shuffle(fleet=object())


# -- training --------------------------------------------------------------------------------------


@pytest.fixture
def model(variables):
    a, b = variables
    fluid.layers.Print(a, message="A")
    weight = fluid.layers.create_global_var([2], 1.0, "float32", persistable=True, name="weight")
    total = fluid.layers.reduce_sum(b * weight)
    fluid.layers.assign(weight * 2.0, output=weight)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    return exe, total


@pytest.mark.parametrize("method", ["train_from_dataset", "infer_from_dataset"])
def test_a_program_runs_once_for_each_batch(model, variables, files, method, capsys):
    exe, _ = model
    found = getattr(exe, method)(dataset=dataset_of(variables, files), thread=2)
    assert found is None
    assert capsys.readouterr().out.count("A a int64") == 2
    assert np.array(fluid.global_scope().find_var("weight").get_tensor()).tolist() == [4, 4]


def test_values_are_printed_every_few_batches(model, variables, files, capsys):
    exe, total = model
    dataset = dataset_of(variables, files, size=1)
    exe.train_from_dataset(
        fluid.default_main_program(), dataset, fetch_list=[total], fetch_info=["t"], print_period=2
    )
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if not line.startswith("A")] == ["t\t[8.]"]


def test_how_long_runs_take_is_printed(model, variables, files, capsys):
    model[0].train_from_dataset(dataset=dataset_of(variables, files), debug=True)
    assert capsys.readouterr().out.count(" s\n") == 2


def test_a_handler_looks_at_values(model, variables, files):
    exe, total = model
    seen = []

    class Handler(FetchHandler):
        def handler(self, res_dict):
            seen.append(res_dict["total"].tolist())

    exe.train_from_dataset(
        dataset=dataset_of(variables, files), fetch_handler=Handler({"total": total}, 0)
    )
    assert seen == [[4.75], [16.0]]
    with pytest.raises(ArgumentError, match="a dictionary of variables"):
        FetchHandler()


@pytest.mark.parametrize(
    "given, error, message",
    [
        ({"dataset": None}, NotInitializedError, "expected a data set"),
        ({"dataset": 3}, ArgumentError, "expected a data set"),
        ({"print_period": 0}, ArgumentError, "print_period of 1 or more"),
        ({"fetch_info": ["a", "b"]}, ArgumentError, "a text in fetch_info for each"),
    ],
)
def test_training_says_what_it_was_given_wrongly(model, variables, files, given, error, message):
    given = {"dataset": dataset_of(variables, files), "fetch_list": ["b"], **given}
    with pytest.raises(error, match=message):
        model[0].train_from_dataset(**given)


def test_a_loader_loops_over_the_batches(variables, files):
    loader = fluid.io.DataLoader.from_dataset(
        dataset_of(variables, files), fluid.cpu_places(1), drop_last=False
    )
    steps = [step for (step,) in loader()]
    assert [step["a"].lod() for step in steps] == [[[0, 1, 3]], [[0, 3]]]
    assert [np.array(step["b"]).tolist() for step in loader for step in step][1] == [[3.5, 4.5]]
    with pytest.raises(ArgumentError, match="what DatasetFactory makes"):
        fluid.io.DataLoader.from_dataset(3, None)


# -- descriptions and generators -------------------------------------------------------------------


def test_a_data_set_is_described_as_fluid_does(variables, files):
    dataset = dataset_of(variables, files, "InMemoryDataset")
    dataset.set_pipe_command("sed 's/5/6/g'")
    assert dataset.desc() == (
        'name: "MultiSlotInMemoryDataFeed"\nbatch_size: 2\nmulti_slot_desc {\n'
        '  slots {\n    name: "a"\n    type: "uint64"\n    is_dense: false\n    is_used: true\n'
        '  }\n  slots {\n    name: "b"\n    type: "float"\n    is_dense: true\n'
        "    is_used: true\n    shape: -1\n    shape: 2\n  }\n}\n"
        "pipe_command: \"sed \\'s/5/6/g\\'\"\n"
    )


TEXT = """
name: "MultiSlotDataFeed"  # a note
batch_size: 2
multi_slot_desc {
    slots { name: "words" type: "uint64" is_dense: false is_used: false }
    slots { name: "label" type: "uint64" }
}
"""


def test_a_description_is_read_changed_and_written(tmp_path):
    path = tmp_path / "feed.prototxt"
    path.write_text(TEXT)
    description = fluid.DataFeedDesc(str(path))
    description.set_batch_size(128)
    description.set_dense_slots(["label"])
    description.set_use_slots(["words"])
    path.write_text(description.desc())
    again = fluid.DataFeedDesc(str(path)).desc()
    assert again == description.desc()
    assert "batch_size: 128" in again and again.count("is_used: true") == 1
    assert '    name: "label"\n    type: "uint64"\n    is_dense: true' in again
    with pytest.raises(UnknownVariableError, match="no slot 'word'; did you mean 'words'"):
        description.set_use_slots(["word"])
    with pytest.raises(ArgumentError, match="a list of names"):
        description.set_dense_slots("words")


@pytest.mark.parametrize("text", ["a { b: 1", "a: ^"])
def test_a_description_that_is_none_is_refused(tmp_path, text):
    path = tmp_path / "feed.prototxt"
    path.write_text(text)
    with pytest.raises(FileFormatError, match=r"feed\.prototxt"):
        fluid.DataFeedDesc(str(path))


def generated(base, sample, text="1\n2\n", batch=None, monkeypatch=None):
    """What a generator writes for some lines."""

    class Generator(base):
        def generate_sample(self, line):
            return lambda: iter([sample(line)])

    if batch is not None:
        Generator.generate_batch = batch
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))
    written = io.StringIO()
    monkeypatch.setattr(sys, "stdout", written)
    Generator().run_from_stdin()
    return written.getvalue()


def test_a_generator_writes_lines_of_slots(monkeypatch):
    found = generated(
        MultiSlotDataGenerator,
        lambda line: [("a", [int(line), 7]), ("b", [0.5])],
        monkeypatch=monkeypatch,
    )
    assert found == "2 1 7 1 0.5\n2 2 7 1 0.5\n"


def test_a_generator_writes_texts(monkeypatch):
    found = generated(
        MultiSlotStringDataGenerator, lambda line: [("a", ["x", "y"])], monkeypatch=monkeypatch
    )
    assert found == "2 x y\n2 x y\n"


def test_a_generator_leaves_out_what_is_none_and_writes_batches(monkeypatch):
    found = generated(
        MultiSlotDataGenerator,
        lambda line: None if "2" in line else [("a", [int(line)])],
        "1\n2\n3\n",
        lambda self, samples: lambda: iter(samples[::-1]),
        monkeypatch,
    )
    assert found == "1 3\n1 1\n"


@pytest.mark.parametrize(
    "sample, message",
    [
        ({"a": [1]}, "a list of pairs"),
        ([("a", (1,))], "a list of one value or more for slot 'a'"),
        ([("a", [])], "pad what is empty"),
        ([("a", ["x"])], "numbers in slot 'a', got 'x'"),
    ],
)
def test_a_generator_says_what_a_sample_should_be(monkeypatch, sample, message):
    with pytest.raises(ArgumentError, match=message):
        generated(MultiSlotDataGenerator, lambda line: sample, monkeypatch=monkeypatch)


@pytest.mark.parametrize(
    "sample, message",
    [
        (lambda k: [("ab"[k - 1], [1])], "slot 0 of every sample to be 'a', got 'b'"),
        (lambda k: [("a", [1])] * k, "to have slots a, got 2 slots"),
    ],
)
def test_a_generator_writes_the_same_slots_for_every_sample(monkeypatch, sample, message):
    with pytest.raises(ArgumentError, match=message):
        generated(MultiSlotDataGenerator, lambda line: sample(int(line)), monkeypatch=monkeypatch)


def test_a_generator_that_defines_nothing_says_so():
    with pytest.raises(UnsupportedError, match="generate_sample"):
        MultiSlotDataGenerator().run_from_memory()

    class Plain(DataGenerator):
        def generate_sample(self, line):
            return lambda: iter([[("a", [1])]])

    with pytest.raises(UnsupportedError, match="derive from MultiSlotDataGenerator"):
        Plain().run_from_memory()


def test_lines_in_memory_have_no_zeros_in_their_sequences(tmp_path):
    ids = fluid.data("ids", [None, 1], "int64", lod_level=1)
    weights = fluid.data("weights", [None, 1], lod_level=1)
    label = fluid.data("label", [None, 1], "int64")
    path = tmp_path / "part"
    path.write_text("3 0 5 0 3 0 -2e-6 9e-7 1 0\n1 0 1 1e-7 1 1\n")
    kept = {}
    for kind in ("QueueDataset", "InMemoryDataset"):
        dataset = dataset_of([ids, weights, label], [str(path)], kind)
        if kind == "InMemoryDataset":
            dataset.load_into_memory()
        (kept[kind],) = dataset.feeds()
    memory, queue = kept["InMemoryDataset"], kept["QueueDataset"]
    assert np.array(memory["ids"]).ravel().tolist() == [5, 0]
    assert memory["ids"].recursive_sequence_lengths() == [[1, 1]]
    np.testing.assert_allclose(np.array(memory["weights"]).ravel(), [-2e-6, 0], rtol=1e-6)
    assert memory["label"].tolist() == queue["label"].tolist() == [[0], [1]]
    assert queue["ids"].recursive_sequence_lengths() == [[3, 1]]
