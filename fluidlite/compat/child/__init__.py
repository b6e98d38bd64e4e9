"""A folder on the import path of processes that a program starts: ``paddle`` in there begins the
alias.
"""
