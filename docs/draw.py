"""Draws the pictures of the pages anew: runs the code of each page that has some.

python docs/draw.py            all of them
python docs/draw.py PAGE ...   those of some pages
"""

import os
import re
import shutil
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


def main():
    pages = [Path(name).resolve() for name in sys.argv[1:]] or sorted(HERE.glob("**/*.md"))
    for page in pages:
        if "pictures/" in page.read_text(encoding="utf-8"):
            print("drawing", page.relative_to(HERE))
            with tempfile.TemporaryDirectory() as folder:
                os.chdir(folder)
                (Path(folder) / "pictures").mkdir()
                draw(page)
                shutil.copytree("pictures", HERE / "pictures", dirs_exist_ok=True)
                os.chdir(HERE)


if __name__ == "__main__":
    main()
