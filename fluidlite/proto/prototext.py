"""Settings with defaults, and the text that protobuf gives of a message of them and reads."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable
from typing import Any, NamedTuple, NoReturn

import numpy as np


class ToldSettings:
    """Settings of which some are given.

    Args:
        defaults: name -> the default, whose type is that of the setting; a list of a type for
            several values, a dictionary for settings in turn.
    """

    def __init__(self, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self.is_present = False  #: whether it is told that they are there
        self._values: dict[str, Any] = {}

    def get(self, name: str) -> Any:
        """The value of a setting; the list or the settings themselves where it is of these."""
        value = self._values.get(name)
        if value is not None:
            return value
        default = self.defaults[name]
        if isinstance(default, dict):
            return self._values.setdefault(name, ToldSettings(default))
        return [] if isinstance(default, list) else _checked(type(default), default)

    def put(self, name: str, value: Any) -> None:
        """Set a setting that has one value.

        Raises:
            TypeError, ValueError: it cannot be that.
        """
        self._values[name] = _checked(type(self.defaults[name]), value)

    def extend(self, name: str, values: Iterable[Any]) -> None:
        """Add values to a setting that has several.

        Raises:
            TypeError, ValueError: it cannot have one of them.
        """
        kind = self.defaults[name][0]
        self._values[name] = [*self.get(name), *(_checked(kind, value) for value in values)]

    def told(self) -> list[str]:
        """The given settings, in the order of the defaults."""
        return [name for name in self.defaults if self._is_told(name)]

    def _is_told(self, name: str) -> bool:
        value = self._values.get(name)
        if isinstance(value, ToldSettings):
            return value.is_present or bool(value.told())
        return value is not None and value != []

    def copy(self) -> ToldSettings:
        """The same, to be changed."""
        copied = ToldSettings(self.defaults)
        copied.is_present = self.is_present
        for name, value in self._values.items():
            copied._values[name] = value.copy() if isinstance(value, ToldSettings) else value
        return copied

    def __str__(self) -> str:
        return "".join(f"{line}\n" for line in self._lines())

    def _lines(self) -> list[str]:
        lines = []
        for name in self.told():
            value = self._values[name]
            if isinstance(value, ToldSettings):
                lines += [f"{name} {{", *(f"  {line}" for line in value._lines()), "}"]
            else:
                values = value if isinstance(value, list) else [value]
                lines += [f"{name}: {_text(each)}" for each in values]
        return lines


def _checked(kind: type, value: Any) -> Any:
    """A value as a message holds it."""
    if kind is bool:
        return bool(value if isinstance(value, np.bool_) else operator.index(value))
    if kind is int:
        if isinstance(value, bool):
            raise TypeError("expected an int, got a boolean")
        value = operator.index(value)
        if not -(1 << 31) <= value < 1 << 31:
            raise ValueError(f"expected an integer of 32 bits, got {value}")
        return value
    if kind is float:
        if isinstance(value, (str, bytes)):
            raise TypeError(f"must be real number, not {type(value).__name__}")
        with np.errstate(over="ignore"):
            return float(np.float32(float(value)))
    if isinstance(value, bytes):
        return value.decode()
    if not isinstance(value, str):
        raise TypeError(f"expected a text, got {type(value).__name__}")
    value.encode()  # half of a pair of surrogates is no text
    return value


# -- writing ---------------------------------------------------------------------------------------

_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "'": "\\'", "\\": "\\\\"}
_ESCAPED = re.compile("[\x00-\x1f\x7f\"'\\\\]")


def _text(value: Any) -> str:
    """The text of a value."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        short = f"{value:.6g}"
        return short if np.float32(short) == value or value != value else f"{value:.9g}"
    if isinstance(value, str):
        escaped = _ESCAPED.sub(lambda m: _ESCAPES.get(m[0], f"\\{ord(m[0]):03o}"), value)
        return f'"{escaped}"'
    return str(value)


# -- reading ---------------------------------------------------------------------------------------

