"""Plans that leave their run: as JSON to keep, and as templates for other files."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from runs.errors import InvalidInput
from runs.lifecycle import fingerprint, templates
from runs.lifecycle.rehearsing import templates_that_need_a_model
from runs.lifecycle.templates import MAX_NAME, SHIPPED
from runs.permissions import visible_templates
from runs.pev.imports.imported import exported
from runs.web.forms.templates import SaveTemplateForm
from runs.web.streaming import attachment
from runs.web.views.run import person, visible_run


@require_safe
def plan_json(request: HttpRequest, run_id: int, version: int) -> HttpResponseBase:
    """A version of the plan, to be read, changed by hand and imported again."""
    plan = get_object_or_404(visible_run(request, run_id).plans, version=version)
    text = exported(fingerprint.contract_of(plan))
    return attachment(request, iter([text.encode()]), f"run-{run_id}-plan-{version}.json", "application/json")


@require_http_methods(["GET", "HEAD", "POST"])
def save_template(request: HttpRequest, run_id: int) -> HttpResponse:
    """Ask for the name of a template; posted, save it. What cannot be saved is said on the page."""
    run = visible_run(request, run_id)
    plan = templates.plan_worth_keeping(run)
    form = SaveTemplateForm(request.POST if request.method == "POST" else None, initial={"name": run.title})
    problem, status = "", 200
    if form.is_bound:
        try:
            saved = templates.save(person(request), run, form.checked()["name"])
        except InvalidInput as error:
            problem, status = str(error), 422
        else:
            messages.success(request, f"Saved as the template “{saved.name}”. Choose it as the plan of a new run.")
            return redirect("templates")
    names = templates.file_names_in(plan, run) if plan else []
    context = {"run": run, "plan": plan, "form": form, "problem": problem, "longest": MAX_NAME, "names": names}
    return render(request, "runs/save_template.html", context, status=status)


@require_safe
def own_templates(request: HttpRequest) -> HttpResponse:
    mine = templates.own_templates(person(request))
    unavailable = templates_that_need_a_model(person(request))
    return render(request, "templates.html", {"mine": mine, "shipped": SHIPPED, "unavailable": unavailable})


@require_POST
def delete_template(request: HttpRequest, template_id: int) -> HttpResponse:
    """Forget a template of one's own. Runs that were made from it keep their plans."""
    template = get_object_or_404(visible_templates(request.user), pk=template_id)
    template.delete()
    messages.success(request, f"The template “{template.name}” is deleted. Runs that used it keep their plans.")
    return redirect("templates")
