"""What an operator tells about its outputs before there are values."""

from fluidlite.opdef.definition import lookup
from fluidlite.opdef.spec import Spec, spec


def infer(type, attrs=None, **inputs):
    """Specs of the outputs by slot.

    Args:
        type: the operator's.
        attrs: its attributes.
        inputs: ``(shape, dtype)`` by slot, a spec, or a list of them.
    """
    return lookup(type)(attrs or {}).infer_outputs({k: _spec(v) for k, v in inputs.items()})


def _spec(given):
    if isinstance(given, list):
        return [_spec(one) for one in given]
    return given if given is None or isinstance(given, Spec) else spec(*given)
