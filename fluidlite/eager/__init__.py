"""Eager tensors: operators that run at once, and are remembered to be differentiated."""
