"""Pickles of plain data and arrays, the content of ``.pdparams`` and ``.pdopt`` files.

Reading one never runs code: it is taken apart here, instruction by instruction.  What is known are
dictionaries, lists, tuples, texts, bytes, numbers and NumPy's arrays, as Python 2 and 3, NumPy 1
and 2, fluid 1.8 and Paddle 2 write them.  Everything else is refused, with its place.
"""

from __future__ import annotations

import re
import struct
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ground.files import LARGEST, Source, empty, excerpt

DEEPEST = 64  #: containers inside containers
#: what an object takes at least, in bytes
_OBJECT = 80
_SHORT = 256  # bytes of a text that is copied at once
_LONGEST_INTEGER = 1024  # bytes
_DTYPE = re.compile(r"([<>|=]?)(b1|[iu][1248]|f[248]|c8|c16)\Z")
_NEW = "a container that is being filled"


def memory_limit(size: int) -> int:
    """What may be made of a pickle of ``size`` bytes."""
    return 3 * size + (15 << 20)


class _Text:
    """A text or bytes, not yet copied out of the file."""

    __slots__ = ("copied", "encoding", "view")

    def __init__(self, view: memoryview, encoding: str) -> None:
        self.view = view
        self.encoding = encoding  #: "" for bytes
        self.copied: str | bytes | None = None

    def plain(self) -> str | bytes:
        if self.copied is None:
            self.copied = str(self.view, self.encoding) if self.encoding else bytes(self.view)
        return self.copied

    def raw(self) -> Any:
        """The bytes that an array consists of: Latin-1 where they were written as a text."""
        if self.encoding == "utf-8":
            return str(self.view, "utf-8").encode("latin-1")
        return self.view


class _Function:
    """The name of a function that makes plain data."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class _Element:
    """An element type."""

    __slots__ = ("dtype",)

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.dtype = dtype


class _Array:
    """An array that is to be filled."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value: Any = None


class _Refused(Exception):
    """What was expected, and what was found."""


_NUMPY = ("numpy.core.multiarray", "numpy._core.multiarray")
_NUMERIC = ("numpy.core.numeric", "numpy._core.numeric")
_BUILTINS = ("builtins", "__builtin__")
_PLAIN = ("dict", "list", "tuple", "set", "complex")
_KNOWN = {
    **{(module, "_reconstruct"): "array" for module in _NUMPY},
    **{(module, "scalar"): "scalar" for module in _NUMPY},
    **{(module, "_frombuffer"): "buffer" for module in _NUMERIC},
    ("numpy", "ndarray"): "ndarray",
    ("numpy", "dtype"): "dtype",
    ("_codecs", "encode"): "encode",
    ("collections", "OrderedDict"): "ordered",
    **{(module, name): name for module in _BUILTINS for name in _PLAIN},
    **{(module, "eval"): "tensor" for module in _BUILTINS},
    **{(module, name): "bytes" for module in _BUILTINS for name in ("bytes", "bytearray")},
}


def read_pickle(source: Source) -> Any:
    """What a pickle holds: plain data and arrays.

    Args:
        source: the pickle, at its begin.

    Raises:
        FileFormatError: it is no pickle, or holds something else.
    """
    return _Reader(source).run()


