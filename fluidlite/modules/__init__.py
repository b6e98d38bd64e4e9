"""What layers and modules of all spellings have in common: what they own, hold, call and say."""
