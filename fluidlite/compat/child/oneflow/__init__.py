"""Begins the alias in a process that a program under the alias has started anew."""

from importlib import import_module

import_module("fluidlite.compat.children").adopt(__name__)
