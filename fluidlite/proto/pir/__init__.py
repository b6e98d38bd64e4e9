"""Programs of Paddle 3 (PIR), which are JSON, as programs of blocks and operators."""
