"""Who may see a run and decide in it: shown to all who do, changed by its owner."""

import logging

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from runs.errors import InvalidInput, NotAllowed
from runs.lifecycle.approvers import add_approver, possible_approvers, remove_approver
from runs.logs import about
from runs.people.permissions import can_choose_approvers
from runs.web.people.forms import ApproverForm, ApproverVerb
from runs.web.run.frame import RunFrame
from runs.web.run.views import person, visible_run
from runs.web.site.sessions import about_request

log = logging.getLogger(__name__)
_CHANGES = {ApproverVerb.ADD: add_approver, ApproverVerb.REMOVE: remove_approver}
_SENTENCES = {
    ApproverVerb.ADD: "{} may see this run and decide in it.",
    ApproverVerb.REMOVE: "{} may neither see this run nor decide in it any more.",
}


@require_http_methods(["GET", "HEAD", "POST"])
def approvers(request: HttpRequest, run_id: int) -> HttpResponse:
    run = visible_run(request, run_id)
    problem, status = "", 200
    if request.method == "POST":
        try:
            given = ApproverForm(request.POST).checked()
            _CHANGES[given["verb"]](run.pk, person(request), given["person"])
        except (InvalidInput, NotAllowed) as error:
            log.info("refused: %s", error, extra=about(**(about_request(request) | {"run": run.pk})))
            problem, status = str(error), 403 if isinstance(error, NotAllowed) else 422
        else:
            messages.success(request, _SENTENCES[given["verb"]].format(given["person"].get_username()))
            return redirect("approvers", run_id=run.pk)
    context = {
        "run": run,
        "frame": RunFrame(run),
        "approvers": run.approvers.order_by("username"),
        "others": possible_approvers(run),
        "may_choose": can_choose_approvers(request.user, run),
        "problem": problem,
    }
    return render(request, "run/approvers.html", context, status=status)
