"""What the other packages stand on, and what knows none of them."""
