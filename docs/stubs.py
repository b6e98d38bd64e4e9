"""Writes what type checkers read of names that are made when fluidlite runs: stubs (``.pyi``) of
the packages whose names come lazily, and of the methods that variables have because tensors have
them.

    python docs/stubs.py

A test sees that they agree with the package.
"""

import ast
import functools
import inspect
import re
import sys
from collections.abc import Collection
from pathlib import Path
from types import FunctionType

import fluidlite as fluid
from fluidlite.functions import exports
from fluidlite.opdef.arithmetic import BINARY, REFLECTED
from fluidlite.symbolic import methods

PACKAGE = Path(__file__).resolve().parent.parent / "fluidlite"
#: what checkers let scripts do with results of layers that may have run at once
AT_ONCE = ("backward", "clear_gradient", "gradient", "grad", "item", "set_value", "tolist")
#: layers that give more than one variable where an argument is true, or given
FLAGS = {
    "adaptive_pool2d": "require_index",
    "adaptive_pool3d": "require_index",
    "ctc_greedy_decoder": "input_length",
    "detection_output": "return_index",
    "matrix_nms": "return_index",
    "nonzero": "as_tuple",
    "softmax_with_cross_entropy": "return_softmax",
}
#: modules of layers -> the types of arguments that they name
_ALIASES = {
    "anchors": "Floats",
    "convolution": "Numbers, Padding",
    "reduce": "Dims",
    "sizes": "Given",
}
HEAD = "# Written by docs/stubs.py.\n"


def imports_of(path: Path) -> dict[str, tuple[str, str]]:
    """The names that a file imports from the package -> the module, beginning with points, and the
    name there.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {
        alias.asname or alias.name: ("." * node.level + (node.module or ""), alias.name)
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.level
        for alias in node.names
    }


def place(name: str) -> tuple[str, str]:
    """Where a public name of ``fluidlite`` comes from."""
    known = imports_of(PACKAGE / "__init__.py")
    if name in known:
        return known[name]
    if name in fluid._MODULES:
        return ".", name
    if name in fluid._NAMES:
        return f".{fluid._NAMES[name]}", name
    if name in exports._PLACES:
        return exports._PLACES[name]
    module, theirs = imports_of(PACKAGE / "functions" / "exports.py")[name]
    return (module[1:] if module[:2] == ".." else f".functions{module}"), theirs


def lines_of(
    places: dict[str, tuple[str, str]], written: Collection[str] = (), head: Collection[str] = ()
) -> list[str]:
    """Import statements, and ``__all__``, so that checkers know the names as public.

    Args:
        places: where names come from.
        written: those that the stub defines itself.
        head: what stands in front.
    """
    lines = [*head]
    for name, (module, theirs) in sorted(places.items(), key=lambda item: (item[1][0], item[0])):
        if name in written:
            continue
        renamed = "" if name == theirs else f" as {name}"
        lines.append(f"from {module} import {theirs}{renamed}")
    listed = [f"    {name!r},".replace("'", '"') for name in sorted(places)]
    return [*lines, "", "__all__ = [", *listed, "]"]


def package_stub() -> str:
    """Of ``fluidlite`` itself."""
    lines = lines_of({name: place(name) for name in dir(fluid)})
    return "\n".join([*lines, "", "__version__: str", ""])


def layers_stub() -> str:
    """Of ``fluidlite.layers``, whose ``__all__`` is computed."""
    places = {name: (f".{fluid.layers._PLACES[name]}", name) for name in dir(fluid.layers)}
    known = imports_of(PACKAGE / "layers" / "__init__.py")
    modules = {name: at for name, at in known.items() if at[0] == "."}
    head = ["from collections.abc import Mapping, Sequence"]
    head += ["from typing import Any, Literal, overload", ""]
    head += ["from ..ground.dtypes import DTypeLike", "from ..initializer import Initializer"]
    head += ["from ..ir.variable import Variable", "from ..param_attr import Attr"]
    head += [f"from .{m} import {n}" for m, n in _ALIASES.items()]
    made = [n for n in places if n not in FLAGS and _is_made(getattr(fluid.layers, n))]
    lines = lines_of(modules | places, [*FLAGS, *made], head)
    return "\n".join([*lines, "", *map(_function, made), *map(_overloads, FLAGS)])


def _is_made(value: object) -> bool:
    """Whether a layer is made of an operator's definition."""
    return inspect.isfunction(value) and inspect.unwrap(value).__code__.co_filename.endswith(
        ("<layer>", "<spelling>")
    )


def _function(name: str) -> str:
    """A layer that is made of an operator's definition."""
    made = getattr(fluid.layers, name)
    signature = inspect.signature(made)
    prose = " ".join((made.__doc__ or "").partition("\n\n")[0].split())
    told = ", ".join(
        f"{p.name}: {p.annotation}{_default(p)}" for p in signature.parameters.values()
    )
    return f'def {name}({told}) -> {signature.return_annotation}:\n    """{prose}"""\n'


def _default(parameter: inspect.Parameter) -> str:
    return "" if parameter.default is parameter.empty else f" = {parameter.default!r}"


