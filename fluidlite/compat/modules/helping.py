"""What layers derived their helpers from."""

from __future__ import annotations

from ...layer_helper import LayerHelper, ObjectHelper

LayerHelperBase = ObjectHelper
LayerObjectHelper = ObjectHelper

__all__ = ["LayerHelper", "LayerHelperBase", "LayerObjectHelper"]
