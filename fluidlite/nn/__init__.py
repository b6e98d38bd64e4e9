"""Neural networks on eager tensors, in the spelling of paddle 2.x."""

from . import functional
