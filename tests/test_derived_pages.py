"""Pages and pictures that scripts derive from the package agree with it."""

import importlib.util
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"


def script(name):
    spec = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "name, text", [("batching", "page"), ("layers", "picture"), ("rule_functions", "page")]
)
def test_what_a_script_writes_is_up_to_date(name, text):
    module = script(name)
    written = module.TARGET.read_text(encoding="utf-8")
    assert written == getattr(module, text)(), f"python docs/{name}.py writes it anew"


def test_the_picture_of_layers_shows_every_module_of_the_contract():
    module = script("layers")
    shown = re.findall(r">([\w ]+)</text>", module.picture())
    assert shown == [name for modules, _ in module.layers() for name in modules]
    assert {"ops", "ir", "runtime", "layers"} <= set(shown)


def test_every_function_of_a_rule_is_listed_with_its_slots_and_attributes():
    page = script("rule_functions").page()
    assert "`f.cast(X, *, out_dtype, in_dtype)`" in page
    assert "`f.matmul(X, Y, *, transpose_X=False, transpose_Y=False, alpha=1.0" in page
    assert "use_mkldnn" not in page
