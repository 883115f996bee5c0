"""A file that is written outside the run: a path and its content."""

from collections.abc import Iterator

from runs.acts.shape import TEXT, Field, Remark, Shape, ShapedCall, Wording, names, words_of

_OVERWRITES = names("overwrite overwriteexisting replace replaceexisting force allowoverwrite clobber")
_ONLY_NEW = names("exclusive failifexists createonly onlycreate mustnotexist nooverwrite noclobber")
_MODES = names("mode writemode conflictbehavior ifexists onconflict")
_NEW = names("create createnew new x wx fail error exclusive rename keepboth autorename")
_REPLACING = names("overwrite replace truncate w")
_ADDING = names("append a add")


def _remarks(call: ShapedCall) -> Iterator[Remark]:
    """Whether the file is new or replaces one, as far as the arguments or the name of the tool say."""
    mode = str(call.called(_MODES) or "").strip().lower().replace("_", "").replace("-", "")
    overwrites, verbs = call.called(_OVERWRITES), set(words_of(call.tool))
    if mode in _ADDING or "append" in verbs:
        yield Remark("warn", "Changes a file", "that is there already: the text is added to it")
    elif overwrites is True or mode in _REPLACING:
        yield Remark("warn", "Replaces", "a file of this name, if there is one")
    elif overwrites is False or mode in _NEW or call.called(_ONLY_NEW) is True:
        yield Remark("good", "New file", "nothing is replaced, the call says")
    elif verbs & {"replace", "update"}:
        yield Remark("warn", "Replaces", "the file of this name")
    else:
        yield Remark("warn", "May replace a file of this name", "the call does not say what happens if there is one")


SHAPE = Shape(
    "file_change",
    (
        Field(
            "Path",
            names("path filepath file filename destination destinationpath targetpath objectkey"),
            TEXT,
            is_decisive=True,
        ),
        Field("Encoding", names("encoding charset"), TEXT),
        Field("Media type", names("mimetype mediatype contenttype"), TEXT),
        Field(
            "Content",
            names("content contents data text filetext filecontent filecontents newcontent contentbase64 body"),
            TEXT,
        ),
    ),
    (frozenset({"Path"}), frozenset({"Content"})),
    (
        Wording(
            "Write this file?",
            "Write",
            "Don’t write",
            "writing a file",
            names("create write put replace update upsert"),
        ),
        Wording("Upload this file?", "Upload", "Don’t upload", "uploading a file", frozenset({"upload"})),
        Wording("Add to this file?", "Add", "Don’t add", "adding to a file", frozenset({"append"})),
    ),
    remarks=_remarks,
)
