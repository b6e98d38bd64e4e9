"""Data sets of pictures over local files and folders."""

import gzip
import io
import pickle
import struct
import tarfile
from pathlib import Path

import numpy as np
import pytest

from fluidlite import paddle
from fluidlite.errors import ArgumentError, FileError, FileFormatError

sets = paddle.vision.datasets
images = pytest.importorskip("PIL.Image")
DRAWN = np.random.RandomState(2)


def pixels(*shape):
    return DRAWN.randint(0, 256, shape).astype("uint8")


def encoded(array, kind="PNG"):
    out = io.BytesIO()
    images.fromarray(array).save(out, kind)
    return out.getvalue()


def archive(path, files, mode="w:gz"):
    with tarfile.open(path, mode) as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return str(path)


def matrix(path, **values):
    """A MATLAB file of rows of bytes."""
    element = lambda kind, data: (
        struct.pack("<II", kind, len(data)) + data + b"\0" * (-len(data) % 8)
    )
    parts = [
        element(
            14,
            element(6, struct.pack("<II", 6, 0))
            + element(5, struct.pack("<ii", 1, len(row)))
            + element(1, name.encode())
            + element(2, bytes(row)),
        )
        for name, row in values.items()
    ]
    path.write_bytes(b"\0" * 126 + b"IM" + b"".join(parts))
    return str(path)


@pytest.fixture
def digits(tmp_path):
    pictures = pixels(4, 28, 28)
    (tmp_path / "i.gz").write_bytes(
        gzip.compress(struct.pack(">4I", 2051, 4, 28, 28) + pictures.tobytes())
    )
    (tmp_path / "l.gz").write_bytes(
        gzip.compress(struct.pack(">2I", 2049, 4) + bytes([3, 1, 4, 1]))
    )
    return pictures, str(tmp_path / "i.gz"), str(tmp_path / "l.gz")


@pytest.mark.parametrize("kind", [sets.MNIST, sets.FashionMNIST])
def test_digits_are_pictures_and_labels(digits, kind):
    pictures, *paths = digits
    found = kind(*paths)
    assert found[-1][1].tolist() == [1]
    picture, label = found[2]
    assert len(found) == 4 and picture.mode == "L" and label.tolist() == [4]
    np.testing.assert_array_equal(np.asarray(picture), pictures[2])
    array, label = kind(*paths, mode="test", backend="cv2")[1]
    assert array.dtype == np.float32 and label.dtype == np.int64
    np.testing.assert_array_equal(array, pictures[1])
    assert kind.TRAIN_LABEL_URL.startswith(kind.URL_PREFIX)


def test_transforms_make_batches_for_a_loader(digits):
    prepare = paddle.vision.transforms.ToTensor()
    found = sets.MNIST(*digits[1:], transform=prepare)
    pictures, labels = next(iter(paddle.io.DataLoader(found, batch_size=3)))
    assert pictures.shape == [3, 1, 28, 28] and labels.shape == [3, 1]
    np.testing.assert_allclose(pictures[1, 0].numpy() * 255, digits[0][1], atol=1e-4)


def test_small_colored_pictures_come_from_pickles(tmp_path):
    rows = [pixels(2, 3072) for _ in range(3)]
    parts = ["data_batch_1", "data_batch_2", "test_batch"]
    files = {
        f"cifar/{name}": pickle.dumps({b"data": data, b"labels": [place, 7]}, 2)
        for place, (name, data) in enumerate(zip(parts, rows))
    }
    path = archive(tmp_path / "c.tar.gz", files)
    found = sets.Cifar10(path)
    assert len(found) == 4 and [int(label) for _, label in found] == [0, 7, 1, 7]
    picture = np.asarray(sets.Cifar10(path, mode="test")[1][0])
    np.testing.assert_array_equal(picture, rows[2][1].reshape(3, 32, 32).transpose(1, 2, 0))
    fine = {"train": pickle.dumps({b"data": rows[0], b"fine_labels": [50, 51]}, 2)}
    array, label = sets.Cifar100(archive(tmp_path / "f.tar.gz", fine), backend="cv2")[1]
    assert array.shape == (32, 32, 3) and array.dtype == np.float32 and label.shape == ()
    broken = archive(tmp_path / "b.tar.gz", {"train": pickle.dumps([1], 2)})
    with pytest.raises(FileFormatError, match=r"expected data and labels in train"):
        sets.Cifar100(broken)


@pytest.mark.parametrize("mode, numbers", [("train", [3, 1]), ("test", [2]), ("valid", [4])])
def test_flowers_have_the_kind_of_their_number(tmp_path, mode, numbers):
    pictures = {number: pixels(3, 5, 3) for number in range(1, 5)}
    files = {f"jpg/image_{n:05d}.jpg": encoded(each) for n, each in pictures.items()}
    path = archive(tmp_path / "f.tgz", files)
    labels = matrix(tmp_path / "l.mat", labels=[9, 8, 7, 6])
    parts = matrix(tmp_path / "s.mat", trnid=[2], tstid=[3, 1], valid=[4])
    found = sets.Flowers(path, labels, parts, mode=mode)
    assert [label.tolist() for _, label in found] == [[10 - number] for number in numbers]
    np.testing.assert_array_equal(np.asarray(found[0][0]), pictures[numbers[0]])


