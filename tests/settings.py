"""The settings of the tests: the product's, on a data folder of their own, with nobody's key."""

import os
import sys
import tempfile
from pathlib import Path

os.environ["PEV_DATA_DIR"] = tempfile.mkdtemp(prefix="pevsite-tests-")
for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "PEV_HOSTS"):
    os.environ.pop(name, None)
os.environ["PEV_REHEARSAL_DELAY"] = "0"
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # the tests start many processes

from pevsite.settings import *
from tests import databases

if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    DATABASES["default"]["TEST"] = {"NAME": str(DATA_DIR / "tests.sqlite3")}  # a file: threads share it
    DATABASES["default"]["CONN_MAX_AGE"] = 0  # threads end with their test, and would leave connections open
else:
    DATABASES["default"]["TEST"] = {"NAME": databases.RUN, "TEMPLATE": "template0"}
INSTALLED_APPS = [*INSTALLED_APPS, "tests.append_only"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
COMMAND_FOLDERS = (Path(sys.base_prefix),)  # tests run their Python as a command, wherever it lies
