"""Texts from outside, read in bounded time and memory: patterns, JSON, numbers, spellings, and what a text names."""
