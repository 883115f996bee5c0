"""Checks that decide a criterion without a model, and what makes one unusable (T2)."""
