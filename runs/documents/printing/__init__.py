"""Prints reports and Markdown: blocks of text, and the Word files and PDFs made from them. It knows no Django."""
