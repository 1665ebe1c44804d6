"""What the sessions of one run share, looked up once: real paths, a folder's names, the client's workspaces, the projects of a store.

Most of what a short session costs beside its parsing is asking the file system again for what it just said.
"""

from __future__ import annotations

import os
from stat import S_ISLNK

SESSIONS = "sessions"
_NOWHERE = frozenset(("", ".", ".."))
SECONDS_PER_LOOK = 0.2
"""How old a look may get: with many processes a new one takes milliseconds, and a short session less than one."""
MOST_FOLDERS = 1_000
"""Real paths remembered at a time: sessions come folder by folder."""
FEW_QUESTIONS = 8
"""For so many sessions of a store it is cheaper to look into each project than to list all of them."""
MOST_SESSIONS = 200_000
"""A store with more of them is not indexed: memory must not follow its size."""


class Surroundings:
    """Handed from one reading to the next. `renew` forgets what may change while a long run goes on, `pass_time` does so now and then."""

    __slots__ = ("_asked", "_looked", "_names", "_real", "_stores", "_workspaces", "_writers")

    def __init__(self) -> None:
        self._looked = float("-inf")
        self._real: dict[str, str] = {}
        self._names: tuple[str, frozenset[str] | None] = ("", None)
        self._workspaces: dict[str, tuple[str, ...]] = {}
        self._asked: dict[str, int] = {}
        self._stores: dict[str, dict[str, tuple[str, ...]] | None] = {}
        self._writers: dict[str, int] | None = None

    def pass_time(self, moment: float) -> None:
        """Told before each session what a clock in seconds says, this looks at everything anew once it has got old."""
        if moment - self._looked > SECONDS_PER_LOOK:
            self.renew()
            self._looked = moment

    def renew(self) -> None:
        """Locks come and go, and so do the files beside a transcript."""
        self._names = ("", None)
        self._workspaces = {}
        self._writers = None
        if len(self._real) > MOST_FOLDERS:
            self._real = {}

    def find_real(self, path: str) -> tuple[str, bool]:
        """os.path.realpath, and whether the path itself (not a folder above it) is a link."""
        folder, name = os.path.split(path)
        above, own = os.path.split(folder)
        if name in _NOWHERE or own in _NOWHERE:
            return os.path.realpath(path), os.path.islink(path)
        real = self._real.get(above)
        if real is None:
            real = self._real[above] = os.path.join(os.path.realpath(above), "")
        real = _resolve(real + own)
        path = real + os.sep + name
        resolved = _resolve(path)
        return resolved, resolved is not path

    def list_names(self, folder: str) -> frozenset[str] | None:
        """What lies in a folder, None where it can't be listed. Transcripts that share a folder share the listing."""
        if self._names[0] != folder or self._names[1] is None:
            try:
                self._names = (folder, frozenset(os.listdir(folder)))
            except OSError:
                self._names = (folder, None)
        return self._names[1]

    def list_workspaces(self, state_home: str) -> tuple[str, ...]:
        """The folders in which the client keeps the locks of a workspace's sessions. Their names are hashes of the workspace."""
        found = self._workspaces.get(state_home)
        if found is None:
            version = os.path.join(state_home, "v1")
            found = self._workspaces[state_home] = tuple(os.path.join(version, name) for name in list_folder(version))
        return found

    def find_writers(self) -> dict[str, int]:
        """As doctor.sources.writers.find_writers: looking at all processes takes milliseconds."""
        if self._writers is None:
            from doctor.sources.writers import find_writers

            self._writers = find_writers()
        return self._writers

    def list_homes(self, store: str, session_id: str) -> tuple[str, ...] | None:
        """The projects of a store that have a folder for a session, sorted. None: nobody counted, look into each project.

        Without it a run over N sessions in P projects looks N times P times for logs that hardly any of them has elsewhere.
        """
        asked = self._asked[store] = self._asked.get(store, 0) + 1
        if asked == FEW_QUESTIONS:
            self._stores[store] = _index_store(store)
        index = self._stores.get(store)
        return index.get(session_id, ()) if index is not None else None


def _index_store(store: str) -> dict[str, tuple[str, ...]] | None:
    index: dict[str, tuple[str, ...]] = {}
    for project in list_folder(store):
        for name in list_folder(os.path.join(store, project, SESSIONS)):
            index[name] = (*index.get(name, ()), project)
        if len(index) > MOST_SESSIONS:
            return None
    return index


def _resolve(path: str) -> str:
    """The real path of something in a real folder."""
    try:
        is_link = S_ISLNK(os.lstat(path).st_mode)
    except OSError:
        return path
    return os.path.realpath(path) if is_link else path


def list_folder(path: str) -> list[str]:
    """What lies in a folder, sorted; nothing where it can't be listed."""
    try:
        return sorted(os.listdir(path))
    except OSError:
        return []
