"""Sample inputs of every operator; one file per family, as in fluidlite/ops."""

import importlib
import pkgutil

for module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{module.name}")
