"""A file that is written outside the run: a path and its content."""

from runs.acts.shape import TEXT, Field, Shape, Wording, names

SHAPE = Shape(
    "file_change",
    (
        Field("Path", names("path filepath file filename destination destinationpath targetpath objectkey"), TEXT),
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
)
