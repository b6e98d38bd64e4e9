"""Sets of texts over local files in the formats of paddle 2.6, and the likeliest tags."""

import contextlib
import itertools

import numpy as np
import pytest

from fluidlite import errors, paddle
from fluidlite.dataset.formats.translations import short_samples

import archives

text = paddle.text


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with small files of all sets."""
    path = tmp_path_factory.mktemp("sets")
    archives.make(str(path))
    return path


def listed(sample):
    return [each.tolist() for each in sample]


def test_houses_are_the_figures_and_the_price(home):
    file = str(home / "uci_housing" / "housing.data")
    train, test = (text.UCIHousing(file, mode) for mode in ("train", "TEST"))
    assert (len(train), len(test)) == (8, 2)
    figures, price = train[0]
    assert (figures.dtype, figures.shape, price.shape) == (np.float32, (13,), (1,))
    rows = np.loadtxt(file)
    spread = rows.max(0) - rows.min(0)
    np.testing.assert_allclose(figures, ((rows[0] - rows.mean(0)) / spread)[:-1], rtol=1e-5)
    np.testing.assert_allclose(test[1][1], rows[-1, -1:], rtol=1e-6)


def test_reviews_are_numbers_of_words_and_labels(home):
    file = str(home / "imdb" / "imdb%2FaclImdb_v1.tar.gz")
    reviews = text.Imdb(file, "test", cutoff=1)
    assert [label for _, (label,) in map(listed, reviews)] == [0] * 3 + [1] * 3
    words, _ = reviews[0]
    assert words.tolist()[0] == reviews.word_idx[b"the"] == 0
    assert listed(text.Imdb(file)[0])[0] == [0] * 11  # no word occurs more than 150 times


def test_sentences_are_words_in_a_row_or_whole(home):
    file = str(home / "imikolov" / "imikolov%2Fsimple-examples.tgz")
    grams = text.Imikolov(file, "ngram", 2, "train", 1)
    whole = text.Imikolov(file, "SEQ", -1, "train", 1)
    assert (len(grams), len(whole)) == (27, 4)
    words, later = listed(whole[0])
    assert words[1:] == later[:-1]
    assert (words[0], later[-1]) == (whole.word_idx["<s>"], whole.word_idx["<e>"])
    assert listed(grams[0]) == words[:2]
    assert len(text.Imikolov(file, "SEQ", 5, "test", 1)) == 1
    assert grams.word_count([b"a a", b"b"])[b"a"] == 2


def test_ratings_are_divided_by_a_seed(home):
    file = str(home / "movielens" / "movielens%2Fml-1m.zip")
    train, test = (text.Movielens(file, mode) for mode in ("train", "test"))
    assert (len(train), len(test)) == (72, 8)
    user, gender, age, job, film, kinds, title, rating = listed(train[0])
    assert (user, gender, age, job, film, rating) == ([3], [0], [2], [15], [5], [-1.0])
    names = {number: name for name, number in train.categories_dict.items()}
    assert [names[each] for each in kinds] == train.movie_info[5].categories
    assert len(title) == 3
    assert repr(train.movie_info[2]) == "<MovieInfo id(2), title(Heat ), categories(['Action'])>"
    assert len(text.Movielens(file, "test", 0.5, 3)) == 47


def test_roles_are_nine_lists(home):
    where = home / "conll05st"
    names = ["wordDict.txt", "verbDict.txt", "targetDict.txt", "emb"]
    files = [str(where / f"conll05st%2F{name}") for name in names]
    roles = text.Conll05st(str(where / "conll05st-tests.tar.gz"), *files)
    assert len(roles) == 3
    sample = listed(roles[0])
    assert sample[:2] == [[0, 1, 2, 0, 0, 0], [0] * 6]
    assert sample[6:8] == [[0] * 6, [1, 1, 1, 1, 1, 0]]
    tags = {number: tag for tag, number in roles.get_dict()[2].items()}
    assert [tags[each] for each in sample[-1]] == ["B-A0", "I-A0", "B-V", "B-A1", "I-A1", "I-A1"]
    assert roles.get_embedding() == files[-1]


def test_translations_are_numbers_of_words(home):
    french = text.WMT14(str(home / "wmt14" / "wmt14.tgz"), "gen", 6)
    assert [listed(each) for each in french] == [
        [[0, 3, 4, 5, 2, 1], [0, 3, 4, 2, 5], [3, 4, 2, 5, 1]],
        [[0, 5, 2, 1], [0, 2, 2], [2, 2, 1]],
    ]
    assert french.get_dict()[1]["bon"] == 5
    assert french.get_dict(reverse=True)[0][3] == "the"
    file = str(home / "wmt16" / "wmt16.tar.gz")
    german = text.WMT16(file, "val", 6, 7)
    _, translation, later = listed(german[0])
    names = german.get_dict("de", reverse=True)
    assert [names[each] for each in translation] == ["<s>", "der", "film", "war", "gut"]
    assert later == [*translation[1:], 1]
    back = text.WMT16(file, "val", 7, 6, lang="de")
    assert listed(back[0])[0] == [*translation, 1]


def test_translations_have_eighty_words_at_the_most():
    words = {mark: number for number, mark in enumerate(("<s>", "<e>", "<unk>", "a"))}
    for source, target, kept in ((78, 80, 1), (79, 1, 0), (1, 81, 0)):
        pair = [" ".join(["a"] * source), " ".join(["a"] * target)]
        assert len(list(short_samples([pair], words, words))) == kept


def test_a_file_that_is_not_there_is_named_with_its_place(home, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    sets = {
        "UCIHousing": {},
        "Imdb": {},
        "Imikolov": {"window_size": 2},
        "Movielens": {},
        "Conll05st": {},
        "WMT14": {"dict_size": 5},
        "WMT16": {"src_dict_size": 5, "trg_dict_size": 5},
    }
    for name, options in sets.items():
        with pytest.raises(
            errors.FileError, match=r"read .*/\.cache/paddle/dataset/\w+/.*; put the"
        ):
            getattr(text, name)(**options)
    (tmp_path / ".cache/paddle/dataset").mkdir(parents=True)
    (tmp_path / ".cache/paddle/dataset/uci_housing").symlink_to(home / "uci_housing")
    assert len(text.UCIHousing()) == 8


def test_arguments_and_files_of_no_meaning_are_refused(home, tmp_path):
    file = str(home / "wmt14" / "wmt14.tgz")
    wrong = tmp_path / "wrong"
    wrong.write_text("no numbers")
    for make, error, message in [
        (lambda: text.WMT14(file, "dev", 5), "ArgumentError", "one of train, test, gen, got 'dev'"),
        (lambda: text.WMT14(file), "ArgumentError", "dict_size to be a whole number from 1"),
        (lambda: text.WMT16(file, "val", 5, 5, "fr"), "ArgumentError", '"en" or "de", got \'fr\''),
        (lambda: text.Imikolov(file, "X"), "ArgumentError", "NGRAM or SEQ, got 'X'"),
        (lambda: text.Imikolov(file), "ArgumentError", "window_size from 0 with NGRAM, got -1"),
        (lambda: text.UCIHousing(str(wrong)), "FileFormatError", "14 numbers a house"),
        (lambda: text.Movielens(str(wrong)), "FileFormatError", "MovieLens 1M"),
        (lambda: text.Imdb(str(wrong)), "FileFormatError", "archive of tar's"),
        (lambda: text.Imikolov(file, "SEQ"), "FileFormatError", "an archive with a file simple-ex"),
    ]:
        with pytest.raises(getattr(errors, error), match=message):
            make()


def test_files_that_are_cut_or_hold_something_else_are_errors_of_their_format(home, tmp_path):
    where = home / "conll05st"
    roles = {
        "data_file": where / "conll05st-tests.tar.gz",
        **{
            f"{what}_file": where / f"conll05st%2F{name}"
            for what, name in (
                ("word_dict", "wordDict.txt"),
                ("verb_dict", "verbDict.txt"),
                ("target_dict", "targetDict.txt"),
                ("emb", "emb"),
            )
        },
    }
    sets = {
        "Imdb": {"data_file": home / "imdb" / "imdb%2FaclImdb_v1.tar.gz"},
        "Imikolov": {
            "data_file": home / "imikolov" / "imikolov%2Fsimple-examples.tgz",
            "window_size": 2,
        },
        "Movielens": {"data_file": home / "movielens" / "movielens%2Fml-1m.zip"},
        "WMT14": {"data_file": home / "wmt14" / "wmt14.tgz", "dict_size": 5},
        "WMT16": {
            "data_file": home / "wmt16" / "wmt16.tar.gz",
            "src_dict_size": 5,
            "trg_dict_size": 5,
        },
        "Conll05st": roles,
    }
    rng = np.random.default_rng(1)
    for name, options in sets.items():
        whole = options["data_file"].read_bytes()
        for k in range(12):
            data = bytearray(whole[: len(whole) * k // 12] if k % 2 else whole)
            for place in rng.integers(0, len(data), 8) if data and not k % 2 else ():
                data[place] ^= 0x55
            (tmp_path / "broken").write_bytes(data)
            given = {**options, "data_file": tmp_path / "broken"}
            paths = {key: v if isinstance(v, int) else str(v) for key, v in given.items()}
            with contextlib.suppress(errors.FileFormatError, errors.FileError):
                getattr(text, name)(**paths)
    tags = {**roles, "target_dict_file": where / "conll05st%2FverbDict.txt"}
    with pytest.raises(errors.FileFormatError, match="conll05st-tests.tar.gz: expected the file"):
        text.Conll05st(**{key: str(path) for key, path in tags.items()})


def best(scores, ways, include):
    """The tags with the greatest sum, by trying all."""
    words, tags = scores.shape

    def total(path):
        whole = sum(scores[t, tag] for t, tag in enumerate(path))
        whole += sum(ways[a, b] for a, b in itertools.pairwise(path))
        return whole + (ways[-1, path[0]] + ways[-2, path[-1]] if include else 0)

    paths = list(itertools.product(range(tags), repeat=words))
    found = max(paths, key=total)
    return total(found), list(found)


@pytest.mark.parametrize("include", [True, False])
def test_tags_have_the_greatest_sum_of_scores(include):
    rng = np.random.default_rng(3)
    scores, ways, lengths = rng.normal(size=[4, 5, 3]), rng.normal(size=[3, 3]), [4, 1, 3, 2]
    given = [paddle.to_tensor(each) for each in (scores, ways, lengths)]
    sums, path = text.viterbi_decode(*given, include)
    assert (path.shape, str(path.dtype)) == ([4, 4], "int64")
    for k, length in enumerate(lengths):
        most, tags = best(scores[k, :length], ways, include)
        np.testing.assert_allclose(sums.numpy()[k], most)
        assert path.numpy()[k].tolist() == tags + [0] * (4 - length)
    layer = text.ViterbiDecoder(given[1], include)
    np.testing.assert_array_equal(layer(given[0], given[2])[1].numpy(), path.numpy())
    paddle.enable_static()
    with paddle.static.program_guard(paddle.static.Program()):
        data = [
            paddle.static.data(name, shape, kind)
            for name, shape, kind in (
                ("s", [-1, 5, 3], "float64"),
                ("w", [3, 3], "float64"),
                ("n", [-1], "int64"),
            )
        ]
        told = text.viterbi_decode(*data, include)
        assert [each.shape for each in told] == [(-1,), (-1, -1)]
        feed = {"s": scores, "w": ways, "n": np.array(lengths)}
        found = paddle.static.Executor().run(feed=feed, fetch_list=list(told))
    paddle.disable_static()
    np.testing.assert_array_equal(found[1], path.numpy())
    np.testing.assert_allclose(found[0], sums.numpy())


def test_sentences_without_words_have_no_tags():
    zeros = paddle.zeros([2, 3, 4])
    sums, path = text.viterbi_decode(zeros, paddle.zeros([4, 4]), paddle.to_tensor([0, 0]))
    assert (sums.tolist(), path.shape) == ([0.0, 0.0], [2, 0])


def test_lengths_and_shapes_that_do_not_fit_are_refused():
    scores, ways = paddle.zeros([2, 3, 4]), paddle.zeros([4, 4])
    for given, message in [
        ((scores, ways, paddle.to_tensor([4, 1])), r"Length from 0 to 3, got \[4, 1\]"),
        ((scores, ways[:3], paddle.to_tensor([3, 1])), "Transition with 4 rows and columns"),
        ((scores, ways, paddle.to_tensor([3])), "Length with 2 elements, one for each sentence"),
    ]:
        with pytest.raises(errors.FluidError, match=message):
            text.viterbi_decode(*given)
