"""Texts of settings beside those of protobuf."""

import math
import random

import pytest

from fluidlite.proto.prototext import ToldSettings, parsed

from protobuf_messages import classes_of

from google.protobuf import descriptor_pb2, text_format  # isort: skip
from google.protobuf.internal import api_implementation  # isort: skip

if api_implementation.Type() != "upb":
    pytest.skip("other protobufs write numbers otherwise", allow_module_level=True)

DEFAULTS = {
    "amp": False, "count": 1, "rate": 0.1, "mode": "1F1B",
    "inner": {"names": [str], "numbers": [float], "deep": {"on": True, "sizes": [int]}},
}  # fmt: skip
TYPES = {float: 2, int: 5, bool: 8, str: 9}
VALUES = {
    bool: [True, False],
    int: [0, 1, -7, 2**31 - 1, -(2**31)],
    float: [0.0, -0.0, 0.1, 1e-7, 123456789.0, 16777217.0, 1e30, math.inf, -math.inf, 1 / 3],
    str: ["", "a b", "quo\"ted'", "line\nline\t\\", "für", "\x01\x7f", "✓"],
}


def declare(file, name, fields):
    message = file.message_type.add(name=name)
    for number, (field, default) in enumerate(fields.items(), 1):
        several = isinstance(default, list)
        declared = message.field.add(name=field, number=number, label=3 if several else 1)
        if isinstance(default, dict):
            declared.type, declared.type_name = 11, f".tests.{name}_{field}"
            declare(file, f"{name}_{field}", default)
            continue
        declared.type = TYPES[default[0] if several else type(default)]
        if not several:
            declared.default_value = str(default).lower() if type(default) is bool else str(default)


def message_class():
    """The message of these settings, as a class of protobuf."""
    file = descriptor_pb2.FileDescriptorProto(name="s.proto", package="tests", syntax="proto2")
    declare(file, "Settings", DEFAULTS)
    return classes_of(file)["Settings"]


MESSAGE = message_class()


def tell(rng, settings, message):
    """Tell both the same."""
    for name, default in settings.defaults.items():
        if isinstance(default, dict):
            tell(rng, settings.get(name), getattr(message, name))
        elif isinstance(default, list):
            values = rng.choices(VALUES[default[0]], k=rng.randrange(3))
            if values:  # protobuf takes no values for a sign that the message is there
                settings.extend(name, values)
                getattr(message, name).extend(values)
        elif rng.randrange(2):
            value = rng.choice(VALUES[type(default)])
            settings.put(name, value)
            setattr(message, name, value)


def agree(settings, message):
    """Whether both hold the same."""
    for name, default in settings.defaults.items():
        ours, theirs = settings.get(name), getattr(message, name)
        if isinstance(default, dict):
            if not agree(ours, theirs):
                return False
        elif repr(ours) != repr(list(theirs) if isinstance(default, list) else theirs):
            return False
    return True


def test_settings_have_the_text_that_protobuf_gives_and_read_it():
    rng = random.Random(0)
    for _ in range(100):
        settings, message = ToldSettings(DEFAULTS), MESSAGE()
        tell(rng, settings, message)
        assert agree(settings, message)
        text = text_format.MessageToString(message, as_utf8=True)
        assert str(settings) == str(message)
        assert settings.told() == [field.name for field, _ in message.ListFields()]
        for each in (text, str(message), text_format.MessageToString(message, as_one_line=True)):
            assert agree(parsed(each, DEFAULTS), message)


def test_a_copy_is_changed_alone():
    settings = parsed("inner { names: 'a' }", DEFAULTS)
    copied = settings.copy()
    copied.get("inner").extend("names", ["b"])
    copied.put("amp", True)
    assert str(settings) == 'inner {\n  names: "a"\n}\n'


ODD = [
    "", "amp: true count: 0x1F rate: 1.5f", "amp: t, count: 017; rate: nan", "amp: 0 rate: -inf",
    "# no\nmode: 'a' \"b\" # yes", "inner < names: ['a', 'b'] names: 'c' >", "inner: { deep {} }",
    "mode: '\\x41\\101\\u00e9\\n'", "inner { numbers: [] }", "count: -0x10",
    "rate: 3", "rate: .5",
]  # fmt: skip


@pytest.mark.parametrize("text", ODD)
def test_other_ways_of_writing_are_read(text):
    assert agree(parsed(text, DEFAULTS), text_format.Parse(text, MESSAGE()))


WRONG = {
    "amp": "line 1: expected a colon behind amp, found the end",
    "amp: yes": "line 1: expected a value of type bool, found yes",
    "amp: true\namp: true": "line 2: expected amp once, found amp",
    "count: 2147483648": "expected an integer of 32 bits, got 2147483648",
    "count: 1.5": "line 1: expected a value of type int, found 1.5",
    "mode: x": "line 1: expected a value of type str, found x",
    "mode: 'x": 'line 1: expected a word, a text or a sign, found "\'"',
    "mode: '\\377'": "codec can't decode byte 0xff",
    "inner: 1": "line 1: expected the settings inner in braces, found 1",
    "inner {": "line 1: expected one of names, numbers, deep, found the end",
    "inner { > ": "line 1: expected one of names, numbers, deep, found >",
    "inner { names: ['a' 'b', ] }": "line 1: expected a value of type str, found ]",
    "inner { numbers: [1 2] }": "line 1: expected a comma or the end of the list, found 2",
    "}": "line 1: expected one of amp, count, rate, mode, inner, found }",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_no_text_of_settings_is_refused_at_its_line(text):
    with pytest.raises(text_format.ParseError):
        text_format.Parse(text, MESSAGE())
    with pytest.raises(ValueError, match=WRONG[text].replace("[", r"\[").replace("]", r"\]")):
        parsed(text, DEFAULTS)
