"""Draws the pictures of pages and examples anew: runs the code of each that draws.

python docs/draw.py            all of them
python docs/draw.py PATH ...   those of some pages and examples
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import types
from pathlib import Path

HERE = Path(__file__).resolve().parent
BLOCK = re.compile(r"(<!-- no-run -->\n)?^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def draw(page):
    """Run the blocks of a page; their pictures go where the page looks for them."""
    module = types.ModuleType(page.stem)
    sys.modules[page.stem] = module
    for skipped, code in BLOCK.findall(page.read_text(encoding="utf-8")):
        if not skipped and not code.startswith(">>>"):
            exec(compile(code, str(page), "exec"), vars(module))


def run(example):
    """Run an example whole; what it draws lies where it is run."""
    subprocess.run([sys.executable, example], check=True, stdout=subprocess.DEVNULL)
    for picture in [*Path().glob("*.png"), *Path().glob("*.svg")]:
        picture.rename(Path("pictures") / picture.name)


def main():
    paths = [Path(name).resolve() for name in sys.argv[1:]]
    paths = paths or [*sorted(HERE.glob("**/*.md")), *sorted(HERE.parent.glob("examples/*.py"))]
    for path in paths:
        maker, mark = (run, "savefig(") if path.suffix == ".py" else (draw, "pictures/")
        if mark in path.read_text(encoding="utf-8"):
            print("drawing", path.relative_to(HERE.parent))
            with tempfile.TemporaryDirectory() as folder:
                os.chdir(folder)
                (Path(folder) / "pictures").mkdir()
                maker(path)
                shutil.copytree("pictures", HERE / "pictures", dirs_exist_ok=True)
                os.chdir(HERE)


if __name__ == "__main__":
    main()
