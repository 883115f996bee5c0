"""The field's words for columns, statuses and stored keys; what approvals are bound to is computed again."""

import hashlib
import json

import django.db.models.deletion
from django.db import migrations, models

CHECK_KEYS = {"least": "min", "most": "max"}
POLICY_KEYS = {
    "most_steps": "max_steps",
    "least_confidence": "min_confidence",
    "twin_verifier": "same_model_verifier",
}


def digest_of(value):
    """As `lifecycle.fingerprint.digest_of` when this was written."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def renamed(value, names):
    return {names.get(key, key): item for key, item in value.items()}


def criterion(value):
    check = value.get("check")
    return {**value, "check": renamed(check, CHECK_KEYS)} if check else value


def criteria(holder, name):
    return {**holder, name: [criterion(item) for item in holder.get(name, [])]}


def whole_plan(plan):
    steps = [criteria(step, "acceptance_criteria") for step in plan.get("steps", [])]
    return {**criteria(plan, "success_criteria"), "steps": steps}


def bases(value):
    """An estimate with the keys of each `basis` in it renamed, however deep it lies."""
    if isinstance(value, list):
        return [bases(item) for item in value]
    if not isinstance(value, dict):
        return value
    inner = {key: bases(item) for key, item in value.items()}
    if isinstance(inner.get("basis"), dict):
        inner["basis"] = renamed(inner["basis"], CHECK_KEYS)
    return inner


def policy_digest(policy):
    return digest_of({name: value for name, value in policy.items() if name != "models"})


def plan_digest(plan, steps):
    return digest_of({**plan.header, "steps": [step.spec for step in steps]})


def attempt_digest(attempt, spec):
    tree = attempt.tree.digest if attempt.tree else ""
    return digest_of([spec, attempt.number, tree, attempt.overlay, attempt.output])


def rename_stored_words(apps, schema_editor):
    Run, Template = apps.get_model("runs", "Run"), apps.get_model("runs", "Template")
    apps.get_model("runs", "WorkItem").objects.filter(status="parked").update(status="suspended")
    apps.get_model("runs", "Gate").objects.filter(kind="trouble").update(kind="error")
    for run in Run.objects.iterator(chunk_size=50):
        old_policy = run.policy
        run.policy = renamed(old_policy, POLICY_KEYS)
        run.save(update_fields=["policy"])
        for plan in run.plans.all():
            rename_plan(run, plan, old_policy)
        for gate in run.gates.filter(kind="budget", digest=digest_of(old_policy)):
            gate.digest = digest_of(run.policy)
            gate.save(update_fields=["digest"])
        rename_events(run)
    for template in Template.objects.iterator(chunk_size=50):
        template.plan = whole_plan(template.plan)
        template.digest = digest_of(template.plan)
        template.save(update_fields=["plan", "digest"])


def rename_plan(run, plan, old_policy):
    """What held before holds afterwards, and what did not hold still does not (G1)."""
    steps = list(plan.steps.order_by("position"))
    was = {"plan": plan.digest, "policy": policy_digest(old_policy)}
    plan.header = criteria(plan.header, "success_criteria")
    plan.estimate = bases(plan.estimate)
    for step in steps:
        rename_step(step)
    plan.digest = plan_digest(plan, steps)
    now = {"plan": plan.digest, "policy": policy_digest(run.policy)}
    for gate in plan.gates.filter(kind="plan", status="open"):
        rename_gate(run, plan, gate, was, now)
    if plan.approval_fingerprint:
        held = {part: now[part] for part in was if plan.approval_fingerprint.get(part) == was[part]}
        plan.approval_fingerprint = {**plan.approval_fingerprint, **held}
    plan.save(update_fields=["header", "estimate", "digest", "approval_fingerprint"])


def rename_gate(run, plan, gate, was, now):
    """The digest of an open plan gate is over all parts; of those, prompts are code and are read as they are now."""
    from runs.pev import prompts

    rest = {
        "input files": run.inputs.digest,
        "models": digest_of(run.policy.get("models")),
        "instructions": prompts.version(),
    }
    if gate.digest == digest_of({**rest, **was}):
        gate.digest = digest_of({**rest, **now})
        gate.save(update_fields=["digest"])


def rename_step(step):
    before = step.spec
    step.spec = criteria(before, "acceptance_criteria")
    step.save(update_fields=["spec"])
    for gate in step.gates.filter(status="open", attempt__isnull=False).select_related("attempt__tree"):
        if gate.digest == attempt_digest(gate.attempt, before):
            gate.digest = attempt_digest(gate.attempt, step.spec)
            gate.save(update_fields=["digest"])


def rename_events(run):
    for event in run.events.filter(kind="plan_proposed", data__has_key="weakened"):
        event.data = renamed(event.data, {"weakened": "relaxed"})
        event.save(update_fields=["data"])
    for event in run.events.filter(data__kind="trouble"):
        event.data = {**event.data, "kind": "error"}
        event.save(update_fields=["data"])


class Migration(migrations.Migration):

    dependencies = [
        ('runs', '0003_template'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='gate',
            name='gate_kind_known',
        ),
        migrations.RemoveConstraint(
            model_name='plan',
            name='plan_approval_is_bound',
        ),
        migrations.RemoveConstraint(
            model_name='workitem',
            name='work_status_known',
        ),
        migrations.RemoveConstraint(
            model_name='workitem',
            name='one_open_work_per_run_and_kind',
        ),
        migrations.RenameField(
            model_name='plan',
            old_name='binding',
            new_name='approval_fingerprint',
        ),
        migrations.RenameField(
            model_name='plan',
            old_name='weakened',
            new_name='relaxed',
        ),
        migrations.RenameField(
            model_name='workitem',
            old_name='trouble',
            new_name='error',
        ),
        migrations.AlterField(
            model_name='gate',
            name='kind',
            field=models.CharField(choices=[('plan', 'plan'), ('step', 'step'), ('exhausted', 'exhausted'), ('error', 'error'), ('budget', 'budget')], max_length=24),
        ),
        migrations.AlterField(
            model_name='workitem',
            name='status',
            field=models.CharField(choices=[('ready', 'ready'), ('leased', 'leased'), ('suspended', 'suspended'), ('done', 'done'), ('cancelled', 'cancelled')], default='ready', max_length=24),
        ),
        migrations.RunPython(rename_stored_words, migrations.RunPython.noop),
        migrations.AddConstraint(
            model_name='gate',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['plan', 'step', 'exhausted', 'error', 'budget'])), name='gate_kind_known'),
        ),
        migrations.AddConstraint(
            model_name='plan',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('status', 'approved'), _negated=True), models.Q(('approval_fingerprint__isnull', False), ('approved_by__isnull', False), models.Q(('approved_how', ''), _negated=True)), _connector='OR'), name='plan_approval_is_bound'),
        ),
        migrations.AddConstraint(
            model_name='workitem',
            constraint=models.CheckConstraint(condition=models.Q(('status__in', ['ready', 'leased', 'suspended', 'done', 'cancelled'])), name='work_status_known'),
        ),
        migrations.AddConstraint(
            model_name='workitem',
            constraint=models.UniqueConstraint(condition=models.Q(('attempt__isnull', True), ('status__in', ['ready', 'leased', 'suspended'])), fields=('run', 'kind'), name='one_open_work_per_run_and_kind'),
        ),
    ]
