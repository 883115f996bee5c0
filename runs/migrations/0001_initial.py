import django.contrib.auth.models
import django.contrib.auth.validators
import django.db.models.deletion
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models
import runs.models.fields


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
    ]

    operations = [
        migrations.CreateModel(
            name='Attempt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField()),
                ('status', models.CharField(choices=[('executing', 'executing'), ('verifying', 'verifying'), ('passed', 'passed'), ('failed', 'failed'), ('blocked', 'blocked'), ('rejected', 'rejected'), ('conflict', 'conflict'), ('cancelled', 'cancelled')], default='executing', max_length=24)),
                ('overlay', runs.models.fields.VerbatimField(default=dict)),
                ('output', models.JSONField(blank=True, null=True)),
                ('fingerprint', models.CharField(blank=True, default='', max_length=64)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'ordering': ['number'],
                'constraints': [models.CheckConstraint(condition=models.Q(('status__in', ['executing', 'verifying', 'passed', 'failed', 'blocked', 'rejected', 'conflict', 'cancelled'])), name='attempt_status_known')],
            },
        ),
        migrations.CreateModel(
            name='User',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('password', models.CharField(max_length=128, verbose_name='password')),
                ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                ('is_superuser', models.BooleanField(default=False, help_text='Designates that this user has all permissions without explicitly assigning them.', verbose_name='superuser status')),
                ('username', models.CharField(error_messages={'unique': 'A user with that username already exists.'}, help_text='Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.', max_length=150, unique=True, validators=[django.contrib.auth.validators.UnicodeUsernameValidator()], verbose_name='username')),
                ('first_name', models.CharField(blank=True, max_length=150, verbose_name='first name')),
                ('last_name', models.CharField(blank=True, max_length=150, verbose_name='last name')),
                ('email', models.EmailField(blank=True, max_length=254, verbose_name='email address')),
                ('is_staff', models.BooleanField(default=False, help_text='Designates whether the user can log into this admin site.', verbose_name='staff status')),
                ('is_active', models.BooleanField(default=True, help_text='Designates whether this user should be treated as active. Unselect this instead of deleting accounts.', verbose_name='active')),
                ('date_joined', models.DateTimeField(default=django.utils.timezone.now, verbose_name='date joined')),
                ('groups', models.ManyToManyField(blank=True, help_text='The groups this user belongs to. A user will get all permissions granted to each of their groups.', related_name='user_set', related_query_name='user', to='auth.group', verbose_name='groups')),
                ('user_permissions', models.ManyToManyField(blank=True, help_text='Specific permissions for this user.', related_name='user_set', related_query_name='user', to='auth.permission', verbose_name='user permissions')),
            ],
            options={
                'verbose_name': 'user',
                'verbose_name_plural': 'users',
                'abstract': False,
            },
            managers=[
                ('objects', django.contrib.auth.models.UserManager()),
            ],
        ),
        migrations.CreateModel(
            name='Run',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('submission', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('title', models.CharField(max_length=120)),
                ('request', models.TextField()),
                ('policy', models.JSONField()),
                ('status', models.CharField(choices=[('planning', 'planning'), ('awaiting_approval', 'awaiting approval'), ('executing', 'executing'), ('finalising', 'finalising'), ('finished', 'finished')], default='planning', max_length=24)),
                ('outcome', models.CharField(blank=True, choices=[('succeeded', 'succeeded'), ('partial', 'partial'), ('failed', 'failed'), ('cancelled', 'cancelled')], max_length=24, null=True)),
                ('failure', models.TextField(blank=True, default='')),
                ('answer', models.TextField(blank=True, default='')),
                ('final', runs.models.fields.VerbatimField(blank=True, null=True)),
                ('replans', models.PositiveSmallIntegerField(default=0)),
                ('paused', models.BooleanField(default=False)),
                ('event_count', models.PositiveIntegerField(default=0)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('approvers', models.ManyToManyField(blank=True, related_name='runs_to_approve', to=settings.AUTH_USER_MODEL)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='runs', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-id'],
                'constraints': [models.CheckConstraint(condition=models.Q(('status__in', ['planning', 'awaiting_approval', 'executing', 'finalising', 'finished'])), name='run_status_known'), models.CheckConstraint(condition=models.Q(('outcome__in', ['succeeded', 'partial', 'failed', 'cancelled'])), name='run_outcome_known'), models.CheckConstraint(condition=models.Q(models.Q(('finished_at__isnull', False), ('outcome__isnull', False), ('status', 'finished')), models.Q(models.Q(('status', 'finished'), _negated=True), ('outcome__isnull', True)), _connector='OR'), name='run_outcome_exactly_when_finished')],
            },
        ),
        migrations.CreateModel(
            name='Plan',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('version', models.PositiveSmallIntegerField()),
                ('status', models.CharField(choices=[('proposed', 'proposed'), ('approved', 'approved'), ('rejected', 'rejected'), ('superseded', 'superseded')], default='proposed', max_length=24)),
                ('header', runs.models.fields.VerbatimField()),
                ('digest', models.CharField(max_length=64)),
                ('reason', models.TextField(blank=True, default='')),
                ('estimate', runs.models.fields.VerbatimField(default=dict)),
                ('binding', runs.models.fields.VerbatimField(blank=True, null=True)),
                ('approved_how', models.CharField(blank=True, default='', max_length=40)),
                ('unmet', models.TextField(blank=True, default='')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('approved_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='plans', to='runs.run')),
            ],
            options={
                'ordering': ['version'],
                'constraints': [models.CheckConstraint(condition=models.Q(('status__in', ['proposed', 'approved', 'rejected', 'superseded'])), name='plan_status_known'), models.UniqueConstraint(fields=('run', 'version'), name='plan_version_unique'), models.CheckConstraint(condition=models.Q(models.Q(('status', 'approved'), _negated=True), models.Q(('approved_by__isnull', False), ('binding__isnull', False), models.Q(('approved_how', ''), _negated=True)), _connector='OR'), name='plan_approval_is_bound')],
            },
        ),
        migrations.CreateModel(
            name='Event',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('seq', models.PositiveIntegerField()),
                ('kind', models.CharField(choices=[('submitted', 'submitted'), ('planning', 'planning'), ('plan_proposed', 'plan proposed'), ('gate_opened', 'gate opened'), ('gate_decided', 'gate decided'), ('plan_approved', 'plan approved'), ('attempt_started', 'attempt started'), ('model_called', 'model called'), ('tool_called', 'tool called'), ('verifying', 'verifying'), ('verdict', 'verdict'), ('step_passed', 'step passed'), ('step_accepted', 'step accepted'), ('step_failed', 'step failed'), ('step_retried', 'step retried'), ('replanning', 'replanning'), ('waiting_for_model', 'waiting for model'), ('recovered', 'recovered'), ('paused', 'paused'), ('resumed', 'resumed'), ('finalising', 'finalising'), ('answered', 'answered'), ('finished', 'finished'), ('note', 'note')], max_length=24)),
                ('at', models.DateTimeField()),
                ('data', models.JSONField(default=dict)),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='events', to='runs.run')),
            ],
            options={
                'ordering': ['seq'],
                'constraints': [models.UniqueConstraint(fields=('run', 'seq'), name='event_seq_unique')],
            },
        ),
        migrations.CreateModel(
            name='Step',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=60)),
                ('position', models.PositiveSmallIntegerField()),
                ('status', models.CharField(choices=[('pending', 'pending'), ('running', 'running'), ('judged', 'judged'), ('waiting', 'waiting'), ('passed', 'passed'), ('accepted', 'accepted'), ('failed', 'failed'), ('dropped', 'dropped')], default='pending', max_length=24)),
                ('spec', runs.models.fields.VerbatimField()),
                ('depends_on', runs.models.fields.VerbatimField(default=list)),
                ('complexity', models.CharField(choices=[('low', 'low'), ('medium', 'medium'), ('high', 'high')], max_length=24)),
                ('failures', models.PositiveSmallIntegerField(default=0)),
                ('last_action', models.CharField(blank=True, choices=[('pass', 'pass'), ('retry', 'retry'), ('replan', 'replan')], max_length=24, null=True)),
                ('plan', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='steps', to='runs.plan')),
                ('reused_from', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='runs.attempt')),
            ],
            options={
                'ordering': ['position'],
                'constraints': [models.CheckConstraint(condition=models.Q(('status__in', ['pending', 'running', 'judged', 'waiting', 'passed', 'accepted', 'failed', 'dropped'])), name='step_status_known'), models.UniqueConstraint(fields=('plan', 'key'), name='step_key_unique')],
            },
        ),
        migrations.AddField(
            model_name='attempt',
            name='step',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='attempts', to='runs.step'),
        ),
        migrations.CreateModel(
            name='Tree',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('changes', runs.models.fields.VerbatimField(default=dict)),
                ('file_count', models.PositiveIntegerField()),
                ('total_size', models.PositiveBigIntegerField()),
                ('root', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='runs.tree')),
            ],
        ),
        migrations.AddField(
            model_name='run',
            name='head',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='runs.tree'),
        ),
        migrations.AddField(
            model_name='run',
            name='inputs',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='runs.tree'),
        ),
        migrations.AddField(
            model_name='attempt',
            name='base',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='runs.tree'),
        ),
        migrations.AddField(
            model_name='attempt',
            name='tree',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='runs.tree'),
        ),
        migrations.CreateModel(
            name='Verdict',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('stage', models.CharField(max_length=8)),
                ('passed', models.BooleanField()),
                ('action', models.CharField(choices=[('pass', 'pass'), ('retry', 'retry'), ('replan', 'replan')], max_length=24)),
                ('severity', models.CharField(choices=[('minor', 'minor'), ('major', 'major'), ('critical', 'critical')], max_length=24)),
                ('feedback', models.TextField(blank=True, default='')),
                ('notes', runs.models.fields.VerbatimField(default=list)),
                ('results', runs.models.fields.VerbatimField(default=list)),
                ('criteria', models.PositiveSmallIntegerField(default=0)),
                ('supported', models.PositiveSmallIntegerField(default=0)),
                ('unsupported', models.PositiveSmallIntegerField(default=0)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('attempt', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='verdict', to='runs.attempt')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('passed', False), models.Q(('action', 'pass'), ('criteria__gt', 0), ('supported', models.F('criteria'))), _connector='OR'), name='verdict_pass_is_supported')],
            },
        ),
        migrations.CreateModel(
            name='WorkItem',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('plan', 'plan'), ('attempt', 'attempt'), ('finalise', 'finalise')], max_length=24)),
                ('status', models.CharField(choices=[('ready', 'ready'), ('leased', 'leased'), ('parked', 'parked'), ('done', 'done'), ('cancelled', 'cancelled')], default='ready', max_length=24)),
                ('due_at', models.DateTimeField()),
                ('lease_owner', models.CharField(blank=True, default='', max_length=80)),
                ('lease_until', models.DateTimeField(blank=True, null=True)),
                ('epoch', models.PositiveIntegerField(default=0)),
                ('generation', models.PositiveSmallIntegerField(default=0)),
                ('tries', models.PositiveSmallIntegerField(default=0)),
                ('trouble', models.TextField(blank=True, default='')),
                ('attempt', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='work', to='runs.attempt')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='work', to='runs.run')),
            ],
            options={
                'ordering': ['due_at'],
                'indexes': [models.Index(fields=['status', 'due_at'], name='work_due')],
                'constraints': [models.CheckConstraint(condition=models.Q(('status__in', ['ready', 'leased', 'parked', 'done', 'cancelled'])), name='work_status_known'), models.CheckConstraint(condition=models.Q(models.Q(('lease_until__isnull', False), ('status', 'leased')), models.Q(models.Q(('status', 'leased'), _negated=True), ('lease_until__isnull', True)), _connector='OR'), name='work_lease_exactly_when_leased'), models.UniqueConstraint(condition=models.Q(('attempt__isnull', True), ('status__in', ['ready', 'leased', 'parked'])), fields=('run', 'kind'), name='one_open_work_per_run_and_kind')],
            },
        ),
        migrations.CreateModel(
            name='ToolCall',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('generation', models.PositiveSmallIntegerField()),
                ('ordinal', models.PositiveSmallIntegerField()),
                ('use_id', models.CharField(max_length=120)),
                ('name', models.CharField(max_length=80)),
                ('arguments', runs.models.fields.VerbatimField(default=dict)),
                ('result', models.TextField()),
                ('is_error', models.BooleanField(default=False)),
                ('writes', runs.models.fields.VerbatimField(default=dict)),
                ('duration_ms', models.PositiveIntegerField()),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('attempt', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='tool_calls', to='runs.attempt')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tool_calls', to='runs.run')),
                ('work', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tool_calls', to='runs.workitem')),
            ],
            options={
                'ordering': ['ordinal'],
                'constraints': [models.UniqueConstraint(fields=('work', 'generation', 'ordinal'), name='one_result_per_tool_call')],
            },
        ),
        migrations.CreateModel(
            name='ModelCall',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('generation', models.PositiveSmallIntegerField()),
                ('ordinal', models.PositiveSmallIntegerField()),
                ('live', models.BooleanField()),
                ('role', models.CharField(choices=[('planner', 'planner'), ('executor', 'executor'), ('verifier', 'verifier'), ('synthesizer', 'synthesizer')], max_length=24)),
                ('model', models.CharField(max_length=120)),
                ('question', models.CharField(max_length=64)),
                ('content', runs.models.fields.VerbatimField(default=list)),
                ('stop_reason', models.CharField(blank=True, default='', max_length=40)),
                ('request_id', models.CharField(blank=True, default='', max_length=120)),
                ('input_tokens', models.PositiveIntegerField(default=0)),
                ('output_tokens', models.PositiveIntegerField(default=0)),
                ('cache_read_tokens', models.PositiveIntegerField(default=0)),
                ('cache_write_5m_tokens', models.PositiveIntegerField(default=0)),
                ('cache_write_1h_tokens', models.PositiveIntegerField(default=0)),
                ('cost_usd', models.DecimalField(blank=True, decimal_places=8, max_digits=14, null=True)),
                ('cost_is_lower_bound', models.BooleanField(default=False)),
                ('duration_ms', models.PositiveIntegerField()),
                ('error', models.TextField(blank=True, default='')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('attempt', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='model_calls', to='runs.attempt')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='model_calls', to='runs.run')),
                ('work', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='model_calls', to='runs.workitem')),
            ],
            options={
                'ordering': ['id'],
                'constraints': [models.UniqueConstraint(condition=models.Q(('live', True)), fields=('work', 'generation', 'ordinal'), name='one_live_reply_per_question')],
            },
        ),
        migrations.CreateModel(
            name='Gate',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('plan', 'plan'), ('step', 'step'), ('exhausted', 'exhausted'), ('trouble', 'trouble')], max_length=24)),
                ('status', models.CharField(choices=[('open', 'open'), ('approved', 'approved'), ('rejected', 'rejected'), ('stopped', 'stopped'), ('withdrawn', 'withdrawn')], default='open', max_length=24)),
                ('digest', models.CharField(max_length=64)),
                ('question', models.TextField()),
                ('opened_at', models.DateTimeField(auto_now_add=True)),
                ('decided_at', models.DateTimeField(blank=True, null=True)),
                ('decided_how', models.CharField(blank=True, default='', max_length=40)),
                ('reason', models.TextField(blank=True, default='')),
                ('attempt', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='gates', to='runs.attempt')),
                ('decided_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('plan', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='gates', to='runs.plan')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='gates', to='runs.run')),
                ('step', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='gates', to='runs.step')),
                ('work', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='gates', to='runs.workitem')),
            ],
            options={
                'ordering': ['id'],
                'constraints': [models.CheckConstraint(condition=models.Q(('kind__in', ['plan', 'step', 'exhausted', 'trouble'])), name='gate_kind_known'), models.CheckConstraint(condition=models.Q(('status__in', ['open', 'approved', 'rejected', 'stopped', 'withdrawn'])), name='gate_status_known'), models.CheckConstraint(condition=models.Q(models.Q(('decided_at__isnull', True), ('decided_by__isnull', True), ('decided_how', ''), ('status__in', ['open', 'withdrawn'])), models.Q(models.Q(('status__in', ['open', 'withdrawn']), _negated=True), ('decided_at__isnull', False), ('decided_by__isnull', False), models.Q(('decided_how', ''), _negated=True)), _connector='OR'), name='gate_decision_is_whole'), models.CheckConstraint(condition=models.Q(models.Q(('status', 'rejected'), _negated=True), models.Q(('reason', ''), _negated=True), _connector='OR'), name='gate_rejection_has_reason'), models.UniqueConstraint(condition=models.Q(('kind', 'plan'), ('status', 'open')), fields=('run',), name='one_open_plan_gate'), models.UniqueConstraint(condition=models.Q(('status', 'open'), ('step__isnull', False)), fields=('step',), name='one_open_gate_per_step')],
            },
        ),
        migrations.AddConstraint(
            model_name='attempt',
            constraint=models.UniqueConstraint(fields=('step', 'number'), name='attempt_number_unique'),
        ),
    ]
