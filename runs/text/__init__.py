"""Operations on texts, each once for the whole product: whether two are the same, their numbers, dates, names, rows and
sentences, plurals, truncation and differences. Knows nothing of Django.
"""
