"""Sample inputs of every operator; one file per family, as in fluidlite/ops."""
