"""The tables, one module per subject."""

from runs.models.audit import AuditEntry, AuditHead
from runs.models.calibrations import Calibration, CalibrationCase, LabelledCase
from runs.models.calls import ModelCall, ToolCall
from runs.models.canaries import Canary
from runs.models.definitions import Agent, Template
from runs.models.files import Draft, DraftFile, Rendition, Tree
from runs.models.gates import Gate, Snooze
from runs.models.installation import DeletedRun, Discarded, LeaderLock, Probe, Process, ServerListing
from runs.models.notices import Delivery, Notice, NoticeSettings
from runs.models.people import AccessToken, IdempotencyKey, Link, User
from runs.models.plans import Attempt, Overruling, Plan, Step, Verdict
from runs.models.runs import Event, Run, Share
from runs.models.work import WorkItem

__all__ = [
    "AccessToken",
    "Agent",
    "Attempt",
    "AuditEntry",
    "AuditHead",
    "Calibration",
    "CalibrationCase",
    "Canary",
    "DeletedRun",
    "Delivery",
    "Discarded",
    "Draft",
    "DraftFile",
    "Event",
    "Gate",
    "IdempotencyKey",
    "LabelledCase",
    "LeaderLock",
    "Link",
    "ModelCall",
    "Notice",
    "NoticeSettings",
    "Overruling",
    "Plan",
    "Probe",
    "Process",
    "Rendition",
    "Run",
    "ServerListing",
    "Share",
    "Snooze",
    "Step",
    "Template",
    "ToolCall",
    "Tree",
    "User",
    "Verdict",
    "WorkItem",
]
