"""The rooms of the package, proved by reading the imports and the calls: who may import whom, read, write, or look at the clock."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterator

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOMS = ("base", "sources", "analysis", "settings", "repair", "output", "api", "cli")
"""From the bottom up. A module imports from its own room and from those before it. `base` are the modules directly under doctor/."""
FACADES = ("doctor", "doctor.__main__")
"""The package itself hands out the functions of doctor.api, and imports them on first use only."""
COPIES = "doctor.sources.copies"
"""Copies databases into a private folder before they are looked at; it writes nothing of the user's."""
WRITERS = ("doctor.repair.storage", COPIES)
READERS = ("doctor.sources", *WRITERS)
CACHE = ("doctor.api.caching",)
"""Keeps a store of its own, in a folder that is no session's: it makes that folder and that one file, and removes the file when damaged."""
CACHE_CALLS = {"makedirs", "open", "unlink"}
REPORT_WRITERS = ("doctor.cli.files",)
"""Writes the files that reports were asked for in, and nameless ones that they wait in. Nobody may let it near a user's session."""
SURROUNDINGS = ("doctor.cli", "doctor.api")
"""The outer surfaces, for people and for programs: they alone read the environment and the clock, and pass both down."""

WRITING_CALLS = {
    "os": {"replace", "rename", "renames", "unlink", "remove", "rmdir", "removedirs", "mkdir", "makedirs", "link", "symlink", "truncate",
           "ftruncate", "write", "pwrite", "chmod", "fchmod", "chown", "fchown", "utime", "mkfifo"},
    "shutil": None,
    "tempfile": None,
}  # fmt: skip
"""By module; None means every function of it."""
WRITING_METHODS = {"write_text", "write_bytes", "unlink", "symlink_to", "hardlink_to"}
READING_METHODS = {"read_text", "read_bytes"}
SURROUNDING_NAMES = {
    ("os", "environ"), ("os", "getenv"), ("os", "environb"), ("time", "time"), ("time", "time_ns"), ("time", "localtime"),
    ("time", "gmtime"), ("datetime", "now"), ("datetime", "utcnow"), ("datetime", "today"), ("date", "today"),
}  # fmt: skip


def list_modules(folder: str, package: str) -> Iterator[tuple[str, str]]:
    """(dotted name, path) of every Python file under a folder."""
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__"]
        for file in files:
            if file.endswith(".py"):
                path = os.path.join(place, file)
                parts = os.path.relpath(path, folder)[:-3].split(os.sep)
                yield ".".join([package, *parts]).removesuffix(".__init__"), path


def parse_tree() -> dict[str, ast.Module]:
    """All modules as they are imported, with their syntax trees; the rules under the name that they are installed by."""
    modules = {}
    for folder, package in (("doctor", "doctor"), ("rules", "doctor.rules")):
        for name, path in list_modules(os.path.join(ROOT, folder), package):
            with open(path, encoding="utf-8") as file:
                modules[name] = ast.parse(file.read(), path)
    return modules


MODULES = parse_tree()


def list_imports(name: str) -> Iterator[tuple[str, int]]:
    """(imported module, line number) of all imports of a module, those inside functions too."""
    for node in ast.walk(MODULES[name]):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}:{node.lineno}: relative import"
            base = node.module or ""
            for alias in node.names:
                full = f"{base}.{alias.name}"
                yield (full if full in MODULES else base), node.lineno


def find_room(name: str) -> str:
    parts = name.split(".")
    if len(parts) > 1 and parts[1] in ROOMS:
        return parts[1]
    return "base"


def is_rule(name: str) -> bool:
    return name.startswith("doctor.rules.")


def in_part(name: str, parts: tuple[str, ...]) -> bool:
    return any(name == part or name.startswith(part + ".") for part in parts)


def find_calls(name: str) -> Iterator[tuple[str, str, ast.Call]]:
    """(module or "", function, call) of all calls by a plain or a once dotted name."""
    for node in ast.walk(MODULES[name]):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name):
                yield "", node.func.id, node
            elif isinstance(node.func, ast.Attribute):
                owner = node.func.value
                yield owner.id if isinstance(owner, ast.Name) else "?", node.func.attr, node


def find_mode(call: ast.Call, place: int) -> str:
    """The mode of an open() call; "?" when it is not written out."""
    given = call.args[place] if len(call.args) > place else next((word.value for word in call.keywords if word.arg == "mode"), None)
    if given is None:
        return "r"
    return given.value if isinstance(given, ast.Constant) and isinstance(given.value, str) else "?"


def find_file_calls(name: str) -> Iterator[tuple[str, int]]:
    """("read" or "write", line number) of every call that opens, changes or removes a file."""
    for owner, function, call in find_calls(name):
        if (owner, function) in (("", "open"), ("io", "open"), ("gzip", "open")):
            yield ("write" if set(find_mode(call, 1)) & set("wax+?") else "read"), call.lineno
        elif (owner, function) == ("os", "open") and "devnull" not in ast.dump(call.args[0]):
            flags = ast.dump(call.args[1]) if len(call.args) > 1 else ""
            writes = any(flag in flags for flag in ("O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND"))
            yield ("write" if writes else "read"), call.lineno
        elif function in WRITING_METHODS or (owner in WRITING_CALLS and function in (WRITING_CALLS[owner] or {function})):
            yield "write", call.lineno
        elif function in READING_METHODS and not uses_package_data(call):
            yield "read", call.lineno


