"""Who imports whom inside the package, and how.

The layers are read from setup.cfg, where import-linter finds them, too.  These tests need no tool,
and see what the tool does not.  All but the last read sources and import nothing.
"""

import ast
import configparser
import functools
import graphlib
import importlib.util
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from sources import garbage_waits, lines_with, nodes_on, stands_on

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "fluidlite"

# Packages that cost more than they are used: imported inside the functions that use them.
HEAVY = {
    *("PIL", "google", "jax", "matplotlib", "ml_dtypes", "mpi4py", "networkx", "onnx"),
    *("rich", "visualdl", "wandb"),
}
HEAVY |= {"scipy", "tensorboardX", "threadpoolctl", "tqdm"}
# Also allowed inside functions: a module of the standard library that few programs need.
LIGHT = {"concurrent", "ctypes", "difflib", "hashlib", "json", "random", "tempfile"}
VAGUE = {"base", "common", "helper", "helpers", "misc", "util", "utils"}
PASSING = {"each", "found", "given", "kept", "made"}  # names for the next line or two
PASSING_WORDS = rf"\b({'|'.join(PASSING)})\b"
LIFE = 3  # how many lines a local of such a name may live
#: users of paddle 2 and OneFlow import these
IMPORTED_SO = {
    "paddle/distributed/fleet/base",
    "paddle/distributed/fleet/utils",
    *("nn/utils.py", "flow/nn/utils", "flow/utils"),
    *("paddle/base", "paddle/nn/utils.py", "paddle/utils"),
}
LONGEST, LONGEST_OF_RUNTIME = 600, 400


@dataclass(frozen=True)
class Import:
    """One imported name: ``from target import name``, or ``import target`` when name is empty."""

    importer: str
    line: int
    target: str  # the module that is loaded; of the package's own ones the innermost
    name: str
    relative: bool
    function: str  # the innermost function around it, "" at module level
    typing: bool  # under ``if TYPE_CHECKING``

    def __str__(self):
        what = f"from {self.target} import {self.name}" if self.name else f"import {self.target}"
        return f"{self.importer}, line {self.line}: {what}"

    @property
    def internal(self):
        return self.target.split(".")[0] == PACKAGE


#: what imports a module by its name
IMPORTERS = {"__import__", "import_module"}
#: where the name of the module follows from what is asked for: who names it, and why that is no
#: import upwards
NAMED_BY_THE_CALLER = {
    "fluidlite.ground.moved_modules": "users import modules by their old names",
    "fluidlite.ground.missing_names": "modules name themselves; all names may be suggested",
    "fluidlite.ground.module_tables": "tables say what modules give",
    "fluidlite.distributed.mesh": "names of JAX",
    "fluidlite.paddle.utils.checks": "scripts say what they try to import",
}


class NamedImports:
    """Collects the modules that a module imports by strings, as far as these are written in it."""

    def __init__(self, module, is_package, tree):
        package = module if is_package else module.rpartition(".")[0]
        self.module, self.package = module, package
        self.names = {"__name__": module, "__package__": package}
        for node in tree.body:
            if isinstance(node, ast.Assign):
                self.assign(node.targets[0], node.value)

    def assign(self, target, value):
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for one, of_it in zip(target.elts, value.elts, strict=True):
                self.assign(one, of_it)
        elif isinstance(target, ast.Name):
            found, is_whole = self.text_of(value)
            if is_whole:
                self.names[target.id] = found

    def text_of(self, node):
        """The text that an expression has for sure at its beginning, and whether that is all."""
        if isinstance(node, ast.JoinedStr):
            text = ""
            for part in node.values:
                more, is_whole = self.text_of(
                    part.value if isinstance(part, ast.FormattedValue) else part
                )
                text += more
                if not is_whole:
                    return text, False
            return text, True
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value, True
        try:  # of what is known nothing but methods of texts is called
            expression = compile(ast.Expression(node), self.module, "eval")
            found = eval(expression, {"__builtins__": {}}, dict(self.names))
        except Exception:
            return "", False
        return (found, True) if isinstance(found, str) else ("", False)

    def found(self, tree):
        """Pairs of a line and the module that is imported there; "" where the text is not known."""
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            called, *given = node.func, *node.args
            if name_called(called) == "partial":
                called, *given = given
            if name_called(called) not in IMPORTERS or not given:
                continue
            text, is_whole = self.text_of(given[0])
            if text.startswith("."):
                package = self.text_of(given[1])[0] if len(given) > 1 else self.package
                text = importlib.util.resolve_name(text, package)
            if not is_whole:
                text = text.rpartition(".")[0]
            yield node.lineno, text


