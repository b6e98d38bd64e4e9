"""Prints constraints by which pip installs the lowest dependencies that ``setup.cfg`` allows.

    python tests/tools/lowest.py > lowest.txt
    python -m pip install -e . --constraint lowest.txt

Needs the package ``packaging``.
"""

import configparser
from collections.abc import Iterator

from packaging.requirements import Requirement

from paths import ROOT


def lowest(text: str) -> Iterator[str]:
    """A constraint for each requirement that counts for this Python.

    Args:
        text: requirements, one a line, each with a lower bound.
    """
    for line in text.split("\n"):
        if not line.strip():
            continue
        requirement = Requirement(line)
        (bound,) = [each.version for each in requirement.specifier if each.operator == ">="]
        if requirement.marker is None or requirement.marker.evaluate():
            yield f"{requirement.name}=={bound}"


if __name__ == "__main__":
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    print("\n".join(lowest(setup["options"]["install_requires"])))
