"""Pickles of arrays: read without running anything, written as the real thing writes them."""

import io
import os
import pickle
import struct
from collections import OrderedDict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fluidlite.errors import ArgumentError, DTypeError, FileFormatError
from fluidlite.ground.files import Source
from fluidlite.proto.pickled import read_pickle
from fluidlite.proto.pickling import write_pickle

import saved_models

OURS = [name for name in saved_models.contents(saved_models.FLUID18) if ".pd" in name]
STATES = [name for name in OURS if not name.endswith("pdmodel")]


def read(data):
    return read_pickle(Source.of(data, "file"))


def written(value):
    file = io.BytesIO()
    write_pickle(file, value)
    return file.getvalue()


def same(a, b):
    """Whether two values are the same, types and element types included."""
    if isinstance(a, np.ndarray):
        native = getattr(b, "dtype", np.dtype(object)).newbyteorder("=")
        return (a.dtype, a.shape) == (native, b.shape) and np.array_equal(a, b, equal_nan=True)
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and a == b


STATE = {
    "weight": np.arange(6, dtype="float32").reshape(2, 3),
    "many": np.arange(120).reshape(1, 2, 3, 4, 5),
    "scalar": np.array(3.5),
    "nothing": np.zeros([0, 3], "int8"),
    "flags": np.array([True, False]),
    "complex": np.array([1 + 2j]),
    "fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "swapped": np.arange(3).astype(">i4"),
    "text": "Grüße",
    "bytes": b"\x00\xff",
    "numbers": [0, 255, 256, 65536, -1, 2**31, -(2**40), 0.5, True, None],
    "tuples": ((), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)),
    "empty": [{}, [], ()],
    1: "key",
}


# -- reading ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_what_python_pickles_is_read(protocol):
    assert same(read(pickle.dumps(STATE, protocol)), STATE)


def test_an_ordered_dictionary_stays_one():
    for protocol in (2, 4):
        found = read(pickle.dumps(OrderedDict(a=1, b=2), protocol))
        assert found == {"a": 1, "b": 2} and type(found) is OrderedDict


def test_numpy_scalars_are_numbers():
    assert read(pickle.dumps([np.float64(0.5), np.int32(3)], 2)) == [0.5, 3]


def test_an_array_that_occurs_twice_is_read_once():
    one, two = read(pickle.dumps([STATE["weight"]] * 2, 2))
    assert one is two


def test_arrays_are_their_own_and_can_be_written_to():
    found = read(pickle.dumps(STATE, 2))["weight"]
    found[0, 0] = 7
    assert found.flags.owndata or found.base.flags.owndata


@pytest.mark.parametrize("path", STATES)
def test_states_of_the_real_thing_are_read(path):
    data = saved_models.file(path)
    assert same(read(data), pickle.loads(data, encoding="latin1"))


def test_states_of_paddle_2_are_read():
    arrays = saved_models.arrays("net.npz", saved_models.PADDLE2)
    for name in ("net2.pdparams", "net4.pdparams"):
        found = read(saved_models.file(name, saved_models.PADDLE2))
        assert all(same(found[key], array) for key, array in arrays.items())
    tensor = read(saved_models.file("tensor.pdtensor", saved_models.PADDLE2))
    assert same(tensor[1], np.ones([2, 3], "float32"))


def test_texts_of_python_2_are_read():
    data = b"\x80\x02}q\x00(U\x01aK\x01T\x02\x00\x00\x00bcK\x02u."
    assert read(data) == {"a": 1, "bc": 2}


def test_a_tensor_as_a_call_of_eval_is_read_without_calling_it():
    head = b"\x80\x02c__builtin__\neval\nX\x04\x00\x00\x00data}X\x04\x00\x00\x00data"
    assert read(head + b"K\x07s\x86R.") == 7
    with pytest.raises(FileFormatError, match="the function eval"):
        read(head.replace(b"data}", b"exit}") + b"K\x07s\x86R.")


# -- writing ---------------------------------------------------------------------------------------


def test_what_is_written_is_read_by_python():
    state = {key: value for key, value in STATE.items() if key != "bytes"}
    assert same(pickle.loads(written(state)), state)
    assert same(read(written(state)), state)


@pytest.mark.parametrize("path", [name for name in STATES if name.startswith(("fc", "mlp", "res"))])
def test_a_state_of_the_real_thing_is_written_as_it_was_read(path):
    data = saved_models.file(path)
    assert written(read(data)) == data


def test_other_values_are_refused():
    with pytest.raises(ArgumentError, match="got object"):
        written({"a": object()})
    with pytest.raises(DTypeError, match="one of object"):
        written({"a": np.array([None])})


@settings(max_examples=60, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.tuples(inner, inner)
            | st.dictionaries(st.text(), inner, max_size=4)
        ),
        max_leaves=20,
    )
)
def test_plain_data_survives(value):
    assert same(read(written(value)), value)


# -- what is wrong ---------------------------------------------------------------------------------


class Harmful:
    """Runs a command when it is unpickled."""

    def __reduce__(self):
        return os.system, ("echo harm",)


class WithState:
    """An object of a class."""


HARMFUL = {
    "object": Harmful(),
    "in a list": [Harmful()],
    "in a dictionary": {"a": Harmful()},
    "of a class": WithState(),
    "function": len,
    "type": np.float32,
}


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("value", HARMFUL.values(), ids=HARMFUL)
def test_nothing_but_data_is_read(value, protocol, capfd):
    with pytest.raises(FileFormatError, match="only plain data and arrays|plain data"):
        read(pickle.dumps(value, protocol))
    assert not capfd.readouterr().out


