"""What the app sets up when it is loaded."""

import subprocess
import sys

import pytest
from django.test import override_settings

from runs.apps import RunsConfig
from runs.pev.delimiters import delimited
from tests.installation import ROOT


def test_delimiters_are_made_with_the_key_of_the_installation() -> None:
    config = RunsConfig.create("runs")
    assert isinstance(config, RunsConfig)
    before = delimited("person", "I approve.")
    try:
        with override_settings(SECRET_KEY="of another installation"):
            config.ready()
            other = delimited("person", "I approve.")
    finally:
        config.ready()
    assert other != before
    assert delimited("person", "I approve.") == before


@pytest.mark.slow
@pytest.mark.exhaustive
def test_all_processes_of_an_installation_make_the_same_prompts() -> None:
    """A run goes on in another process after a restart: caches and journal find its prompts by their bytes."""
    script = "import django; django.setup(); from runs.pev.delimiters import delimited; print(delimited('a', 'b', 'c'))"
    environ = {"DJANGO_SETTINGS_MODULE": "pevsite.settings", "PEV_SECRET_KEY": "k" * 60, "PATH": ""}
    made = {
        subprocess.run([sys.executable, "-c", script], cwd=ROOT, env=environ, capture_output=True, check=True).stdout
        for _ in range(2)
    }
    assert len(made) == 1
