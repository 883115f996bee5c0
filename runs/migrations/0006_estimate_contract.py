"""A plan without an estimate says so with NULL, so that the column can hold a contract."""

from django.db import migrations, models
from django.db.models.functions import Cast
import runs.models.fields


def forget_empty(apps, schema_editor):
    plans = apps.get_model("runs", "Plan").objects.annotate(text=Cast("estimate", models.TextField()))
    plans.filter(text="{}").update(estimate=None)


class Migration(migrations.Migration):

    dependencies = [
        ('runs', '0005_step_tries_and_fingerprint'),
    ]

    operations = [
        migrations.AlterField(
            model_name='plan',
            name='estimate',
            field=runs.models.fields.VerbatimField(blank=True, null=True),
        ),
        migrations.RunPython(forget_empty, migrations.RunPython.noop),
    ]
