from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('runs', '0037_deleted_after_a_time'),
    ]

    operations = [
        migrations.AddField(
            model_name='modelcall',
            name='error_kind',
            field=models.CharField(blank=True, db_default='', default='', max_length=60),
        ),
    ]
