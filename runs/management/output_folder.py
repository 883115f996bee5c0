"""Writes the files of `run --out`: what the run made, and its report."""

import os
import stat
from io import BytesIO
from pathlib import Path

from runs.errors import InvalidInput, PevError
from runs.local_files.writing import reason_of, write_file
from runs.models import Run
from runs.readmodel.run_files import written_files
from runs.reports.archive import report_name
from runs.reports.outline import Part
from runs.reports.report_format import ReportFormat, ReportInput
from runs.store import blobs


def write_out(
    run: Run, folder: Path, report_format: ReportFormat, part: Part = Part.ALL, *, overwrite: bool = False
) -> list[str]:
    """Write the files that the run made or changed, and its report, each whole or not at all.

    The folder itself may be a link, since a person named it; below it no link is followed. Existing files stay, unless
    `overwrite`. Returns a sentence for each file that was not written or has another name.
    """
    problems = []
    files = written_files(run, run.head)
    top = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for path, info in files.items():
            try:
                with blobs.opened(info.sha256) as blob:
                    write_file(top, path, blob, overwrite=overwrite)
            except (InvalidInput, OSError) as error:
                problems.append(f"“{path}” was not written: {reason_of(error)}.")
        problems += _write_report(ReportInput.of(run, part), top, list(files), report_format, overwrite=overwrite)
    finally:
        os.close(top)
    return problems


def _write_report(
    source: ReportInput, top: int, paths: list[str], report_format: ReportFormat, *, overwrite: bool
) -> list[str]:
    """Write the report under a name that no file of the run and no earlier file has."""
    wanted = f"report.{report_format.suffix}"
    there = os.listdir(top)
    if overwrite and wanted in there and stat.S_ISREG(os.stat(wanted, dir_fd=top, follow_symlinks=False).st_mode):
        there.remove(wanted)  # an earlier report, which is replaced
    name = report_name([*paths, *there], wanted)
    try:
        write_file(top, name, BytesIO(report_format.write(source)), overwrite=overwrite)
    except (PevError, OSError) as error:
        return [f"The report was not written: {reason_of(error)}."]
    return [] if name == wanted else [f"The report is “{name}”: there is another file “{wanted}”."]
