"""Runs that were submitted before some fields of the policy existed go on under the rules they were submitted under.

What was approved under those rules stays approved: where the rest is as it was, digests over a policy are made again.
"""

import hashlib
import json

from django.db import migrations

RULES_BEFORE = {"min_document_bytes": 0, "model_review": "none", "sources_needed": True}
DEFAULTS_BEFORE = {
    "plan_approval": "always",
    "step_approval": "high",
    "attempts": 3,
    "replans": 2,
    "exhausted": "ask",
    "parallel": 3,
    "rounds": 12,
    "max_steps": 40,
    "min_confidence": 0.0,
    "budget": None,
    "time_limit": None,
    "attempt_seconds": 1_800,
    "revisions": 10,
    "reuse": True,
    "without_reuse": [],
    "same_model_verifier": False,
    "second_person": False,
}


def digest_of(value):
    """As `lifecycle.fingerprint.digest_of` when this was written."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def keep_the_rules(apps, schema_editor):
    for run in apps.get_model("runs", "Run").objects.select_related("inputs").defer("final", "answer"):
        before = {**DEFAULTS_BEFORE, **run.policy}
        # the least confidence was asked of executor and verifier alike
        run.policy = {**RULES_BEFORE, "min_verifier_confidence": before["min_confidence"], **before}
        run.save(update_fields=["policy"])
        bind_again(run, before)


def bind_again(run, before):
    for gate in run.gates.filter(kind="budget", status="open", digest=digest_of(before)):
        gate.digest = digest_of(run.policy)
        gate.save(update_fields=["digest"])
    models = before.pop("models")
    was, now = digest_of(before), digest_of({name: run.policy[name] for name in run.policy if name != "models"})
    for plan in run.plans.filter(approval_fingerprint__policy=was):
        plan.approval_fingerprint = {**plan.approval_fingerprint, "policy": now}
        plan.save(update_fields=["approval_fingerprint"])
    for gate in run.gates.filter(kind="plan", status="open").select_related("plan"):
        bind_plan_gate(gate, run, digest_of(models), was, now)


def bind_plan_gate(gate, run, models, was, now):
    """The digest of an open plan gate is over all parts; of those, prompts are code and are read as they are now."""
    from runs.pev import prompts

    rest = {
        "plan": gate.plan.digest,
        "input files": run.inputs.digest,
        "models": models,
        "instructions": prompts.version(),
    }
    if gate.digest == digest_of({**rest, "policy": was}):
        gate.digest = digest_of({**rest, "policy": now})
        gate.save(update_fields=["digest"])


class Migration(migrations.Migration):

    dependencies = [
        ('runs', '0010_shown'),
    ]

    operations = [
        migrations.RunPython(keep_the_rules, migrations.RunPython.noop),
    ]
