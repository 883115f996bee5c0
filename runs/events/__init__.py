"""The kinds of events in a run's history, and their sentences for people."""