def name_called(node):
    return getattr(node, "attr", getattr(node, "id", ""))


class Reader:
    """Collects the imports of one module, statement by statement: expressions import nothing."""

    def __init__(self, module, is_package, modules):
        self.module, self.is_package, self.modules = module, is_package, modules
        self.found, self.functions, self.typing = [], [], False

    def add(self, node, target, name, relative=False):
        if name and f"{target}.{name}" in self.modules:
            target, name = f"{target}.{name}", ""
        function = self.functions[-1] if self.functions else ""
        self.found.append(
            Import(self.module, node.lineno, target, name, relative, function, self.typing)
        )

    def visit(self, statements):
        for node in statements:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    self.add(node, alias.name, "")
            elif isinstance(node, ast.ImportFrom):
                self.add_names(node)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                self.functions.append(node.name)
                self.visit(node.body)
                self.functions.pop()
            elif isinstance(node, ast.If):
                before = self.typing
                wanted = ("TYPE_CHECKING", "typing.TYPE_CHECKING")
                self.typing = before or ast.unparse(node.test) in wanted
                self.visit(node.body)
                self.typing = before
                self.visit(node.orelse)
            else:  # classes, loops, with, try and its handlers, match and its cases
                for name in ("body", "handlers", "cases", "orelse", "finalbody"):
                    self.visit(getattr(node, name, ()))

    def add_names(self, node):
        target = node.module or ""
        if node.level:
            up = self.module.split(".")[: None if self.is_package else -1]
            target = ".".join([*up[: len(up) - node.level + 1], *filter(None, [node.module])])
        for alias in node.names:
            self.add(node, target, alias.name, relative=node.level > 0)


