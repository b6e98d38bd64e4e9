"""Hooks of mkdocs: pages that come from the package, the examples and the root of the project.

Nothing of these is written twice: the home page is ``README.md``, the reference comes from
docstrings, the pages of operators from their definitions, the gallery from ``examples``.
"""

import html
import os
import posixpath
import re
import shutil
import sys
from pathlib import Path

from latex2mathml.converter import convert
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT), str(HERE)]

import gallery  # noqa: E402  the folder of this file is no package
import operators  # noqa: E402
import reference  # noqa: E402

#: title of a section of generated pages -> the module that makes them
SECTIONS = {"Examples": gallery, "Reference": reference, "Operators": operators}
#: files of the root -> the pages that show them
FROM_ROOT = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
CODE = re.compile(r"(<(pre|code|script|style)\b.*?</\2>)", re.DOTALL)
FORMULA = re.compile(r"\$([^$<]+)\$")
LINK = re.compile(r"(\[[^\]]*\]\(<?)([^)\s>#]*)([^)\s>]*>?(?: \"[^\"]*\")?\))")


def target_of(link, page):
    """Where a link of a file of the project leads in the site.

    Args:
        link: a relative path, as the file has it.
        page: the file, relative to the root.
    """
    if not link or re.match(r"[a-z][a-z+.-]*:", link):
        return link
    here = FROM_ROOT.get(page, page.removeprefix("docs/"))
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page), link))
    if path in FROM_ROOT:
        found = FROM_ROOT[path]
    elif path.startswith("docs/"):
        found = path.removeprefix("docs/")
    elif path == "examples":
        found = "examples/index.md"
    elif path.startswith("examples/"):
        found = path.removesuffix(".py") + ".md" if path.endswith(".py") else path
    else:
        found = f"sources/{path}"
    return posixpath.relpath(found, posixpath.dirname(here) or ".")


def moved(text, page):
    """The text of a file with its links as the site needs them; code stays as it is."""
    parts = re.split(r"(^```.*?^```|`[^`\n]*`)", text, flags=re.MULTILINE | re.DOTALL)
    for k in range(0, len(parts), 2):
        parts[k] = LINK.sub(lambda m: m[1] + target_of(m[2], page) + m[3], parts[k])
    return "".join(parts)


def on_config(config):
    """Put the sections of generated pages behind those that are written.

    A site that mike builds gets its list of versions, which a site alone does not have.
    """
    if "MIKE_DOCS_VERSION" in os.environ:
        config.extra["version"] = {"provider": "mike", "alias": True}
    for title, section in SECTIONS.items():
        paths = sorted(path for path, _ in section.pages())
        paths.sort(key=lambda path: not path.endswith("/index.md"))
        old = [path for path in paths if path.startswith("examples/legacy/")]
        listed = [path for path in paths if path not in old]
        config.nav.append({title: [*listed, *([{"Of paddle.fluid 1.8": old}] if old else [])]})
    return config


@event_priority(100)  # before notebooks are told from other files
def on_files(files, config):
    """Add the pages that are generated."""
    made = [page for section in SECTIONS.values() for page in section.pages()]
    for source, target in FROM_ROOT.items():
        made.append((target, moved((ROOT / source).read_text(encoding="utf-8"), source)))
    for path, text in made:
        if path.endswith(".ipynb"):  # which lies below the root as it does in the site
            found = File(path, str(ROOT), config.site_dir, config.use_directory_urls)
        else:
            found = File.generated(config, path, content=text)
        files.append(found)
    return files


def on_post_build(config):
    """Put the wheel that ``PLAYGROUND_WHEEL`` names beside the playground, which loads it."""
    wheel = os.environ.get("PLAYGROUND_WHEEL")
    if wheel:
        shutil.copyfile(wheel, Path(config.site_dir, "playground", "fluidlite.whl"))


def on_page_markdown(markdown, page, config, files):
    """Let links out of ``docs`` lead to pages of the site."""
    if page.file.generated_by:
        return markdown
    return moved(markdown, f"docs/{page.file.src_uri}")


def on_page_content(content, page, config, files):
    """Lead the links of notebooks to pages; spell formulas in MathML, which browsers show."""
    if not page.file.src_uri.endswith(".ipynb"):
        return content
    parts = CODE.split(content)  # text, code, its tag, text, ...
    for k in range(0, len(parts), 3):
        if page.file.src_uri.startswith("course/"):  # elsewhere a dollar is a dollar
            parts[k] = FORMULA.sub(lambda found: convert(html.unescape(found[1])), parts[k])
        parts[k] = re.sub(r'href="([^":]+)\.(?:md|ipynb)(#[^"]*)?"', r'href="../\1/\2"', parts[k])
    return "".join(part for k, part in enumerate(parts) if k % 3 != 2)
