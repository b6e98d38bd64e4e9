"""``paddle.dataset`` over small files in the formats of 1.8, and over made samples."""

import importlib
import io
import itertools
import json
import re
import struct
import tarfile
import traceback
import zlib
from pathlib import Path

import numpy as np
import pytest

from fluidlite import compat
from fluidlite.compat.dataset import conll05, flowers, homes, image, uci_housing, voc2012
from fluidlite.compat.dataset.homes import MissingDataError
from fluidlite.errors import FileError, FileFormatError

import archives

RECORDED = json.loads(
    (Path(__file__).parents[1] / "data" / "legacy" / "datasets.json").read_text(encoding="utf-8")
)


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    """What the readers give of the files that ``archives`` makes."""
    home = tmp_path_factory.mktemp("dataset")
    archives.make(str(home))
    compat.install(force=True)
    importlib.import_module("paddle.dataset.common").DATA_HOME = str(home)
    try:
        return json.loads(json.dumps(archives.told(importlib.import_module("paddle"))))
    finally:
        compat.uninstall()


@pytest.fixture
def dataset(alias):
    return importlib.import_module("paddle.dataset")


@pytest.fixture
def made():
    compat.install(force=True, synthetic_data=True)
    yield importlib.import_module("paddle.dataset")
    compat.uninstall()


@pytest.mark.parametrize("name", RECORDED)
def test_a_reader_gives_the_samples_that_1_8_gave(read, name):
    assert read[name] == RECORDED[name]


@pytest.mark.parametrize(
    "name, file",
    [
        ("mnist.train", "mnist/train-images-idx3-ubyte.gz"),
        ("cifar.train10", "cifar/cifar-10-python.tar.gz"),
        ("imdb.word_dict", "imdb/imdb%2FaclImdb_v1.tar.gz"),
        ("imikolov.build_dict", "imikolov/imikolov%2Fsimple-examples.tgz"),
        ("movielens.train", "movielens/movielens%2Fml-1m.zip"),
        ("conll05.test", "conll05st/conll05st-tests.tar.gz"),
        ("uci_housing.train", "uci_housing/housing.data"),
        ("flowers.train", "flowers/102flowers.tgz"),
        ("voc2012.train", "voc2012/VOCtrainval_11-May-2012.tar"),
        ("sentiment.get_word_dict", "corpora/movie_reviews.zip"),
    ],
)
def test_a_missing_file_is_named_with_the_place_where_it_belongs(dataset, tmp_path, name, file):
    dataset.common.DATA_HOME = str(tmp_path)
    module, function = name.split(".")
    with pytest.raises(MissingDataError, match=re.escape(str(tmp_path / file))) as error:
        getattr(getattr(dataset, module), function)()
    assert "--synthetic-data" in str(error.value)
    lines = [frame.filename for frame in traceback.extract_tb(error.tb)]
    assert not any("fluidlite/compat" in line for line in lines)


def test_the_home_of_data_is_the_one_of_then(dataset):
    assert dataset.common.DATA_HOME.endswith(".cache/paddle/dataset")


def test_downloading_is_finding_what_is_there(dataset, tmp_path):
    dataset.common.DATA_HOME = str(tmp_path)
    dataset.common.must_mkdirs(str(tmp_path / "mine"))
    (tmp_path / "mine" / "file.txt").write_text("x")
    path = dataset.common.download("http://somewhere/file.txt", "mine", "no sum")
    assert path == str(tmp_path / "mine" / "file.txt")
    assert dataset.common.md5file(path) == "9dd4e461268c8034f5c8564e155c67a6"
    assert dataset.common.download("http://x/y", "mine", None, "file.txt") == path
    with pytest.raises(MissingDataError):
        dataset.common.download("http://somewhere/other.txt", "mine", None)


def test_items_are_split_into_files_and_read_by_several_machines(dataset, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    dataset.common.split(lambda: iter(range(5)), 2)
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"0000{i}.pickle" for i in range(3)]
    readers = [dataset.common.cluster_files_reader("*.pickle", 2, i) for i in range(2)]
    assert [list(reader()) for reader in readers] == [[0, 1, 4], [2, 3]]
    with pytest.raises(TypeError):
        dataset.common.split(lambda: iter(range(5)), 2, dumper=3)


