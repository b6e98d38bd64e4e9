"""No option is taken and ignored, unless its documentation says so."""

import ast
import importlib
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[1] / "fluidlite"
FOLDERS = ("flow", "nn", "dygraph", "eager", "functions", "layers")
#: what names results, or activates them, is read by ``@layer``; results of tensors have no names
READ_ELSEWHERE = {"self", "cls", "f", "name", "act"}
SAID = re.compile(r"accepted|without (a )?meaning|are in order")


def functions(tree, module=None):
    """The public functions of a file, and the public methods of its public classes, with their
    documentation, to which decorators may have added.
    """
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            yield node, documentation(module, node)
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            about = documentation(module, node)
            for method in node.body:
                if isinstance(method, ast.FunctionDef) and method.name == "__init__":
                    yield method, about
                elif isinstance(method, ast.FunctionDef) and method.name[0] != "_":
                    yield method, doc(method)


def documentation(module, node):
    """What ``help`` says of something in a module; what its source says without one."""
    made = getattr(module, node.name, None)
    return doc(node) if made is None else made.__doc__ or doc(node)


def doc(node):
    return ast.get_docstring(node) or ""


def unread(function):
    """The parameters that the body never reads; none where it does nothing."""
    body = [s for s in function.body if not isinstance(s, (ast.Expr, ast.Raise, ast.Pass))]
    arguments = function.args
    listed = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    read = {n.id for s in function.body for n in ast.walk(s) if isinstance(n, ast.Name)}
    return [a.arg for a in listed if a.arg not in read | READ_ELSEWHERE] if body else []


def is_explained(parameter, about):
    entries = re.split(r"\n(?=\s*[\w, ]+:)", about)
    return any(re.search(rf"\b{parameter}\b", e.split(":")[0]) and SAID.search(e) for e in entries)


FILES = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]

#: methods of the engine, which have the parameters of what they stand for
INTERFACES = {
    *("cotangents", "parameter", "apply", "create_var", "has_var", "pull", "persistable"),
    *("own_parameter", "forward", "backward"),
}


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_option_is_read_or_said_to_be_without_meaning(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    place = path.relative_to(ROOT.parent).with_suffix("").parts
    module = importlib.import_module(".".join(place).removesuffix(".__init__"))
    ignored = [
        f"{function.name}({parameter}), line {function.lineno}"
        for function, about in functions(tree, module)
        if function.name not in INTERFACES
        for parameter in unread(function)
        if not is_explained(parameter, about)
    ]
    assert not ignored


def test_the_test_finds_an_option_that_is_ignored():
    source = (
        'def f(a, b, c):\n    """F.\n\n    Args:\n        b: accepted.\n    """\n    return a\n'
    )
    ((function, about),) = functions(ast.parse(source))
    assert [p for p in unread(function) if not is_explained(p, about)] == ["c"]
