"""Runs the notebooks of ``examples`` and of the course in a kernel, and writes into them what
their cells show.

    python tests/tools/fill_notebooks.py

Needs the extra ``notebook``, and nbclient.
"""

import os

from paths import ROOT

NOTEBOOKS = [*sorted(ROOT.glob("examples/*.ipynb")), *sorted(ROOT.glob("docs/course/*.ipynb"))]


def filled(path):
    """A notebook of a file, with what its cells show; without the times at which they ran."""
    import nbclient
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    before = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = f"{ROOT}{os.pathsep}{before}"
    try:
        client = nbclient.NotebookClient(
            notebook, kernel_name="python3", timeout=300, coalesce_streams=True
        )
        client.execute()
    finally:
        os.environ["PYTHONPATH"] = before
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    notebook.metadata["language_info"] = {"name": "python"}
    return notebook


if __name__ == "__main__":
    import nbformat

    for each in NOTEBOOKS:
        nbformat.write(filled(each), each)
        print(f"{each.name}: {each.stat().st_size // 1024} KB")
