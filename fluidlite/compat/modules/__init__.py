"""What stands behind names of fluid 1.8 that old programs alone need."""
