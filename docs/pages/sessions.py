"""An extension of griffe: examples in docstrings (lines of ``>>>``) become blocks of code."""

import re

from griffe import Extension

ROLE = re.compile(r":(?:class|meth|func|mod|data|attr|exc):`~?([^`]+)`")
SESSION = re.compile(r"^>>> .*(?:\n.+)*", re.MULTILINE)


class Sessions(Extension):
    """Fences the examples of every docstring that is read, and spells its references as code."""

    def on_instance(self, *, obj, **kwargs):
        """Change the docstring of one object."""
        if obj.docstring is not None and not obj.is_alias:
            text = ROLE.sub(r"`\1`", obj.docstring.value)
            obj.docstring.value = SESSION.sub(
                lambda found: f"```pycon\n{found[0]}\n```", text
            )
