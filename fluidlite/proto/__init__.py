"""The formats of files: programs, tensors, pickles of arrays."""
