"""The addresses of the pages."""

from django.urls import path

from runs.web.views import account, approvers, files, gates, inbox, metrics, people, plans, report, run, step, submit

urlpatterns = [
    path("", inbox.inbox, name="inbox"),
    path("sign-in/", account.sign_in, name="sign_in"),
    path("sign-in/<path:token>/", account.sign_in_link, name="sign_in_link"),
    path("sign-out/", account.sign_out, name="sign_out"),
    path("people/", people.people, name="people"),
    path("people/<int:person_id>/", people.person, name="person"),
    path("metrics/", metrics.metrics_page, name="metrics"),
    path("runs/new/", submit.new_run, name="new_run"),
    path("runs/sample/<slug:name>/", submit.run_sample, name="run_sample"),
    path("runs/<int:run_id>/", run.run_tab, {"tab": "overview"}, name="run"),
    path("runs/<int:run_id>/plan/", run.run_tab, {"tab": "plan"}, name="run_plan"),
    path("runs/<int:run_id>/steps/", run.run_tab, {"tab": "steps"}, name="run_steps"),
    path("runs/<int:run_id>/files/", run.run_tab, {"tab": "files"}, name="run_files"),
    path("runs/<int:run_id>/history/", run.run_tab, {"tab": "history"}, name="run_history"),
    path("runs/<int:run_id>/cost/", run.run_tab, {"tab": "cost"}, name="run_cost"),
    path("runs/<int:run_id>/again/", submit.run_again, name="run_again"),
    path("runs/<int:run_id>/stop/", run.stop, name="run_stop"),
    path("runs/<int:run_id>/pause/", run.pause, name="run_pause"),
    path("runs/<int:run_id>/people/", approvers.approvers, name="approvers"),
    path("runs/<int:run_id>/gates/<int:gate_id>/", gates.decide, name="gate"),
    path("runs/<int:run_id>/steps/<int:step_id>/", step.step_page, name="step"),
    path("runs/<int:run_id>/files/<path:path>", files.file_page, name="file"),
    path("runs/<int:run_id>/plans/<int:version>.json", plans.plan_json, name="plan_json"),
    path("runs/<int:run_id>/template/", plans.save_template, name="save_template"),
    path("templates/", plans.own_templates, name="templates"),
    path("templates/<int:template_id>/delete/", plans.delete_template, name="delete_template"),
    path("runs/<int:run_id>/report/", report.report_page, name="report"),
    path("runs/<int:run_id>/report.md", report.report_markdown, name="report_markdown"),
    path("runs/<int:run_id>/files.zip", report.files_zip, name="files_zip"),
]
