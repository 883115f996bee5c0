"""Notices to people: the outbox, what was sent by which channel, and what each person has chosen."""

from __future__ import annotations

from datetime import time

from django.conf import settings
from django.db import models
from django.db.models import Q

from runs.enums import DeliveryStatus, Digest, NoticeChannel, NoticeKind
from runs.models.fields import Column, ContractField, only, word_field
from runs.models.gates import Gate
from runs.models.runs import Run


class Notice(models.Model):
    """Something that one person is told about, written with what it tells of. The engine plans its deliveries."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="notices")
    kind = word_field(NoticeKind)
    run = models.ForeignKey(Run, models.CASCADE, null=True, blank=True, related_name="notices")
    gate = models.ForeignKey(Gate, models.CASCADE, null=True, blank=True, related_name="notices")
    # Equal for the same notice, which is written once.
    key = models.CharField(max_length=120)
    # What happened, for notices that are not about a run.
    about = models.CharField(max_length=200, default="", blank=True)
    # The address it is mailed to, if that is not the confirmed one that comes first.
    address = models.EmailField(max_length=254, default="", db_default="", blank=True)
    # The end of the time for a decision.
    due_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)
    # When its deliveries were written.
    planned_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["id"], condition=Q(planned_at__isnull=True), name="notice_unplanned")]
        constraints = [
            only("kind", NoticeKind, "notice_kind_known"),
            models.UniqueConstraint(fields=["user", "key"], name="one_notice_per_person_and_key"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} notice {self.pk} to {self.user_id}"


class Delivery(models.Model):
    """A notice on its way by one channel. Those with the same `batch` are sent as one message."""

    notice = models.ForeignKey(Notice, models.CASCADE, related_name="deliveries")
    channel = word_field(NoticeChannel)
    status = word_field(DeliveryStatus, default=DeliveryStatus.WAITING.value)
    due_at = models.DateTimeField()
    # Attempts to send it.
    tries = models.PositiveSmallIntegerField(default=0)
    # The id of the first delivery of the message; the message keeps it in all attempts.
    batch = models.BigIntegerField(null=True, blank=True)
    # The process that sends it now, until when it may.
    lease_owner = models.CharField(max_length=80, default="", blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    # Why it could not be sent, in the words of the server.
    problem = models.CharField(max_length=500, default="", blank=True)
    # When it was sent, skipped or given up.
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        verbose_name_plural = "deliveries"
        indexes = [models.Index(fields=["status", "due_at"], name="delivery_waiting")]
        constraints = [
            # Nothing is delivered to the browser: its pages ask.
            models.CheckConstraint(
                condition=Q(channel__in=["email", "chat", "webhook"]), name="delivery_channel_known"
            ),
            only("status", DeliveryStatus, "delivery_status_known"),
            models.CheckConstraint(
                condition=Q(status=DeliveryStatus.WAITING.value, ended_at__isnull=True)
                | (~Q(status=DeliveryStatus.WAITING.value) & Q(ended_at__isnull=False)),
                name="delivery_ended_exactly_when_not_waiting",
            ),
            models.UniqueConstraint(fields=["notice", "channel"], name="one_delivery_per_channel"),
        ]

    def __str__(self) -> str:
        return f"{self.channel} delivery {self.pk} of notice {self.notice_id}"


class NoticeSettings(models.Model):
    """Which notices a person gets, how and when. A person without a row has the defaults."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, models.CASCADE, related_name="notice_settings")
    # The channels of each kind; a kind that is missing has its defaults.
    channels: Column[dict[NoticeKind, tuple[NoticeChannel, ...]]] = ContractField(
        dict[NoticeKind, tuple[NoticeChannel, ...]], default=dict, blank=True
    )
    digest = word_field(Digest, default=Digest.AT_ONCE.value)
    # When the notices of a day are sent, in the zone of the person.
    daily_at = models.TimeField(default=time(8))
    # Nothing is sent between these times of the day. Both or neither.
    quiet_from = models.TimeField(null=True, blank=True)
    quiet_until = models.TimeField(null=True, blank=True)
    # Secrets: who knows them can write to the chat of the person.
    chat_address = models.TextField(default="", blank=True)
    webhook_address = models.TextField(default="", blank=True)
    webhook_secret = models.CharField(max_length=120, default="", blank=True)

    class Meta:
        verbose_name_plural = "notice settings"
        constraints = [
            only("digest", Digest, "notice_digest_known"),
            models.CheckConstraint(
                condition=Q(quiet_from__isnull=True, quiet_until__isnull=True)
                | Q(quiet_from__isnull=False, quiet_until__isnull=False),
                name="quiet_hours_are_whole",
            ),
        ]

    def __str__(self) -> str:
        return f"notice settings of {self.user_id}"
