"""The files around the package agree with each other."""

import configparser
import re
import subprocess
from pathlib import Path

import pytest

import fluidlite

ROOT = Path(__file__).resolve().parents[1]

COMMANDS = [
    'python -m pip install -e ".[examples]" && python examples/recognize_digits.py',
    'python -m pip install -e ".[test]" && python -m pytest',
]

# Folders of one machine; written so that this file is not found itself.
MACHINE_PATH = re.compile(r"(?<![\w.~$}>-])/(?:work|root|tmp|home|Users)/(?=[\w.])")


@pytest.fixture(scope="module")
def metadata():
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    return config


def repository_files():
    """Every file that is, or is about to be, under version control."""
    try:
        done = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this is no git repository")
    return [path for name in done.stdout.split("\0") if name and (path := ROOT / name).is_file()]


def text_files():
    for path in repository_files():
        data = path.read_bytes()
        if b"\0" not in data:
            yield path.relative_to(ROOT), data.decode("utf-8", errors="replace")


@pytest.mark.parametrize("command", COMMANDS)
def test_the_readme_shows_each_command_as_one_line(command):
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert lines.count(command) == 1


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def version():
    return re.search(r'^__version__ = "([^"]+)"$', read("fluidlite/__init__.py"), re.M)[1]


RELEASES = sorted((ROOT / "docs" / "changes").glob("*.md"))


def test_the_changelog_lists_a_page_for_each_release_and_for_the_version(version):
    listed = re.findall(r"\]\(docs/changes/(\S+)\.md\)", read("CHANGELOG.md"))
    assert sorted(listed) == sorted(page.stem for page in RELEASES)
    assert listed[0] == version


@pytest.mark.parametrize("page", RELEASES, ids=lambda page: page.stem)
def test_a_page_of_a_release_is_cut_to_short_lines_in_groups(page):
    text = page.read_text(encoding="utf-8")
    assert text.startswith(f"# {page.stem}, ")
    lines = [" ".join(line.split()) for line in re.split(r"^(?=- |#)", text, flags=re.M)[2:]]
    assert [line for line in lines if line.startswith("- ") and len(line) > 300] == []
    assert len(text) < 30_000, "a release has a page, not a book"


def test_the_version_is_that_of_the_package(metadata, version):
    assert metadata["metadata"]["version"] == "attr: fluidlite.__version__"
    assert re.search(rf"^version: {re.escape(version)}$", read("CITATION.cff"), re.M)
    assert fluidlite.__version__ == version


def test_the_conda_recipe_has_the_version_the_requirements_and_the_licenses(metadata, version):
    recipe = read("conda/recipe.yaml")
    listed = recipe.partition("  run:\n")[2].partition("\n\n")[0]
    run = {line.strip("- ").replace(" ", "") for line in listed.splitlines()}
    required = metadata["options"]["install_requires"].strip().splitlines()
    parted = [line.partition(";") for line in required]  # conda's builds fit each newer Python
    lowest = {name for name, _, marker in parted if not marker or "<" in marker}
    assert run == {"python" + metadata["options"]["python_requires"], *lowest}
    assert f'version: "{version}"' in recipe
    assert metadata["metadata"]["description"] in recipe
    named = recipe.partition("license_file:\n")[2].split()[1::2]
    assert named == metadata["metadata"]["license_files"].split()
    assert f"- {metadata['options.entry_points']['console_scripts'].strip()}\n" in recipe


def test_the_package_depends_on_two_others(metadata):
    required = metadata["options"]["install_requires"].strip().splitlines()
    names = {re.match(r"[\w-]+", requirement)[0] for requirement in required}
    assert names == {"networkx", "numpy"}
    assert all(">=" in requirement for requirement in required)


def test_the_package_ships_its_data_and_licences(metadata):
    patterns = metadata["options.package_data"]["fluidlite"].split()
    package = ROOT / "fluidlite"
    shipped = {path.relative_to(package) for p in patterns for path in package.glob(p)}
    others = {
        path.relative_to(package)
        for path in repository_files()
        if path.is_relative_to(package) and path.suffix != ".py"
    }
    assert others <= shipped
    assert all((ROOT / name).is_file() for name in metadata["metadata"]["license_files"].split())


def test_no_file_contains_the_path_of_a_machine():
    found = [
        f"{name}, line {number}: {line.strip()[:100]}"
        for name, text in text_files()
        for number, line in enumerate(text.splitlines(), 1)
        if MACHINE_PATH.search(line)
    ]
    assert not found, "\n" + "\n".join(found)


def test_text_files_end_with_one_newline_and_have_unix_line_ends():
    found = [
        str(name)
        for name, text in text_files()
        if name.suffix in {".py", ".md", ".cfg", ".toml", ".txt", ".yml"}
        and text
        and ("\r" in text or not text.endswith("\n") or text.endswith("\n\n"))
    ]
    assert not found, "\n" + "\n".join(found)


def test_the_check_script_can_be_executed():
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o100


def test_files_that_take_a_share_of_their_cases_run_whole_with_the_extra_fast():
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    stages = re.findall(r"tests/[\w/.]+", script.partition('-e ".[fast]"')[2])
    sharing = [
        name.as_posix()
        for name, text in text_files()
        if name.parts[0] == "tests" and "\nfrom shares import" in text
    ]
    assert sharing
    assert [f for f in sharing if not any(f == s or f.startswith(f"{s}/") for s in stages)] == []


def settings_in_the_code():
    """The variables of the environment that code reads, by name."""
    found = set()
    for name, text in text_files():
        if name.suffix == ".py" and name.parts[0] in ("fluidlite", "tests", "benchmarks", "docs"):
            found |= set(re.findall(r"\bFLUIDLITE_[A-Z0-9]+(?:_[A-Z0-9]+)*\b", text))
            if name.parts[0] == "fluidlite":
                found |= set(re.findall(r"environ(?:\.get\(|\[)\"([A-Z][A-Z_0-9]+)\"", text))
    return found - {"PYTHONPATH"}


def test_one_table_has_every_variable_of_the_environment():
    design = read("docs/design.md")
    table = design.partition("### Environment variables")[2].partition("\n#")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    listed = {name for row in rows for name in re.findall(r"`([A-Z_0-9]+\*?)`", row)}
    stars = tuple(name[:-1] for name in listed if name.endswith("*"))
    missing = {name for name in settings_in_the_code() - listed if not name.startswith(stars)}
    assert not missing
    unknown = {name for name in listed if name.startswith("FLUIDLITE_")} - settings_in_the_code()
    assert not unknown
