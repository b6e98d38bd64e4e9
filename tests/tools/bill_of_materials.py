"""Writes the bill of materials of a wheel, in CycloneDX 1.6, from the wheel alone.

    python tests/tools/bill_of_materials.py dist/fluidlite-1.0.0-py3-none-any.whl > bill.json

It lists what the wheel needs, what its extras add, and what it holds of others.  Equal wheels
give equal bills.
"""

import email
import hashlib
import json
import re
import sys
import uuid
import zipfile
from pathlib import Path

#: what the wheel holds of others: file -> name, kind, license, and where it is from
HELD = {
    "fluidlite/inspect/page/dagre.min.js": (
        "library", {"id": "MIT"}, "https://github.com/dagrejs/dagre",
    ),
    "fluidlite/dataset/digits.npz": (
        "data", {"id": "CC-BY-4.0"}, "https://doi.org/10.24432/C50P49",
    ),
    "fluidlite/dataset/iris.csv": (
        "data", {"id": "CC-BY-4.0"}, "https://doi.org/10.24432/C56C76",
    ),
    "fluidlite/dataset/wine.csv": (
        "data", {"id": "CC-BY-4.0"}, "https://doi.org/10.24432/C5PC7J",
    ),
    "fluidlite/dataset/sunspots.csv": (
        "data", {"name": "public domain"}, "https://www.ngdc.noaa.gov/stp/solar/solarda3.html",
    ),
}  # fmt: skip
#: a line of a script that says what it holds and of which version
BANNER = re.compile(r"(?:/\*!|with) @dagrejs/(\w+) ([\d.]+)")


def requirements(metadata):
    """Component for each package that the wheel or one of its extras needs."""
    lines = {}
    for line in metadata.get_all("Requires-Dist", []):
        name = re.match(r"[\w.-]+", line)[0].lower()
        if name != metadata["Name"]:  # extras that stand for others
            lines.setdefault(name, []).append(line)
    for name, needed in sorted(lines.items()):
        yield {
            "type": "library",
            "bom-ref": f"pkg:pypi/{name}",
            "name": name,
            "purl": f"pkg:pypi/{name}",
            "scope": "optional" if all("extra ==" in line for line in needed) else "required",
            "properties": [{"name": "python:requires-dist", "value": line} for line in needed],
        }


def held(wheel):
    """Components whose files are in the wheel, with their digests."""
    for path, (kind, licence, address) in HELD.items():
        data = wheel.read(path)
        named = BANNER.findall(data[:200].decode("latin-1")) or [(Path(path).stem, "")]
        for name, version in named:
            yield {
                "type": kind,
                "bom-ref": f"{path}#{name}",
                "name": name,
                **({"version": version} if version else {}),
                "scope": "required",
                "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(data).hexdigest()}],
                "licenses": [{"license": licence}],
                "externalReferences": [{"type": "distribution", "url": address}],
            }


def bill_of_materials(path):
    """The bill of a wheel, as data for JSON.

    Args:
        path: the wheel.
    """
    digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    with zipfile.ZipFile(path) as wheel:
        (name,) = (n for n in wheel.namelist() if n.endswith(".dist-info/METADATA"))
        metadata = email.message_from_bytes(wheel.read(name))
        parts = [*requirements(metadata), *held(wheel)]
    own = f"pkg:pypi/{metadata['Name']}@{metadata['Version']}"
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'{own}#{digest}')}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "bom-ref": own,
                "name": metadata["Name"],
                "version": metadata["Version"],
                "description": metadata["Summary"],
                "licenses": [{"license": {"id": "Apache-2.0"}}],
                "hashes": [{"alg": "SHA-256", "content": digest}],
                "purl": own,
            }
        },
        "components": parts,
        "dependencies": [
            {"ref": own, "dependsOn": [p["bom-ref"] for p in parts if p["scope"] == "required"]}
        ],
    }


if __name__ == "__main__":
    print(json.dumps(bill_of_materials(sys.argv[1]), indent=1))
