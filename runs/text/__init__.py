"""Operations on texts, each in one place for the whole product: comparing texts, finding where words, sentences and
negations begin and end, reading numbers, quantities, dates, names and CSV, making plurals, cutting texts, comparing
versions, and showing hidden characters. Knows nothing of Django.
"""
