from django.db import migrations, models

KINDS = ["plan", "start", "step", "exhausted"]


def fill(apps, schema_editor):
    """Gates that were decided are in no list; one that a process of before still opens is in its owner's, who is
    refused when approving it, as before.
    """
    gates = apps.get_model("runs", "Gate").objects.filter(status="open", kind__in=KINDS)
    gates.filter(run__policy__second_person=True).update(second_person=True)


class Migration(migrations.Migration):

    dependencies = [
        ('runs', '0039_processes'),
    ]

    operations = [
        migrations.AddField(
            model_name='gate',
            name='second_person',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
