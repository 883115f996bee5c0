"""Reads answers from outside: uncompressed, limited in bytes (`bounded_reading`) and in time (`watchdog`)."""
