"""The table of people. The product's own, so that a field can be added without moving everybody."""

from django.contrib.auth.models import AbstractUser


class User(AbstractUser):
    """A person who signs in by link; there is no usable password."""
