"""What a text says, read once for the whole product: its numbers, dates, names and sentences, and whether it is the
same as another. Knows nothing of Django.
"""
