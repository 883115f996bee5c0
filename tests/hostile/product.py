"""The product as it runs, not as tests set it up: imported by the process that others are forked from."""

import os

import django

os.environ["DJANGO_SETTINGS_MODULE"] = "pevsite.settings"
django.setup()

# What each of them would import again.
import pytest  # noqa: E402, F401

import pevsite.urls  # noqa: E402, F401
