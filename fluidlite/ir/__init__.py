"""Programs as data: variables and operators in blocks, by name."""
