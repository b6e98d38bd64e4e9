"""Pages of the site that show the examples: what each is, its picture, its code."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "docs" / "pictures"


def examples(folder):
    """The scripts of a folder, as paths, with their docstrings."""
    for path in sorted(folder.glob("*.py")):
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        yield path, text


def drawn_by(path):
    """The pictures of an example; those of old programs, which share names, have a folder."""
    folder = PICTURES if path.parent.name == "examples" else PICTURES / path.parent.name
    return sorted(folder.glob(f"{path.stem}.*"))


def entry(path, text, up):
    """What a page says of one example."""
    title, _, rest = text.partition("\n")
    name = path.relative_to(ROOT).as_posix()
    parts = [f"# {path.stem.replace('_', ' ').capitalize()}\n", title + "\n"]
    for picture in drawn_by(path):
        place = picture.relative_to(PICTURES.parent).as_posix()
        parts.append(f"![what {path.name} computes]({up}{place})\n")
    if rest.strip():
        parts.append(f"```text\n{rest.strip()}\n```\n")
    parts.append(f'```python title="{name}"\n{path.read_text(encoding="utf-8").rstrip()}\n```\n')
    return "\n".join(parts)


def thumbnails(path, link):
    """The pictures of an example, small, in the index."""
    for picture in drawn_by(path):
        place = picture.relative_to(PICTURES.parent).as_posix()
        yield (
            f"\n    [![what {path.name} computes](../{place})"
            f'{{ style="max-height: 12em" }}]({link})\n'
        )


def pages():
    """Paths and texts of the pages: one an example, and an index with the pictures."""
    index = ["# Examples\n"]
    for title, folder in (
        ("With fluidlite", ROOT / "examples"),
        ("As they were written for paddle.fluid 1.8", ROOT / "examples" / "legacy"),
    ):
        index.append(f"## {title}\n")
        for path, text in examples(folder):
            target = path.relative_to(ROOT).with_suffix(".md").as_posix()
            yield target, entry(path, text, "../" * target.count("/"))
            link = target.removeprefix("examples/")
            first = re.sub(r"\s+", " ", text.partition("\n\n")[0])
            index.append(f"* [{path.stem.replace('_', ' ').capitalize()}]({link}): {first}")
            index += thumbnails(path, link)
        for notebook in sorted(folder.glob("*.ipynb")):
            yield f"examples/{notebook.name}", notebook.read_text(encoding="utf-8")
            index.append(f"* [{notebook.stem.replace('_', ' ').capitalize()}]({notebook.name})")
            index += thumbnails(notebook, notebook.name)
        index.append("")
    yield "examples/index.md", "\n".join(index) + "\n"
