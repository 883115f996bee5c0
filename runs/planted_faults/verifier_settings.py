"""How a verifier is asked in a trial. The tables import this module, so it imports no tools and no clients."""

from runs.contracts.base import Contract

MIN_BYTES = 100
"""The least length of a document in runs, unless a person changes it."""


class VerifierSettings(Contract):
    """How a verifier is asked, and what the policy demands of its verdicts."""

    model: str = "a verifier"
    effort: str = "low"
    min_confidence: float = 0.0
    min_document_bytes: int = MIN_BYTES
    simple: bool = False


AS_USUAL = VerifierSettings()
"""What runs ask for unless a person changes it."""