def first(reader, count=20):
    return list(itertools.islice(reader(), count))


def test_made_pictures_have_the_shapes_and_ranges_of_real_ones(made):
    for reader, size, least, classes in (
        (made.mnist.train(), 784, -1, 10),
        (made.cifar.train100(), 3072, 0, 100),
        (made.cifar.test10(), 3072, 0, 10),
    ):
        for picture, label in first(reader):
            assert picture.dtype == np.float32 and picture.shape == (size,)
            assert picture.min() >= least and picture.max() <= 1 and 0 <= label < classes
    assert len(list(made.mnist.train()())) > len(list(made.mnist.test()()))


def test_made_samples_are_the_same_every_time(made):
    one, other = first(made.mnist.train()), first(made.mnist.train())
    assert all((a[0] == b[0]).all() and a[1] == b[1] for a, b in zip(one, other))
    assert not (first(made.mnist.train())[0][0] == first(made.mnist.test())[0][0]).all()


def test_made_reviews_use_the_words_of_their_dictionary(made):
    words = made.imdb.word_dict()
    assert words["<unk>"] == len(words) - 1
    samples = first(made.imdb.train(words))
    assert {label for _, label in samples} == {0, 1}
    assert all(0 <= word < len(words) for review, _ in samples for word in review)
    first_review = next(iter(made.sentiment.train()))
    assert max(first_review[0]) < len(made.sentiment.get_word_dict())


def test_made_sentences_are_of_the_lengths_asked_for(made):
    words = made.imikolov.build_dict()
    assert {len(gram) for gram in first(made.imikolov.train(words, 5))} == {5}
    kind = made.imikolov.DataType.SEQ
    for before, after in first(made.imikolov.test(words, 7, kind)):
        assert before[1:] == after[:-1] and len(before) <= 7
    for source, target, later in first(made.wmt16.train(50, 30)):
        assert source[0] == 0 and source[-1] == 1 and max(source) < 50
        assert target[1:] == later[:-1] and max(target) < 30
    assert len(made.wmt14.get_dict(40)[0]) == 40 == len(made.wmt16.get_dict("de", 40, True))


def test_made_films_roles_houses_and_documents_are_like_real_ones(made):
    *ids, categories, words, rating = first(made.movielens.train())[0]
    assert len(ids) == 5 and ids[0] <= made.movielens.max_user_id() == 6040
    assert max(categories) < len(made.movielens.movie_categories())
    assert max(words) < len(made.movielens.get_movie_title_dict()) and -5 <= rating[0] <= 5
    columns = first(made.conll05.test())[0]
    assert len(columns) == 9 and {len(column) for column in columns} == {len(columns[0])}
    assert max(columns[8]) < len(made.conll05.get_dict()[2])
    features, price = first(made.uci_housing.train())[0]
    assert features.shape == (13,) and price.shape == (1,) and abs(features).max() <= 1
    assert len(list(made.uci_housing.train()())) == 404
    for form, parts in (("pointwise", 2), ("pairwise", 3), ("listwise", 2), ("plain_txt", 3)):
        assert len(next(made.mq2007.train(format=form))) == parts
    picture, label = first(made.flowers.train(), 1)[0]
    assert picture.shape == (3 * 224 * 224,) and picture.dtype == np.float32 and 0 <= label < 102
    picture, label = first(made.voc2012.train(), 1)[0]
    assert picture.shape[:2] == label.shape and picture.dtype == label.dtype == np.uint8


def test_what_a_set_holds_is_kept_at_its_module_once_it_is_read(made):
    houses, films = made.uci_housing, made.movielens
    assert houses.UCI_TRAIN_DATA is None and films.MOVIE_INFO is None and films.USER_INFO is None
    (figures, price), *_ = houses.train()()
    assert (houses.UCI_TRAIN_DATA[0] == [*figures, *price]).all()
    assert houses.UCI_TRAIN_DATA.shape == (404, 14) and houses.UCI_TEST_DATA.shape == (102, 14)
    next(films.test()())
    assert films.movie_info() == films.MOVIE_INFO and films.user_info() == films.USER_INFO
    assert films.get_movie_title_dict() == films.MOVIE_TITLE_DICT
    assert films.movie_categories() == films.CATEGORIES_DICT


