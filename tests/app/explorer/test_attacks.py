"""What an attacker may send to the explorer, or put into its folder, and what must happen: one row for each."""

import json
import os
import re
import shutil
import stat
import zipfile

import numpy as np
import pandas as pd
import pytest

from app.explorer.served import Served, get, knock
from evidentia.app.explorer import Exploration, Settings, script
from evidentia.app.explorer.folder import CURE
from evidentia.app.explorer.segments import ImageExploration, ImageSettings, Stroke

PAGE = "{prefix}/explore"
NOWHERE = [  # paths that are not those of the page
    "/", "/explore", "/favicon.ico", "/static/js/bokeh.min.js", "/explore/ws", "/explore/autoload.js", "/metadata",
    "/components/this/x/y/z", "{prefix}", "{prefix}/components/this/x/y/z", "/explore{prefix}", "/?token={prefix}",
    "/explore?bokeh-token={prefix}", "/index.html", "/../{prefix}/explore", "//{prefix}/explore", "{prefix}x/explore",
    "/liveness", "/_admin", "{swapped}/explore", "http://127.0.0.1{prefix}/explore", "/%2e%2e{prefix}/explore",
    "\\{bare}\\explore", "/{bare}%2fexplore", "/{bare}%00/explore",
    "{prefix}/static/../../../../../../../etc/passwd", "{prefix}/static/%2e%2e/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
    "{prefix}/static/..%2f..%2f..%2f..%2f..%2f..%2fetc%2fpasswd", "{prefix}/static//etc/passwd",
    "{prefix}/static/%2fetc%2fpasswd", "{prefix}/static/js/../../server/server.py", "{prefix}/etc/passwd",
    "{prefix}/static/extensions/panel/../../../../../../etc/passwd", "{prefix}/explore/../../etc/passwd",
    "{prefix}/static/extensions/panel/%2e%2e/%2e%2e/config.py", "{prefix}/static/js/%00/etc/passwd",
    "{prefix}/static/extensions/this/x.js", "{prefix}/static/extensions/os/x.js", "{prefix}/static/", "{prefix}/panel",
]  # fmt: skip
HOSTS = [
    "evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:80", "[::1]:{port}", "", "0.0.0.0:{port}", None,
    "127.0.0.1:{port}.evil.example", "localhost.evil.example:{port}", "127.0.0.1.nip.io:{port}",
    "127.0.0.1:{port}@evil.example",
]  # fmt: skip
ORIGINS = [
    "http://evil.example", "http://evil.example:{port}", "http://127.0.0.1:8000", "http://127.0.0.1", "null", "",
    "https://127.0.0.1:{port}", "ws://127.0.0.1:{port}", "file://", "127.0.0.1:{port}", "http://localhost:{port}",
    "http://127.0.0.1:{port}.evil.example", "http://127.0.0.1:{port} http://evil.example",
    "http://127.0.0.1:{port}/evil",
]  # fmt: skip


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    table = tmp_path_factory.mktemp("served") / "table.csv"
    table.write_text("name,u,v\n" + "".join(f"n{k},{k % 3},{(k * 7) % 11}\n" for k in range(24)))
    with Served(table, "--id", "name", "--method", "ecm", "--clusters", "2", "--port", 6106) as found:
        yield found


def fill(words, served):
    places = {"prefix": served.prefix, "bare": served.prefix[1:], "swapped": served.prefix.swapcase()}
    return None if words is None else words.format(port=served.port, **places)


def token(served):
    """That of a session, which only who has seen the page can know."""
    return re.search(rb'"token":\s*"([^"]+)"', get(served, fill(PAGE, served))[1])[1].decode()


@pytest.mark.parametrize("path", NOWHERE)
def test_a_path_that_is_not_the_pages_is_not_found(served, path):
    answer, body = get(served, fill(path, served))
    assert answer.status >= 400
    assert served.prefix.encode() not in body
    assert b"root:" not in body
    assert "Location" not in answer.headers
    assert "Zen of Python" not in served.log.read_text()  # what importing ``this`` prints


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "HEAD", "PATCH", "CONNECT"])
def test_no_other_verb_does_anything(served, method):
    assert get(served, "/explore", method=method)[0].status in (404, 405)
    assert get(served, fill(PAGE, served), method=method)[0].status in (404, 405)


@pytest.mark.parametrize("host", HOSTS)
def test_a_host_that_is_not_served_gets_nothing_even_with_the_token(served, host):
    sent, origin = {"Host": fill(host, served)}, {"Origin": f"http://127.0.0.1:{served.port}"}
    for path in (PAGE, f"{PAGE}/autoload.js?bokeh-autoload-element=1", "{prefix}/static/js/bokeh.min.js"):
        assert get(served, fill(path, served), sent)[0].status in (400, 404)
    assert knock(served, fill(f"{PAGE}/ws", served), {**sent, **origin}, token(served)) in (400, 404)


