"""The process in which the benchmark of documents runs our readers."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench.documents import OURS
from tests.bench.peers import document_readers
from tests.bench.process import environment_of_peer
from tests.documents.samples import documents


@pytest.mark.slow
@pytest.mark.parametrize("name", documents())
def test_our_reader_reads_a_document(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(documents()[name])
    command = [sys.executable, document_readers.__file__, OURS, path.suffix[1:]]
    environment = environment_of_peer() | {"PYTHONPATH": str(Path.cwd())}
    done = subprocess.run(
        command, input=f"{path}\n", capture_output=True, text=True, check=True, env=environment, timeout=60
    )
    answer = json.loads(done.stdout)
    assert (answer.get("error"), len(answer["text"]) > 1_000) == (None, True)
