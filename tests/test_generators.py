"""A program's text gets into generated source by ``quoting`` alone: every place is looked at.

A module writes source where a text that it puts together has a mark of a language, where it
executes what it wrote, or where it quotes; so does a package all of whose modules write parts of
one source.  What is put into a text there (by f-strings, ``+``, ``%``, ``format`` or ``join``) must
not read text of a program, at once or by a local name, but in a call of a function that quotes.
"""

import ast
import inspect
import re
from pathlib import Path

import pytest

import fluidlite
from fluidlite.ground import quoting
from fluidlite.ir import literal

from sources import garbage_waits, lines_with, nodes_on

PACKAGE = Path(fluidlite.__file__).parent
#: what begins or ends a constant part of a text that is source
MARKS = re.compile(
    r"""^\s*(def\ |return\b|del\ |class\ ) | (^|\ \ )\#\ $ | <[a-z!/]
    |\b(digraph|subgraph|flowchart|classDef)\ | \[(label|tooltip)= | \ -->\s
    |\bi64\b | \#pragma | PyObject""",
    re.VERBOSE,
)
#: where alone a module can show that it writes source: at an f-string, or a name
WHERE = r"""\b[rR]?[fF][rR]?["']|\bexec\b|\bquoting\b"""
FOR_TERMINALS = {"printable", "terminal_text", "escaping", "encodable", "has_controls"}
WHOLE = ("export/",)  #: packages whose modules write parts of one source
#: what gives source, or a number, whatever it is given
QUOTING = {name for name, _ in inspect.getmembers(quoting, inspect.isfunction)}
QUOTING |= {name for name in vars(literal) if name.endswith("_text")}
QUOTING |= {"operator_text", "variable_text", "identifier", "_plain", "_line"}
QUOTING |= {"len", "int", "round", "range", "bool", "isinstance", "hash"}
#: fields that hold text of a program
FIELDS = {"name", "names", "type", "op_type", "title", "label", "lines", "headline", "namescope"}
FIELDS |= {
    "device",
    "callsite",
    "file",
    "origin",
    "role_vars",
    "results",
    "donatable",
    "random_key",
}
FIELDS |= {"input_arg_names", "output_arg_names", "changed", "fetched", "commits"}
#: what is no text of a program, or no source, by module
KNOWN = {
    "eager/printing.py": r"array\.dtype\.name",  # NumPy's own names
    "backend/native/": r".*\.name|name|found|x|y|added",  # variables of kernels: x0, x1, ...
    "eager/straight_line.py": r"(x|each)\.name|texts|arguments",  # numbered values
    "export/definitions.py": r"kernel\.name",  # an identifier
    "export/exporting.py": r"(n|(each\.)?variable|each\.dtype\.dtype)\.name|name|stem|lines|sizes",
    "export/rendering.py": r"guessed",  # names that a Namer gave, as in the next two
    "export/sizes.py": r"(size|one|other)\.name",
    "export/writing.py": r"(made|kernel)\.name|name",
    "inspect/graph_text.py": r"instruction\.op\.type",
    "inspect/operators.py": r".*",  # lines that ``_repr_html_`` quotes, as in the next two
    "inspect/diff.py": r".*",
    "inspect/stepping.py": r".*",
    "inspect/commands.py": r".*",  # words of the user's
    "ir/text.py": r"kind",  # one of ``Kind``
    "onnx/reading.py": r".*",  # messages of errors
    "layers/operator_layers.py": r".*",  # texts and definitions of the package
    "ops/clicks.py": r".*",  # which knows no program
    "ground/tracebacks.py": r"p\.name",  # parameters of functions of the package
    "runtime/codegen.py": r"made|output|results|shape|value|dead|target",  # numbered values
}


@pytest.fixture(scope="module")
def trees():
    """The modules of the package that write source."""
    found = {}
    with garbage_waits():
        for path in PACKAGE.rglob("*.py"):
            name, source = path.relative_to(PACKAGE).as_posix(), path.read_text(encoding="utf-8")
            if name == "quoting.py":
                continue
            tree = ast.parse(source, path)
            nodes = nodes_on(tree, lines_with(WHERE, source))  # quicker than a walk over all nodes
            if name.startswith(WHOLE) or any(map(writes, nodes)):
                found[name] = tree
        yield found


def writes(node):
    """Whether a part of a module shows that it writes source."""
    if isinstance(node, ast.JoinedStr):
        return any(isinstance(v, ast.Constant) and MARKS.search(v.value) for v in node.values)
    if isinstance(node, ast.ImportFrom):
        is_quoting = (node.module or "").rpartition(".")[2] == "quoting"
        return is_quoting and any(each.name not in FOR_TERMINALS for each in node.names)
    return isinstance(node, ast.Call) and called(node) == "exec"


def called(node):
    return getattr(node.func, "id", None) or getattr(node.func, "attr", "")


