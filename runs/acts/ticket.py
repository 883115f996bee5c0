"""A ticket or issue: a title and a description, with labels, an assignee or the like."""

from runs.acts.shape import DETAILS, PEOPLE, TEXT, Field, Shape, Wording, names

_MARKERS = {
    "Project": "project projectid projectkey projectname team teamid queue board boardid",
    "Type": "issuetype tickettype",
    "Priority": "priority severity urgency impact",
    "Labels": "label labels labelids",
    "Assigned to": "assignee assignees assigneeid assigneeids assignedto",
    "Milestone": "milestone sprint epic",
}
SHAPE = Shape(
    "ticket",
    (
        Field("Title", names("title summary subject headline"), TEXT, is_decisive=True),
        *(Field(label, names(words), PEOPLE | {"integer"}) for label, words in _MARKERS.items()),
        Field("Due", names("due duedate deadline"), TEXT, is_moment=True),
        Field("Attachments", names("attachment attachments files"), DETAILS, has_files=True),
        Field("Description", names("description body details text content"), TEXT),
    ),
    (frozenset({"Title"}), frozenset({"Description"})),
    (
        Wording("Submit this ticket?", "Submit", "Don’t submit", "submitting a ticket"),
        Wording(
            "Change this ticket?",
            "Change",
            "Don’t change",
            "changing a ticket",
            names("change edit modify patch set update"),
        ),
        Wording(
            "Create this ticket?", "Create", "Don’t create", "creating a ticket", names("add create file new open")
        ),
    ),
    markers=names(" ".join(_MARKERS.values())),
    # A pull request, which has a title and a description as well.
    unlike=names("head base sourcebranch targetbranch"),
)