_TOKEN = re.compile(
    r"""\s+|\#[^\n]*
    |(?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    |(?P<word>[-+.\w]+)
    |(?P<sign>[{}<>:\[\],;])""",
    re.VERBOSE,
)
_ESCAPE = re.compile(rb"\\(?:([0-7]{1,3})|[xX]([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_MEANT = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}
_INTEGER = re.compile(r"[-+]?(0[xX][0-9a-fA-F]+|[0-9]+)")
_FLOAT = re.compile(r"[-+]?((\d+\.?\d*|\.\d+)([eE][-+]?\d+)?f?|inf(inity)?f?|nan)", re.IGNORECASE)
_CLOSING = {"{": "}", "<": ">"}


class _Token(NamedTuple):
    """A word, a text or a sign, and where it stands."""

    kind: str
    text: str
    line: int


def parsed(text: str, defaults: dict[str, Any]) -> ToldSettings:
    """The settings that a text tells.

    Args:
        text: as ``str`` gives it of settings, or protobuf of a message.
        defaults: of the settings.

    Raises:
        ValueError: the text says something else.
    """
    tokens = []
    at, line = 0, 1
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise ValueError(f"line {line}: expected a word, a text or a sign, found {text[at]!r}")
        if match.lastgroup:
            tokens.append(_Token(match.lastgroup, match[0], line))
        line += match[0].count("\n")
        at = match.end()
    tokens.append(_Token("end", "", line))
    settings = ToldSettings(defaults)
    _Parser(tokens[::-1]).fields(settings, "")
    return settings


class _Parser:
    """Takes tokens from the end of a list."""

    def __init__(self, tokens: list[_Token]) -> None:
        self.tokens = tokens

    def fail(self, token: _Token, expected: str) -> NoReturn:
        found = f"{token.text:.40}" or "the end"
        raise ValueError(f"line {token.line}: expected {expected}, found {found}")

    def take(self, *signs: str) -> str:
        """The next token, if it is one of these signs, or nothing."""
        if self.tokens[-1].kind == "sign" and self.tokens[-1].text in signs:
            return self.tokens.pop().text
        return ""

    def fields(self, settings: ToldSettings, closing: str) -> None:
        """Read settings up to a sign, or to the end."""
        told: set[str] = set()
        while not (self.take(closing) if closing else self.tokens[-1].kind == "end"):
            token = self.tokens.pop()
            name = token.text
            if token.kind != "word" or name not in settings.defaults:
                self.fail(token, f"one of {', '.join(settings.defaults)}")
            default = settings.defaults[name]
            several = isinstance(default, list)
            if name in told and not several:
                self.fail(token, f"{name} once")
            told.add(name)
            colon = self.take(":")
            if isinstance(default, dict):
                begin = self.take("{", "<")
                if not begin:
                    self.fail(self.tokens[-1], f"the settings {name} in braces")
                settings.get(name).is_present = True
                self.fields(settings.get(name), _CLOSING[begin])
            elif not colon:
                self.fail(self.tokens[-1], f"a colon behind {name}")
            elif several:
                settings.extend(name, self.values(default[0]))
            else:
                settings.put(name, self.value(type(default)))
            self.take(",", ";")

    def values(self, kind: type) -> list[Any]:
        """One value, or several in brackets."""
        if not self.take("["):
            return [self.value(kind)]
        values: list[Any] = []
        while not self.take("]"):
            if values and not self.take(","):
                self.fail(self.tokens[-1], "a comma or the end of the list")
            values.append(self.value(kind))
        return values

    def value(self, kind: type) -> Any:
        """A value of a type."""
        token = self.tokens.pop()
        word = token.text if token.kind == "word" else ""
        if kind is str and token.kind == "text":
            texts = [_unescaped(token.text)]
            while self.tokens[-1].kind == "text":
                texts.append(_unescaped(self.tokens.pop().text))
            return b"".join(texts).decode()
        if kind is bool and word in ("true", "True", "t", "1", "false", "False", "f", "0"):
            return word in ("true", "True", "t", "1")
        if kind is int and _INTEGER.fullmatch(word):
            digits = word.lstrip("-+")
            octal = len(digits) > 1 and digits[0] == "0" and digits[1] not in "xX"
            return int(word, 8 if octal else 0)
        if kind is float and _FLOAT.fullmatch(word):
            digits = word if word.lower().endswith("inf") else word.rstrip("fF")
            return float(digits)
        self.fail(token, f"a value of type {kind.__name__}")


def _unescaped(quoted: str) -> bytes:
    """The bytes of a text in quotation marks."""

    def meant(match: re.Match[bytes]) -> bytes:
        octal, hexadecimal, unicode, other = match.groups()
        if octal or hexadecimal:
            return bytes([int(octal, 8) & 255 if octal else int(hexadecimal, 16)])
        return chr(int(unicode, 16)).encode() if unicode else _MEANT.get(other, other)

    return _ESCAPE.sub(meant, quoted[1:-1].encode())
