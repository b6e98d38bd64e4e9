"""Where things are, and the folders of tests on Python's path: for tools that run as scripts."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"
sys.path[:0] = [str(ROOT), *(str(TESTS / name) for name in ("", "aids", "jobs"))]
