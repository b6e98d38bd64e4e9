"""Values of programs' variables between runs.  The package of files, which knows scopes, says how
they are found.
"""

from __future__ import annotations

from types import ModuleType

from ..ground.extension import ExtensionPoint

KEPT_VALUES: ExtensionPoint[ModuleType] = ExtensionPoint("values of variables between runs")
