"""How many files, and how many bytes, the input of a run may have."""

from collections.abc import Sequence

from django.conf import settings

from runs.errors import UploadRefused


def check_limits(sizes: Sequence[tuple[str, int]]) -> None:
    """Raises UploadRefused when there are too many files, or too many bytes in one or in all."""
    if len(sizes) > settings.UPLOAD_FILES:
        raise UploadRefused(f"{len(sizes):,} files are more than the {settings.UPLOAD_FILES:,} that a run may have.")
    for path, size in sizes:
        if size > settings.FILE_BYTES:
            raise UploadRefused(f"“{path}” has {in_mb(size)}; one file may have {in_mb(settings.FILE_BYTES)}.")
    total = sum(size for _, size in sizes)
    if total > settings.UPLOAD_BYTES:
        raise UploadRefused(f"The files have {in_mb(total)} together; {in_mb(settings.UPLOAD_BYTES)} are allowed.")


def in_mb(size: int) -> str:
    return f"{size / 1_000_000:,.1f} MB"
