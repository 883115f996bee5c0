"""The table of what questions to servers have shown: which parameters each honours for which model."""

from __future__ import annotations

from django.db import models

from runs.llm.capabilities import Probed
from runs.models.fields import Column, ContractField


class Probe(models.Model):
    """The newest finding for one model on one server. `address` has neither user nor password (S5)."""

    address = models.CharField(max_length=500)
    model = models.CharField(max_length=200)
    asked_at = models.DateTimeField(auto_now=True)
    found: Column[Probed] = ContractField(Probed)

    class Meta:
        constraints = [models.UniqueConstraint("address", "model", name="one_probe_per_server_and_model")]

    def __str__(self) -> str:
        return f"{self.model} at {self.address}"
