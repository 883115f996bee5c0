"""The words of the product: statuses, kinds and verbs, each spelled once."""

from enum import StrEnum


class Role(StrEnum):
    PLANNER = "planner"
    EXECUTOR = "executor"
    VERIFIER = "verifier"
    SYNTHESIZER = "synthesizer"


class Complexity(StrEnum):
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class About(StrEnum):
    """What a criterion is about: the material or the world, or only how the result must look."""

    SOURCES = "sources"
    OUTPUT = "output"


class Provenance(StrEnum):
    """Where the words of a source come from: an input file, a tool that showed what the run did not write, a person,
    or a model of this run. Computed, never asked.
    """

    GIVEN = "given"
    OBSERVED = "observed"
    PERSON = "person"
    MADE = "made"


class Effect(StrEnum):
    """What calls of a tool do, from reading files to actions that cannot be undone."""

    READS_FILES = "reads_files"
    WRITES_FILES = "writes_files"
    ASKS = "asks"
    DELEGATES = "delegates"
    READS_WEB = "reads_web"
    READS_OUTSIDE = "reads_outside"
    RUNS_COMMANDS = "runs_commands"
    RUNS_CODE = "runs_code"
    ACTS = "acts"

    @property
    def words(self) -> str:
        match self:
            case Effect.READS_FILES:
                return "reads the run's files"
            case Effect.WRITES_FILES:
                return "writes files of the run"
            case Effect.ASKS:
                return "asks a person"
            case Effect.DELEGATES:
                return "hands parts to subagents"
            case Effect.READS_WEB:
                return "reads the web"
            case Effect.READS_OUTSIDE:
                return "reads outside"
            case Effect.RUNS_COMMANDS:
                return "runs commands"
            case Effect.RUNS_CODE:
                return "runs code at the model's service"
            case Effect.ACTS:
                return "acts outside"


class Executor(StrEnum):
    """What runs the loop of an attempt: our own over the Messages API, or the program of the Claude Agent SDK."""

    MESSAGES = "messages"
    AGENT_SDK = "agent-sdk"


class CitationStatus(StrEnum):
    """Whether the words of a citation are at its place, elsewhere in the same file (`corrected`), or not in it.

    `copied`: a given file has the same broken citation, and the text quotes it.
    """

    OK = "ok"
    CORRECTED = "corrected"
    BROKEN = "broken"
    COPIED = "copied"


class Action(StrEnum):
    """What a verdict asks for. `cannot`: the step cannot be done, so it must not be tried or planned again."""

    PASS = "pass"
    RETRY = "retry"
    REPLAN = "replan"
    CANNOT = "cannot"


class Severity(StrEnum):
    """How bad the worst failure of a result is. The verifier is told the same meanings."""

    MINOR = "minor"
    MAJOR = "major"
    CRITICAL = "critical"

    @property
    def meaning(self) -> str:
        match self:
            case Severity.MINOR:
                return "the result can be used as it is"
            case Severity.MAJOR:
                return "it must be fixed before anyone relies on it"
            case Severity.CRITICAL:
                return "relying on it would do harm"

    @property
    def words(self) -> str:
        """The same for people (T13); `meaning` is what the verifier is told."""
        match self:
            case Severity.MINOR:
                return "usable as it is"
            case Severity.MAJOR:
                return "not usable yet"
            case Severity.CRITICAL:
                return "not usable: relying on it would do harm"


class RunStatus(StrEnum):
    PLANNING = "planning"
    AWAITING_APPROVAL = "awaiting_approval"
    EXECUTING = "executing"
    FINALISING = "finalising"
    FINISHED = "finished"


class Outcome(StrEnum):
    """Computed from the ledger by `runs.pev.outcome`; no model can raise it."""

    SUCCEEDED = "succeeded"
    PARTIAL = "partial"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def exit_code(self) -> int:
        """That of a command which ends with a run. Scripts can tell partial from failed; 2 means wrong use."""
        match self:
            case Outcome.SUCCEEDED:
                return 0
            case Outcome.PARTIAL:
                return 3
            case Outcome.FAILED | Outcome.CANCELLED:
                return 1


