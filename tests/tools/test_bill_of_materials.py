"""The bill of materials lists what the wheel needs and holds."""

import zipfile

import pytest

from bill_of_materials import HELD, bill_of_materials
from paths import ROOT

METADATA = """Metadata-Version: 2.4
Name: fluidlite
Version: 1.2.3
Summary: Programs
Requires-Dist: numpy>=2.0; python_version < "3.13"
Requires-Dist: numpy>=2.1; python_version == "3.13"
Requires-Dist: networkx>=3.4
Requires-Dist: tqdm>=4.64; extra == "progress"
Requires-Dist: fluidlite[progress]; extra == "examples"
"""


@pytest.fixture
def bill(tmp_path):
    wheel = tmp_path / "fluidlite-1.2.3-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as opened:
        opened.writestr("fluidlite-1.2.3.dist-info/METADATA", METADATA)
        for path in HELD:
            opened.writestr(path, (ROOT / path).read_bytes())
    return bill_of_materials(wheel)


def test_the_bill_tells_required_packages_from_those_of_extras(bill):
    scopes = {part["name"]: part["scope"] for part in bill["components"] if "purl" in part}
    assert scopes == {"networkx": "required", "numpy": "required", "tqdm": "optional"}
    (numpy,) = (part for part in bill["components"] if part["name"] == "numpy")
    assert len(numpy["properties"]) == 2


def test_the_bill_lists_what_the_wheel_holds_of_others_with_versions_and_licenses(bill):
    parts = {part["name"]: part for part in bill["components"] if "purl" not in part}
    assert {"dagre", "graphlib", "digits", "iris"} <= parts.keys()
    assert parts["dagre"]["version"] == "3.1.3"
    assert all(part["licenses"] and part["hashes"] for part in parts.values())


def test_every_license_of_others_in_the_package_belongs_to_an_entry_of_the_bill():
    folders = {path.parent for path in ROOT.glob("fluidlite/**/LICENSE-*.txt")}
    assert folders == {(ROOT / path).parent for path in HELD}
    data = {
        path for folder in folders for path in folder.iterdir() if path.suffix in (".npz", ".csv")
    }
    assert data <= {ROOT / path for path in HELD}
