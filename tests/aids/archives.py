"""Small data sets in the formats of 1.8, in the places where it kept them.  Also for Python 3.7."""
# ruff: noqa: B023, UP031, E501

import gzip
import io
import os
import pickle
import struct
import tarfile
import zipfile

import numpy as np

WORDS = ["the", "movie", "was", "good", "bad", "plot", "and", "actor", "poor", "fine"]


def text(random, count):
    return " ".join(WORDS[i] for i in random.randint(0, len(WORDS), count))


def add(tar, name, data):
    info = tarfile.TarInfo(name)
    info.size = len(data)
    tar.addfile(info, io.BytesIO(data))


def folder(home, name):
    path = os.path.join(home, name)
    os.makedirs(path, exist_ok=True)
    return path


def mnist(home, random):
    where = folder(home, "mnist")
    for part, count in (("train", 100), ("t10k", 100)):
        images = random.randint(0, 256, (count, 28, 28)).astype(np.uint8)
        labels = random.randint(0, 10, count).astype(np.uint8)
        with gzip.open(os.path.join(where, part + "-images-idx3-ubyte.gz"), "wb") as file:
            file.write(struct.pack(">IIII", 2051, count, 28, 28) + images.tobytes())
        with gzip.open(os.path.join(where, part + "-labels-idx1-ubyte.gz"), "wb") as file:
            file.write(struct.pack(">II", 2049, count) + labels.tobytes())


def cifar(home, random):
    where = folder(home, "cifar")

    def batch(count, key):
        return pickle.dumps(
            {
                b"data": random.randint(0, 256, (count, 3072)).astype(np.uint8),
                key: [int(i) for i in random.randint(0, 10, count)],
            },
            protocol=2,
        )

    with tarfile.open(os.path.join(where, "cifar-10-python.tar.gz"), "w:gz") as tar:
        for name in ("data_batch_1", "data_batch_2", "test_batch"):
            add(tar, "cifar-10-batches-py/" + name, batch(2, b"labels"))
    with tarfile.open(os.path.join(where, "cifar-100-python.tar.gz"), "w:gz") as tar:
        for name in ("train", "test"):
            add(tar, "cifar-100-python/" + name, batch(2, b"fine_labels"))


def imdb(home, random):
    with tarfile.open(
        os.path.join(folder(home, "imdb"), "imdb%2FaclImdb_v1.tar.gz"), "w:gz"
    ) as tar:
        for part in ("train", "test"):
            for label in ("pos", "neg"):
                for i in range(3):
                    data = "The " + text(random, 8) + "!! Good-bye, it's.\n"
                    add(tar, "aclImdb/%s/%s/%d_7.txt" % (part, label, i), data.encode())


def imikolov(home, random):
    path = os.path.join(folder(home, "imikolov"), "imikolov%2Fsimple-examples.tgz")
    with tarfile.open(path, "w:gz") as tar:
        for part in ("train", "valid", "test"):
            lines = "".join(" " + text(random, n) + " \n" for n in (6, 3, 5, 9))
            add(tar, "./simple-examples/data/ptb.%s.txt" % part, lines.encode())


def movielens(home, random):
    path = os.path.join(folder(home, "movielens"), "movielens%2Fml-1m.zip")
    movies = "1::Toy Story (1995)::Animation|Comedy\n2::Heat (1995)::Action\n5::Good Plot, The (2000)::Comedy\n"
    users = "1::F::1::10::48067\n2::M::56::16::70072\n3::M::25::15::55117\n"
    ratings = "".join(
        "%d::%d::%d::%d\n"
        % (random.randint(1, 4), [1, 2, 5][random.randint(3)], random.randint(1, 6), i)
        for i in range(80)
    )
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("ml-1m/movies.dat", movies.encode("latin"))
        file.writestr("ml-1m/users.dat", users)
        file.writestr("ml-1m/ratings.dat", ratings)


def uci_housing(home, random):
    rows = np.abs(random.randn(10, 14)) * 10
    with open(os.path.join(folder(home, "uci_housing"), "housing.data"), "w") as file:
        for row in rows:
            file.write(" " + "  ".join("%.4f" % value for value in row) + "\n")