def test_documents_of_a_query_come_best_first(made):
    mq2007 = made.mq2007
    (found,) = mq2007.gen_list(
        mq2007.QueryList(
            mq2007.Query()._parse_(f"{score} qid:7 1:{score}.5 2:0 #docid = {score}\n")
            for score in (0, 2, 1)
        )
    )
    assert found[0].tolist() == [[2], [1], [0]] and found[1][:, 0].tolist() == [2.5, 1.5, 0.5]
    assert mq2007.Query()._parse_("\n") is None
    with pytest.raises(ValueError, match="format"):
        next(mq2007.train(format="other"))


# -- pictures --------------------------------------------------------------------------------------


def matlab(**matrices):
    """A MATLAB file of level 5, as SciPy writes it."""

    def element(kind, content):
        if len(content) <= 4:
            return struct.pack("<HH", kind, len(content)) + content.ljust(4, b"\0")
        return struct.pack("<II", kind, len(content)) + content + b"\0" * (-len(content) % 8)

    data = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<H", 0x0100) + b"IM"
    for name, values in matrices.items():
        values = np.atleast_2d(np.asarray(values))
        body = (
            element(6, struct.pack("<II", 6, 0))
            + element(5, struct.pack("<ii", *values.shape))
            + element(1, name.encode())
            + element(9, values.astype("<f8").tobytes(order="F"))
        )
        packed = zlib.compress(element(14, body))
        data += struct.pack("<II", 15, len(packed)) + packed
    return data


def test_a_matlab_file_is_read(tmp_path):
    path = tmp_path / "a.mat"
    path.write_bytes(matlab(x=[[1, 2, 3], [4, 5, 6]], labels=[7]))
    assert flowers.matrix(str(path), "x").tolist() == [[1, 2, 3], [4, 5, 6]]
    assert flowers.matrix(str(path), "labels").ravel().tolist() == [7]
    with pytest.raises(ValueError, match="a matrix 'y'"):
        flowers.matrix(str(path), "y")
    path.write_bytes(b"nothing")
    with pytest.raises(ValueError, match="level 5"):
        flowers.matrix(str(path), "x")


def jpeg(value):
    pillow = pytest.importorskip("PIL.Image")
    file = io.BytesIO()
    pillow.fromarray(np.full([300, 260, 3], value, np.uint8)).save(file, "PNG")
    return file.getvalue()


def test_flowers_are_read_resized_and_less_their_mean(dataset, tmp_path):
    folder = tmp_path / "flowers"
    folder.mkdir()
    with tarfile.open(folder / "102flowers.tgz", "w:gz") as tar:
        for number in (1, 2, 3):
            archives.add(tar, f"jpg/image_{number:05d}.jpg", jpeg(100 + number))
    (folder / "imagelabels.mat").write_bytes(matlab(labels=[5, 77, 9]))
    (folder / "setid.mat").write_bytes(matlab(trnid=[1], tstid=[2, 3], valid=[1]))
    dataset.common.DATA_HOME = str(tmp_path)
    samples = sorted(dataset.flowers.train()(), key=lambda sample: sample[1])
    assert [label for _, label in samples] == [8, 76]
    picture = samples[0][0].reshape(3, 224, 224)
    assert np.allclose(picture[:, 5, 5], 103 - np.array([103.94, 116.78, 123.68], "float32"))
    assert len(list(dataset.flowers.test(use_xmap=False)())) == 1
    assert len(list(itertools.islice(dataset.flowers.test(cycle=True, use_xmap=False)(), 5))) == 5


def test_pictures_and_their_parts_are_read(dataset, tmp_path):
    folder = tmp_path / "voc2012"
    folder.mkdir()
    with tarfile.open(folder / "VOCtrainval_11-May-2012.tar", "w") as tar:
        top = "VOCdevkit/VOC2012/"
        archives.add(tar, top + "ImageSets/Segmentation/trainval.txt", b"a\n")
        archives.add(tar, top + "JPEGImages/a.jpg", jpeg(1))
        archives.add(tar, top + "SegmentationClass/a.png", jpeg(2))
    dataset.common.DATA_HOME = str(tmp_path)
    ((picture, parts),) = dataset.voc2012.train()()
    assert picture.shape == parts.shape == (300, 260, 3) and parts[0, 0, 0] == 2


