"""Django's settings for rows, files and messages, by the addresses of an installation."""

from __future__ import annotations

import pickle
import time
from pathlib import Path

import pytest
from redis import ConnectionError as RedisConnectionError

from pevsite import databases
from pevsite.databases import JsonSerializer, SharedRedisCache, caches, database, files, messages

ADDRESS = "postgres://alice:secret@db.example:5433/pev"


def test_without_an_address_it_is_sqlite_in_the_data_folder(tmp_path: Path) -> None:
    found = database(tmp_path, "", workers=16)
    assert found["CONN_MAX_AGE"] is None  # opening it takes longer than most queries
    assert (found["ENGINE"], found["NAME"]) == ("django.db.backends.sqlite3", tmp_path / "pevsite.sqlite3")


@pytest.mark.parametrize("address", [ADDRESS, ADDRESS.replace("postgres", "postgresql", 1)])
def test_an_address_of_postgresql_is_that_database_with_a_pool(tmp_path: Path, address: str) -> None:
    found = database(tmp_path, address, workers=4)
    names = ("ENGINE", "USER", "PASSWORD", "HOST", "PORT", "NAME", "CONN_MAX_AGE")
    assert [found[name] for name in names] == [
        "django.db.backends.postgresql",
        "alice",
        "secret",
        "db.example",
        5433,
        "pev",
        0,
    ]
    assert found["OPTIONS"]["pool"]["max_size"] == 20


def test_what_the_address_asks_for_itself_stays(tmp_path: Path) -> None:
    options = database(tmp_path, f"{ADDRESS}?sslmode=require&connect_timeout=3", workers=4)["OPTIONS"]
    assert (options["sslmode"], str(options["connect_timeout"])) == ("require", "3")


def test_messages_stay_in_the_process_without_redis() -> None:
    assert messages("") == {"BACKEND": "channels.layers.InMemoryChannelLayer"}


def test_messages_go_through_redis_by_its_address() -> None:
    assert messages("rediss://:secret@cache.example:6380/1") == {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {"hosts": ["rediss://:secret@cache.example:6380/1"]},
    }


def test_files_lie_in_the_data_folder_without_a_bucket(tmp_path: Path) -> None:
    assert files(tmp_path, "") == {
        "BACKEND": "runs.store.blobs.BlobStorage",
        "OPTIONS": {"location": tmp_path / "blobs"},
    }


@pytest.mark.parametrize(
    ("address", "bucket", "prefix"),
    [
        ("s3://pev-files", "pev-files", ""),
        ("s3://pev.files/", "pev.files", ""),
        ("s3://pev/a/b_c/", "pev", "a/b_c"),
    ],
)
def test_files_lie_in_a_bucket_by_its_address(tmp_path: Path, address: str, bucket: str, prefix: str) -> None:
    assert files(tmp_path, address) == {
        "BACKEND": "runs.store.s3_storage.BucketStorage",
        "OPTIONS": {"bucket": bucket, "prefix": prefix},
    }


def test_failures_are_counted_in_the_process_or_for_all_processes_in_redis() -> None:
    assert caches("")["default"]["BACKEND"] == "django.core.cache.backends.locmem.LocMemCache"
    shared = caches("redis://cache.example:6379/0")["default"]
    assert (shared["BACKEND"], shared["LOCATION"]) == (
        "pevsite.databases.SharedRedisCache",
        "redis://cache.example:6379/0",
    )


def test_requests_share_their_connections_to_redis() -> None:
    address = "redis://cache.example:6379/0"
    one, other = SharedRedisCache(address, {}), SharedRedisCache(address, {})
    assert one._cache is other._cache
    assert SharedRedisCache("redis://other.example:6379/0", {})._cache is not one._cache


def test_while_redis_is_away_each_process_counts_by_itself(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    asked = []

    class Client:
        is_away = True

        def incr(self, key: str, delta: int) -> int:
            asked.append(key)
            if self.is_away:
                raise RedisConnectionError("refused")
            return 40 + delta

    client, now = Client(), 100.0
    monkeypatch.setattr(databases, "_client", lambda address: client)
    monkeypatch.setattr(databases, "_away_until", {})
    monkeypatch.setattr(time, "monotonic", lambda: now)
    counts = SharedRedisCache("redis://cache.example:6379/0", {})
    with pytest.raises(ValueError, match="wrong"):
        counts.incr("wrong")
    assert counts.add("wrong", 1, timeout=60)
    assert (counts.incr("wrong"), len(asked)) == (2, 1), "it is not asked again at once"
    client.is_away, now = False, 102.0
    assert (counts.incr("wrong"), len(asked)) == (41, 2)
    assert [record.getMessage() for record in caplog.records] == [
        "Redis does not answer; each process counts by itself: refused",
        "Redis answers again",
    ]


@pytest.mark.parametrize("value", [7, True, "y", [1.5, 2.25], None])
def test_the_shared_cache_keeps_values_as_json_and_counts_as_they_are(value: object) -> None:
    stored = JsonSerializer().dumps(value)
    assert JsonSerializer().loads(stored if isinstance(stored, bytes) else str(stored).encode()) == value
    assert (value == 7) == (stored == 7)


def test_what_was_pickled_is_not_read_from_the_shared_cache() -> None:
    with pytest.raises(UnicodeDecodeError):
        JsonSerializer().loads(pickle.dumps({"a": 1}))
