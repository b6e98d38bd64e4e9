"""Constructors that are made of fields."""

import inspect
import pickle

import pytest

import fluidlite as fluid
from fluidlite.ground.fields import field, fields_of, from_fields


@from_fields
class Base:
    unit: "str" = field(default="m", kw_only=True)

    def begin(self, given):
        self.given = given


@from_fields
class Point(Base):
    x: "float"
    y: "float" = 0.0


def test_arguments_are_given_by_place_or_by_name():
    assert Point(1.0).given == {"x": 1.0, "y": 0.0, "unit": "m"}
    assert Point(y=2.0, x=3.0, unit="km").given == {"x": 3.0, "y": 2.0, "unit": "km"}


@pytest.mark.parametrize(
    "make, says",
    [
        (lambda: Point(), r"Point.__init__\(\) missing 1 required positional argument: 'x'"),
        (lambda: Point(1, 2, "km"), "takes from 2 to 3 positional arguments but 4 were given"),
        (lambda: Point(1, z=3), "unexpected keyword argument 'z'"),
        (lambda: Point(1, x=3), "multiple values for argument 'x'"),
    ],
)
def test_arguments_are_checked_as_those_of_any_function(make, says):
    with pytest.raises(TypeError, match=says):
        make()


def test_a_signature_shows_the_fields_of_bases_that_are_named_last():
    shown = str(inspect.signature(Point)).replace("'", "")
    assert shown == "(x: float, y: float = 0.0, *, unit: str = m) -> None"
    assert fields_of(Point) == {"unit": "str", "x": "float", "y": "float"}
    assert not hasattr(Point, "y")  # a default is none of the class's attributes


def test_what_derives_from_a_class_of_fields_has_its_constructor():
    class Further(fluid.optimizer.Momentum):
        def __init__(self):
            super().__init__(0.5, momentum=0.25)

    assert Further().current_step_lr() == 0.5
    assert repr(Further()) == "Further()"


@pytest.mark.parametrize(
    "make",
    [
        lambda: fluid.optimizer.Lamb(0.5, beta1=0.5),
        lambda: fluid.optimizer.lr.PolynomialDecay(0.5, 3),
        lambda: fluid.optimizer.RMSProp(0.5, centered=True),
    ],
)
def test_objects_of_classes_of_fields_are_pickled(make):
    made = make()
    assert repr(pickle.loads(pickle.dumps(made))) == repr(made)


def test_an_argument_that_an_optimizer_of_tensors_does_not_have_is_refused():
    weight = fluid.flow.nn.Parameter(fluid.flow.ones(1))
    with pytest.raises(TypeError, match="unexpected keyword argument 'beta'"):
        fluid.flow.optim.Adam([weight], beta=0.5)


@pytest.mark.parametrize(
    "make, says",
    [
        (lambda: fluid.flow.nn.Tanh(3, slope=2), r"Tanh.__init__\(\) got an unexpected"),
        (lambda: fluid.flow.nn.ReLU(alpha=2), r"ReLU.__init__\(\) got an unexpected"),
        (lambda: fluid.flow.nn.MaxPool2d(2, window=3), r"MaxPool2d.__init__\(\) got an unexpected"),
        (lambda: fluid.flow.nn.MSELoss(weight=1), r"MSELoss.__init__\(\) got an unexpected"),
        (lambda: fluid.nn.Softmax(dim=1), r"Softmax.__init__\(\) got an unexpected"),
        (lambda: fluid.nn.Conv2D(1, 2, 3, width=1), r"Conv2D.__init__\(\) got an unexpected"),
        (lambda: fluid.nn.BCELoss(1, 2, 3, 4), r"BCELoss.__init__\(\) takes from 1 to 4"),
    ],
)
def test_layers_of_functions_refuse_what_these_do_not_take(make, says):
    with pytest.raises(TypeError, match=says):
        make()


def test_a_layer_that_stands_in_the_place_of_others_takes_what_they_do():
    assert repr(fluid.flow.nn.Identity(3, slope=2)) == "Identity()"
    assert fluid.nn.Identity(3, slope=2)(fluid.ones([1])).tolist() == [1.0]


def test_a_layer_of_a_function_has_the_parameters_behind_its_inputs():
    shown = str(inspect.signature(fluid.flow.nn.BCELoss)).replace("'", "")
    assert shown == "(weight: Tensor | None = None, reduction: str = mean) -> None"
    assert repr(fluid.nn.LeakyReLU(0.3)) == "LeakyReLU(negative_slope=0.3)"


def test_a_method_or_an_attribute_that_users_call_begin_is_theirs():
    class Timed(fluid.optimizer.Momentum):
        def begin(self):
            return "begun"

    class Cut(fluid.flow.nn.ReLU):
        begin = 3

    class Part(fluid.paddle.vision.transforms.Resize):
        def __init__(self, begin):
            self.begin = begin
            super().__init__(2)

    timed = Timed(0.5, momentum=0.25)
    assert (timed.begin(), timed.current_step_lr()) == ("begun", 0.5)
    assert Cut()(fluid.flow.ones(2)).tolist() == [1.0, 1.0]
    assert (Part(1).begin, Part(1).size) == (1, 2)
