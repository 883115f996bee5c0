"""Calls that act outside a run, as people read them: an e-mail as an e-mail, a ticket as a ticket. Knows no Django."""
