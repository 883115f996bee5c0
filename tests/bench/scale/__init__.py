"""An installation of several processes under load: PostgreSQL, Redis, a bucket, two that serve, three that work."""
