"""Running programs: scopes that hold values, and the executor."""