def uses_package_data(call: ast.Call) -> bool:
    """A file of the package itself, found by importlib.resources: `files("doctor.rules").joinpath(…).read_text()`."""
    return any(isinstance(node, ast.Name) and node.id == "files" for node in ast.walk(call))


def test_modules_are_found() -> None:
    assert {"doctor.model", "doctor.rulekit", "doctor.sources.lines", "doctor.rules"} <= set(MODULES)


@pytest.mark.parametrize("name", [name for name in MODULES if not is_rule(name) and name not in FACADES])
def test_imports_point_downwards(name: str) -> None:
    rank = ROOMS.index(find_room(name))
    upwards = [
        f"line {line}: {imported}"
        for imported, line in list_imports(name)
        if imported in MODULES and imported != "doctor" and ROOMS.index(find_room(imported)) > rank
    ]
    assert not upwards, f"{name} ({find_room(name)}) imports from a room above its own: {upwards}"


def test_no_import_goes_in_circles() -> None:
    links = {name: {imported for imported, _ in list_imports(name) if imported in MODULES and imported not in FACADES} for name in MODULES}
    links = {name: imported - {name} for name, imported in links.items()}
    before = -1
    while len(links) != before:
        before = len(links)
        needed = set().union(*links.values())
        # A module that waits for nobody, or that nobody waits for, is part of no circle.
        links = {name: imported & set(links) for name, imported in links.items() if imported & set(links) and name in needed}
    assert not links, f"these modules import one another in a circle: {sorted(links)}"


@pytest.mark.parametrize("name", [name for name in MODULES if is_rule(name)])
def test_rules_import_only_the_kit(name: str) -> None:
    foreign = [
        f"line {line}: {imported}"
        for imported, line in list_imports(name)
        if imported != "doctor.rulekit" and imported.partition(".")[0] not in sys.stdlib_module_names
    ]
    assert not foreign, f"{name} imports more than doctor.rulekit and the standard library: {foreign}"


@pytest.mark.parametrize("name", list(MODULES))
def test_nobody_imports_a_rule_by_name(name: str) -> None:
    named = [
        f"line {line}: {imported}" for imported, line in list_imports(name) if is_rule(imported) or imported.partition(".")[0] == "rules"
    ]
    assert not named, f"{name}: {named}"


@pytest.mark.parametrize("name", list(MODULES))
def test_only_storage_writes_files(name: str) -> None:
    lines = [line for kind, line in find_file_calls(name) if kind == "write"]
    if in_part(name, CACHE):
        called = {function for owner, function, _ in find_calls(name) if owner == "os" and function in WRITING_CALLS["os"] | {"open"}}
        assert called <= CACHE_CALLS
        return
    assert in_part(name, WRITERS + REPORT_WRITERS) or not lines, f"{name} writes files in lines {lines}"


def test_who_writes_reports_knows_no_sessions() -> None:
    """What writes without backup and lock can't be handed a transcript by anything but a path that the user named."""
    for name in REPORT_WRITERS:
        known = [imported for imported, _ in list_imports(name) if imported in MODULES]
        assert known == ["doctor.errors"], f"{name} imports {known}"
    users = [name for name in MODULES if any(imported in REPORT_WRITERS for imported, _ in list_imports(name))]
    assert users == ["doctor.cli.streams"]


@pytest.mark.parametrize("name", list(MODULES))
def test_only_sources_read_files(name: str) -> None:
    lines = [line for kind, line in find_file_calls(name) if kind == "read"]
    assert in_part(name, READERS) or not lines, f"{name} reads files in lines {lines}"


@pytest.mark.parametrize("name", list(MODULES))
def test_only_the_command_line_looks_around(name: str) -> None:
    found = [
        f"line {node.lineno}: {node.value.id}.{node.attr}"
        for node in ast.walk(MODULES[name])
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and (node.value.id, node.attr) in SURROUNDING_NAMES
    ]
    found += [
        f"line {node.lineno}: from {node.module} import {alias.name}"
        for node in ast.walk(MODULES[name])
        if isinstance(node, ast.ImportFrom) and node.module in ("os", "time")
        for alias in node.names
        if (node.module, alias.name) in SURROUNDING_NAMES
    ]
    assert in_part(name, SURROUNDINGS) or not found, f"{name} reads the environment or the clock: {found}"


@pytest.mark.parametrize(
    ("source", "kinds"),
    [
        ("open(path)", ["read"]),
        ("open(path, 'wb')", ["write"]),
        ("open(path, mode='a')", ["write"]),
        ("open(path, mode)", ["write"]),
        ("os.open(path, os.O_RDONLY)", ["read"]),
        ("os.open(path, os.O_WRONLY | os.O_CREAT)", ["write"]),
        ("os.replace(a, b)\nshutil.copy2(a, b)", ["write", "write"]),
        ("Path(a).write_text(b)", ["write"]),
        ("source.open()\ntext.replace(a, b)\nfiles('doctor.rules').joinpath(a).read_text()", []),
    ],
)
def test_the_search_for_file_calls_finds_them(source: str, kinds: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MODULES, "sample", ast.parse(source))
    assert [kind for kind, _ in find_file_calls("sample")] == kinds
