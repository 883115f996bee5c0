from typing import Any

from django.db import migrations, models
from django.db.models import Exists, OuterRef, Q


def mark_open_gates(apps: Any, schema_editor: Any) -> None:
    """Say of questions that are open during the upgrade whether they are about something of high risk."""
    gates = apps.get_model("runs", "Gate").objects.filter(status="open")
    risky = apps.get_model("runs", "Step").objects.filter(complexity="high")
    of_plan = risky.filter(plan__run=OuterRef("run"), plan__version__lte=OuterRef("plan__version"))
    high_risk = gates.filter(
        Q(kind="tool")
        | Q(kind__in=["start", "step", "exhausted"], step__complexity="high")
        | (Q(kind="plan") & Exists(of_plan))
    )
    gates.filter(pk__in=list(high_risk.values_list("pk", flat=True))).update(high_risk=True)


class Migration(migrations.Migration):
    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        ("runs", "0014_overrulings"),
    ]

    operations = [
        migrations.RemoveIndex(model_name="gate", name="gate_open_of_run"),
        migrations.AddField(
            model_name="gate", name="high_risk", field=models.BooleanField(db_default=False, default=False)
        ),
        migrations.AddIndex(
            model_name="gate",
            index=models.Index(
                condition=models.Q(("status", "open")),
                fields=["run", "second_person", "high_risk"],
                name="gate_open_of_run",
            ),
        ),
        migrations.RunPython(mark_open_gates, migrations.RunPython.noop),
    ]
