"""The command line: commands, the completion of their words, what they know of a machine."""