class Missing(StrEnum):
    """What is missing from a result."""

    FAILURE = "failure"
    ENDED = "ended"
    RESULT = "result"
    GROUNDS = "grounds"
    STEP = "step"
    REJECTED = "rejected"
    CRITERION = "criterion"
    JUDGEMENT = "judgement"
    REQUEST = "request"
    CITATION = "citation"
    UNTRACED = "untraced"
    DOUBT = "doubt"
    RELAXED = "relaxed"
    INPUT = "input"
    ANSWER = "answer"


class PlanStatus(StrEnum):
    PROPOSED = "proposed"
    APPROVED = "approved"
    REJECTED = "rejected"
    SUPERSEDED = "superseded"


class StepStatus(StrEnum):
    PENDING = "pending"
    RUNNING = "running"
    JUDGED = "judged"
    WAITING = "waiting"
    PASSED = "passed"
    ACCEPTED = "accepted"
    NOT_APPLICABLE = "not_applicable"
    FAILED = "failed"
    DROPPED = "dropped"


class AttemptStatus(StrEnum):
    EXECUTING = "executing"
    VERIFYING = "verifying"
    PASSED = "passed"
    FAILED = "failed"
    BLOCKED = "blocked"
    REJECTED = "rejected"
    CONFLICT = "conflict"
    CANCELLED = "cancelled"


class GateKind(StrEnum):
    PLAN = "plan"
    START = "start"
    STEP = "step"
    EXHAUSTED = "exhausted"
    ERROR = "error"
    BUDGET = "budget"
    QUESTION = "question"
    TOOL = "tool"


class GateStatus(StrEnum):
    OPEN = "open"
    APPROVED = "approved"
    REJECTED = "rejected"
    ANSWERED = "answered"
    SUPPLIED = "supplied"
    STOPPED = "stopped"
    WITHDRAWN = "withdrawn"


class Verb(StrEnum):
    """What a person can do at a gate. A comment is none of these.

    A question is answered, or `DELEGATE` leaves it to the model that asked. `GIVE_UP` has no button: it ends a run as
    failed at an error, if there is no person to look into it.
    """

    APPROVE = "approve"
    REJECT = "reject"
    ANSWER = "answer"
    DELEGATE = "delegate"
    STOP = "stop"
    GIVE_UP = "give_up"


class WorkKind(StrEnum):
    READ = "read"
    PLAN = "plan"
    ATTEMPT = "attempt"
    FINALISE = "finalise"


class WorkStatus(StrEnum):
    """`suspended`: the work waits for a person, who answers its error gate or raises the limit that it would break."""

    READY = "ready"
    LEASED = "leased"
    SUSPENDED = "suspended"
    DONE = "done"
    CANCELLED = "cancelled"


class EventKind(StrEnum):
    SUBMITTED = "submitted"
    READING = "reading"
    DOCUMENTS_READ = "documents_read"
    PLANNING = "planning"
    PLAN_PROPOSED = "plan_proposed"
    GATE_OPENED = "gate_opened"
    GATE_DECIDED = "gate_decided"
    GATE_WITHDRAWN = "gate_withdrawn"
    GATE_ASSIGNED = "gate_assigned"
    GATE_REMINDED = "gate_reminded"
    GATE_OVERDUE = "gate_overdue"
    PLAN_APPROVED = "plan_approved"
    ATTEMPT_STARTED = "attempt_started"
    ATTEMPT_REUSED = "attempt_reused"
    SESSION_RESUMED = "session_resumed"
    MODEL_CALLED = "model_called"
    TOOL_CALLED = "tool_called"
    VERIFYING = "verifying"
    VERDICT = "verdict"
    CANARY = "canary"
    STEP_PASSED = "step_passed"
    STEP_ACCEPTED = "step_accepted"
    STEP_NOT_APPLICABLE = "step_not_applicable"
    STEP_FAILED = "step_failed"
    STEP_RETRIED = "step_retried"
    REPLANNING = "replanning"
    NOTHING_NEW = "nothing_new"
    WAITING_FOR_MODEL = "waiting_for_model"
    RECOVERED = "recovered"
    PAUSED = "paused"
    RESUMED = "resumed"
    LIMITS_RAISED = "limits_raised"
    VERDICT_OVERRULED = "verdict_overruled"
    APPROVER_ADDED = "approver_added"
    APPROVER_REMOVED = "approver_removed"
    SHARED = "shared"
    FINALISING = "finalising"
    ANSWERED = "answered"
    FINISHED = "finished"
    RENAMED = "renamed"
    REPORT_NAMED = "report_named"
    ARCHIVED = "archived"
    RESTORED = "restored"
    NOTE = "note"


