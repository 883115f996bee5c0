from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('runs', '0038_error_kinds'),
    ]

    operations = [
        migrations.CreateModel(
            name='Process',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=120, unique=True)),
                ('owner', models.CharField(max_length=80)),
                ('serves', models.BooleanField()),
                ('threads', models.PositiveIntegerField()),
                ('engine', models.CharField(max_length=20)),
                ('messages', models.BooleanField()),
                ('version', models.CharField(max_length=40)),
                ('schema', models.CharField(max_length=120)),
                ('key', models.CharField(max_length=16)),
                ('clock_ahead', models.FloatField(default=0)),
                ('draining', models.BooleanField(default=False)),
                ('started_at', models.DateTimeField()),
                ('seen_at', models.DateTimeField(db_index=True)),
            ],
            options={
                'verbose_name_plural': 'processes',
                'ordering': ['started_at'],
            },
        ),
    ]
