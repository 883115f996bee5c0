"""A run, read once: the values that run page, step page, report, Markdown, JSON and command line all show."""
