"""The addresses of the pages."""

from django.urls import include, path, re_path, register_converter

from runs.web.agents import agent_pages
from runs.web.api import documentation, reference_page
from runs.web.api.api import api, no_operation
from runs.web.audit import audit_pages
from runs.web.evaluation import evaluation_pages, save_task_page
from runs.web.files import source_pages
from runs.web.files.file_list import FILES
from runs.web.gates import assign_page
from runs.web.help import help_pages, tour
from runs.web.history import history_page
from runs.web.inbox import decide_together, inbox_page, next_decision, snooze_page
from runs.web.new_run import draft_pages, new_run_page, run_again_pages
from runs.web.operations import calibration_pages, health, metrics_page, notices_status, prometheus, status_page
from runs.web.people import access_tokens_page, people_pages, provider_pages, sign_in_pages
from runs.web.plan_editor import plan_edit_page, plan_page
from runs.web.report import report_page
from runs.web.run import controls, manage_pages, overview, sharing_page
from runs.web.run.overview import COST, OVERVIEW, STEPS
from runs.web.run_templates import template_pages
from runs.web.steps import labelled_case_page, step_page
from runs.web.tool_servers import servers_page

register_converter(report_page.ReportFormatConverter, "report_format")
register_converter(audit_pages.AuditSuffixConverter, "audit_suffix")

