"""The pages of templates: the list, the whole plan of one with its estimate, and what its owner may do with it."""

from __future__ import annotations

from dataclasses import dataclass

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from runs.accounting.past_estimates import estimate_without_files
from runs.documents.printing.logos import MAX_BYTES as MAX_LOGO_BYTES
from runs.enums import Role
from runs.errors import InvalidInput
from runs.models import Template
from runs.models.runs import OwnLetterhead
from runs.people.permissions import visible_templates
from runs.pev.policy import Policy
from runs.reports import letterheads
from runs.submission import run_templates, template_letterheads
from runs.submission.policy_presets import default_policy
from runs.submission.run_templates import MAX_NAME, SHIPPED, Chosen
from runs.submission.submission_checks import templates_that_need_a_model
from runs.web.site.posted_fields import PostedForm, Text
from runs.web.site.requests import person


class RenameTemplateForm(PostedForm):
    """The name of the template; `runs.submission.run_templates` says what is wrong with one."""

    name = Text(required=False, strip=False)


class SaveTemplateForm(RenameTemplateForm):
    """Name and description of the template."""

    description = Text(required=False)


class LetterheadForm(PostedForm):
    """The letterhead of a template; `runs.submission.template_letterheads` says what is wrong with one."""

    organisation = Text(required=False)
    footer = Text(required=False)
    logo = forms.FileField(required=False, allow_empty_file=True)
    keep_logo = forms.BooleanField(required=False)

    @property
    def typed(self) -> OwnLetterhead:
        return OwnLetterhead(organisation=self.data.get("organisation", ""), footer=self.data.get("footer", ""))


class EstimateForm(PostedForm):
    """A template, and what of the policy decides what it costs."""

    template = forms.CharField(max_length=40)
    attempts = forms.IntegerField(min_value=1, max_value=10)
    executor_model = forms.CharField(max_length=120)
    verifier_model = forms.CharField(max_length=120)

    def policy(self) -> Policy:
        """The default policy with that."""
        base, given = default_policy(), self.cleaned_data
        models = {role: role_model.model_dump() for role, role_model in base.models.items()}
        for role in (Role.EXECUTOR, Role.VERIFIER):
            models[role]["model"] = given[f"{role}_model"]
        return base.changed(attempts=given["attempts"], models=models)


@dataclass(frozen=True)
class TemplatePage:
    """`own`: the row of a template that the person has saved; None for a shipped template."""

    key: str
    chosen: Chosen
    own: Template | None
    needs_a_model: bool

    @property
    def name(self) -> str:
        return self.own.name if self.own else SHIPPED[self.key].name

    @property
    def description(self) -> str:
        return self.own.description if self.own else SHIPPED[self.key].description


@require_safe
def own_templates(request: HttpRequest) -> HttpResponse:
    mine = run_templates.own_templates(person(request))
    unavailable = templates_that_need_a_model(person(request))
    return render(
        request, "run_templates/templates.html", {"mine": mine, "shipped": SHIPPED, "unavailable": unavailable}
    )


@require_safe
def template_page(request: HttpRequest, key: str) -> HttpResponse:
    """The whole plan of a template, before it is used."""
    return _page(request, key)


@require_POST
def rename_template(request: HttpRequest, template_id: int) -> HttpResponse:
    """Rename one's own template. If the name cannot be used, the page says why."""
    template = get_object_or_404(visible_templates(request.user), pk=template_id)
    try:
        name = run_templates.rename(template, RenameTemplateForm(request.POST).checked()["name"])
    except InvalidInput as error:
        return _page(request, str(template_id), problem=str(error))
    messages.success(request, f"The template is now called “{name}”.")
    return redirect("template", key=template_id)


@require_POST
def change_letterhead(request: HttpRequest, template_id: int) -> HttpResponse:
    """Change the letterhead of one's own template. If it cannot be used, the page says why."""
    template = get_object_or_404(visible_templates(request.user).defer("plan"), pk=template_id)
    form = LetterheadForm(request.POST, request.FILES)
    try:
        sent = form.checked()
        logo = sent["logo"].read(MAX_LOGO_BYTES + 1) if sent["logo"] else None
        template_letterheads.change_letterhead(
            template, sent["organisation"], sent["footer"], logo, keep_logo=sent["keep_logo"]
        )
    except InvalidInput as error:
        return _page(request, str(template_id), problem=str(error), typed=form.typed)
    messages.success(request, "The letterhead is saved. Reports on new runs from this template use it.")
    return redirect("template", key=template_id)


@require_http_methods(["GET", "HEAD", "POST"])
def delete_template(request: HttpRequest, template_id: int) -> HttpResponse:
    """Ask whether to delete one's own template. A post deletes it. Runs that were made from it keep their plans."""
    template = get_object_or_404(visible_templates(request.user).defer("plan"), pk=template_id)
    if request.method != "POST":
        return render(request, "run_templates/delete_template.html", {"template": template})
    template_letterheads.delete_template(template)
    messages.success(request, f"The template “{template.name}” was deleted. Runs that used it keep their plans.")
    return redirect("templates")


def _page(request: HttpRequest, key: str, problem: str = "", typed: OwnLetterhead | None = None) -> HttpResponse:
    """`typed`: a letterhead that was refused."""
    user = person(request)
    own = None if key in SHIPPED else run_templates.own_template(user, key)
    if own is None and key not in SHIPPED:
        raise Http404("There is no such template.")
    try:
        page = TemplatePage(key, run_templates.chosen(user, key), own, key in templates_that_need_a_model(user))
    except InvalidInput as error:  # its plan was changed by hand: it can still be deleted
        return render(
            request, "run_templates/template.html", {"own": own, "problem": str(error), "name": own and own.name}
        )
    context = {
        "page": page,
        "own": own,
        "name": page.name,
        "problem": problem,
        "longest": MAX_NAME,
        "letterhead": typed or (own and own.letterhead) or OwnLetterhead(),
        "longest_line": template_letterheads.MAX_LINE,
        "logo": letterheads.picture(own.letterhead.logo) if own and own.letterhead else "",
        "estimate": estimate_without_files(page.chosen.plan, default_policy()),
    }
    return render(request, "run_templates/template.html", context, status=422 if problem else 200)
