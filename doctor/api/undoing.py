"""`undo`: the transcript as it was before its last fix."""

from __future__ import annotations

import os
from collections.abc import Mapping

from doctor.api.reading import find_store, how_to_read, is_packed
from doctor.errors import DoctorError
from doctor.sources.session import read_session
from doctor.sources.stores import locate_stores
from doctor.sources.walking import find_transcripts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from doctor.repair.storage import Undone


def undo(
    path: str | os.PathLike[str], *, force: bool = False, now: float | None = None, environment: Mapping[str, str] | None = None
) -> Undone:
    """Brings back the transcript as it was before its last fix, and keeps what it replaces.

    Raises DoctorError: there is nothing to undo, somebody is in the session, or the transcript was changed since (`force` insists).
    """
    from doctor.repair.storage import Undone
    from doctor.repair.storage import undo as undo_file
    from doctor.sources.liveness import find_client_locks

    # No default of the signature: its help would print the environment.
    environment = os.environ if environment is None else environment
    found = find_transcripts(os.fspath(path), locate_stores(environment))
    if len(found) > 1:
        raise DoctorError("usage", f"undo takes one transcript, but {os.fspath(path)} holds {len(found)}")
    if is_packed(found[0]):
        raise DoctorError("usage", f"{found[0]} is packed and was never changed: there is nothing to undo")
    how = how_to_read(None, False, now, environment)
    store = find_store(found[0])
    if store is not None:
        from doctor.repair.storage.database import undo_session

        return Undone(*undo_session(*store, how["now"]))
    session = read_session(found[0], thorough=True, **how)
    locks = find_client_locks(session.session_id, how["state_home"])
    return undo_file(found[0], now=how["now"], force=force, client_locks=locks, liveness=session.liveness)