urlpatterns = [
    path("", inbox_page.inbox, name="inbox"),
    path("decisions/", decide_together.decide_together, name="decide_together"),
    path("decisions/<int:gate_id>/snooze/", snooze_page.snooze_gate, name="snooze"),
    path("decisions/<int:gate_id>/assign/", assign_page.assign, name="assign"),
    path("next/", next_decision.next_decision, name="next_decision"),
    path("api/openapi.json", documentation.openapi, name="openapi"),
    path("api/docs/", reference_page.reference, name="api_reference"),
    path("api/v1/", include((api.bind_patterns(), "api"))),
    re_path("^api/v1/", no_operation),  # also with a line break, which no `path` takes
    path("healthz", health.alive, name="alive"),
    path("readyz", health.ready, name="ready"),
    path("metricsz", prometheus.metrics, name="monitoring"),
    path("sign-in/", sign_in_pages.sign_in, name="account_login"),
    path("sign-in/again/", sign_in_pages.sign_in_again, name="sign_in_again"),
    path("sign-in/provider/", provider_pages.sign_in, name="sign_in_provider"),
    path("sign-in/provider/callback/", provider_pages.come_back, name="sign_in_provider_callback"),
    path("sign-in/<path:token>/", sign_in_pages.sign_in_link, name="sign_in_link"),
    path("sign-out/", sign_in_pages.sign_out, name="account_logout"),
    path("account/", include("runs.web.people.account_urls")),
    path("access-tokens/", access_tokens_page.tokens, name="access_tokens"),
    path("access-tokens/<int:token_id>/revoke/", access_tokens_page.revoke, name="revoke_token"),
    path("people/", people_pages.people, name="people"),
    path("people/groups/", people_pages.groups, name="groups"),
    path("people/<int:person_id>/", people_pages.person, name="person"),
    path("audit/", audit_pages.audit, name="audit"),
    path("audit.<audit_suffix:suffix>", audit_pages.audit_file, name="audit_file"),
    path("agents/", agent_pages.agents_page, name="agents"),
    path("agents/new/", agent_pages.new_agent, name="new_agent"),
    path("agents/<slug:name>/", agent_pages.agent_page, name="agent"),
    path("agents/<slug:name>/delete/", agent_pages.delete_agent, name="delete_agent"),
    path("status/", status_page.status_page, name="status"),
    path("status/notices/", notices_status.notices_status, name="notices_status"),
    path("status/calibrations/", calibration_pages.calibrations_page, name="calibrations"),
    path("status/calibrations/<int:calibration_id>/", calibration_pages.calibration_page, name="calibration"),
    path("status/servers/", servers_page.servers_page, name="servers"),
    path("metrics/", metrics_page.metrics_page, name="metrics"),
    path("evaluations/", evaluation_pages.evaluations, name="evaluations"),
    path("evaluations/<int:number>/", evaluation_pages.evaluation, name="evaluation"),
    path("help/", help_pages.help_page, name="help"),
    path("tour/", tour.tour, name="tour"),
    path("help/glossary/", help_pages.glossary, name="glossary"),
    path("runs/new/", new_run_page.new_run, name="new_run"),
    path("runs/drafts/<uuid:draft>/", draft_pages.change, name="draft"),
    path("runs/sample/finished/", new_run_page.show_sample, name="finished_sample"),
    path("runs/sample/<slug:name>/", new_run_page.run_sample, name="run_sample"),
    path("runs/<int:run_id>/", overview.run_tab, {"tab": OVERVIEW}, name="run"),
    path("runs/<int:run_id>/plan/", plan_page.plan_page, name="run_plan"),
    path("runs/<int:run_id>/plan/edit/", plan_edit_page.edit_plan, name="plan_edit"),
    path("runs/<int:run_id>/plan/about/", plan_edit_page.change_topic, name="plan_topic"),
    path("runs/<int:run_id>/steps/", overview.run_tab, {"tab": STEPS}, name="run_steps"),
    path("runs/<int:run_id>/files/", overview.run_tab, {"tab": FILES}, name="run_files"),
    path("runs/<int:run_id>/history/", history_page.history_page, name="run_history"),
    path("runs/<int:run_id>/history/calls/<int:work_id>/", history_page.history_calls, name="history_calls"),
    path("runs/<int:run_id>/audit/", audit_pages.run_audit, name="run_audit"),
    path("runs/<int:run_id>/audit.<audit_suffix:suffix>", audit_pages.run_audit_file, name="run_audit_file"),
    path("runs/<int:run_id>/cost/", overview.run_tab, {"tab": COST}, name="run_cost"),
    path("runs/<int:run_id>/again/", run_again_pages.run_again, name="run_again"),
    path("runs/<int:run_id>/again/with/", run_again_pages.run_again_with, name="run_again_with"),
    path("runs/<int:run_id>/stop/", controls.stop, name="run_stop"),
    path("runs/<int:run_id>/attempts/<int:attempt_id>/overrule/", controls.overrule, name="overrule"),
    path(
        "runs/<int:run_id>/overrulings/<int:overruling_id>/case/",
        labelled_case_page.labelled_case,
        name="labelled_case",
    ),
    path("runs/<int:run_id>/pause/", controls.pause, name="run_pause"),
    path("runs/<int:run_id>/manage/", manage_pages.manage, name="manage"),
    path("runs/<int:run_id>/delete/", manage_pages.delete, name="delete_run"),
    path("runs/<int:run_id>/people/", sharing_page.sharing_page, name="sharing"),
    path("runs/<int:run_id>/gates/<int:gate_id>/", controls.decide, name="gate"),
    path("runs/<int:run_id>/gates/<int:gate_id>/files/", controls.give_files, name="give_files"),
    path("runs/<int:run_id>/gates/<int:gate_id>/<slug:part>/", overview.gate_part, name="gate_part"),
    path("runs/<int:run_id>/steps/<int:step_id>/", step_page.step_page, name="step"),
    path("runs/<int:run_id>/files/<path:path>", source_pages.file_page, name="file"),
    path("runs/<int:run_id>/texts/<str:place>/", source_pages.text_page, name="text"),
    path("runs/<int:run_id>/plans/<int:version>.json", plan_page.plan_json, name="plan_json"),
    path("runs/<int:run_id>/template/", plan_page.save_template, name="save_template"),
    path("runs/<int:run_id>/evaluation-task/", save_task_page.save_task, name="save_task"),
    path("templates/", template_pages.own_templates, name="templates"),
    path("templates/<slug:key>/", template_pages.template_page, name="template"),
    path("templates/<int:template_id>/rename/", template_pages.rename_template, name="rename_template"),
    path("templates/<int:template_id>/letterhead/", template_pages.change_letterhead, name="letterhead"),
    path("templates/<int:template_id>/delete/", template_pages.delete_template, name="delete_template"),
    path("runs/new/estimate/", new_run_page.estimate, name="estimate"),
    path("runs/<int:run_id>/report/", report_page.report_page, name="report"),
    path("runs/<int:run_id>/report.<report_format:report_format>", report_page.report_file, name="report_file"),
    path("runs/<int:run_id>/report/<report_format:report_format>/", report_page.report_wait, name="report_wait"),
    path("runs/<int:run_id>/files.zip", report_page.files_zip, name="files_zip"),
]
