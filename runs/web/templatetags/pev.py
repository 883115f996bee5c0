"""Owns the template tags and filters, available in every template."""

from django import template

register = template.Library()