class _Reader:
    """Executes the instructions of a pickle that make data."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.start = source.position
        self.data = memoryview(source.rest("a pickle"))
        self.at = 0
        self.budget = memory_limit(len(self.data))
        self.stack: list[Any] = []
        self.below: list[list[Any]] = []  # stacks below marks
        self.memo: dict[int, Any] = {}

    def fail(self, at: int, expected: str, found: str) -> Any:
        self.source.fail(expected, found, self.start + at)

    def run(self) -> Any:
        data, size = self.data, len(self.data)
        if size < 2 or data[0] != 0x80 or data[1] > 5:
            actual = bytes(data[:2]).hex(" ") or "the end of the file"
            self.fail(0, "a pickle of protocol 2 to 5 (80 02 to 80 05)", actual)
        begin = 0
        try:
            while True:
                begin = self.at
                if begin >= size:
                    self.fail(begin, "an instruction of a pickle", "the end of the file")
                code = data[begin]
                self.at += 1
                if code == 0x2E:  # STOP
                    break
                if code not in _STEPS:
                    self.fail(begin, "an instruction that makes data", f"{code:#04x}")
                _STEPS[code](self)
                self.charge(_OBJECT)
            if len(self.stack) != 1 or self.below:
                raise _Refused("one object", f"{len(self.stack)} at the end")
            return self.finished(self.stack[0])
        except _Refused as error:
            expected, actual = error.args
            return self.fail(begin, expected, actual)
        except (IndexError, KeyError):
            return self.fail(begin, "an object to work on", "none")
        except (ValueError, TypeError, OverflowError) as error:
            if type(error).__module__.startswith("fluidlite"):
                raise
            return self.fail(begin, "an instruction that makes data", type(error).__name__)

    # -- small things ----------------------------------------------------------------------------

    def take(self, count: int) -> memoryview:
        """The next bytes."""
        begin = self.at
        if count > len(self.data) - begin:
            raise _Refused(f"{count} bytes", f"the end of the file after {len(self.data) - begin}")
        self.at += count
        return self.data[begin : self.at]

    def number(self, form: str) -> Any:
        return struct.unpack("<" + form, self.take(struct.calcsize(form)))[0]

    def line(self) -> str:
        """The text up to the end of a line."""
        head = bytes(self.data[self.at : self.at + 256])
        end = head.find(b"\n")
        if end < 0:
            raise _Refused("a name of at most 255 bytes", "no end of it")
        self.at += end + 1
        return head[:end].decode("utf-8")

    def items(self) -> list[Any]:
        """What stands above the mark, which goes away."""
        found = self.stack
        self.stack = self.below.pop()
        return found

    def push(self, value: Any) -> None:
        self.stack.append(value)

    def charge(self, cost: int) -> None:
        """Refuse a file that would take far more memory than it has bytes."""
        self.budget -= cost
        if self.budget < 0:
            limit = memory_limit(len(self.data))
            raise _Refused(f"a pickle that fits {limit} bytes of memory", "more of it")

    def text(self, view: memoryview, encoding: str) -> None:
        """Push a text, or bytes."""
        text = _Text(view, encoding)
        self.charge(len(view) if len(view) <= _SHORT else 200)
        self.push(text.plain() if len(view) <= _SHORT else text)

    def raw(self, text: Any) -> Any:
        """The bytes of an array."""
        if isinstance(text, _Text):
            self.charge(2 * len(text.view))
            return text.raw()
        if isinstance(text, str):
            return text.encode("latin-1")
        if not isinstance(text, bytes):
            raise _Refused("the bytes of an array", type(text).__name__.strip("_").lower())
        return text

    # -- functions -------------------------------------------------------------------------------

    def function(self, module: Any, name: Any) -> None:
        module, name = plain(module), plain(name)
        if not isinstance(module, str) or not isinstance(name, str):
            raise _Refused("the name of a function", short(name))
        known = _KNOWN.get((module, name))
        if known is None:
            raise _Refused("only plain data and arrays", short(f"{module}.{name}"))
        self.push(_Function(known))

    def reduce(self) -> None:
        arguments = self.stack.pop()
        function = self.stack.pop()
        if not isinstance(function, _Function) or not isinstance(arguments, tuple):
            raise _Refused("a function that makes data, and its arguments", "something else")
        if function.name == "ndarray":
            raise _Refused("a function that makes data", "numpy.ndarray")
        self.push(getattr(self, "make_" + function.name)(*arguments))

    def make_array(self, *_: Any) -> _Array:
        return _Array()

    def make_dtype(self, name: Any, *_: Any) -> _Element:
        name = plain(name)
        match = _DTYPE.match(name) if isinstance(name, str) else None
        if match is None:
            raise _Refused("an element type such as f4 or i8", short(name))
        return _Element(np.dtype(match[0]))

    def make_scalar(self, element: Any, raw: Any) -> Any:
        return self.array_of((), element, self.raw(raw), False)[()]

    def make_buffer(self, raw: Any, element: Any, shape: Any, order: Any = "C") -> Any:
        made = _Array()
        made.value = self.array_of(shape, element, self.raw(raw), plain(order) == "F")
        return made

    def make_encode(self, text: Any, encoding: Any = "latin1") -> Any:
        if not isinstance(text, (_Text, str)) or plain(encoding) not in ("latin1", "latin-1"):
            raise _Refused("a text to encode as latin1", "something else")
        return text.encode("latin-1") if isinstance(text, str) else text

    def make_dict(self, pairs: Any = ()) -> Any:
        return self.filled({}, pairs)

    def make_ordered(self, pairs: Any = ()) -> Any:
        return self.filled(OrderedDict(), pairs)

    def filled(self, made: dict[Any, Any], pairs: Any) -> Any:
        """A new dictionary with keys and values from a list of pairs."""
        for pair in self.listed(pairs):
            self.fill(made, list(self.listed(pair)))
        return made

    def make_list(self, items: Any = ()) -> Any:
        return list(self.listed(items))

    def make_set(self, items: Any = ()) -> Any:
        made: set[Any] = set()
        self.add(made, self.listed(items))
        return made

    def make_tuple(self, items: Any = ()) -> Any:
        return tuple(self.listed(items))

    def make_complex(self, real: Any = 0.0, imaginary: Any = 0.0) -> Any:
        if not isinstance(real, (int, float)) or not isinstance(imaginary, (int, float)):
            raise _Refused("the two parts of a complex number", "something else")
        return complex(real, imaginary)

    def make_bytes(self, raw: Any = None, *_: Any) -> Any:
        return b"" if raw is None else raw

    def listed(self, items: Any) -> Any:
        """The items of a list or a tuple that is copied."""
        if not isinstance(items, (list, tuple)):
            raise _Refused("a list", type(items).__name__.strip("_").lower())
        self.charge(8 * len(items))
        return items

    def make_tensor(self, text: Any, names: Any = None) -> Any:
        """``eval('data', {'data': array})`` is how Paddle 2 writes an array; nothing is run."""
        if plain(text) != "data" or not isinstance(names, dict) or list(names) != ["data"]:
            raise _Refused("only plain data and arrays", "the function eval")
        return names["data"]

    def build(self) -> None:
        state = self.stack.pop()
        target = self.stack[-1]
        if isinstance(target, _Element) and isinstance(state, tuple) and len(state) >= 5:
            order = plain(state[1])
            if order not in ("<", ">", "|", "=") or any(each is not None for each in state[2:5]):
                raise _Refused("an element type that is one number", "another one")
            target.dtype = target.dtype.newbyteorder(order)
        elif isinstance(target, _Array) and isinstance(state, tuple) and len(state) == 5:
            _, shape, element, fortran, raw = state
            if target.value is not None:
                raise _Refused("the content of an array once", "it a second time")
            target.value = self.array_of(shape, element, self.raw(raw), bool(fortran))
        else:
            raise _Refused("the state of an array", "something else")

    def array_of(self, shape: Any, element: Any, raw: Any, fortran: bool) -> Any:
        """An array from what a pickle says of it."""
        if not isinstance(element, _Element) or not isinstance(shape, tuple):
            raise _Refused("a shape and an element type", "something else")
        count = 1
        for n in shape:
            if type(n) is not int or not 0 <= n < LARGEST:
                raise _Refused("the sizes of an array", short(n))
            count *= n
        dtype = element.dtype
        if count * dtype.itemsize != len(raw):
            what = f"{count * dtype.itemsize} bytes for {dtype}{list(shape)}"
            raise _Refused(what, str(len(raw)))
        array = np.frombuffer(raw, dtype).copy()
        if not count:
            array = empty((0,), dtype)
            if empty(shape, dtype) is None:
                raise _Refused("the sizes of an array", short(shape))
        native = dtype.newbyteorder("=")
        array = array.view(native) if dtype.isnative else array.astype(native)
        array = array.reshape(shape, order="F" if fortran else "C")
        return array if array.flags.c_contiguous else np.ascontiguousarray(array)

    # -- containers ------------------------------------------------------------------------------

    def fill(self, target: Any, items: list[Any]) -> None:
        """Put keys and values into a dictionary."""
        if not isinstance(target, dict) or len(items) % 2:
            raise _Refused("a dictionary, and keys with values", "something else")
        for key, value in zip(items[::2], items[1::2]):
            target[self.key(key, "a key")] = value
        self.charge(_OBJECT * len(items))

    def add(self, target: Any, items: list[Any]) -> None:
        """Put texts and numbers into a set."""
        if not isinstance(target, set):
            raise _Refused("a set to add to", "something else")
        target.update(self.key(each, "an element of a set") for each in items)
        self.charge(_OBJECT * len(items))

    def key(self, value: Any, what: str) -> Any:
        """Something of which only one may be there: a text, a number or None."""
        value = plain(value)
        if not isinstance(value, (str, bytes, int, float, np.generic, type(None))):
            raise _Refused(f"a text or a number as {what}", type(value).__name__)
        return value

    def extend(self, items: list[Any]) -> None:
        target = self.stack[-1]
        if not isinstance(target, list):
            raise _Refused("a list to add to", "something else")
        target.extend(items)

    def finished(self, value: Any) -> Any:
        """Plain data: the arrays in place of what stood for them."""
        done: dict[int, Any] = {}

        def finish(value: Any, depth: int) -> Any:
            if isinstance(value, _Text):
                return value.plain()
            if not isinstance(value, (dict, list, tuple, _Array, _Element, _Function)):
                return value
            if id(value) in done:
                found = done[id(value)]
                if found is _NEW:
                    raise _Refused("containers without a circle", "one")
                return found
            if isinstance(value, (_Element, _Function)) or depth > DEEPEST:
                raise _Refused("plain data, not deeper than 64", "something else")
            done[id(value)] = _NEW
            if isinstance(value, _Array):
                if value.value is None:
                    raise _Refused("the content of an array", "none")
                finished = value.value
            elif isinstance(value, dict):
                finished = type(value)(
                    (key, finish(each, depth + 1)) for key, each in value.items()
                )
            else:
                finished = type(value)([finish(each, depth + 1) for each in value])
            done[id(value)] = finished
            return finished

        return finish(value, 0)


def plain(value: Any) -> Any:
    """A text as such; anything else as it is."""
    return value.plain() if isinstance(value, _Text) else value


def short(value: Any) -> str:
    """What a message shows of a value; of a container, which may be deep, only what it is."""
    if isinstance(value, (str, bytes, int, float)):
        return excerpt(value)
    return type(value).__name__.strip("_").lower()


# -- instructions ----------------------------------------------------------------------------------


def _tuple(count: int) -> Callable[[_Reader], None]:
    def step(reader: _Reader) -> None:
        if len(reader.stack) < count:
            raise IndexError
        at = len(reader.stack) - count
        reader.stack[at:] = [tuple(reader.stack[at:])]

    return step


def _constant(make: Callable[[], Any]) -> Callable[[_Reader], None]:
    return lambda reader: reader.push(make())


def _number(form: str) -> Callable[[_Reader], None]:
    return lambda reader: reader.push(reader.number(form))


def _text(form: str, encoding: str) -> Callable[[_Reader], None]:
    return lambda reader: reader.text(reader.take(reader.number(form)), encoding)


def _put(form: str) -> Callable[[_Reader], None]:
    def step(reader: _Reader) -> None:
        reader.memo[reader.number(form)] = reader.stack[-1]

    return step


def _get(form: str) -> Callable[[_Reader], None]:
    return lambda reader: reader.push(reader.memo[reader.number(form)])


def _long(form: str) -> Callable[[_Reader], None]:
    def step(reader: _Reader) -> None:
        size = reader.number(form)
        if not 0 <= size <= _LONGEST_INTEGER:
            raise _Refused(f"an integer of at most {_LONGEST_INTEGER} bytes", str(size))
        reader.push(int.from_bytes(reader.take(size), "little", signed=True))

    return step


def _mark(reader: _Reader) -> None:
    reader.below.append(reader.stack)
    reader.stack = []


def _memoize(reader: _Reader) -> None:
    reader.memo[len(reader.memo)] = reader.stack[-1]


def _set_item(reader: _Reader) -> None:
    items = reader.stack[-2:]
    del reader.stack[-2:]
    reader.fill(reader.stack[-1], items)


def _set_items(reader: _Reader) -> None:
    items = reader.items()
    reader.fill(reader.stack[-1], items)


def _append(reader: _Reader) -> None:
    item = reader.stack.pop()
    reader.extend([item])


def _add(reader: _Reader) -> None:
    items = reader.items()
    reader.add(reader.stack[-1], items)


def _stack_function(reader: _Reader) -> None:
    name = reader.stack.pop()
    reader.function(reader.stack.pop(), name)


_STEPS: dict[int, Callable[[_Reader], Any]] = {
    0x80: lambda reader: reader.take(1),  # PROTO
    0x95: lambda reader: reader.take(8),  # FRAME
    0x28: _mark,
    0x30: lambda reader: reader.stack.pop(),  # POP
    0x4E: _constant(lambda: None),
    0x88: _constant(lambda: True),
    0x89: _constant(lambda: False),
    0x4A: _number("i"),
    0x4B: _number("B"),
    0x4D: _number("H"),
    0x8A: _long("B"),
    0x8B: _long("i"),
    0x47: lambda reader: reader.push(struct.unpack(">d", reader.take(8))[0]),
    0x54: _text("I", "latin-1"),  # the texts of Python 2
    0x55: _text("B", "latin-1"),
    0x58: _text("I", "utf-8"),
    0x8C: _text("B", "utf-8"),
    0x8D: _text("Q", "utf-8"),
    0x42: _text("I", ""),
    0x43: _text("B", ""),
    0x8E: _text("Q", ""),
    0x96: _text("Q", ""),
    0x5D: _constant(list),
    0x7D: _constant(dict),
    0x29: _constant(tuple),
    0x85: _tuple(1),
    0x86: _tuple(2),
    0x87: _tuple(3),
    0x74: lambda reader: reader.push(tuple(reader.items())),
    0x6C: lambda reader: reader.push(list(reader.items())),
    0x61: _append,
    0x65: lambda reader: reader.extend(reader.items()),
    0x8F: _constant(set),
    0x90: _add,
    0x73: _set_item,
    0x75: _set_items,
    0x71: _put("B"),
    0x72: _put("I"),
    0x94: _memoize,
    0x68: _get("B"),
    0x6A: _get("I"),
    0x63: lambda reader: reader.function(reader.line(), reader.line()),
    0x93: _stack_function,
    0x52: _Reader.reduce,
    0x62: _Reader.build,
}
