"""Steps know how often they were tried, and the fingerprint of the result that was settled."""

from django.db import migrations, models
from django.db.models import Count, OuterRef, Subquery
from django.db.models.functions import Coalesce


def fill(apps, schema_editor):
    Step, Attempt = apps.get_model("runs", "Step"), apps.get_model("runs", "Attempt")
    of_step = Attempt.objects.filter(step=OuterRef("pk"))
    tried = of_step.order_by().values("step").annotate(number=Count("pk")).values("number")
    Step.objects.update(tries=Coalesce(Subquery(tried), 0))
    kept = Attempt.objects.filter(pk=OuterRef("reused_from")).values("fingerprint")[:1]
    latest = of_step.order_by("-number").values("fingerprint")[:1]
    settled = Step.objects.filter(status__in=["passed", "accepted"])
    settled.update(fingerprint=Coalesce(Subquery(kept), Subquery(latest), models.Value("")))


class Migration(migrations.Migration):

    dependencies = [
        ('runs', '0004_words'),
    ]

    operations = [
        migrations.AddField(
            model_name='step',
            name='fingerprint',
            field=models.CharField(blank=True, default='', max_length=64),
        ),
        migrations.AddField(
            model_name='step',
            name='tries',
            field=models.PositiveSmallIntegerField(default=0),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
