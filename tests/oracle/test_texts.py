"""The texts of nets, kept in ``tests/programs``: they show what printing and building change."""

import copy

import pytest

import fluidlite as fluid
from oracle.golden import DATA, script

# one of the networks clips in the old way
pytestmark = [
    pytest.mark.filterwarnings("ignore:set_gradient_clip is the old way"),
    pytest.mark.filterwarnings("ignore:.* an earlier minimize of"),  # minimize_twice means it
]

NETS = sorted(path.stem for path in (DATA / "nets").glob("[a-z]*.py"))


@pytest.mark.parametrize("name", NETS)
def test_the_text_of_the_net_is_what_it_was(name, check_program):
    net = script(name).build(fluid)
    check_program(net["main"], f"nets/{name}")
    again = fluid.Program.parse(net["main"].to_string(with_details=True))
    assert str(again) == str(fluid.Program.parse(str(net["main"])))
    assert str(copy.deepcopy(net["main"])) == str(net["main"])
