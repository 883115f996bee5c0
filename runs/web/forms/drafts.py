"""What is sent to a draft: files, or which of them to remove."""

from __future__ import annotations

from django import forms

from runs.web.forms.new_run import FilesForm
from runs.web.forms.posted import PostedForm


class DraftForm(FilesForm, PostedForm):
    """Files to add, paths to remove, or a word that all of it goes. A draft that is new begins with those of `run`."""

    remove = forms.Field(required=False, widget=forms.MultipleHiddenInput)
    remove_all = forms.BooleanField(required=False)
    discard = forms.BooleanField(required=False)
    run = forms.IntegerField(required=False, min_value=1, max_value=10**15)
