"""Requests as an attacker makes them: what can be asked of the site, hostile values for it, and a site to ask."""
