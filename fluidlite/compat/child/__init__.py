"""A folder on the import path of processes that a program starts: ``paddle`` and ``oneflow``
in there begin the alias.
"""
