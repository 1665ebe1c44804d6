"""What packed files are called, and what their members are."""

from __future__ import annotations

import os

from doctor.sources.siblings import TRANSCRIPT

ENDINGS = (".gz", ".zst")
"""How a compressed transcript is named, behind the name that it had."""
ARCHIVES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz", ".tar.zst", ".tzst", ".zip")
INSIDE = "!/"
"""`recordings.tar.gz!/a/transcript.jsonl`: how a member of an archive is reported and named."""
COMPRESSED = frozenset(TRANSCRIPT + ending for ending in ENDINGS)


def is_archive(path: str) -> bool:
    """By its name."""
    return path.lower().endswith(ARCHIVES)


def is_compressed(path: str) -> bool:
    """Whether a path names a compressed transcript, by its name."""
    return path.lower().endswith(ENDINGS) and not is_archive(path)


def split_member(path: str) -> tuple[str, str] | None:
    """(archive, name of the member) of a path such as `recordings.zip!/a/transcript.jsonl`; None for any other path."""
    archive, inside, name = path.partition(INSIDE)
    while inside:
        if is_archive(archive) and ("://" in archive or os.path.isfile(archive)):
            return archive, name
        more, inside, name = name.partition(INSIDE)
        archive += INSIDE + more
    return None
