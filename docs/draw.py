"""Draws the pictures of pages and examples anew: runs the code of each that draws.

python docs/draw.py            all of them
python docs/draw.py PATH ...   those of some pages and examples

A block after ``<!-- needs PACKAGE -->`` is left out where the package is not installed; the picture
that it draws stays as it is then.
"""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import types
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
BLOCK = re.compile(r"(?:<!-- (no-run|needs \w+) -->\n)?^```python\n(.*?)^```", re.M | re.S)
#: what makes pictures the same each time
FIXED = {
    "MATPLOTLIBRC": str(HERE / "pages" / "matplotlibrc"),
    "SOURCE_DATE_EPOCH": "0",
    "FLUIDLITE_KERNELS": "numpy",
    "FLUIDLITE_CC": "",
    "FLUIDLITE_NUM_THREADS": "1",
}


def run_blocks(page):
    """Run the code of a page, where its pictures go into the current folder."""
    module = types.ModuleType(f"page_{page.stem}")
    module.__file__ = str(page)
    sys.modules[module.__name__] = module
    text = page.read_text(encoding="utf-8")
    for block in BLOCK.finditer(text):
        mark, code = block.groups()
        left_out = mark == "no-run" or (mark and not importlib.util.find_spec(mark.split()[1]))
        if not left_out and not code.startswith(">>>"):
            above = "\n" * text.count("\n", 0, block.start(2))  # so that lines are the page's
            exec(compile(above + code, str(page), "exec"), vars(module))


def draw(path, shown):
    """Run a page or an example by itself, and keep its pictures: of a page those that it shows."""
    command = [sys.executable, __file__, "--run"] if path.suffix == ".md" else [sys.executable]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "pictures").mkdir()
        environment = {**os.environ, **FIXED}
        subprocess.run(
            [*command, path], cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=True
        )
        for picture in [*folder.glob("**/*.png"), *folder.glob("**/*.svg")]:
            if path.suffix == ".py" or picture.name in shown:
                shutil.copy(picture, HERE / "pictures")


def main():
    if sys.argv[1:2] == ["--run"]:
        run_blocks(Path(sys.argv[2]))
        return
    pages = [ROOT / "README.md", *sorted(HERE.glob("**/*.md"))]
    paths = [Path(name).resolve() for name in sys.argv[1:]]
    for path in paths or [*pages, *sorted(ROOT.glob("examples/*.py"))]:
        text = path.read_text(encoding="utf-8")
        shown = re.findall(r"\]\([./\w]*pictures/([\w.-]+)\)", text)
        if shown if path.suffix == ".md" else re.search(r"savefig\(|\bdraw\(", text):
            print("drawing", path.relative_to(ROOT), flush=True)
            draw(path, shown)


if __name__ == "__main__":
    main()