def conll05(home, random):
    where = folder(home, "conll05st")
    words = "The\ncat\nsat\ndog\n<unk>\nbos\neos\n"
    with open(os.path.join(where, "conll05st%2FwordDict.txt"), "w") as file:
        file.write(words)
    with open(os.path.join(where, "conll05st%2FverbDict.txt"), "w") as file:
        file.write("sit\nrun\n")
    with open(os.path.join(where, "conll05st%2FtargetDict.txt"), "w") as file:
        file.write("B-A0\nI-A0\nB-V\nI-V\nB-A1\nI-A1\nO\n")
    with open(os.path.join(where, "conll05st%2Femb"), "wb") as file:
        file.write(random.randn(8).astype("float32").tobytes())
    words = "The\ncat\nsat\non\ndogs\n.\n\nDogs\nrun\n\n"
    props = "-  (A0*  *\n-  *)  *\nsit  (V*)  *\n-  (A1*  *\nrun  *  (V*)\n-  *)  *\n\n-  (A0*)\nrun  (V*)\n\n"
    props = props.replace("  ", " ")
    with tarfile.open(os.path.join(where, "conll05st-tests.tar.gz"), "w:gz") as tar:
        for name, data in (("words", words), ("props", props)):
            kept = io.BytesIO()
            with gzip.GzipFile(fileobj=kept, mode="wb") as file:
                file.write(data.encode())
            full = "conll05st-release/test.wsj/%s/test.wsj.%s.gz" % (name, name)
            add(tar, full, kept.getvalue())


def wmt14(home, random):
    path = os.path.join(folder(home, "wmt14"), "wmt14.tgz")
    source = "<s>\n<e>\n<unk>\nthe\nmovie\nwas\ngood\n"
    target = "<s>\n<e>\n<unk>\nle\nfilm\nbon\netait\n"
    pairs = (
        "the movie was good\tle film etait bon\nwas bad\tmauvais etait\nno tab here\n"
        + " ".join(["the"] * 90)
        + "\tle\n"
    )
    with tarfile.open(path, "w:gz") as tar:
        add(tar, "wmt14/src.dict", source.encode())
        add(tar, "wmt14/trg.dict", target.encode())
        for part in ("train/train", "test/test", "gen/gen"):
            add(tar, "wmt14/" + part, pairs.encode())


def wmt16(home, random):
    path = os.path.join(folder(home, "wmt16"), "wmt16.tar.gz")
    pairs = "the movie was good\tder film war gut\nthe movie\tder film\nbad movie the\tschlechter film der\nno tab\n"
    with tarfile.open(path, "w:gz") as tar:
        for part in ("train", "test", "val"):
            add(tar, "wmt16/" + part, pairs.encode())


def mq2007(home, random):
    where = os.path.join(folder(home, "MQ2007"), "MQ2007", "Fold1")
    os.makedirs(where, exist_ok=True)
    for part in ("train", "vali", "test"):
        with open(os.path.join(where, part + ".txt"), "w") as file:
            for query in (10, 18):
                for i in range(3):
                    features = " ".join(
                        "%d:%.6f" % (k + 1, v) for k, v in enumerate(random.rand(46))
                    )
                    file.write("%d qid:%d %s #docid = GX0-%d\n" % (i % 3, query, features, i))


def sentiment(home, random):
    path = os.path.join(folder(home, "corpora"), "movie_reviews.zip")
    with zipfile.ZipFile(path, "w") as file:
        for label in ("neg", "pos"):
            for i in range(4):
                data = text(random, 7) + " .\n" + text(random, 4) + " !\n"
                file.writestr("movie_reviews/%s/cv%03d_1.txt" % (label, i), data)


MAKERS = [
    mnist,
    cifar,
    imdb,
    imikolov,
    movielens,
    uci_housing,
    conll05,
    wmt14,
    wmt16,
    mq2007,
    sentiment,
]


def make(home):
    for number, maker in enumerate(MAKERS):
        maker(home, np.random.RandomState(number))


def plain(value):
    """A sample as JSON has it; arrays as their type, shape and sum."""
    if isinstance(value, np.ndarray):
        return [
            str(value.dtype),
            list(value.shape),
            float(np.float64(value).sum()),
            float(np.ravel(value)[0]),
        ]
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, bytes):
        return "bytes " + value.decode()
    if isinstance(value, (list, tuple)) or type(value).__name__ in ("map", "zip"):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return [[plain(k), plain(v)] for k, v in value.items()]
    if hasattr(value, "value") and callable(value.value):
        return plain(value.value())
    return value if isinstance(value, (int, float, str, type(None))) else str(value)


