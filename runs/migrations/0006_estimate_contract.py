"""A plan without an estimate says so with NULL, so that the column can hold a contract."""

from django.db import migrations, models


def forget_empty(apps, schema_editor):
    apps.get_model("runs", "Plan").objects.filter(estimate={}).update(estimate=None)


class Migration(migrations.Migration):

    dependencies = [
        ('runs', '0005_step_tries_and_fingerprint'),
    ]

    operations = [
        migrations.AlterField(
            model_name='plan',
            name='estimate',
            field=models.JSONField(blank=True, null=True),
        ),
        migrations.RunPython(forget_empty, migrations.RunPython.noop),
    ]
