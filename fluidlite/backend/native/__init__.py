"""Kernels in C, generated for groups of element-wise instructions and compiled in the background.

What they compute is derived from the operators' definitions.  A compiler is used if there is
one: the system's, or that of ``pip install "fluidlite[jit]"``.
"""