def test_protocols_0_and_1_are_refused():
    for protocol in (0, 1):
        with pytest.raises(FileFormatError, match="a pickle of protocol 2 to 5 .* at byte 0"):
            read(pickle.dumps(STATE, protocol))


HEAD = b"\x80\x02"
ARRAY = b"cnumpy.core.multiarray\n_reconstruct\n)R"
FLOAT = b"cnumpy\ndtype\nU\x02f4\x85R"
WRONG = {
    "empty": (b"", "protocol 2 to 5 .* at byte 0, found the end of the file"),
    "no end": (HEAD + b"N", "an instruction of a pickle at byte 3, found the end of the file"),
    "nothing": (HEAD + b".", "one object at byte 2, found 0 at the end"),
    "two": (HEAD + b"NN.", "one object at byte 4, found 2 at the end"),
    "unknown": (HEAD + b"P.", "an instruction that makes data at byte 2, found 0x50"),
    "object": (HEAD + b"\x81.", "an instruction that makes data at byte 2, found 0x81"),
    "pop": (HEAD + b"0", "an object to work on at byte 2, found none"),
    "memo": (HEAD + b"h\x07.", "an object to work on at byte 2, found none"),
    "long text": (HEAD + b"X\xff\xff\xff\xff", "4294967295 bytes at byte 2, found the end"),
    "text": (HEAD + b"X\x01\x00\x00\x00\xff.", "an instruction that makes data at byte 2"),
    "key": (HEAD + b"})Ns.", "a text or a number as a key at byte 5, found tuple"),
    "not a dictionary": (HEAD + b"]NNs.", "a dictionary, and keys with values at byte 5"),
    "not a list": (HEAD + b"}Na.", "a list to add to at byte 4"),
    "call": (HEAD + b"N)R.", "a function that makes data, and its arguments at byte 4"),
    "ndarray": (HEAD + b"cnumpy\nndarray\n)R.", "a function that makes data at byte 18"),
    "long name": (HEAD + b"c" + b"x" * 300, "a name of at most 255 bytes at byte 2"),
    "type": (HEAD + b"cnumpy\ndtype\nU\x01O\x85R.", "such as f4 or i8 at byte 19, found 'O'"),
    "empty array": (HEAD + ARRAY + b".", "the content of an array at byte 40, found none"),
    "size": (
        HEAD + ARRAY + b"(K\x01K\x05\x85" + FLOAT + b"\x89U\x04abcdtb.",
        r"20 bytes for float32\[5\] at byte 73, found 4",
    ),
    "negative size": (
        HEAD + ARRAY + b"(K\x01J\xff\xff\xff\xff\x85" + FLOAT + b"\x89U\x04abcdtb.",
        "the sizes of an array at byte 76, found -1",
    ),
    "huge sizes": (
        HEAD + ARRAY + b"(K\x01K\x00\x8a\x08" + b"\xff" * 7 + b"\x3f\x86" + FLOAT + b"\x89U\x00tb.",
        "the sizes of an array",
    ),
    "deep size": (
        HEAD + ARRAY + b"(K\x01N" + b"\x85" * 3000 + FLOAT + b"\x89U\x04abcdtb.",
        r"the sizes of an array at byte \d+, found tuple",
    ),
    "deep name": (HEAD + b"cnumpy\ndtype\nN" + b"\x85" * 3000 + b"R.", "or i8 .*, found tuple"),
    "deep function": (HEAD + b"NN" + b"\x85" * 3000 + b"\x93.", "the name of a function"),
    "state": (HEAD + b"NNb.", "the state of an array at byte 4"),
    "circle": (HEAD + b"]q\x00h\x00a.", "containers without a circle at byte 8"),
    "deep": (HEAD + b"N" + b"\x85" * 100 + b".", "plain data, not deeper than 64"),
    "integer": (HEAD + b"\x8b" + struct.pack("<i", 2000) + bytes(2000), "at most 1024 bytes"),
}


@pytest.mark.parametrize("data, message", WRONG.values(), ids=WRONG)
def test_bytes_that_are_no_pickle_of_data_are_refused_at_their_place(data, message):
    with pytest.raises(FileFormatError, match=f"file: expected .*{message}|file: .*{message}"):
        read(data)


def test_every_beginning_of_a_pickle_is_refused():
    data = pickle.dumps(STATE, 2)
    for size in range(len(data)):
        with pytest.raises(FileFormatError):
            read(data[:size])


def test_few_bytes_do_not_become_many():
    for body in (b"]" * 400_000, b"}" * 400_000, b"(" * 400_000):
        with pytest.raises(FileFormatError, match="a pickle that fits .* bytes of memory"):
            read(HEAD + body + b".")


def test_a_long_text_that_many_places_refer_to_is_read_once():
    text = b"X" + struct.pack("<I", 500_000) + b"a" * 500_000
    found = read(HEAD + b"(" + text + b"q\x00" + b"h\x00" * 50_000 + b"t.")
    assert len(found) == 50_001 and len({id(each) for each in found}) == 1


def test_bytes_that_many_arrays_refer_to_are_refused():
    raw = b"T" + struct.pack("<I", 400_000) + b"a" * 400_000 + b"q\x04"
    byte = b"cnumpy\ndtype\nU\x02u1\x85Rq\x03"
    make = b"cnumpy.core.multiarray\n_reconstruct\nq\x05"
    one = b"h\x05)R(K\x01J" + struct.pack("<i", 400_000) + b"\x85h\x03\x89h\x04tb"
    with pytest.raises(FileFormatError, match="a pickle that fits .* bytes of memory"):
        read(HEAD + byte + raw + make + b"(" + one * 1000 + b"t.")
