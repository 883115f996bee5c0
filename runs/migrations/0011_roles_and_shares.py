import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


def give_roles(apps, schema_editor):
    """Everybody may go on with what they could do before. The groups get their permissions after the migration."""
    Group = apps.get_model('auth', 'Group')
    User = apps.get_model('runs', 'User')
    groups = {name: Group.objects.get_or_create(name=name)[0] for name in ('submitter', 'approver', 'administrator')}
    for person in User.objects.all():
        names = ('administrator',) if person.is_superuser else ('submitter', 'approver')
        person.groups.add(*(groups[name] for name in names))


NOT_ADDITIVE = "Those who may decide in a run become its shares"


class Migration(migrations.Migration):

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
        ('runs', '0010_decisions_in_time'),
    ]

    operations = [
        # The table of the approvers becomes that of the shares, with its rows.
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RemoveField(model_name='run', name='approvers'),
                migrations.CreateModel(
                    name='Share',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='shares', to='runs.run')),
                        ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='shares', to=settings.AUTH_USER_MODEL)),
                    ],
                    options={
                        'ordering': ['id'],
                        'db_table': 'runs_run_approvers',
                        'unique_together': {('run', 'user')},
                    },
                ),
            ],
        ),
        migrations.AlterModelTable(name='share', table=None),
        migrations.AlterField(
            model_name='share',
            name='user',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='shares', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='share',
            name='group',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='shares', to='auth.group'),
        ),
        migrations.AddField(
            model_name='share',
            name='level',
            field=models.CharField(choices=[('look', 'look'), ('decide', 'decide')], db_default='decide', default='decide', max_length=24),
        ),
        migrations.AlterUniqueTogether(
            name='share',
            unique_together={('run', 'user'), ('run', 'group')},
        ),
        migrations.AddConstraint(
            model_name='share',
            constraint=models.CheckConstraint(condition=models.Q(('level__in', ['look', 'decide'])), name='share_level_known'),
        ),
        migrations.AddConstraint(
            model_name='share',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('group__isnull', False), ('user__isnull', True)), models.Q(('group__isnull', True), ('user__isnull', False)), _connector='OR'), name='share_with_one'),
        ),
        migrations.AlterField(
            model_name='event',
            name='kind',
            field=models.CharField(choices=[('submitted', 'submitted'), ('reading', 'reading'), ('documents_read', 'documents read'), ('planning', 'planning'), ('plan_proposed', 'plan proposed'), ('gate_opened', 'gate opened'), ('gate_decided', 'gate decided'), ('gate_withdrawn', 'gate withdrawn'), ('gate_assigned', 'gate assigned'), ('gate_reminded', 'gate reminded'), ('gate_overdue', 'gate overdue'), ('plan_approved', 'plan approved'), ('attempt_started', 'attempt started'), ('attempt_reused', 'attempt reused'), ('session_resumed', 'session resumed'), ('model_called', 'model called'), ('tool_called', 'tool called'), ('verifying', 'verifying'), ('verdict', 'verdict'), ('step_passed', 'step passed'), ('step_accepted', 'step accepted'), ('step_not_applicable', 'step not applicable'), ('step_failed', 'step failed'), ('step_retried', 'step retried'), ('replanning', 'replanning'), ('nothing_new', 'nothing new'), ('waiting_for_model', 'waiting for model'), ('recovered', 'recovered'), ('paused', 'paused'), ('resumed', 'resumed'), ('limits_raised', 'limits raised'), ('approver_added', 'approver added'), ('approver_removed', 'approver removed'), ('shared', 'shared'), ('finalising', 'finalising'), ('answered', 'answered'), ('finished', 'finished'), ('renamed', 'renamed'), ('report_named', 'report named'), ('archived', 'archived'), ('restored', 'restored'), ('note', 'note')], max_length=24),
        ),
        migrations.AddField(
            model_name='run',
            name='open_to_all',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AlterModelOptions(
            name='run',
            options={'ordering': ['-id'], 'permissions': [('decide_run', 'Can decide in runs that are shared for it'), ('administer', 'Can see all runs and manage the people and the installation')]},
        ),
        migrations.RunPython(give_roles, migrations.RunPython.noop),
    ]
