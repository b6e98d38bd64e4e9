"""Lines with marks, and pages that are made of them."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import FileFormatError


def key(search, rank, source=222):
    return f"{0:011x}{source:03x}{rank:02x}{search:016x}"


LINES = [
    f"1 {key(7, 1)} 1 3 1 0.5",
    f"1 {key(8, 2)} 2 4 5 1 1.5",
    f"1 {key(7, 3)} 1 8 1 2.5",
    f"1 {key(9, 1, source=1)} 1 6 1 3.5",
]


@pytest.fixture
def made(tmp_path):
    def make(lines):
        words = fluid.data("words", [None, 1], "int64", lod_level=1)
        score = fluid.data("score", [None, 1])
        path = tmp_path / "part"
        path.write_text("".join(f"{line}\n" for line in lines))
        dataset = fluid.DatasetFactory().create_dataset("InMemoryDataset")
        dataset.set_use_var([words, score])
        dataset.set_batch_size(8)
        dataset.set_filelist([str(path)])
        return dataset

    return make


def scores(dataset):
    return [feed["score"].ravel().tolist() for feed in dataset.feeds()]


@pytest.mark.parametrize(
    "marks, line",
    [
        (["set_parse_ins_id"], "1 a7 2 4 5 1 0.5"),
        (["set_parse_content"], "1 c0 2 4 5 1 0.5"),
        (["set_parse_ins_id", "set_parse_content"], "1 a7 1 c0 2 4 5 1 0.5"),
        (["set_parse_ins_id", "set_parse_logkey"], f"1 a7 1 {key(7, 1)} 2 4 5 1 0.5"),
    ],
)
def test_marks_in_front_of_lines_are_taken_off(made, marks, line):
    dataset = made([line])
    for mark in marks:
        getattr(dataset, mark)(True)
    dataset.load_into_memory()
    (feed,) = dataset.feeds()
    assert np.array(feed["words"]).tolist() == [[4], [5]] and feed["score"].tolist() == [[0.5]]


def test_lines_with_an_identifier_stay_as_they_are_in_one_process(made):
    dataset = made(["1 a 1 3 1 0.5", "1 a 1 4 1 1.5", "1 b 1 5 1 2.5"])
    dataset.set_merge_by_lineid(2)
    dataset.load_into_memory()
    assert scores(dataset) == [[0.5, 1.5, 2.5]]


def paged(made, **options):
    dataset = made(LINES)
    dataset.set_parse_logkey(True)
    dataset.set_enable_pv_merge(True)
    for name, value in options.items():
        getattr(dataset, name)(value)
    dataset.load_into_memory()
    assert dataset.get_pv_data_size() == 0
    dataset.preprocess_instance()
    return dataset


def test_the_lines_of_a_search_are_a_page(made):
    dataset = paged(made, set_pv_batch_size=2, set_rank_offset="ranks")
    assert dataset.get_pv_data_size() == 3
    dataset.set_current_phase(1)
    first, second = dataset.feeds()
    assert first["score"].ravel().tolist() == [0.5, 2.5, 1.5]
    assert first["words"].lod() == [[0, 1, 2, 4]]
    assert first["ranks"].dtype == np.int32
    assert first["ranks"].tolist() == [
        [1, 1, 0, -1, -1, 3, 1],
        [3, 1, 0, -1, -1, 3, 1],
        [2, -1, -1, 2, 2, -1, -1],
    ]
    assert second["ranks"].tolist() == [[-1] * 7]  # its source has no ranks


def test_each_line_is_a_page_where_searches_do_not_count(made):
    dataset = paged(made, set_merge_by_sid=False)
    assert dataset.get_pv_data_size() == 4


def test_a_batch_is_made_of_lines_in_another_phase_and_when_pages_are_gone(made):
    dataset = paged(made)
    dataset.set_current_phase(0)
    assert scores(dataset) == [[0.5, 1.5, 2.5, 3.5]]
    dataset.set_current_phase(1)
    dataset.postprocess_instance()
    assert dataset.get_pv_data_size() == 0
    assert scores(dataset) == [[0.5, 2.5, 1.5, 3.5]]


def test_pages_are_made_only_where_that_is_said(made):
    dataset = paged(made, set_enable_pv_merge=False)
    assert dataset.get_pv_data_size() == 0


def test_batches_of_pages_feed_rank_attention(made):
    dataset = paged(made, set_rank_offset="ranks")
    dataset.set_current_phase(1)
    ranks = fluid.data("ranks", [None, 7], "int32")
    score = fluid.default_main_program().global_block().var("score")
    start = fluid.initializer.Constant(1.0)
    out = fluid.contrib.layers.rank_attention(score, ranks, [9, 1], fluid.ParamAttr("m", start))
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    (feed,) = dataset.feeds()
    (found,) = exe.run(feed=feed, fetch_list=[out])
    np.testing.assert_allclose(found.ravel(), [3.0, 3.0, 1.5, 0.0])


@pytest.mark.parametrize(
    "line, message",
    [
        ("2 a b 1 3 1 0.5", "expected 1 and the log_key of the line, got 2 'a'"),
        ("", "expected 1 and the log_key of the line"),
        ("1 notakey 1 3 1 0.5", "expected a log key of 32 hexadecimal digits, got 'notakey'"),
    ],
)
def test_a_line_without_its_marks_is_refused(made, line, message):
    dataset = made([LINES[0], line])
    dataset.set_parse_logkey(True)
    with pytest.raises(FileFormatError, match=f"part, line 2: {message}"):
        dataset.load_into_memory()


def test_the_description_names_the_reader_that_was_set(made):
    dataset = made(LINES)
    dataset.set_feed_type("PaddleBoxDataFeed")
    assert dataset.desc().startswith('name: "PaddleBoxDataFeed"')
