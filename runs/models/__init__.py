"""The tables, one module per subject."""

from runs.models.agents import Agent
from runs.models.calls import ModelCall, ToolCall
from runs.models.documents import Rendition
from runs.models.drafts import Draft, DraftFile
from runs.models.gates import Gate
from runs.models.installation import DeletedRun, Discarded, Process
from runs.models.people import AccessToken, Link, User
from runs.models.plans import Attempt, Plan, Step, Verdict
from runs.models.probes import Probe
from runs.models.runs import Event, Run
from runs.models.servers import ServerListing
from runs.models.templates import Template
from runs.models.trees import Tree
from runs.models.work import LeaderLock, WorkItem

__all__ = [
    "AccessToken",
    "Agent",
    "Attempt",
    "DeletedRun",
    "Discarded",
    "Draft",
    "DraftFile",
    "Event",
    "Gate",
    "LeaderLock",
    "Link",
    "ModelCall",
    "Plan",
    "Probe",
    "Process",
    "Rendition",
    "Run",
    "ServerListing",
    "Step",
    "Template",
    "ToolCall",
    "Tree",
    "User",
    "Verdict",
    "WorkItem",
]
