"""What an operator is; contains no operator."""