class Module:
    """A module that writes source, and the local names in it that hold text of a program.

    Its functions are looked at one by one.  What one of them gives another one is what it put
    together, and was looked at there.
    """

    def __init__(self, tree):
        self.functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
        self.quoting = QUOTING | {"join", "format", *(f.name for f in self.functions)}

    def names(self, nodes):
        """The local names that hold text of a program, of a function with some nodes."""
        found, waiting = set(), []
        for target, source in bindings(nodes):
            stored = (n for n in ast.walk(target) if isinstance(n, ast.Name))
            names = {n.id for n in stored if isinstance(n.ctx, ast.Store)}
            parts = self.parts(source)
            if any(isinstance(part, ast.Attribute) for part in parts):
                found |= names
            else:
                waiting.append((names, {part.id for part in parts}))
        while True:
            bound = [names for names, read in waiting if not found.isdisjoint(read)]
            before = len(found)
            found.update(*bound)
            if len(found) == before:
                return found

    def parts(self, node):
        """The parts of an expression that may read text of a program, outside of what quotes:
        fields, and names, which do if they hold such text.  Texts that are put together within it
        are looked at by themselves.
        """
        found, waiting = [], [node]
        while waiting:
            node = waiting.pop()
            if isinstance(node, ast.Name) or (
                isinstance(node, ast.Attribute) and node.attr in FIELDS
            ):
                found.append(node)
            elif isinstance(node, ast.Call):
                if called(node) not in self.quoting:
                    if isinstance(node.func, ast.Attribute):
                        waiting.append(node.func.value)
                    waiting += [*node.args, *(keyword.value for keyword in node.keywords)]
            elif isinstance(node, ast.IfExp):
                waiting += node.body, node.orelse
            elif isinstance(node, (ast.Subscript, ast.DictComp)):
                waiting.append(node.value)
            elif isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
                waiting.append(node.elt)
            elif not isinstance(node, (ast.JoinedStr, ast.Compare)):
                waiting += ast.iter_child_nodes(node)
        return found

    def unquoted(self):
        """The places at which text of a program gets into a text as it is."""
        for function in self.functions:
            if function.name in ("__str__", "__repr__"):
                continue
            nodes = [*ast.walk(function)]
            names, left_out = self.names(nodes), set(apart(nodes))
            for node in nodes:
                for each in put_in(node) if id(node) not in left_out else ():
                    for part in self.parts(each):
                        if isinstance(part, ast.Attribute) or part.id in names:
                            yield function.name, each.lineno, ast.unparse(part)


def bindings(nodes):
    """Pairs of a target and what it is bound to, among the nodes of a function."""
    for node in nodes:
        if isinstance(node, ast.Assign):
            yield from ((target, node.value) for target in node.targets)
        elif isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)) and node.value:
            yield node.target, node.value
        elif isinstance(node, (ast.For, ast.comprehension)):
            yield from each_of(node.target, node.iter)


def each_of(target, source):
    """The parts of a target of a loop, with what they go through."""
    name = called(source) if isinstance(source, ast.Call) else ""
    if name == "enumerate" and isinstance(target, ast.Tuple):
        yield from each_of(target.elts[1], source.args[0])
    elif name == "zip" and isinstance(target, ast.Tuple):
        for part, each in zip(target.elts, source.args):
            yield from each_of(part, each)
    else:
        yield target, source


def apart(nodes):
    """What is no source: messages of errors and warnings, and what is quoted as a whole."""
    for node in nodes:
        is_said = isinstance(node, ast.Raise)
        if isinstance(node, ast.Call):
            is_said = (
                re.search("Error$|^warn|^_?fail|^Unlike$", called(node)) or called(node) in QUOTING
            )
        if is_said:
            yield from map(id, ast.walk(node))


def put_in(node):
    """What is put into a text by an expression."""
    if isinstance(node, ast.JoinedStr):
        return [v.value for v in node.values if isinstance(v, ast.FormattedValue)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Mod)):
        sides = (node.left, node.right)
        texts = [
            isinstance(getattr(s, "value", None), str) or isinstance(s, ast.JoinedStr)
            for s in sides
        ]
        return sides if any(texts) else ()
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.args if node.func.attr in ("format", "join") else ()
    return ()


def test_no_text_of_a_program_gets_into_source_as_it_is(trees):
    found = [
        f"{module}:{line}, {function}: {text}"
        for module, tree in trees.items()
        for function, line, text in Module(tree).unquoted()
        if not any(module.startswith(m) and re.fullmatch(e, text) for m, e in KNOWN.items())
    ]
    assert not found, "\n".join(found)


FAULTS = {
    "a comment": 'def f(op):\n    return f"  # {op.callsite}"',
    "a name that repr quotes": 'def f(v):\n    yield f"get({v.name!r})"',
    "a local name": "def f(op):\n    site = str(op.callsite)\n    return '<b>' + site",
    "a loop": "def f(s):\n    for k, name in enumerate(s.names):\n        yield f'a = {name}'",
    "a list": "def f(s):\n    found = [v.name for v in s]\n    return ', '.join(found)",
    "a format": "def f(op):\n    return '{} = 1'.format(op.type)",
    "a percentage": "def f(op):\n    return '%s = 1' % op.type",
}


@pytest.mark.parametrize("source", FAULTS.values(), ids=FAULTS)
def test_a_text_that_is_not_quoted_is_found(source):
    assert len([*Module(ast.parse(source)).unquoted()]) == 1


def test_the_modules_that_write_source_are_found(trees):
    expected = {"runtime/codegen.py", "runtime/bound.py", "export/rendering.py", "ir/text.py"}
    expected |= {
        f"inspect/{n}.py" for n in ("exports", "html", "picture", "notebook", "graph_text")
    }
    assert expected <= trees.keys()
    assert not [module for module in KNOWN if not (PACKAGE / module).exists()]


def test_kernels_in_c_know_no_program():
    for path in (PACKAGE / "backend" / "native").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert not re.match(r"(ir|proto|runtime)\b", node.module or ""), path
            assert getattr(node, "attr", "") not in ("callsite", "namescope", "title"), path
