"""Errors: each can be made, given context, copied, pickled and shown."""

import copy
import errno
import importlib
import pickle
import pkgutil
import traceback

import pytest

import fluidlite
from fluidlite import errors, paddle
from fluidlite.errors import FluidError, with_context


def modules():
    """Every module of the package that can be imported here."""
    yield fluidlite
    for found in pkgutil.walk_packages(fluidlite.__path__, "fluidlite."):
        if not found.name.endswith("__main__"):
            try:
                yield importlib.import_module(found.name)
            except ModuleNotFoundError as error:  # an extra is not installed
                if error.name.startswith("fluidlite"):
                    raise


def error_classes():
    """Every error class that a module of the package defines."""
    made = {
        value
        for module in modules()
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, BaseException)
    }
    return sorted((c for c in made if c.__module__.startswith("fluidlite")), key=str)


CLASSES = error_classes()
#: what makes an error like another one
COPIES = {
    "itself": lambda error: error,
    "copied": copy.copy,
    "copied deeply": copy.deepcopy,
    "pickled": lambda error: pickle.loads(pickle.dumps(error)),
}


def test_errors_are_found_in_all_modules():
    places = {made.__module__ for made in CLASSES}
    assert {"fluidlite.errors", "fluidlite.ir.variable", "fluidlite.ground.missing_names"} < places
    assert len(places) > 20


@pytest.mark.parametrize("arguments", [(), ("why",), ("why", 2), ("why", 2, None)], ids=len)
@pytest.mark.parametrize("made", CLASSES, ids=lambda made: made.__name__)
def test_every_error_is_shown_however_it_was_made_and_copied(made, arguments, capsys):
    for also in COPIES.values():
        error = also(made(*arguments))
        assert type(error) is made
        assert str(error) == str(made(*arguments))
        assert made.__name__ in repr(error)
        print(error, "".join(traceback.format_exception(error)))
        if issubclass(made, FluidError):
            located = also(with_context(error, "  where it was"))
            assert type(located) is made
            assert str(located) == f"{error}\n  where it was"
    assert "why" in capsys.readouterr().out or not arguments


def raised(function, *arguments):
    with pytest.raises(Exception) as caught:
        function(*arguments)
    return caught.value


@pytest.mark.parametrize("also", COPIES.values(), ids=list(COPIES))
def test_what_an_attribute_was_meant_to_be_is_said_by_copies_too(also):
    x = fluidlite.layers.scale(fluidlite.data("x", [2]), 2.0)
    error = also(raised(getattr, x, "shap"))
    assert "did you mean 'shape'?" in str(error) and error.name == "shap"
    assert "Debug" in str(with_context(error, "  in Debug"))
    module = also(raised(getattr, fluidlite.layers, "Adam"))
    assert "fluid.optimizer.Adam is there" in str(module) and module.name == "Adam"


def test_an_error_whose_explanation_fails_says_what_was_asked_for():
    error = errors.ExplainedError(lambda: 1 / 0, name="shap")
    assert str(error) == "there is no attribute 'shap'"


@pytest.mark.parametrize("also", COPIES.values(), ids=list(COPIES))
def test_an_error_of_a_file_keeps_the_systems_number(also, tmp_path):
    error = also(raised(fluidlite.io.read, tmp_path / "nothing"))
    assert error.errno == errno.ENOENT
    assert with_context(error, "  while reading").errno == errno.ENOENT


@pytest.mark.parametrize(
    "read",
    [
        paddle.load,
        paddle.vision.image_load,
        paddle.vision.datasets.ImageFolder,
        paddle.vision.datasets.DatasetFolder,
        lambda path: paddle.vision.datasets.Cifar10(path, download=False),
        lambda path: paddle.text.datasets.UCIHousing(path, download=False),
        lambda path: fluidlite.io.load_inference_model(path, fluidlite.Executor()),
        fluidlite.load_program_state,
        fluidlite.load_dygraph,
    ],
)
def test_a_missing_file_is_an_error_of_python_too(read, tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        read(str(tmp_path / "nothing"))
    assert isinstance(caught.value, errors.MissingFileError)
    assert caught.value.errno == errno.ENOENT


def test_a_suggestion_prefers_the_same_letters_and_then_the_same_beginning():
    assert errors.suggestion("tahn", ["tan", "tanh", "than"]).endswith("'tanh'?")
    assert errors.suggestion("cosine", ["sin", "sine_wave", "cos"]).endswith("'cos'?")


def test_a_missing_name_may_be_a_module_s():
    with pytest.raises(AttributeError, match="did you mean 'optimizer'"):
        fluidlite.optimzer  # noqa: B018
