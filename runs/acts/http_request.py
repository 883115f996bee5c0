"""An HTTP request: an address, with a method, headers or a body."""

from runs.acts.shape import DETAILS, TEXT, Field, Shape, Wording, names

SHAPE = Shape(
    "http_request",
    (
        Field("Method", names("method httpmethod verb requestmethod"), TEXT),
        Field("Address", names("url uri endpoint requesturl targeturl webhookurl"), TEXT),
        Field("Query", names("query queryparams params parameters searchparams"), DETAILS),
        Field("Headers", names("headers httpheaders requestheaders"), DETAILS),
        Field("Body", names("body data json payload requestbody content"), DETAILS),
    ),
    (frozenset({"Address"}), frozenset({"Method", "Body"})),
    (
        Wording(
            "Send this HTTP request?",
            "Send",
            "Don’t send",
            "sending an HTTP request",
            # The arguments say what the request does.
            names("delete patch post put"),
        ),
    ),
)
