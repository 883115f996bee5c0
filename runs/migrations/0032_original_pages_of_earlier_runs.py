"""Runs that were submitted before models could see original pages go on as they were approved: with the text alone."""

from django.db import migrations


def keep_to_the_text(apps, schema_editor):
    for run in apps.get_model("runs", "Run").objects.only("policy"):
        if "original_pages" not in run.policy:
            run.policy = {**run.policy, "original_pages": "never"}
            run.save(update_fields=["policy"])


class Migration(migrations.Migration):

    dependencies = [
        ('runs', '0031_tries_at_documents'),
    ]

    operations = [
        migrations.RunPython(keep_to_the_text, migrations.RunPython.noop),
    ]
