"""Running programs by JAX: stages of a plan as compiled functions, the rest on the host."""