class Show(StrEnum):
    """The lists of runs. Each run is in one of the first three; `all` has all of them."""

    MINE = "mine"
    RUNNING = "running"
    FINISHED = "finished"
    ALL = "all"


class ApprovalPolicy(StrEnum):
    """Which plans wait for a person: `always` all, `never` none, `first` all until one is approved, and after that only
    a plan that asks for less.
    """

    FIRST = "first"
    ALWAYS = "always"
    NEVER = "never"


class AtLimit(StrEnum):
    """What follows when no one has decided within the time limit of a decision. A limit never approves (G4)."""

    WAIT = "wait"
    REJECT = "reject"
    STOP = "stop"


class LimitStage(StrEnum):
    """What comes next of the time limits of a decision."""

    REMIND = "remind"
    ANOTHER = "another"
    END = "end"


class StepApproval(StrEnum):
    NONE = "none"
    HIGH = "high"
    MEDIUM_AND_HIGH = "medium_and_high"
    ALL = "all"


class StepMoment(StrEnum):
    """When the steps of `StepApproval` wait for a person: once they have passed verification, or before they start."""

    AFTER = "after"
    BEFORE = "before"


class Preset(StrEnum):
    """Policies to start from, by how often a person is asked."""

    CAREFUL = "careful"
    BALANCED = "balanced"
    HANDS_OFF = "hands_off"


class ModelReview(StrEnum):
    """Which steps a model reviews even if checks decide all their criteria, by complexity."""

    NONE = "none"
    HIGH = "high"
    MEDIUM_AND_HIGH = "medium_and_high"
    ALL = "all"


class OriginalPages(StrEnum):
    """Which pages of PDF files and pictures models see as images, next to their text. `layout`: those that are mostly
    pictures or tables.
    """

    NEVER = "never"
    LAYOUT = "layout"
    ALWAYS = "always"


class Exhausted(StrEnum):
    ASK = "ask"
    ACCEPT = "accept"
    FAIL = "fail"


class Tour(StrEnum):
    """Whether a person sees the tour: at their first run, at every run since they started it again, or not."""

    FIRST_RUN = "first_run"
    STARTED = "started"
    CLOSED = "closed"


class PersonRole(StrEnum):
    """What a person may do here. Each role is a Django group with permissions (`runs.people.roles`)."""

    VIEWER = "viewer"
    SUBMITTER = "submitter"
    APPROVER = "approver"
    ADMINISTRATOR = "administrator"


class ShareLevel(StrEnum):
    """What those may do with whom a run is shared: look at it, or also decide in it."""

    LOOK = "look"
    DECIDE = "decide"


class TokenScope(StrEnum):
    """What a program with an access token may do, in the name of a person who may do the same."""

    RUNS_READ = "runs:read"
    RUNS_WRITE = "runs:write"
    GATES_READ = "gates:read"
    GATES_DECIDE = "gates:decide"
    ADMIN = "admin"

    @property
    def words(self) -> str:
        match self:
            case TokenScope.RUNS_READ:
                return "Sees runs, and reads their files, reports and events, with the questions that these quote."
            case TokenScope.RUNS_WRITE:
                return "Submits runs and changes them, but decides nothing."
            case TokenScope.GATES_READ:
                return "Sees which decisions are open, whose turn they are, and what they are about."
            case TokenScope.GATES_DECIDE:
                return "Decides in your name, except where a second person or a second factor is needed."
            case TokenScope.ADMIN:
                return "Does what only administrators may do."


