"""Guards that switch recording."""

import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError


@pytest.fixture
def x():
    return fluid.to_tensor([1.0], stop_gradient=False)


def test_guards_nest(x):
    with fluid.no_grad():
        assert (x * x).stop_gradient
        with fluid.enable_grad():
            assert not (x * x).stop_gradient
        assert (x * x).stop_gradient
    assert not (x * x).stop_gradient


def test_a_guard_is_left_when_its_body_fails(x):
    with pytest.raises(KeyError), fluid.no_grad():
        raise KeyError
    assert fluid.is_grad_enabled()


@pytest.mark.parametrize("decorate", [fluid.no_grad, fluid.no_grad()])
def test_functions_can_be_decorated_with_and_without_a_call(decorate, x):
    @decorate
    def square(t):
        """Its documentation."""
        return t * t

    assert square(x).stop_gradient
    assert square.__doc__ == "Its documentation."
    assert not (x * x).stop_gradient


def test_a_generator_is_guarded_while_its_body_runs_alone(x):
    @fluid.no_grad()
    def squares(count):
        got = None
        for _ in range(count):
            try:
                got = yield ((x * x).stop_gradient, got)
            except KeyError:
                yield ("caught", (x * x).stop_gradient)
        return "done"

    generator = squares(3)
    assert next(generator) == (True, None)
    assert not (x * x).stop_gradient
    assert generator.send("sent") == (True, "sent")
    assert generator.throw(KeyError()) == ("caught", True)
    generator.close()
    assert fluid.is_grad_enabled()
    assert list(squares(2)) == [(True, None)] * 2


def test_recording_can_be_switched_by_a_call(x):
    fluid.set_grad_enabled(False)
    assert (x * x).stop_gradient
    fluid.set_grad_enabled(True)
    with fluid.set_grad_enabled(False):
        assert not fluid.is_grad_enabled()
    assert fluid.is_grad_enabled()

    @fluid.set_grad_enabled(False)
    def square(t):
        return t * t

    assert fluid.is_grad_enabled()
    assert square(x).stop_gradient


def test_arguments_of_guards_are_checked():
    with pytest.raises(ArgumentError, match="expected mode to be a bool"):
        fluid.set_grad_enabled("no")
    with pytest.raises(ArgumentError, match="expected a function to decorate"):
        fluid.no_grad(3)
