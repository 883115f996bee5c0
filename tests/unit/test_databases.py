"""Which database an installation has: by its address, with a sentence for one that cannot be used."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from pevsite.databases import database, engine, files, messages

ADDRESS = "postgres://alice:secret@db.example:5433/pev"


def test_without_an_address_it_is_sqlite_in_the_data_folder(tmp_path: Path) -> None:
    found = database(tmp_path, "", workers=16)
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


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("mysql://alice:secret@db/pev", "PEV_DATABASE_URL is no address of PostgreSQL"),
        ("pev", "PEV_DATABASE_URL is no address of PostgreSQL"),
        ("postgres://alice:secret@db:port/pev", "PEV_DATABASE_URL cannot be read"),
    ],
)
def test_an_address_that_cannot_be_used_is_a_sentence_without_it(tmp_path: Path, address: str, sentence: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=sentence) as refused:
        database(tmp_path, address, workers=4)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("missing", ["dj_database_url", "psycopg_pool"])
def test_a_driver_that_is_not_installed_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ImproperlyConfigured, match="run uv sync --extra scale"):
        database(tmp_path, ADDRESS, workers=4)


def test_messages_stay_in_the_process_without_redis() -> None:
    assert messages("") == {"BACKEND": "channels.layers.InMemoryChannelLayer"}


def test_messages_go_through_redis_by_its_address() -> None:
    assert messages("rediss://:secret@cache.example:6380/1") == {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {"hosts": ["rediss://:secret@cache.example:6380/1"]},
    }


def test_another_address_or_a_missing_driver_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ImproperlyConfigured, match="PEV_REDIS_URL is no address of Redis") as refused:
        messages("http://:secret@cache.example")
    assert "secret" not in str(refused.value)
    monkeypatch.setitem(sys.modules, "channels_redis", None)
    with pytest.raises(ImproperlyConfigured, match="PEV_REDIS_URL names Redis, and its driver is not installed"):
        messages("redis://cache.example")


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


@pytest.mark.parametrize(
    "address", ["s3:/bucket", "s3://", "s3://Bucket", "s3://a", "/folder", "https://bucket.example", "s3://pev/../x"]
)
def test_an_address_that_is_no_bucket_is_a_sentence(tmp_path: Path, address: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="PEV_BLOBS is no address of a bucket"):
        files(tmp_path, address)


@pytest.mark.parametrize("missing", ["boto3", "storages"])
def test_a_bucket_without_what_reaches_it_is_a_sentence(
    tmp_path: Path, missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pevsite.databases.find_spec", lambda name: None if name == missing else object())
    with pytest.raises(ImproperlyConfigured, match="PEV_BLOBS names a bucket, and what reaches it is not installed"):
        files(tmp_path, "s3://bucket")


REDIS = "redis://cache.example"


def test_the_engine_is_the_embedded_one_unless_another_is_named() -> None:
    assert [engine("", "", ""), engine("embedded", ADDRESS, REDIS)] == ["embedded", "embedded"]
    assert engine("celery", ADDRESS, REDIS) == "celery"


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (("celerey", ADDRESS, REDIS), "PEV_ENGINE is “celerey”, which is no engine"),
        (("celery", "", REDIS), "needs PostgreSQL"),
        (("celery", ADDRESS, ""), "needs Redis"),
    ],
)
def test_an_engine_that_lacks_something_is_a_sentence(given: tuple[str, str, str], sentence: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=sentence) as refused:
        engine(*given)
    assert "secret" not in str(refused.value)


def test_celery_that_is_not_installed_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pevsite.databases.find_spec", lambda _: None)
    with pytest.raises(ImproperlyConfigured, match="not installed: run uv sync --extra scale"):
        engine("celery", ADDRESS, REDIS)
