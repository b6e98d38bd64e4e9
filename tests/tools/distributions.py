"""Builds the wheel and the source distribution twice, and tries both away from the checkout.

    python tests/tools/distributions.py

Needs the package ``build``, and the package index for what fluidlite depends on.
"""

import hashlib
import os
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

from bill_of_materials import bill_of_materials
from paths import ROOT

EXAMPLES = ["fit_a_line.py", "save_and_serve.py", "hessian.py"]


def run(*command, **options):
    """A command that has to succeed; what it printed."""
    done = subprocess.run(
        [str(part) for part in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        **options,
    )
    assert done.returncode == 0, f"{command} ended with {done.returncode}:\n{done.stdout}"
    return done.stdout


def built(folder):
    """The wheel and the source distribution, made of a clean copy of what is committed."""
    source = folder / "source"
    run("git", "clone", "--quiet", ROOT, source)
    environment = {k: v for k, v in os.environ.items() if k != "SOURCE_DATE_EPOCH"}
    run(sys.executable, "-m", "build", "--outdir", folder / "dist", source, env=environment)
    (wheel,) = (folder / "dist").glob("*.whl")
    (archive,) = (folder / "dist").glob("*.tar.gz")
    return wheel, archive, set(run("git", "ls-files", cwd=source).splitlines())


def members(archive):
    """Name -> digest of the files in the source distribution."""
    found = {}
    with tarfile.open(archive) as opened:
        for member in opened.getmembers():
            if member.isfile():
                data = opened.extractfile(member).read()
                found[member.name.partition("/")[2]] = hashlib.sha256(data).hexdigest()
    return found


def try_installed(distribution, folder, scripts):
    """Install a distribution into a fresh environment, and run examples that lie elsewhere."""
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    run(python, "-m", "pip", "install", "--quiet", distribution)
    where = run(python, "-c", "import fluidlite; print(fluidlite.__file__)", cwd=folder)
    assert Path(where.strip()).is_relative_to(folder.resolve()), where
    for script in scripts:
        run(python, script, "--quick", cwd=folder)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel, archive, tracked = built(folder / "first")
        again, archive_again, _ = built(folder / "second")
        digests = [hashlib.sha256(path.read_bytes()).hexdigest() for path in (wheel, again)]
        assert digests[0] == digests[1], "two builds of the wheel differ"
        assert members(archive) == members(archive_again), "two source distributions differ"
        missing = sorted(tracked - members(archive).keys())
        assert not missing, f"not in the source distribution: {missing}"
        with zipfile.ZipFile(wheel) as opened:
            assert not [n for n in opened.namelist() if n.startswith(("tests", "docs"))]
        parts = bill_of_materials(wheel)["components"]
        needed = {p["name"] for p in parts if "purl" in p and p["scope"] == "required"}
        assert needed == {"numpy", "networkx"}, needed
        with tarfile.open(archive) as opened:
            opened.extractall(folder / "unpacked", filter="data")
        (source,) = (folder / "unpacked").iterdir()
        scripts = [source / "examples" / example for example in EXAMPLES]
        for k, distribution in enumerate((wheel, archive)):
            try_installed(distribution, folder / f"environment{k}", scripts)
        print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.2f} MB, the same in two builds")
        print(f"{archive.name}: {archive.stat().st_size / 1e6:.2f} MB, {len(tracked)} files")


if __name__ == "__main__":
    main()
