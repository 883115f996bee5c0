"""The checks that decide criteria without a model (T2), one module for each kind."""
