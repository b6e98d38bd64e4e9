"""An extension of griffe: docstrings and parameters as ``help()`` shows them, examples as code."""

import inspect
import re
from pydoc import locate

from griffe import Extension

SESSION = re.compile(r"^>>> .*(?:\n.+)*", re.MULTILINE)
ROLE = re.compile(r":(?:class|meth|func|mod|data|attr|exc):`~?([^`]+)`")


class Sessions(Extension):
    """Changes what griffe read where it looked behind decorators, or takes text for Markdown."""

    def on_function_instance(self, *, func, **kwargs):
        """Leave out the parameters that a decorator supplies."""
        try:
            shown = inspect.signature(locate(func.path)).parameters
        except (TypeError, ValueError):
            return
        for parameter in [*func.parameters]:
            if parameter.name not in shown:
                del func.parameters[parameter.name]

    def on_instance(self, *, obj, **kwargs):
        """Take the docstring of the object itself; fence its examples, spell references as code."""
        if obj.is_alias or obj.docstring is None:
            return
        text = obj.docstring.value
        if obj.is_function or obj.is_class:
            text = inspect.getdoc(locate(obj.path)) or text
        text = ROLE.sub(r"`\1`", text)
        obj.docstring.value = SESSION.sub(lambda found: f"```pycon\n{found[0]}\n```", text)