@pytest.mark.parametrize("origin", [*ORIGINS, None])
def test_a_websocket_of_another_page_is_refused_even_with_the_token_of_a_session(served, origin):
    sent = {"Origin": fill(origin, served)}
    assert knock(served, fill(f"{PAGE}/ws", served), sent, token(served)) == 403
    if origin is not None:
        assert get(served, fill(PAGE, served), sent)[0].status == 403


def test_the_page_itself_gets_a_websocket(served):
    """Without this the tests above would pass for a server that refuses all."""
    own = {"Origin": f"http://127.0.0.1:{served.port}"}
    assert knock(served, fill(f"{PAGE}/ws", served), own, token(served)) == 101
    assert knock(served, "/explore/ws", own, token(served)) == 404


def test_the_page_forbids_what_it_does_not_need(served):
    headers = get(served, fill(PAGE, served))[0].headers
    policy = dict(part.strip().partition(" ")[::2] for part in headers["Content-Security-Policy"].split(";"))
    for name in ("default-src", "script-src-attr", "base-uri", "form-action", "frame-ancestors"):
        assert policy[name] == "'none'"
    sources = {source for sources in policy.values() for source in sources.split()}
    assert not [source for source in sources if "//" in source or "*" in source or source in ("http:", "https:")]
    assert headers["Cache-Control"] == "no-store"


# -- files ------------------------------------------------------------------------------------------------------------


def table():
    rng = np.random.default_rng(0)
    xy = np.repeat([[0, 0], [8, 8]], 10, axis=0) + rng.normal(size=(20, 2))
    return pd.DataFrame(xy, columns=["u", "v"], index=[f"n{k}" for k in range(20)])


@pytest.fixture(scope="module")
def explored(tmp_path_factory):
    """The folder of an exploration in which each kind of statement was made."""
    folder = tmp_path_factory.mktemp("explored") / "table-explorer"
    exploration = Exploration(table(), Settings("cecm", 2, ("u", "v"), parameters={"n_init": 1}), folder=folder)
    exploration.begin()
    exploration.join(["n0", "n1"], certainty=0.5)
    exploration.separate(["n0"], ["n12"])
    exploration.label(["n3"], "left")
    exploration.answer("don't know", ["n5", "n6"])
    exploration.undo()
    return folder


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """The folder of an exploration of an image."""
    folder = tmp_path_factory.mktemp("drawn") / "image-explorer"
    exploration = ImageExploration(IMAGE, ImageSettings(clusters=2), folder=folder)
    exploration.begin()
    exploration.draw([Stroke(0, ((1.0, 1.0), (1.0, 5.0))), Stroke(1, ((9.0, 9.0),))])
    if (question := exploration.ask()) is not None:
        exploration.answer("same", question)
    return folder


IMAGE = np.kron(np.array([[0.0, 1.0], [2.0, 3.0]]), np.ones((6, 6))) + np.arange(12) / 100
WRONG = (None, True, -1, "../nope.npz", ["nope"], {"nope": 1})


def places(value, at=()):
    """Where something stands in JSON, from the whole to its smallest parts."""
    yield at
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in items:
        yield from places(part, (*at, key))


def change(value, at, new):
    """JSON with another value at a place, or with nothing there for ``Ellipsis``."""
    if not at:
        return new
    copy, (key, *rest) = value.copy(), at
    if new is ... and not rest:
        del copy[key]
    else:
        copy[key] = change(copy[key], rest, new)
    return copy


@pytest.mark.parametrize("kind", ["explored", "drawn"])
def test_a_list_of_steps_that_is_wrong_anywhere_is_a_sentence_or_an_exploration(kind, request, tmp_path):
    """Each value of the file is taken away, and replaced by others; what is accepted can be worked with."""
    folder = shutil.copytree(request.getfixturevalue(kind), tmp_path / "copy")
    path = folder / "steps.json"
    whole = json.loads(path.read_text())
    refused = 0
    for at in list(places(whole))[1:]:
        for new in (..., *WRONG):
            path.write_text(json.dumps(change(whole, at, new)))
            said = error_of(kind, folder)
            refused += said is not None
            if said is not None and at[0] not in ("of", "version", "format"):  # another table, or a newer evidentia
                assert str(path) in said, (at, new)
                assert CURE in said, (at, new)
            if said is None:  # it was taken up, and written anew
                shutil.copytree(request.getfixturevalue(kind), folder, dirs_exist_ok=True)
    assert refused > 100


def error_of(kind, folder):
    """Take an exploration up, and do what a page does at once: None, or the sentence of what is wrong."""
    try:
        if kind == "drawn":
            exploration = ImageExploration(IMAGE, folder=folder)
        else:
            exploration = Exploration(table(), folder=folder)
    except ValueError as error:
        return str(error)
    if kind == "explored":
        exploration.broken_links(), exploration.contradictions(), exploration.partition_.sets()
        script(exploration)
    return None


