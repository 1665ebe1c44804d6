from __future__ import annotations

import os

import pytest

from doctor.output.places import ROOT, Place, locate, relate_path

pytestmark = pytest.mark.skipif(os.name == "nt", reason="names as POSIX has them")


@pytest.mark.parametrize(
    ("path", "folder", "shown", "place"),
    [
        ("/srv/a/t.jsonl", "/srv", "a/t.jsonl", Place("a/t.jsonl", ROOT)),
        ("/srv/a/t.jsonl", "/srv/", "a/t.jsonl", Place("a/t.jsonl", ROOT)),
        ("/srv/a/t.jsonl", "/", "srv/a/t.jsonl", Place("srv/a/t.jsonl", ROOT)),
        ("/srvx/t.jsonl", "/srv", "/srvx/t.jsonl", Place("file:///srvx/t.jsonl")),
        ("/srv/../etc/t", "/srv", "/srv/../etc/t", Place("file:///etc/t")),
        ("./a/../b/t", "/srv", "b/t", Place("b/t", ROOT)),
        ("../t", "/srv/a", "../t", Place("file:///srv/t")),
        ("..t/x", "/srv", "..t/x", Place("..t/x", ROOT)),
        ("a b/ä#?:%.jsonl", "/srv", "a b/ä#?:%.jsonl", Place("a%20b/%C3%A4%23%3F%3A%25.jsonl", ROOT)),
        ("a:b/t", "/srv", "a:b/t", Place("a%3Ab/t", ROOT)),
        ("\udcff/t", "/srv", "\udcff/t", Place("%FF/t", ROOT)),
        ("-", "/srv", "-", Place("-", ROOT)),
        ("/srv/t", "", "/srv/t", Place("file:///srv/t")),
    ],
)
def test_places(path: str, folder: str, shown: str, place: Place) -> None:
    assert relate_path(path, folder) == shown
    assert locate(path, folder) == place
