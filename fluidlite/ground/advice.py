"""Advice of errors that a shell cannot follow; commands give it in options of theirs."""

from __future__ import annotations

SHAPES = "feeds={name: shape}"  #: how a function is told the shapes of what is fed
SEQUENCES = "feed a LoDTensor (create_lod_tensor(array, lengths))"