def test_a_picture_keeps_its_shape_when_its_short_side_changes():
    wide = np.zeros([10, 20, 3], np.uint8)
    assert image.resize_short(wide, 5).shape == (5, 10, 3)
    assert image.resize_short(wide.transpose(1, 0, 2), 5).shape == (10, 5, 3)
    ramp = np.arange(8, dtype="float64")[None, :].repeat(8, 0)
    assert np.allclose(image.resize_short(ramp, 8), ramp)
    smaller = image.resize_short(ramp, 4)
    assert np.allclose(smaller[:, 1:3], [[2.5, 4.5]] * 4, atol=0.2)


def test_pictures_are_cropped_and_mirrored():
    picture = np.arange(27, dtype=np.uint8).reshape(3, 3, 3)
    assert image.center_crop(picture, 1).tolist() == [[picture[1, 1].tolist()]]
    assert (image.left_right_flip(picture) == picture[:, ::-1]).all()
    assert image.random_crop(picture, 2).shape == (2, 2, 3)
    assert image.to_chw(picture)[1, 2, 0] == picture[2, 0, 1]
    large = np.zeros([12, 9, 3], np.uint8)
    for is_train in (True, False):
        made = image.simple_transform(large, 8, 6, is_train, mean=[1, 2, 3])
        assert made.shape == (3, 6, 6) and made[:, 0, 0].tolist() == [-1, -2, -3]
    assert image.simple_transform(large[:, :, 0], 8, 6, False, is_color=False).shape == (6, 6)


def test_pictures_of_an_archive_are_written_in_batches(tmp_path):
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as tar:
        for number in range(3):
            archives.add(tar, f"{number}.jpg", bytes([number]))
    listing = image.batch_images_from_tar(str(path), "train", {"0.jpg": 5, "2.jpg": 6}, 1)
    assert len(Path(listing).read_text().splitlines()) == 2
    assert image.batch_images_from_tar(str(path), "train", {}) == listing


def test_a_picture_is_read_with_blue_first(tmp_path):
    pillow = pytest.importorskip("PIL.Image")
    path = tmp_path / "red.png"
    pillow.fromarray(np.full([4, 4, 3], [255, 0, 0], np.uint8)).save(path)
    assert image.load_image(str(path))[0, 0].tolist() == [0, 0, 255]
    assert image.load_image(str(path), is_color=False).shape == (4, 4)
    assert image.load_and_transform(str(path), 4, 2, False).shape == (3, 2, 2)


CALLS = {
    "image.load_image": lambda path: image.load_image(path),
    "image.batch_images_from_tar": lambda path: image.batch_images_from_tar(path, "train", {}),
    "uci_housing.load_data": lambda path: uci_housing.load_data(path),
    "conll05.load_dict": lambda path: conll05.load_dict(path),
    "conll05.load_label_dict": lambda path: conll05.load_label_dict(path),
    "conll05.corpus_reader": lambda path: list(conll05.corpus_reader(path, "words", "props")()),
    "common.md5file": lambda path: homes.md5file(path),
    "common.split": lambda path: homes.split(lambda: iter([1]), 1, f"{path}%d"),
    "voc2012.reader_creator": lambda path: list(voc2012.reader_creator(path, "train")()),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=list(CALLS))
def test_a_path_with_a_zero_byte_is_no_file_of_a_set(call, tmp_path):
    with pytest.raises(FileError, match="zero byte"):
        call(f"{tmp_path}/a\0b")
    assert not list(tmp_path.iterdir())


def test_a_set_that_is_no_archive_is_said(tmp_path):
    (tmp_path / "set.tgz").write_bytes(b"something else")
    with pytest.raises(FileFormatError, match="archive"):
        list(voc2012.reader_creator(str(tmp_path / "set.tgz"), "train")())
    with pytest.raises(FileError, match="no such file"):
        list(voc2012.reader_creator(str(tmp_path / "none.tgz"), "train")())
