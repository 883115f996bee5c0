"""Money and measures: prices, estimates and what they rest on, sums of the journal, limits used up, figures."""
