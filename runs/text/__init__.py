"""What a text says, read once for the whole product: its numbers, its dates. Knows nothing of Django."""