@pytest.mark.parametrize("form", ["w", "w:gz"])
def test_pictures_and_what_is_on_them_have_the_same_name(tmp_path, form):
    inner = "VOCdevkit/VOC2012/"
    whole = {name: (pixels(4, 6, 3), pixels(4, 6) // 20) for name in ("a", "b")}
    files = {f"{inner}ImageSets/Segmentation/{part}.txt": names for part, names in (
        ("trainval", b"a\nb\n"), ("train", b"a\n"), ("val", b"b\n"))}  # fmt: skip
    for name, (picture, label) in whole.items():
        files[f"{inner}JPEGImages/{name}.jpg"] = encoded(picture)
        files[f"{inner}SegmentationClass/{name}.png"] = encoded(label)
    path = archive(tmp_path / "v.tar", files, form)
    assert [len(sets.VOC2012(path, mode=mode)) for mode in ("train", "test", "valid")] == [2, 1, 1]
    for one, right in zip(sets.VOC2012(path)[1], whole["b"]):
        np.testing.assert_array_equal(np.asarray(one), right)
    turned = sets.VOC2012(path, "valid", lambda x: x[:2], backend="cv2")[0]
    assert [each.shape for each in turned] == [(2, 6, 3), (4, 6)]
    del files[f"{inner}JPEGImages/b.jpg"]
    with pytest.raises(FileFormatError, match=r"JPEGImages/b\.jpg in the archive"):
        sets.VOC2012(archive(tmp_path / "w.tar", files, form))


@pytest.fixture
def folders(tmp_path):
    for kind in ("dog", "cat"):
        (tmp_path / kind / "inner").mkdir(parents=True)
        for name in ("b.PNG", "a.jpg", "inner/c.bmp"):
            images.fromarray(pixels(3, 4, 3)).save(tmp_path / kind / name)
        (tmp_path / kind / "notes.txt").write_text(kind)
    return tmp_path


def test_folders_are_classes(folders):
    found = sets.DatasetFolder(str(folders))
    assert found.classes == ["cat", "dog"] and found.class_to_idx == {"cat": 0, "dog": 1}
    names = [path.removeprefix(str(folders)) for path, _ in found.samples]
    assert names[:3] == ["/cat/a.jpg", "/cat/b.PNG", "/cat/inner/c.bmp"]
    assert found.targets == [0] * 3 + [1] * 3 and len(found) == 6
    picture, number = found[4]
    assert picture.size == (4, 3) and number == 1
    texts = sets.DatasetFolder(str(folders), lambda at: Path(at).read_text(), (".txt",), str.upper)
    assert [*texts] == [("CAT", 0), ("DOG", 1)]
    by_name = sets.DatasetFolder(str(folders), str, is_valid_file=lambda path: "notes" in path)
    assert len(by_name) == 2


def test_all_pictures_below_a_folder_are_samples(folders):
    found = sets.ImageFolder(str(folders), transform=lambda picture: picture.size)
    assert len(found) == 6 and found[5] == [(4, 3)]


def test_pictures_are_read_as_the_backend_says(folders):
    path = str(folders / "dog" / "b.PNG")
    read = paddle.vision.image_load
    right = np.asarray(read(path))
    np.testing.assert_array_equal(read(path, "cv2"), right[:, :, ::-1])
    try:
        paddle.vision.set_image_backend("tensor")
        np.testing.assert_array_equal(read(path).numpy(), right[:, :, ::-1])
        with pytest.raises(ArgumentError, match='"pil" or "cv2"'):
            sets.MNIST()
    finally:
        paddle.vision.set_image_backend("pil")
    assert paddle.vision.get_image_backend() == "pil"


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda at: sets.MNIST(mode="valid"), "train, test"),
        (lambda at: sets.MNIST(str(at / "no.gz")), r"no\.gz: there is no such file or folder; put"),
        (lambda at: sets.VOC2012(str(at / "cat/notes.txt")), "archive"),
        (lambda at: sets.MNIST(str(at / "cat/notes.txt"), str(at / "cat/notes.txt")), "gzip"),
        (lambda at: sets.Cifar10(backend="opencv"), "'opencv'"),
        (lambda at: sets.ImageFolder(str(at / "bird")), "no such file or folder"),
        (lambda at: sets.ImageFolder(str(at), extensions=(".gif",)), r"end in \.gif"),
        (lambda at: sets.DatasetFolder(str(at), str, (".txt",), None, bool), "got both"),
        (lambda at: paddle.vision.image_load(str(at / "cat/notes.txt")), "expected a picture"),
        (lambda at: paddle.vision.set_image_backend("gpu"), "'gpu'"),
    ],
)
def test_what_is_no_set_says_what_was_expected(folders, call, words):
    with pytest.raises((ArgumentError, FileError, FileFormatError), match=words):
        call(folders)


def test_more_pictures_than_labels_are_refused(digits, tmp_path):
    (tmp_path / "s.gz").write_bytes(gzip.compress(struct.pack(">2I", 2049, 1) + b"\1"))
    with pytest.raises(FileFormatError, match="expected 4 labels, got 1"):
        sets.MNIST(digits[1], str(tmp_path / "s.gz"))