class LinkKind(StrEnum):
    """What a link is for: to sign in again, or for the first time."""

    SIGN_IN = "sign_in"
    INVITATION = "invitation"


class NoticeKind(StrEnum):
    """What a person is told about. `runs.notices.kinds` has the words for each."""

    DECISION_NEEDED = "decision_needed"
    DECISION_DUE = "decision_due"
    ASSIGNED = "assigned"
    RUN_ENDED = "run_ended"
    ACCOUNT = "account"
    EMAIL_ADDED = "email_added"
    PASSWORD_RESET = "password_reset"
    TEST = "test"


class NoticeChannel(StrEnum):
    """How a person gets a notice. All but the browser, whose open pages ask for it, are ways out of the site."""

    BROWSER = "browser"
    EMAIL = "email"
    CHAT = "chat"
    WEBHOOK = "webhook"


class DeliveryStatus(StrEnum):
    """`skipped`: there was no reason to send it any more, such as a decision that was made in the meantime."""

    WAITING = "waiting"
    SENT = "sent"
    SKIPPED = "skipped"
    FAILED = "failed"


class Digest(StrEnum):
    """How often a person gets what came up: at once, or together once an hour or once a day."""

    AT_ONCE = "at_once"
    HOURLY = "hourly"
    DAILY = "daily"


class AuditChannel(StrEnum):
    """Through what an action came that the audit trail records. `SYSTEM`: pevsite itself did it."""

    PAGE = "page"
    PROGRAM = "program"
    PROVIDER = "provider"
    TERMINAL = "terminal"
    SYSTEM = "system"

    @property
    def label(self) -> str:
        match self:
            case AuditChannel.PAGE:
                return "a page"
            case AuditChannel.PROGRAM:
                return "a program with an access token"
            case AuditChannel.PROVIDER:
                return "the identity provider"
            case AuditChannel.TERMINAL:
                return "a command"
            case AuditChannel.SYSTEM:
                return "pevsite itself"


class AuditKind(StrEnum):
    """What a line of the audit trail records. The values are its words for people, with underscores."""

    SUBMITTED = "task_submitted"
    DECIDED = "gate_decided"
    ASSIGNED = "gate_assigned"
    PLAN_EDITED = "plan_edited"
    OVERRULED = "verdict_overruled"
    CASE_KEPT = "labelled_case_kept"
    CASE_DELETED = "labelled_case_deleted"
    LIMIT_RAISED = "limit_raised"
    STOPPED = "run_stopped"
    PAUSED = "run_paused"
    RESUMED = "run_resumed"
    SHARED = "run_shared"
    UNSHARED = "share_ended"
    RENAMED = "run_renamed"
    REPORT_NAMED = "names_in_report_changed"
    ARCHIVED = "run_archived"
    UNARCHIVED = "run_unarchived"
    RUN_DELETED = "run_deleted"
    REPORT_EXPORTED = "report_exported"
    FILE_DOWNLOADED = "file_downloaded"
    AUDIT_EXPORTED = "audit_trail_exported"
    TEMPLATE_SAVED = "template_saved"
    TEMPLATE_CHANGED = "template_changed"
    TEMPLATE_DELETED = "template_deleted"
    INVITED = "person_invited"
    LINK_MADE = "sign_in_link_made"
    ROLE_CHANGED = "role_changed"
    GROUP_MADE = "group_made"
    GROUP_DELETED = "group_deleted"
    DEACTIVATED = "person_deactivated"
    ACTIVATED = "person_activated"
    SIGN_IN_RESET = "sign_in_methods_reset"
    SIGNED_IN = "signed_in"
    SIGN_IN_REFUSED = "sign_in_refused"
    REQUEST_REFUSED = "request_refused"
    SIGNED_OUT = "signed_out"
    SIGNED_OUT_EVERYWHERE = "signed_out_everywhere"
    SESSION_ENDED = "session_ended"
    PASSWORD_CHANGED = "password_changed"
    FACTOR_ADDED = "sign_in_method_added"
    FACTOR_REMOVED = "sign_in_method_removed"
    TOKEN_MADE = "access_token_made"
    TOKEN_REVOKED = "access_token_revoked"
    SETTING_CHANGED = "setting_changed"
    OPERATED = "operation_carried_out"
    BACKED_UP = "back_up_made"
    BACKUP_RESTORED = "back_up_restored"

    @property
    def label(self) -> str:
        words = self.value.replace("sign_in", "sign-in").replace("back_up", "back-up")
        return words.replace("_", " ").capitalize()


