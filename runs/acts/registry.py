"""The known shapes of calls. Adding one means adding a module with a `SHAPE` and naming it here."""

from runs.acts import calendar_event, chat_message, email, file_change, http_request, payment, ticket
from runs.acts.shape import Shape

SHAPES: tuple[Shape, ...] = (
    email.SHAPE,
    calendar_event.SHAPE,
    ticket.SHAPE,
    payment.SHAPE,
    http_request.SHAPE,
    file_change.SHAPE,
    chat_message.SHAPE,
)
"""Where arguments fit two of them equally well, the earlier one is taken."""