def name_of(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {name_of(path): path for path in sorted((ROOT / PACKAGE).rglob("*.py"))}


@functools.cache
def source_of(module):
    return FILES[module].read_text(encoding="utf-8")


@functools.cache
def tree_of(module):
    return ast.parse(source_of(module), FILES[module])


@functools.cache
def imports_of(module):
    reader = Reader(module, FILES[module].name == "__init__.py", FILES)
    reader.visit(tree_of(module).body)
    return reader.found


@functools.cache
def named_imports_of(module):
    if not any(name in source_of(module) for name in IMPORTERS):
        return []  # quicker than a walk over all nodes
    tree = tree_of(module)
    reader = NamedImports(module, FILES[module].name == "__init__.py", tree)
    return [Import(module, line, text, "", False, "", False) for line, text in reader.found(tree)]


@pytest.fixture(scope="module", autouse=True)
def trees():
    """The trees of all sources stay until the last test is done: each search for garbage among them
    would take longer than to read one.
    """
    with garbage_waits():
        yield
        for kept in (tree_of, imports_of, named_imports_of):
            kept.cache_clear()


@pytest.fixture(scope="module")
def imports():
    """All imports of the package, but those by strings."""
    return [found for module in FILES for found in imports_of(module)]


@pytest.fixture(scope="module")
def named_imports():
    """Those by strings; the module is "" where only the caller knows it."""
    return [found for module in FILES for found in named_imports_of(module)]


def contracts():
    """The layers of every contract in setup.cfg, from the top down: name -> [(modules, strict)]."""
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    result = {}
    for section in config.sections():
        if section.startswith("importlinter:contract:"):
            lines = config[section]["layers"].split("\n")
            result[config[section]["name"]] = [
                ([part.strip(" ()") for part in re.split("[|:]", line)], ":" not in line)
                for line in lines
                if line.strip()
            ]
    return result


CONTRACTS = contracts()


def report(found):
    lines = [str(item) for item in found]
    assert not lines, "\n" + "\n".join(lines)


def test_every_module_has_a_place_among_the_layers():
    placed = {module for modules, _ in CONTRACTS["imports point downwards"] for module in modules}
    children = {module.split(".")[1] for module in FILES if "." in module}
    report([f"setup.cfg lists no layer for {name}" for name in sorted(children - placed)])


@pytest.mark.parametrize("contract", CONTRACTS)
def test_no_module_imports_upwards(contract, imports, named_imports):
    layers = CONTRACTS[contract]
    rank = {name: i for i, (modules, _) in enumerate(layers) for name in modules}
    strict = {name for modules, independent in layers if independent for name in modules}

    def is_wrong(found):
        upper, lower = (name.split(".")[1:2] for name in (found.importer, found.target))
        if not upper or not lower or upper == lower or not {*upper, *lower} <= rank.keys():
            return False
        (upper,), (lower,) = upper, lower
        return rank[lower] < rank[upper] or (rank[lower] == rank[upper] and upper in strict)

    found = [*imports, *named_imports]
    report([i for i in found if i.internal and not i.typing and is_wrong(i)])


def test_what_is_imported_by_a_string_is_written_where_it_is_imported(named_imports):
    def is_top(module):
        return module == PACKAGE or module.startswith(f"{PACKAGE}.compat")

    unknown = {i.importer for i in named_imports if not i.target and not is_top(i.importer)}
    report(f"{module} imports what no test can know" for module in unknown - {*NAMED_BY_THE_CALLER})
    report(f"{m} does not: take it off the list" for m in {*NAMED_BY_THE_CALLER} - unknown)


@pytest.mark.parametrize(
    "text, target",
    [
        ('import_module("fluidlite.ops")', "fluidlite.ops"),
        ('importlib.import_module(".ops", "fluidlite")', "fluidlite.ops"),
        ("_UP = f\"{__package__.rpartition('.')[0]}.ops\"\n__import__(_UP)", "fluidlite.ops"),
        ('_A, _B = "fluidlite.a", f"{__package__}.b"\nimport_module(_B)', "fluidlite.ir.b"),
        ('def f(name):\n    import_module(f"{__package__}.xla.{TABLE[name]}")', "fluidlite.ir.xla"),
        ('load = partial(import_module, f"{__name__}.ops")', "fluidlite.ir.block.ops"),
        ("def f(name):\n    return import_module(name)", ""),
    ],
)
def test_imports_by_strings_are_seen(text, target):
    tree = ast.parse(text)
    assert [t for _, t in NamedImports("fluidlite.ir.block", False, tree).found(tree)] == [target]


def test_no_module_imports_the_package_itself(imports):
    report([i for i in imports if i.target == PACKAGE and i.importer != PACKAGE])


def test_modules_of_the_package_import_each_other_relatively(imports):
    report([i for i in imports if i.internal and not i.relative])


def test_no_import_has_a_star(imports):
    report([i for i in imports if i.name == "*"])


def test_no_cycle_among_the_imports_at_module_level(imports):
    needs = {module: set() for module in FILES}
    for i in imports:
        if i.internal and not i.function and not i.typing and i.target != i.importer:
            needs[i.importer].add(i.target)
    try:
        graphlib.TopologicalSorter(needs).prepare()
    except graphlib.CycleError as error:
        pytest.fail("cycle: " + " <- ".join(error.args[1]), pytrace=False)


def test_functions_import_only_packages_that_cost_more_than_they_are_used(imports):
    def is_allowed(found):
        if found.importer == PACKAGE and found.function == "__getattr__":
            return True
        return found.target.split(".")[0] in HEAVY | LIGHT

    report([i for i in imports if i.function and not is_allowed(i)])


def is_private(name):
    return name.startswith("_") and not name.startswith("__")


def test_private_names_stay_in_their_modules(imports):
    names = [(i, [*i.target.split("."), i.name]) for i in imports if i.internal]
    report(i for i, parts in names if any(map(is_private, parts)))


def test_private_attributes_of_modules_are_not_used_elsewhere():
    def uses(module):
        own = {i.target.split(".")[-1] for i in imports_of(module) if i.internal and not i.name}
        lines = lines_with(rf"\b({'|'.join(own)})\s*\._", source_of(module))
        for node in nodes_on(tree_of(module), lines):
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id in own
                and is_private(node.attr)
            ):
                yield f"{module}, line {node.lineno}: {ast.unparse(node)}"

    report(use for module in FILES for use in uses(module))


def test_no_file_has_a_name_that_says_nothing():
    paths = [path for path in (ROOT / PACKAGE).rglob("*") if path.is_dir() or path.suffix == ".py"]
    vague = [path.relative_to(ROOT / PACKAGE) for path in paths if path.stem.strip("_") in VAGUE]
    report(path for path in vague if path.as_posix() not in IMPORTED_SO)


FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef
SCOPE = FUNCTION | ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def passing_locals(scope, lines):
    """Passing names that live too long, as pairs of a line and a name, and the uses of those that
    belong to a scope around.

    Args:
        lines: those that have such names.
    """
    too_long, reads, stores, parameters = [], [], {}, set()
    nodes = [*ast.iter_child_nodes(scope)]
    while nodes:
        node = nodes.pop()
        if not stands_on(node, lines):
            continue  # quicker than a walk over all nodes
        if isinstance(node, SCOPE):
            inner, free = passing_locals(node, lines)
            too_long += inner
            reads += free
            continue
        if isinstance(node, ast.Name) and node.id in PASSING:
            if isinstance(node.ctx, ast.Load):
                reads.append((node.lineno, node.id))
            else:
                stores[node.id] = min(node.lineno, stores.get(node.id, node.lineno))
        elif isinstance(node, ast.arg):
            parameters.add(node.arg)
        nodes += ast.iter_child_nodes(node)
    if isinstance(scope, FUNCTION):
        ends = {name: line for line, name in sorted(reads)}
        too_long += [
            (line, name)
            for name, line in stores.items()
            if name not in parameters and ends.get(name, line) - line > LIFE
        ]
    return too_long, [read for read in reads if read[1] not in stores.keys() | parameters]


@pytest.mark.parametrize(
    "text, lines",
    [
        ("def f(x):\n    found = x\n    x()\n    x()\n    return found", []),
        ("def f(x):\n    found = x\n    x()\n    x()\n    x()\n    return found", [2]),
        ("def f(x):\n    for each in x:\n        x()\n        x()\n\n        each()", [2]),
        ("def f(made):\n    made = made()\n    made()\n\n\n    return made", []),
        ("def f(x):\n    for each in x:\n        each()\n\n\n    [each for each in x]", []),
        ("def f(x):\n    def g():\n        return made\n\n    made = x\n\n    g()\n", []),
        ("def f(x):\n    made = x\n\n    def g():\n\n        return made\n", [2]),
        ("class A:\n    def g(self):\n        made = 1\n\n\n\n        made()", [3]),
    ],
)
def test_names_that_live_too_long_are_seen(text, lines):
    found, _ = passing_locals(ast.parse(text), lines_with(PASSING_WORDS, text))
    assert [line for line, _ in found] == lines


def test_a_local_that_lives_longer_than_three_lines_is_named_after_its_thing():
    words = {module: lines_with(PASSING_WORDS, source_of(module)) for module in FILES}
    report(
        f"{module}, line {line}: {name} lives longer than {LIFE} lines; name it after what it is"
        for module, lines in words.items()
        for line, name in sorted(passing_locals(tree_of(module), lines)[0])
    )


def test_no_file_is_longer_than_two_ideas():
    sizes = {module: source_of(module).count("\n") for module in FILES}
    most = {
        module: LONGEST_OF_RUNTIME if module.startswith(f"{PACKAGE}.runtime.") else LONGEST
        for module in sizes
    }
    report(
        f"{FILES[module].relative_to(ROOT)} has {lines} lines, {most[module]} are the most"
        for module, lines in sizes.items()
        if lines > most[module]
    )


def test_importing_the_package_loads_no_heavy_package():
    script = f"import sys; old = {{*sys.modules}}; import {PACKAGE}; print(*{{*sys.modules}} - old)"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    modules = {*done.stdout.split()}
    loaded = {".".join(name.split(".")[:2]) for name in modules}
    tops = {name.split(".")[0] for name in loaded}
    report(sorted((HEAVY & tops) - {"google"} | ({"google.protobuf"} & loaded)))
    # what compiles plans is read by the first executor and the first compiled plan
    report(sorted({f"{PACKAGE}.runtime.{name}" for name in ("compile", "pipeline")} & modules))


