"""Passes over plans, one idea a file; ``runtime/pipeline.py`` says in which order they run."""