def _overloads(name: str) -> str:
    """A layer whose result an argument decides: one variable or several."""
    signature = inspect.signature(getattr(fluid.layers, name))
    summary = _summary(getattr(fluid.layers, name))
    one, _, several = str(signature.return_annotation).partition(" | ")
    flag, text = FLAGS[name], ""
    if signature.parameters[flag].default is None:
        ways = ("None = None", one), ("Variable", several), ("Variable | None = None", None)
    else:
        ways = ("Literal[False] = False", one), ("Literal[True]", several), ("bool = False", None)
    for kind, result in ways:
        told = []
        for each in signature.parameters.values():
            said = kind if each.name == flag else f"{each.annotation}{_default(each)}"
            told += ["*"] if each.name == flag and kind[:7] == "Literal" and " " not in kind else []
            told.append(f"{each.name}: {said}")
        text += f"@overload\ndef {name}({', '.join(told)}) -> {result or f'{one} | {several}'}:\n"
        text += f'    """{summary}"""\n'
    return text


def _summary(documented: object) -> str:
    """The first line of a docstring."""
    return (documented.__doc__ or "").strip().splitlines()[0]


def variables_stub() -> str:
    """Python's operators on variables, and the methods that they have because tensors do."""
    names = sorted(methods())
    head = "from collections.abc import Sequence\nfrom typing import Any, Literal, overload\n\n"
    head += "from ..functions.arguments import ArrayLike, Axes, DTypeLike, Numbers, Other\n"
    head += "from ..opdef.arithmetic import Arithmetic\n"
    head += "from .variable import Variable\n\nclass VariableMethods(Arithmetic):\n"
    note = "    # Layers give tensors where they run at once, which have these, too.\n"
    lines = [f"    {name}: Any\n" for name in AT_ONCE]
    lines += [f"    def __{kind}__(self) -> {kind}: ...\n" for kind in ("int", "float")]
    return (
        head
        + _operators("Variable")
        + "\n"
        + "\n".join(map(_method, names))
        + note
        + "".join(lines)
    )


def tensors_stub() -> str:
    """Python's operators on tensors."""
    head = "from typing import Any\n\nfrom ..opdef.arithmetic import Arithmetic\n"
    head += "from .tensor import Tensor\n\nclass TensorOperators(Arithmetic):\n"
    return head + _operators("Tensor")


def _operators(result: str) -> str:
    """The methods of the tables of ``opdef/arithmetic.py``."""
    lines = ["    def __hash__(self) -> int: ...\n"]
    for name in (*BINARY, *REFLECTED):
        of_objects = "  # type: ignore[override]" if name in vars(object) else ""
        of_objects = of_objects if name in ("__eq__", "__ne__") else ""
        lines.append(f"    def {name}(self, other: Any) -> {result}: ...{of_objects}\n")
    return "".join(lines)


def _method(name: str) -> str:
    member = methods()[name]
    if isinstance(member, property):
        summary = _summary(member)
        return f'    @property\n    def {name}(self) -> Variable:\n        """{summary}"""\n'
    signature = inspect.signature(member)
    ways = _ways(member)
    if ways:
        summary = f'        """{_summary(member)}"""\n'
        return "".join(f"    @overload\n    def {name}{way}:\n{summary}" for way in ways)
    first, *others = signature.parameters.values()
    told = [str(first.replace(name="self", annotation=first.empty)), *map(_parameter, others)]
    result = _of_variables(signature.return_annotation)
    summary = _summary(member)
    return f'    def {name}({", ".join(told)}) -> {result}:\n        """{summary}"""\n'


@functools.cache
def _overloads_in(path: str) -> dict[str, list[ast.FunctionDef]]:
    """The functions of a file that are written with ``@overload``."""
    found: dict[str, list[ast.FunctionDef]] = {}
    for node in ast.parse(Path(path).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and "overload" in map(
            ast.unparse, node.decorator_list
        ):
            found.setdefault(node.name, []).append(node)
    return found


def _ways(member: FunctionType) -> list[str]:
    """Parameters and results of a method's overloads, as its module writes them."""
    told = []
    for node in _overloads_in(member.__globals__["__file__"]).get(member.__name__, ()):
        written = node.args.args
        node.args.args = [ast.arg("self"), *written[1:]]
        told.append(_of_variables(f"({ast.unparse(node.args)}) -> {ast.unparse(node.returns)}"))
        node.args.args = written
    return told


def _parameter(parameter: inspect.Parameter) -> str:
    kept = parameter.replace(annotation=parameter.empty, default=parameter.empty)
    annotation = _of_variables(parameter.annotation)
    if annotation == "Variable":
        annotation = "Any"  # a tensor that is kept, an array or a number will do
    return f"{kept}: {annotation}{_default(parameter)}".replace("'", '"')


def _of_variables(annotation: str) -> str:
    return re.sub(r"\b(Tensor(Core)?|Self)\b", "Variable", str(annotation))


#: file -> what gives its text
STUBS = {
    "__init__.pyi": package_stub,
    "layers/__init__.pyi": layers_stub,
    "ir/variable_methods.pyi": variables_stub,
    "eager/tensor_operators.pyi": tensors_stub,
}


def main() -> None:
    """Write the files, of the checkout that this script is in."""
    imported = Path(fluid.__file__).resolve().parent
    if imported != PACKAGE:
        sys.exit(f"expected fluidlite of {PACKAGE.parent}, got that of {imported.parent}")
    for name, text in STUBS.items():
        (PACKAGE / name).write_text(HEAD + text(), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