# Classes of one name that are both of the interface: fluid 1.8 has them in two places, or has one
# in a program and one at once.
OF_THE_INTERFACE = {
    "Accuracy", "Hessian", "Independent", "InvertedResidual", "Jacobian", "Normal", "Parameter",
    "Positive", "Real", "Transpose", "Uniform", "VarDesc",
}  # fmt: skip
# The packages that have the names of another library: a class that one of them exports is compared
# with its own ones only, a class that it does not export with all.
SPELLINGS = {
    "flow": (
        *("flow", "flow.distributions", "flow.nn", "flow.optim", "flow.optim.lr_scheduler"),
        "flow.utils.data",
    ),
    "inference": ("inference.kinds",),
    "nn": ("nn", "nn.initializer"),
    "optimizer": ("optimizer.lr",),
    "paddle": (
        "paddle.amp",
        "paddle.base.loading",
        "paddle.device",
        "paddle.distributed.datasets",
        "paddle.distributed.fleet.roles",
        "paddle.distributed.fleet.strategies",
        "paddle.distributed.fleet.training",
        "paddle.distributed.groups",
        "paddle.distributed.meshes",
        "paddle.distributed.parallel",
        "paddle.distribution",
        "paddle.distribution.constraint",
        "paddle.distribution.variable",
        "paddle.incubate.autograd",
        "paddle.sparse.nn",
        "paddle.incubate.optimizer",
        "paddle.callbacks",
        "paddle.hapi",
        "paddle.io",
        "paddle.metric",
        "paddle.inference",
        "paddle.jit.api",
        "paddle.optimizer",
        "paddle.param_attr",
        "paddle.regularizer",
        "paddle.static.amp",
        "paddle.text",
    ),
}


def exported(module):
    """The names in ``__all__`` of a module, where it is a list of texts; else those that it
    imports, where it calls ``list_given_names``; else those that it imports by the same name again.
    """
    body = tree_of(f"{PACKAGE}.{module}").body
    for node in body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return {text.value for text in node.value.elts}
    aliases = [alias for node in body if isinstance(node, ast.ImportFrom) for alias in node.names]
    gives = any(ast.unparse(node).startswith("list_given_names(") for node in body)
    return {alias.name for alias in aliases if gives or alias.asname == alias.name}


def test_the_name_of_a_public_class_occurs_once():
    exports = {s: set().union(*map(exported, modules)) for s, modules in SPELLINGS.items()}
    places = {}
    for module in FILES:
        spelling = module.split(".")[1] if "." in module else ""
        if spelling in ("compat", "quantization"):
            continue  # classes of another time, by their names there, and its passes over graphs
        for node in tree_of(module).body:
            if isinstance(node, ast.ClassDef) and not is_private(node.name):
                own = spelling if node.name in exports.get(spelling, ()) else ""
                places.setdefault((own, node.name), []).append(module)
    double = {name: modules for (_, name), modules in places.items() if len(modules) > 1}
    allowed = OF_THE_INTERFACE
    report(f"{n}: {', '.join(modules)}" for n, modules in double.items() if n not in allowed)
    report(f"{name} occurs once: take it off the list" for name in sorted(allowed - {*double}))


# What changes a list or a dictionary in place.
CHANGING = {
    *("append", "clear", "extend", "insert", "pop", "popitem", "remove", "reverse"),
    *("setdefault", "sort", "update"),
}


def changed_in(module):
    """The expressions that a module assigns to, deletes, or calls a changing method of, where it
    names what a block holds.
    """
    for node in nodes_on(tree_of(module), lines_with(r"\.(ops|vars)\b", source_of(module))):
        if isinstance(node, (ast.Assign, ast.Delete)):
            yield from ((target, node.lineno) for target in node.targets)
        elif isinstance(node, (ast.AugAssign, ast.AnnAssign)):
            yield node.target, node.lineno
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in CHANGING:
            yield node.func.value, node.lineno


def test_what_a_block_holds_changes_in_its_own_methods_only():
    def changes(module):
        for target, line in changed_in(module):
            held = target.value if isinstance(target, ast.Subscript) else target
            if not isinstance(held, ast.Attribute) or held.attr not in {"ops", "vars"}:
                continue
            if not (isinstance(held.value, ast.Name) and held.value.id == "self"):
                yield f"{module}, line {line}: {ast.unparse(target)}"

    report(c for module in FILES if module != f"{PACKAGE}.ir.block" for c in changes(module))
    assert len(list(changes(f"{PACKAGE}.ir.block"))) == 0
    own = {ast.unparse(target) for target, _ in changed_in(f"{PACKAGE}.ir.block")}
    assert {"self.ops", "self.vars", "self.ops[index]", "self.vars[name]"} <= own