def told(paddle):
    """Every sample of every set: name -> samples, or the error's class."""
    d = paddle.dataset
    found = {}

    def tell(name, make):
        try:
            result = make()
            if callable(result):
                result = result()
            found[name] = plain(list(result) if hasattr(result, "__next__") else result)
        except Exception as error:
            found[name] = "%s: %s" % (type(error).__name__, error)

    for name in ("train", "test"):
        tell("mnist." + name, lambda: lambda: list(getattr(d.mnist, name)()())[:3])
        tell("uci_housing." + name, getattr(d.uci_housing, name))
        # Words, categories and tags are numbered in another order by each run of 1.8.
        tell(
            "movielens." + name,
            lambda: [
                row[:5] + [len(row[5]), len(row[6]), row[7]]
                for row in getattr(d.movielens, name)()()
            ],
        )
        tell("imdb." + name, lambda: getattr(d.imdb, name)({b"the": 0, b"good": 1, "<unk>": 2}))
        for n, kind in ((2, "NGRAM"), (3, "NGRAM"), (-1, "SEQ"), (5, "SEQ")):
            tell(
                "imikolov.%s.%d.%s" % (name, n, kind),
                lambda: getattr(d.imikolov, name)(
                    d.imikolov.build_dict(1), n, getattr(d.imikolov.DataType, kind)
                ),
            )
    for name in ("train10", "test10", "train100", "test100"):
        tell("cifar." + name, getattr(d.cifar, name))
    tell(
        "imdb.build_dict",
        lambda: sorted(
            d.imdb.build_dict(__import__("re").compile(r"aclImdb/train/.*\.txt$"), 2).items(),
            key=lambda i: i[1],
        ),
    )
    tell(
        "imikolov.build_dict", lambda: sorted(d.imikolov.build_dict(1).items(), key=lambda i: i[1])
    )
    tell("movielens.get_movie_title_dict", lambda: sorted(d.movielens.get_movie_title_dict()))
    tell(
        "movielens.max",
        lambda: [d.movielens.max_movie_id(), d.movielens.max_user_id(), d.movielens.max_job_id()],
    )
    tell("movielens.categories", lambda: sorted(d.movielens.movie_categories()))
    tell("movielens.ages", lambda: d.movielens.age_table)
    tell(
        "movielens.movies",
        lambda: sorted((k, repr(v)) for k, v in d.movielens.movie_info().items()),
    )
    tell(
        "movielens.users", lambda: sorted((k, repr(v)) for k, v in d.movielens.user_info().items())
    )
    tell("uci_housing.names", lambda: d.uci_housing.feature_names)
    tell("conll05.dicts", lambda: [sorted(each) for each in d.conll05.get_dict()])
    tell("conll05.embedding", lambda: os.path.basename(d.conll05.get_embedding()))
    tell("conll05.test", lambda: [sample[:-1] for sample in d.conll05.test()()])
    tell(
        "conll05.tags",
        lambda: [
            [{v: k for k, v in d.conll05.get_dict()[2].items()}[tag] for tag in sample[-1]]
            for sample in d.conll05.test()()
        ],
    )
    for name in ("train", "test", "gen"):
        tell("wmt14." + name, lambda: getattr(d.wmt14, name)(6))
    tell("wmt14.dict", lambda: [sorted(each.items()) for each in d.wmt14.get_dict(5)])
    tell("wmt14.dict.words", lambda: [sorted(each.items()) for each in d.wmt14.get_dict(5, False)])
    for name in ("train", "test", "validation"):
        tell("wmt16." + name, lambda: getattr(d.wmt16, name)(6, 7))
        tell("wmt16.de." + name, lambda: getattr(d.wmt16, name)(6, 7, "de"))
    tell("wmt16.dict", lambda: sorted(d.wmt16.get_dict("en", 6).items()))
    tell("wmt16.dict.words", lambda: sorted(d.wmt16.get_dict("de", 7, True).items()))
    for kind in ("pairwise", "listwise"):
        tell("mq2007." + kind, lambda: d.mq2007.train(format=kind))
    tell("sentiment.words", lambda: d.sentiment.get_word_dict())
    tell("sentiment.train", d.sentiment.train)
    tell("sentiment.test", d.sentiment.test)
    return found
