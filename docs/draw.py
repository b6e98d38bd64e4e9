"""Draws the pictures of pages and examples anew: runs the code of each that draws.

python docs/draw.py            all of them
python docs/draw.py PATH ...   those of some pages and examples

Programs of ``examples/legacy`` know nothing of pictures: what they print of their losses is drawn.

A block after ``<!-- needs PACKAGE -->`` is left out where the package is not installed; the picture
that it draws stays as it is then.
"""

import importlib.util
import json
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
#: of a line that a program of 2018 prints: what it is of, and the loss
LOSS = re.compile(r"([\w-]*(?:cost|loss|metrics))(?: at [\w ]+)?\W+(\d+\.\d+)", re.IGNORECASE)
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
        environment = {**os.environ, **FIXED}
        subprocess.run(
            [*command, path], cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=True
        )
        for picture in [*folder.glob("**/*.png"), *folder.glob("**/*.svg")]:
            if path.suffix == ".py" or picture.name in shown:
                shutil.copy(picture, HERE / "pictures")


def draw_printed(path):
    """Run a program of 2018 for a few batches, and draw the losses that it prints."""
    import matplotlib
    from matplotlib.figure import Figure

    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-m", "fluidlite", "run", "--synthetic-data", path, "--enable_ce"],
            cwd=folder,
            env={**os.environ, **FIXED, "PYTHONHASHSEED": "0"},
            capture_output=True,
            text=True,
            check=True,
        )
    lines = [line for line in done.stdout.splitlines() if not line.lower().startswith("test")]
    curves = {}
    for name, number in (found for line in lines for found in LOSS.findall(line)):
        curves.setdefault(name.lower().replace("_", " "), []).append(float(number))
    matplotlib.rc_file(FIXED["MATPLOTLIBRC"])
    figure = Figure(figsize=(4, 2.5), layout="constrained")
    axes = figure.subplots()
    for name, values in curves.items():
        axes.plot(values, marker=".", label=name)
    axes.set(xlabel="line", title="a few batches of made samples")
    axes.legend()
    os.environ["SOURCE_DATE_EPOCH"] = FIXED["SOURCE_DATE_EPOCH"]
    target = HERE / "pictures" / "legacy" / f"{path.stem}.svg"
    target.parent.mkdir(exist_ok=True)
    figure.savefig(target)


def draw_notebook(path):
    """Draw the program that a notebook has made when it shows it as a page."""
    import fluidlite as fluid

    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    names = {}
    for cell in cells:
        code = "".join(cell["source"])
        if "Page(" in code:
            break
        if cell["cell_type"] == "code":
            exec(code, names)
    fluid.inspect.draw(names["main"], HERE / "pictures" / f"{path.stem}.svg")


def main():
    if sys.argv[1:2] == ["--run"]:
        run_blocks(Path(sys.argv[2]))
        return
    pages = [ROOT / "README.md", *sorted(HERE.glob("**/*.md"))]
    paths = [Path(name).resolve() for name in sys.argv[1:]]
    examples = [*ROOT.glob("examples/**/*.py"), *ROOT.glob("examples/*.ipynb")]
    for path in paths or [*pages, *sorted(examples)]:
        if path.suffix == ".ipynb":
            print("drawing", path.relative_to(ROOT), flush=True)
            draw_notebook(path)
            continue
        if path.parent.name == "legacy":
            print("drawing what is printed by", path.relative_to(ROOT), flush=True)
            draw_printed(path)
            continue
        text = path.read_text(encoding="utf-8")
        shown = re.findall(r"\]\([./\w]*pictures/([\w.-]+)\)", text)
        if shown if path.suffix == ".md" else re.search(r"savefig\(|\bdraw\(", text):
            print("drawing", path.relative_to(ROOT), flush=True)
            draw(path, shown)


if __name__ == "__main__":
    main()