def archive_of(name):
    return sorted(name.glob("step-*.npz"))[-1]


def link_to(place):
    def replace(path):
        path.unlink()
        path.symlink_to(place)

    return replace


def make_pipe(path):
    path.unlink()
    os.mkfifo(path)


def make_folder(path):
    path.unlink()
    path.mkdir()


def write_compressed(path):
    with np.load(path) as held:
        content = dict(held)
    np.savez_compressed(path, **content)


def write_pickle(path):
    np.savez(path, masses=np.array([{}], dtype=object))


def write_newer(path):
    path.write_text(json.dumps(json.loads(path.read_text()) | {"version": 2}))


def add_entry(path):
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("../../evil.npy", b"evil")


def nest(path):
    path.write_text('{"format": "evidentia-exploration", "steps": ' + "[" * 10**5 + "]" * 10**5 + "}")


def grow(path):
    with open(path, "r+b") as file:
        file.truncate(2**42)  # of which the disk holds a few bytes


def cut(path):
    path.write_bytes(path.read_bytes()[:-20])


FILES = [  # which file, what is done to it, what the sentence says
    ("steps.json", cut, "it is no JSON"),
    ("steps.json", lambda path: path.write_bytes(b""), "it is no JSON"),
    ("steps.json", lambda path: path.write_bytes(b"\x00\xff\xfe" * 99), "it is no JSON"),
    ("steps.json", lambda path: path.write_text("[1]"), "no format 'evidentia-exploration'"),
    ("steps.json", lambda path: path.write_text('{"format": "evidentia-step"}'), "no format 'evidentia-exploration'"),
    ("steps.json", lambda path: path.write_text('{"format": "evidentia-exploration"}'), "lacks 'version'"),
    ("steps.json", lambda path: path.write_text("1" * 10**4), "it is no JSON|no format"),
    ("steps.json", nest, "nested too deeply"),
    ("steps.json", grow, "needs about .* GiB"),
    ("steps.json", write_newer, "newer evidentia. Upgrade"),
    ("steps.json", link_to("/dev/zero"), "it is no file"),
    ("steps.json", link_to("/etc/passwd"), "it is no JSON"),
    ("steps.json", make_pipe, "it is no file"),
    ("steps.json", make_folder, "it is no file"),
    ("npz", cut, "not a step of an exploration"),
    ("npz", lambda path: path.unlink(), "There is no file"),
    ("npz", lambda path: path.write_bytes(b""), "not a step of an exploration"),
    ("npz", write_compressed, "not compressed"),
    ("npz", write_pickle, "Python objects|not one written by evidentia"),
    ("npz", add_entry, "digest does not fit|damaged"),
    ("npz", grow, "not a step of an exploration"),
    ("npz", link_to("/dev/zero"), "There is no file"),
    ("npz", link_to("/etc/passwd"), "not a step of an exploration"),
    ("npz", make_pipe, "There is no file"),
    ("answers.csv", lambda path: path.write_bytes(path.read_bytes().replace(b"n12", b"n13")), "damaged or changed"),
    ("answers.csv", lambda path: path.write_bytes(b"\x00" * 99), "must have the columns"),
    ("answers.csv", lambda path: path.write_text("first,second,answer\nn0,nobody,same\n"), "no object 'nobody'"),
    ("answers.csv", grow, "needs about .* GiB"),
    ("answers.csv", link_to("/dev/zero"), "it is no file"),
    ("answers.csv", link_to("/etc/passwd"), "must have the columns"),
    ("answers.csv", make_pipe, "it is no file"),
    ("answers.csv", make_folder, "it is no file"),
]


@pytest.mark.parametrize(("name", "damage", "said"), FILES)
def test_a_damaged_file_is_a_sentence_that_names_it_and_says_what_to_do(explored, tmp_path, name, damage, said):
    folder = shutil.copytree(explored, tmp_path / "copy")
    path = archive_of(folder) if name == "npz" else folder / name
    damage(path)
    before = stand(folder)
    with pytest.raises((ValueError, MemoryError), match=said) as caught:
        Exploration(table(), folder=folder)
    assert str(path) in str(caught.value)
    assert re.search(r"another folder|Upgrade", str(caught.value))
    assert stand(folder) == before  # what can be saved is still there
    assert [other.name for other in tmp_path.iterdir()] == ["copy"]


def stand(folder):
    found = {path.name: path.lstat() for path in folder.iterdir()}
    return {name: (one.st_mode, one.st_size, one.st_mtime_ns) for name, one in found.items()}


def test_a_folder_that_the_explorer_makes_is_the_users_alone(tmp_path, as_nobody):
    before = os.umask(0o022)
    try:
        exploration = Exploration(table(), Settings("ecm", 2, ("u", "v")), folder=tmp_path / "new")
        exploration.begin()
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700
    for path in (tmp_path / "new").iterdir():
        assert as_nobody("cat", path).returncode != 0
