"""Runs made before they knew their template: the reason of their first plan names it."""

from typing import Any

from django.db import migrations

BEFORE, AFTER = "From the template “", "”."


def name_templates(apps: Any, schema_editor: Any) -> None:
    runs = apps.get_model("runs", "Run")
    plans = apps.get_model("runs", "Plan").objects.filter(version=1, reason__startswith=BEFORE)
    for run_id, reason in plans.values_list("run_id", "reason").iterator():
        runs.store.s3_storage.filter(pk=run_id).update(template=reason.removeprefix(BEFORE).split(AFTER)[0][:120])


class Migration(migrations.Migration):
    dependencies = [("runs", "0021_plan_author")]
    operations = [migrations.RunPython(name_templates, migrations.RunPython.noop)]
