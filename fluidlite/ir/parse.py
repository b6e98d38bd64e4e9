"""Reading programs in the text format, the inverse of ``ir/text.py``.

The grammar; braces repeat, brackets are optional, capitals are kinds of tokens::

    program     = "program" "(" "seed" "=" INTEGER ")" block-list
    block-list  = "{" END { block END } "}"
    block       = "block" INTEGER [ "in" INTEGER ] [ "of" INTEGER ] "{" END { line END } "}"
    line        = declaration | section | operator

    declaration = ( "var" | "param" | "data" ) name ":" type { flag }
    type        = KIND [ tensor ] | tensor
    tensor      = ( ELEMENT-TYPE | "?" ) "[" ( "?" | [ size { "," size } ] ) "]"
    size        = INTEGER | BARE  # a name for an unknown size: ASCII letters, digits and _
    flag        = "lod" "=" INTEGER | "rate" "=" number | [ "not" ] FLAG

    section     = "--" ( ROLE | "role" INTEGER ) "--"

    operator    = [ outputs "=" ] key "(" [ argument { "," argument } ] ")" { mark }
    outputs     = name | "{" slot { "," slot } "}"
    argument    = slot | attribute
    slot        = key "=" ( name | names )
    names       = "[" [ name { "," name } ] "]"
    attribute   = key "=" value
    value       = [ TYPE ] ( literal | "[" [ literal { "," literal } ] "]" )
    literal     = number | STRING | "true" | "false" | ELEMENT-TYPE
    number      = INTEGER | FLOAT | "nan" | "inf"
    mark        = "bare" | "for" names | "at" STRING | "on" STRING

    name, key   = BARE | QUOTED
    BARE          letters, digits and _ . @ / , the first one no digit and no point
    QUOTED        anything, in `backquotes`, escaped as in JSON
    STRING        anything, in "double quotes", escaped as in JSON
    KIND          selected_rows, lod_tensor_array, step_scopes, ...; a LoD tensor without one
    ELEMENT-TYPE  float32, int64, bool, ...
    FLAG          trainable, persistable, stop_gradient, check_feed, fed, average, distributed
    ROLE          forward, backward, optimize, loss, loss backward, learning rate, ...
    TYPE          block, blocks, long, longs, ints, floats, booleans, strings
    END           one or more ends of lines

Ends of lines between parentheses or square brackets mean nothing, nor do comments: from ``#`` to
the end of the line.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Generator, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from ..errors import FluidError, NoGradientError, ParseError, UnknownOperatorError, suggestion
from ..ground.callsite import warn
from ..ground.dtypes import Kind
from ..opdef.attribute import Attribute, BlockRef, Long, single_precision
from ..opdef.definition import Op, find, lookup
from .block import Block
from .literal import ELEMENT_TYPES, TYPE_WORDS, WORDS, EmptyList, as_list, unescaped, wire_type
from .nesting import nesting_fault
from .operator import Operator
from .operator_arguments import Names, names_by_slot
from .size_names import size_name, sizes_and_names
from .text import FLAGS, SECTIONS, only_output
from .tokens import TOKEN, Token
from .variable import Parameter, Variable

if TYPE_CHECKING:
    from .program import Program

_ROLES = {words: role for role, words in SECTIONS.items()}
_KINDS = {kind.name.lower(): kind for kind in Kind}
_DIGITS = 1000  # of an integer; Python itself refuses to read some thousands
_ONLY_PARAMETERS = frozenset({"trainable", "is_data", "do_model_average", "is_distributed"})


Item = Variable | Operator


def parse_into(
    program: Program, text: str, known: Mapping[int, Item] | None = None
) -> list[tuple[int, Item]]:
    """Fill an empty program with what a text says.

    Args:
        program: a program without variables and operators.
        text: a program in the text format.
        known: where a line begins -> what it says; a copy of that is taken, and the line not read.

    Returns:
        what was read and not known, and where it begins.

    Raises:
        ParseError: the text is no program; shows the place.
    """
    parser = _Parser(program, text, known or {})
    parser.program_()
    return parser.read


class _Parser:
    """Recursive descent: a method for each rule of the grammar, looking two tokens ahead."""

    def __init__(self, program: Program, text: str, known: Mapping[int, Item]) -> None:
        self.program = program
        self.text = text
        self.known = known
        self.read: list[tuple[int, Item]] = []
        self.tokens = self._tokens()
        self.token = next(self.tokens)
        self.next = next(self.tokens, self.token)
        self.definitions: dict[str, type[Op] | None] = {}
        self.shared: dict[Any, Any] = {}  # equal names and tuples are stored once

    # -- tokens ----------------------------------------------------------------------------------

    def _tokens(self) -> Iterator[Token]:
        begin = 0
        while begin < len(self.text):
            begin = yield from self._tokens_to_known(begin)
        yield Token("", "", len(self.text))

    def _tokens_to_known(self, begin: int) -> Generator[Token, None, int]:
        """The tokens up to a line that is known, which is one token; where they end."""
        known, depth = self.known, 0
        for match in TOKEN.finditer(self.text, begin):
            kind = match.lastgroup or ""
            if kind == "blank" or (kind == "end" and depth):
                continue
            token = Token(kind, match[0], match.start())
            if known and token.start in known and not depth:
                yield Token("known", "", token.start)
                end = self.text.find("\n", token.start)
                return end if end >= 0 else len(self.text)
            if kind == "wrong":
                what = (
                    "a quote that is not closed"
                    if token.text in '"`'
                    else "a character that means nothing here"
                )
                self.fail(f"{what}: {token.text!r}", token)
            if kind == "mark":
                depth += (token.text in "([") - (token.text in ")]" and depth > 0)
            yield token
        return len(self.text)

    def advance(self) -> Token:
        """The current token, which is then done with."""
        token = self.token
        self.token = self.next
        self.next = next(self.tokens, self.next)
        return token

    def at(self, *texts: str) -> bool:
        """Whether the current token is one of these words and marks."""
        return self.token.text in texts and self.token.kind in ("bare", "mark")

    def take(self, text: str) -> bool:
        """Go past a word or a mark if it is there."""
        found = self.at(text)
        if found:
            self.advance()
        return found

    def need(self, text: str) -> None:
        """Go past a word or a mark that must be there."""
        if not self.take(text):
            self.unexpected(repr(text))

    def need_kind(self, kind: str, what: str) -> Token:
        """Go past a token of a kind."""
        if self.token.kind != kind:
            self.unexpected(what)
        return self.advance()

    def need_end(self) -> None:
        """Go past the end of a line, and the empty lines after it."""
        if self.token.kind != "end":
            self.unexpected("the end of the line")
        while self.token.kind == "end":
            self.advance()

    def unexpected(self, wanted: str) -> NoReturn:
        """Refuse the current token."""
        self.fail(f"expected {wanted}, got {self.token}", self.token)

    def fail(self, message: str, token: Token) -> NoReturn:
        """Refuse the text because of a token."""
        number, column, begin = self.position(token)
        end = self.text.find("\n", token.start)
        line = self.text[begin : end if end >= 0 else len(self.text)].rstrip("\r")
        lead = "".join("\t" if c == "\t" else " " for c in line[: token.start - begin])
        raise ParseError(f"line {number}, column {column}: {message}\n  {line}\n  {lead}^")

    def position(self, token: Token) -> tuple[int, int, int]:
        """The line and the column of a token, and where its line begins in the text."""
        begin = self.text.rfind("\n", 0, token.start) + 1
        return self.text.count("\n", 0, token.start) + 1, token.start - begin + 1, begin

    def separated(self, item: Callable[[], Any], closing: str) -> list[Any]:
        """Items with commas between them, up to a mark, which is taken too."""
        items: list[Any] = []
        while not self.take(closing):
            if items and not self.take(","):
                self.unexpected(f"',' or {closing!r}")
            items.append(item())
        return items

    def share(self, value: Any) -> Any:
        """An equal value that was seen before, or this one."""
        return self.shared.setdefault(value, value)

    # -- programs and blocks ---------------------------------------------------------------------

    def program_(self) -> None:
        while self.token.kind == "end":
            self.advance()
        self.need("program")
        self.need("(")
        self.need("seed")
        self.need("=")
        self.program.random_seed = self.integer()
        self.need(")")
        self.need("{")
        self.need_end()
        number = 0
        while not self.take("}"):
            self.block(number)
            self.need_end()
            number += 1
        while self.token.kind == "end":
            self.advance()
        if self.token.kind:
            self.unexpected("the end of the text")
        self.program.touch()
        fault = nesting_fault(self.program)
        if fault:
            raise ParseError(f"expected blocks in each other, found {fault}")

    def block(self, number: int) -> None:
        self.need("block")
        place = self.token
        if self.integer() != number:
            self.fail(f"expected block {number}: blocks are numbered from 0 on", place)
        parent = self.earlier_block("in", number)
        forward = self.earlier_block("of", number)
        if (parent < 0) != (number == 0):
            self.fail(
                "block 0 lies in no block, every other one in an earlier one: block 1 in 0", place
            )
        block = (
            self.program.blocks[0] if number == 0 else Block(self.program, number, parent, forward)
        )
        if number:
            self.program.blocks.append(block)
        self.need("{")
        self.need_end()
        role = 0
        while not self.take("}"):
            begin = self.token.start
            if self.token.kind == "known":
                self.take_known(block, role)
            elif self.at("--"):
                role = self.section()
            elif self.at("var", "param", "data") and self.next.kind in ("bare", "quoted"):
                self.read.append((begin, self.declaration(block)))
            else:
                op = self.operator(block, role)
                block.take_op(op)
                self.read.append((begin, op))
            self.need_end()

    def take_known(self, block: Block, role: int) -> None:
        """Put a copy of what a line says into the block."""
        place = self.advance()
        item = self.known[place.start]
        if isinstance(item, Variable):
            self.declare(item.copy_to(block), place)
        else:
            copied = copy.copy(item)
            copied.block, copied.role = block, role
            block.take_op(copied)

    def earlier_block(self, word: str, number: int) -> int:
        if not self.take(word):
            return -1
        place = self.token
        found = self.integer()
        if not 0 <= found < number:
            self.fail(f"expected a block before block {number}, got {found}", place)
        return found

    def section(self) -> int:
        self.need("--")
        place = self.token
        words = []
        while self.token.kind == "bare":
            words.append(self.advance().text)
        name = " ".join(words)
        if name == "role":
            role = self.integer()
        elif name in _ROLES:
            role = _ROLES[name]
        else:
            self.fail(f"there is no section {name!r}{suggestion(name, _ROLES)}", place)
        self.need("--")
        return role

    # -- variables -------------------------------------------------------------------------------

    def declaration(self, block: Block) -> Variable:
        word = self.advance().text
        place = self.token
        name = self.name()
        self.need(":")
        fields = self.type_(name)
        if word == "data":
            fields.update(is_data=True, stop_gradient=True)
        while self.token.kind == "bare":
            self.flag(fields, word)
        kind = Parameter if word == "param" else Variable
        try:
            variable = kind(block, name, **fields)
        except FluidError as error:
            self.fail(str(error), place)
        self.declare(variable, place)
        return variable

    def declare(self, variable: Variable, place: Token) -> None:
        block = variable.block
        if variable.name in block.vars:
            self.fail(f"block {block.idx} declares {variable.name!r} twice", place)
        block.declare(variable)

    def type_(self, variable: str) -> dict[str, Any]:
        fields: dict[str, Any] = {"kind": Kind.LOD_TENSOR, "dtype": None, "shape": None}
        if self.token.text in _KINDS:
            fields["kind"] = _KINDS[self.advance().text]
            if self.token.text not in ELEMENT_TYPES and not self.at("?"):
                return fields
        if self.token.text in ELEMENT_TYPES:
            fields["dtype"] = ELEMENT_TYPES[self.advance().text]
        elif not self.take("?"):
            hint = suggestion(self.token.text, [*ELEMENT_TYPES, *_KINDS])
            self.fail(f"expected an element type or ?, got {self.token}{hint}", self.token)
        self.need("[")
        if self.take("?"):
            self.need("]")
        else:
            sizes = self.separated(lambda: self.size(variable), "]")
            shape, fields["size_names"] = sizes_and_names(sizes)
            fields["shape"] = self.share(shape)
        return fields

    def size(self, variable: str) -> int | str:
        """A size of a variable's shape, or its name."""
        place = self.token
        if place.kind != "bare":
            return self.integer()
        try:
            return size_name(self.advance().text, variable, None)
        except FluidError as error:
            self.fail(str(error), place)

    def flag(self, fields: dict[str, Any], word: str) -> None:
        if self.take("lod"):
            self.need("=")
            fields["lod_level"] = self.integer()
            return
        if self.at("rate") and word == "param":
            self.advance()
            self.need("=")
            fields["optimize_attr"] = {"learning_rate": self.number()}
            return
        value = not self.take("not")
        place = self.advance()
        field = FLAGS.get(place.text)
        if field is None or (field in _ONLY_PARAMETERS and word != "param"):
            known = [
                flag for flag in FLAGS if word == "param" or FLAGS[flag] not in _ONLY_PARAMETERS
            ]
            self.fail(f"there is no flag {place} of a {word}{suggestion(place.text, known)}", place)
        fields[field] = value

    # -- operators -------------------------------------------------------------------------------

    def operator(self, block: Block, role: int) -> Operator:
        outputs: dict[str, Names] | None = None
        only: str | None = None
        first = self.token
        if self.take("{"):
            outputs = dict(self.separated(self.slot, "}"))
            self.need("=")
        elif self.next.text == "=":
            only = self.name()
            self.need("=")
        place = self.token
        op_type = self.key("the type of an operator")
        definition = self.definition(op_type)
        if only is not None:
            slot = only_output(definition)
            if slot is None:
                self.fail(_needs_slots(op_type), first)
            outputs = {slot: (only,)}
        inputs: dict[str, Names] = {}
        attrs: dict[str, Any] = {}
        self.need("(")
        self.separated(lambda: self.argument(op_type, definition, inputs, attrs), ")")
        marks = self.marks()
        if definition is not None:
            try:
                inputs = names_by_slot(definition, inputs, "input")
                outputs = names_by_slot(definition, outputs, "output")
                known = {n: value for n, value in attrs.items() if n in definition.attributes}
                values = definition(known).attr_values()
            except FluidError as error:
                self.fail(str(error), place)
            if not marks.get("lists_given_attrs"):
                attrs = {**values, **{n: attrs[n] for n in attrs if n not in known}}
        return Operator(
            block, self.share(op_type), inputs, outputs or {}, attrs, role=role, **marks
        )

    def definition(self, op_type: str) -> type[Op] | None:
        if op_type not in self.definitions:
            self.definitions[op_type] = find(op_type)
        return self.definitions[op_type]

    def slot(self) -> tuple[str, Names]:
        key = self.share(self.key("a slot"))
        self.need("=")
        return key, self.names()

    def argument(
        self,
        op_type: str,
        definition: type[Op] | None,
        inputs: dict[str, Names],
        attrs: dict[str, Any],
    ) -> None:
        place = self.token
        key = self.share(self.key("a slot or an attribute"))
        if key in inputs or key in attrs:
            self.fail(f"{op_type} is given {key!r} twice", place)
        self.need("=")
        if definition is None and self.at_names():
            inputs[key] = self.names()
        elif definition is None:
            attrs[key] = self.value(typed=True)
        elif key in definition.input_slots:
            inputs[key] = self.names()
        elif key in definition.attributes:
            attrs[key] = self.converted(definition.attributes[key], op_type)
        else:
            self.undeclared(op_type, definition, attrs, key, place)

    def undeclared(
        self, op_type: str, definition: type[Op], attrs: dict[str, Any], key: str, place: Token
    ) -> None:
        """What an operator is given that it has not: an attribute is kept, as those are that were
        set on purpose; variables are left out.
        """
        known = [*definition.input_slots, *definition.attributes]
        if self.at_names():
            self.names()
            then = "it is left out"
        else:
            attrs[key] = self.value(typed=True)
            then = "it is kept, and nothing reads it"
        line, column, _ = self.position(place)
        warn(
            f"line {line}, column {column}: {op_type} has neither a slot nor an attribute "
            f"{key!r}{suggestion(key, known)}; {then}",
            None,
        )

    def converted(self, attribute: Attribute, op_type: str) -> Any:
        """A value as a declared attribute keeps it."""
        place = self.token
        value = self.value()
        try:
            value = attribute.convert(value, op_type)
        except FluidError as error:
            self.fail(str(error), place)
        return self.share(value) if attribute.kind in ("list[int]", "list[str]") else value

    def marks(self) -> dict[str, Any]:
        """What stands behind an operator, as arguments of Operator."""
        fields: dict[str, Any] = {}
        while self.token.kind == "bare":
            if self.take("bare"):
                fields["lists_given_attrs"] = True
            elif self.take("for"):
                fields["role_vars"] = self.names()
            elif self.take("at"):
                fields["namescope"] = self.share(self.string())
            elif self.take("on"):
                fields["device"] = self.share(self.string())
            else:
                self.unexpected("'bare', 'for', 'at', 'on' or the end of the line")
        return fields

    # -- names -----------------------------------------------------------------------------------

    def name(self) -> str:
        found: str = self.share(self.key("the name of a variable"))
        return found

    def key(self, what: str) -> str:
        if self.token.kind == "bare":
            return self.advance().text
        if self.token.kind != "quoted":
            self.unexpected(what)
        return self.unquoted(self.advance())

    def names(self) -> Names:
        found = tuple(self.separated(self.name, "]")) if self.take("[") else (self.name(),)
        shared: Names = self.share(found)
        return shared

    def at_names(self) -> bool:
        """Whether a variable or a list of them comes, and no value."""
        token = self.next if self.at("[") else self.token
        return token.kind == "quoted" or (token.kind == "bare" and token.text not in WORDS)

    # -- values ----------------------------------------------------------------------------------

    def value(self, typed: bool = False) -> Any:
        """The value of an attribute.

        Args:
            typed: it has to show its wire type, as nobody declared the attribute.
        """
        place = self.token
        word = place.text if place.kind == "bare" and place.text in TYPE_WORDS else ""
        if word:
            self.advance()
        if word in ("block", "long"):
            return (BlockRef if word == "block" else Long)(self.integer())
        if not self.at("["):
            if word:
                self.unexpected("'['")
            return self.literal()
        self.advance()
        values = tuple(self.separated(self.literal, "]"))
        if not values:
            if typed and not word:
                self.fail(
                    "expected the type in front of a list of nothing: ints [], floats [], ...",
                    place,
                )
            return EmptyList(TYPE_WORDS[word]) if word else ()
        word = word or wire_type(values).lower()
        try:
            return as_list(word, values)
        except (TypeError, ValueError, OverflowError):
            self.fail(f"expected a list of {word}", place)

    def literal(self) -> Any:
        token = self.token
        if token.kind == "string":
            return self.string()
        if token.kind == "bare" and token.text in ("true", "false"):
            return self.advance().text == "true"
        if token.kind == "bare" and token.text in ELEMENT_TYPES:
            return ELEMENT_TYPES[self.advance().text]
        if token.kind == "integer":
            return self.integer()
        return single_precision(self.number())

    def integer(self) -> int:
        token = self.need_kind("integer", "an integer")
        if len(token.text) > _DIGITS:
            self.fail(
                f"expected an integer of at most {_DIGITS} digits, got one of {len(token.text)}",
                token,
            )
        return int(token.text)

    def number(self) -> float:
        if self.token.kind in ("integer", "float") or self.at("nan", "inf"):
            return float(self.advance().text)
        self.unexpected("a value")

    def string(self) -> str:
        return self.unquoted(self.need_kind("string", "a text in quotes"))

    def unquoted(self, token: Token) -> str:
        try:
            return unescaped(token.text[1:-1])
        except ValueError:
            self.fail("a wrong escape sequence; they are those of JSON", token)


def _needs_slots(op_type: str) -> str:
    """That an operator's outputs have to be named by slot."""
    advice = "name the output slots, {Slot=name} = ..."
    try:
        slots = ", ".join(map(str, lookup(op_type).outputs)) or "none"
    except (UnknownOperatorError, NoGradientError) as error:
        return f"{error} (or {advice})"
    return f"{advice}: {op_type} has {slots}"
