"""What operators have in common."""

from fluidlite.opdef.definition import lookup


def test_operators_are_equal_if_type_and_attributes_are():
    half = lookup("scale")({"scale": 0.5})
    assert half == lookup("scale")({"scale": 0.5})
    assert half != lookup("scale")({"scale": 2.0})
    assert lookup("sin")() != lookup("cos")()
    assert half != 0.5
