"""Which files are pictures that a browser may show: decided by their first bytes, never by their names."""

HEAD_BYTES = 16
_SIGNATURES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}


def image_type(head: bytes) -> str:
    """The media type of a PNG, JPEG, GIF or WebP file with these first bytes; empty for anything else. SVG does not
    count as a picture: it is a document that can run scripts and load other files.
    """
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for signature, kind in _SIGNATURES.items() if head.startswith(signature)), "")
