"""What a verification is about and rests on: its case, pre-checks, quotes, samples and people's requests."""
