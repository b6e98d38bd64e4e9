"""Functions of operands: variables of programs, eager tensors and arrays, by paddle 2's names."""
