"""Templates: the list, the whole plan of one, and what its owner may do with it."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from runs.errors import InvalidInput
from runs.people.permissions import visible_templates
from runs.submission import run_templates
from runs.submission.policy_defaults import default_policy
from runs.submission.run_templates import MAX_NAME, SHIPPED
from runs.submission.submission_checks import templates_that_need_a_model
from runs.web.run_templates.forms import SaveTemplateForm
from runs.web.run_templates.presenter import TemplatePage
from runs.web.site.requests import person


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
        name = run_templates.rename(template, SaveTemplateForm(request.POST).checked()["name"])
    except InvalidInput as error:
        return _page(request, str(template_id), problem=str(error))
    messages.success(request, f"The template is called “{name}” now.")
    return redirect("template", key=template_id)


@require_http_methods(["GET", "HEAD", "POST"])
def delete_template(request: HttpRequest, template_id: int) -> HttpResponse:
    """Ask whether to delete one's own template. A post deletes it. Runs that were made from it keep their plans."""
    template = get_object_or_404(visible_templates(request.user).defer("plan"), pk=template_id)
    if request.method != "POST":
        return render(request, "run_templates/delete_template.html", {"template": template})
    template.delete()
    messages.success(request, f"The template “{template.name}” is deleted. Runs that used it keep their plans.")
    return redirect("templates")


def _page(request: HttpRequest, key: str, problem: str = "") -> HttpResponse:
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
        "estimate": page.estimate(default_policy()),
    }
    return render(request, "run_templates/template.html", context, status=422 if problem else 200)
