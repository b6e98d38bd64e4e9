"""NumPy kernels prepared for values of known shapes.  ``registered`` imports them all.

An operator's ``run`` says what it computes; what is here computes the same, faster.
"""
