"""The channels by which notices leave the site, one module for each."""
