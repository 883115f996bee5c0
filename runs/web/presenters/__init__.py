"""Rows as pages want them: frozen values, no queries in templates, a constant number of queries per page."""
