"""What is sent to a draft: files, or which of them to remove."""

from __future__ import annotations

from django import forms

from runs.models import Draft
from runs.submission import input_replacement, submission_drafts
from runs.web.new_run.forms import FilesForm
from runs.web.site.posted_fields import PostedForm

BETWEEN = "//"
"""Between two paths in the value of a button: no path of a file has it."""
GUESSED = "guessed"
"""In place of a codec: the content as it was given."""


class DraftForm(FilesForm, PostedForm):
    """Files to add, paths to remove, or a word that all of it goes. A draft that is new begins with those of `run`:
    of these `put_back` names one, `replace` an added file and the one whose place it takes, `replace_alike` all for
    which that is clear, `keep_both` one that takes none. `choose_encodings`: each of `encoding` is a file
    and the codec in which to read it.
    """

    remove = forms.Field(required=False, widget=forms.MultipleHiddenInput)
    remove_all = forms.BooleanField(required=False)
    discard = forms.BooleanField(required=False)
    replace = forms.CharField(required=False, strip=False)
    replace_alike = forms.BooleanField(required=False)
    keep_both = forms.CharField(required=False, strip=False)
    put_back = forms.CharField(required=False, strip=False)
    choose_encodings = forms.BooleanField(required=False)
    encoding = forms.Field(required=False, widget=forms.MultipleHiddenInput)
    run = forms.IntegerField(required=False, min_value=1, max_value=10**15)

    def answer(self, draft: Draft) -> None:
        """Do what was said of files of the run before, and of encodings. Raises InvalidInput."""
        sent = self.cleaned_data
        if sent["choose_encodings"]:
            for chosen in filter(None, sent["encoding"]):
                path, between, codec = chosen.rpartition(BETWEEN)
                if between:
                    submission_drafts.choose_encoding(draft, path, "" if codec == GUESSED else codec)
        if sent["replace"]:
            path, _, other = sent["replace"].partition(BETWEEN)
            input_replacement.replace(draft, path, other)
        if sent["replace_alike"]:
            input_replacement.replace_alike(draft)
        if sent["keep_both"]:
            input_replacement.keep_both(draft, sent["keep_both"])
        if sent["put_back"]:
            input_replacement.put_back(draft, sent["put_back"])
