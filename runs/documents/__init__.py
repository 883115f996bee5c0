"""Bytes of any encoding to text: what a content reads as, decided once, by its bytes and never by its name."""
