"""Blocks of text, those of reports and of Markdown, and Word files and PDFs made of them. Knows nothing of Django."""