class Provider(StrEnum):
    """Who answers the model calls of this installation."""

    CLAUDE = "claude"
    COMPATIBLE = "compatible"
    OFFLINE = "offline"


WHOLE_STEPS = frozenset({StepStatus.PASSED, StepStatus.NOT_APPLICABLE})
"""Complete steps: their result was verified, or it was verified that they do not apply."""
SETTLED_STEPS = WHOLE_STEPS | {StepStatus.ACCEPTED}
TERMINAL_STEPS = SETTLED_STEPS | {StepStatus.FAILED, StepStatus.DROPPED}
INSIDE = frozenset({Effect.READS_FILES, Effect.WRITES_FILES, Effect.ASKS})
"""Effects that stay within the run and its people."""
CHANGES_NOTHING = frozenset({Effect.READS_FILES, Effect.ASKS})
"""Effects that change nothing, which a planner may have."""
REQUESTING_GATES = frozenset({GateKind.PLAN, GateKind.START, GateKind.STEP, GateKind.EXHAUSTED, GateKind.ERROR})
"""Gates at which a rejection requests something from the next attempt or the next version of the plan."""
HOLDING_GATES = frozenset({GateKind.ERROR, GateKind.BUDGET, GateKind.QUESTION, GateKind.TOOL})
"""Gates that hold the work itself, so that an attempt stays open although no one works at it."""
OPEN_WORK = frozenset({WorkStatus.READY, WorkStatus.LEASED, WorkStatus.SUSPENDED})
OPEN_ATTEMPTS = frozenset({AttemptStatus.EXECUTING, AttemptStatus.VERIFYING})


class FaultKind(StrEnum):
    """A kind of fault that is planted in the result of a generated job, to measure who notices it."""

    WRONG_FIGURE = "wrong_figure"
    INVENTED_NAME = "invented_name"
    INVENTED_SOURCE = "invented_source"
    WRONG_PLACE = "wrong_place"
    OMITTED_ITEM = "omitted_item"
    UNREAD_INPUT = "unread_input"
    STUB = "stub"
    CONTRADICTION = "contradiction"
    WRONG_ANSWER = "wrong_answer"
    IRRELEVANT_QUOTE = "irrelevant_quote"
    OBEYED_INSTRUCTION = "obeyed_instruction"

    @property
    def words(self) -> str:
        return self.value.replace("_", " ")


class Language(StrEnum):
    """A language in which jobs are generated."""

    ENGLISH = "en"
    GERMAN = "de"
    CHINESE = "zh"

    @property
    def words(self) -> str:
        return self.name.capitalize()


class CaseOutcome(StrEnum):
    """What became of a generated job when a verifier judged it. `MARKED`: passed, with a mark that people see."""

    PASSED = "passed"
    MARKED = "marked"
    REFUSED = "refused"
    NO_VERDICT = "no_verdict"


class CalibrationStatus(StrEnum):
    """A stopped calibration can be resumed."""

    RUNNING = "running"
    STOPPED = "stopped"
    FINISHED = "finished"
