"""The product as it runs, not as tests set it up: imported by the process that others are forked from."""

import os

import django

os.environ["DJANGO_SETTINGS_MODULE"] = "pevsite.settings"
django.setup()
