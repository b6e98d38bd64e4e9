"""Pages of the site that say what every operator is: slots, attributes, gradient rule."""

import inspect
import re
import sys
import textwrap
from collections import defaultdict

from fluidlite import ops
from fluidlite.opdef.attribute import REQUIRED
from fluidlite.opdef.definition import registered

MARKS = {"?": "may be absent", "*": "a list", "!": "no gradient", "~": "not returned", "[]": "LoD"}


def families():
    """The modules of operators, each with the operators that it defines, by name."""
    found = defaultdict(list)
    for op in registered():
        if op.__module__.startswith(f"{ops.__name__}.") and not op.type.endswith("_grad"):
            found[op.__module__].append(op)
    for module in sorted(found):
        yield module.rpartition(".")[2], sys.modules[module], found[module]


def attributes(op):
    """A table of the attributes of an operator; empty where it has none."""
    rows = [
        f"| `{name}` | `{attribute.kind}` | {shown(attribute.default)} |"
        for name, attribute in op.attributes.items()
    ]
    head = ["| attribute | type | default |", "|---|---|---|"]
    return "\n".join([*head, *rows]) + "\n" if rows else ""


def shown(default):
    """A default value, as in a table."""
    return "must be given" if default is REQUIRED else f"`{default!r}`"


def source(op, name):
    """The code of a method of an operator; empty where it has none."""
    found = getattr(op, name, None)
    if not inspect.isfunction(found):
        return ""
    return textwrap.dedent(inspect.getsource(found)).rstrip()


def escaped(text):
    """A text without anything that Markdown takes for its own."""
    return re.sub(r"([\\*_\[\]<`])", r"\\\1", text)


def entry(op):
    """What a page says of one operator."""
    parts = [f"## {op.type}\n", f"`{op.signature}`\n"]
    if op.__doc__:
        text = inspect.cleandoc(op.__doc__)
        first, _, rest = text.partition("\n\n")
        parts.append(escaped(first) + "\n")
        if rest:
            parts.append(f"```text\n{rest}\n```\n")
    parts.append(attributes(op))
    for method, title in (("expand", "Composition"), ("grad", "Gradient rule")):
        if code := source(op, method):
            parts.append(f"{title}\n\n```python\n{code}\n```\n")
    if op.grad is None:
        parts.append("No gradient flows through it.\n")
    return "\n".join(part for part in parts if part)


def pages():
    """Paths and texts of the pages: one a family, and an index of all."""
    index = ["# Operators\n", "Every operator, by family. Marks behind a slot:\n"]
    index += [f"* `{mark}`: {what}" for mark, what in MARKS.items()]
    index += ["", "| family | operators |", "|---|---|"]
    for name, module, found in families():
        title = name.strip("_").replace("_", " ").capitalize()
        intro = inspect.cleandoc(module.__doc__ or "")
        body = "\n\n".join(entry(op) for op in found)
        yield f"operators/{name}.md", f"# {title}\n\n{intro}\n\n{body}\n"
        links = " ".join(f"[{op.type}]({name}.md#{op.type})" for op in found)
        index.append(f"| [{title}]({name}.md) | {links} |")
    yield "operators/index.md", "\n".join(index) + "\n"
