"""Who gets nothing: another user of the machine, another web page, a forged Host, a token in the wrong place."""

import base64
import http.client
import os
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from evidentia.explorer.serving import check_host
from explorer.driving import MODELS, Driver
from explorer.served import RUN, Served

TABLE = "name,$$u$$,v\n" + "".join(f"<img src=x onerror=alert({k})>,{k % 3},{(k * 7) % 11}\n" for k in range(24))


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    table = tmp_path_factory.mktemp("served") / "table.csv"
    table.write_text(TABLE)
    with Served(table, "--id", "name", "--method", "ecm", "--clusters", "2", "--port", 5406) as found:
        yield found


def get(served, path, headers=None, method="GET"):
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=30)
    connection.request(method, path, headers=headers or {})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer, body


def websocket(served, path, origin, host=None):
    """The status of a handshake."""
    key = base64.b64encode(os.urandom(16)).decode()
    headers = {
        "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Key": key, "Sec-WebSocket-Version": "13",
        "Origin": origin, "Sec-WebSocket-Protocol": "bokeh, token",
    }  # fmt: skip
    return get(served, path, headers | ({"Host": host} if host else {}))[0].status


def test_the_person_who_started_it_gets_the_page(served):
    answer, body = get(served, f"{served.prefix}/explore")
    assert answer.status == 200
    assert b"evidentia" in body
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert "Access-Control-Allow-Origin" not in answer.headers


@pytest.mark.parametrize(
    "path",
    [
        "/", "/explore", "/favicon.ico", "/static/js/bokeh.min.js", "/explore/ws", "/explore/autoload.js", "/metadata",
        "/components/this/x/y/z", "{prefix}", "{prefix}/components/this/x/y/z", "/explore{prefix}", "/?token={prefix}",
        "/explore?bokeh-token={prefix}", "/index.html", "/../{prefix}/explore", "//{prefix}/explore",
        "{prefix}x/explore", "/liveness", "/_admin", "{upper}/explore",
    ],
)  # fmt: skip
def test_every_other_path_is_not_found(served, path):
    answer, body = get(served, path.format(prefix=served.prefix, upper=served.prefix.swapcase()))
    assert answer.status == 404
    assert served.prefix.encode() not in body
    assert "Location" not in answer.headers
    assert "Zen of Python" not in served.log.read_text()  # what importing ``this`` prints


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "HEAD"])
def test_no_other_verb_does_anything(served, method):
    assert get(served, "/explore", method=method)[0].status == 404
    assert get(served, f"{served.prefix}/explore", method=method)[0].status in (404, 405)


@pytest.mark.parametrize("host", ["evil.example", "evil.example:5406", "127.0.0.1", "127.0.0.1:80", "[::1]:5406", ""])
def test_a_forged_host_gets_nothing_even_with_the_token(served, host):
    assert get(served, f"{served.prefix}/explore", {"Host": host})[0].status == 404
    assert get(served, f"{served.prefix}/explore/autoload.js?bokeh-autoload-element=1", {"Host": host})[0].status == 404


def test_a_websocket_comes_from_the_page_itself(served):
    path = f"{served.prefix}/explore/ws"
    for origin in ("http://evil.example", "http://127.0.0.1:8000", "null", f"http://127.0.0.1:{served.port + 1}"):
        assert websocket(served, path, origin) == 403
    mine = f"http://127.0.0.1:{served.port}"
    assert websocket(served, "/explore/ws", mine) == 404
    assert websocket(served, path, mine, host="evil.example") == 404
    assert websocket(served, path, mine) != 404  # knocks at the right door, but has no session


def test_only_this_machine_is_listened_to(served):
    own = [info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)]
    for address in {*own, "127.0.0.2"} - {"127.0.0.1"}:
        with socket.socket() as knock:
            knock.settimeout(2)
            assert knock.connect_ex((address, served.port)) != 0
    if Path("/proc/net/tcp").exists():
        places = [line.split()[1].split(":") for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
        assert {address for address, port in places if port == f"{served.port:04X}"} == {"0100007F"}


def test_the_file_for_the_browser_is_the_users_alone(served):
    assert stat.S_IMODE(served.redirect.stat().st_mode) == 0o600
    assert stat.S_IMODE(served.redirect.parent.stat().st_mode) == 0o700
    assert "no-referrer" in served.redirect.read_text()


def test_another_user_of_the_machine_gets_nothing(served, as_nobody):
    """Neither the file for the browser, nor what the kernel tells of the process, leads to the page."""
    folder = Path(f"/proc/{served.process.pid}")
    for command in (("cat", served.redirect), ("ls", served.redirect.parent), ("cat", folder / "environ"),
                    ("cat", folder / "mem"), ("ls", folder / "fd")):  # fmt: skip
        done = as_nobody(*command)
        assert done.returncode != 0
        assert b"Permission denied" in done.stderr
    open_to_all = as_nobody("cat", folder / "cmdline", folder / "status", "/proc/net/tcp")
    assert open_to_all.returncode == 0  # so it is another user that was tried, and the process runs
    assert served.prefix.removeprefix("/").encode() not in open_to_all.stdout


def test_the_token_is_in_no_log_and_on_no_command_line(served):
    for path in ("/nothing", f"{served.prefix}/nothing", f"{served.prefix}/explore"):
        get(served, path)
    for origin in ("http://evil.example", f"http://127.0.0.1:{served.port}"):
        websocket(served, f"{served.prefix}/explore/ws", origin)
    token = served.prefix.removeprefix("/")
    assert len(token) == 32
    served._wait_for("(Uncaught exception)")  # of the knock without a session: told, but not where
    assert token not in served.log.read_text()
    assert token not in " ".join(served.process.args)


def test_names_are_no_html_in_the_page(served, page):
    """The names of this table would run as scripts, or be set as mathematics by Bokeh.

    The page may have no error, no dialog and no request to elsewhere (see ``new_page``).
    """
    driver = Driver(page, served)
    labels = page.evaluate(f"(() => {{ {MODELS} return all.map(m => m.axis_label?.text) }})()")
    assert {"$$u$$", "v"} <= set(labels)
    driver.places("map", [[1, 1]])  # drawn
    page.get_by_text("onerror=alert").first.wait_for(timeout=60_000)
    for row in range(2):
        page.locator(".tabulator-row input[type=checkbox]").nth(row).click()
        driver.wait()
    driver.click("Belong together")
    assert "<img src=x onerror=alert(0)> and <img src=x onerror=alert(1)> belong together" in driver.status
    for view in ("Questions", "Log", "Map"):
        driver.tab(view)
        assert page.locator("img[src=x]").count() == 0


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5", "::", "example.org"])
def test_other_machines_are_let_in_only_by_a_flag_that_says_so(host):
    with pytest.raises(ValueError, match=r"reached from other machines.*--allow-remote"):
        check_host(host, False)
    check_host(host, True)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.0.0.9"])
def test_this_machine_needs_no_flag(host):
    check_host(host, False)


def test_a_port_that_is_taken_is_passed_over_and_the_file_goes_with_the_server(served, tmp_path):
    table = tmp_path / "table.csv"
    table.write_text(TABLE)
    with Served(table, "--id", "name", "--method", "ecm", "--clusters", "2", "--port", served.port) as other:
        assert other.port > served.port
        assert other.prefix != served.prefix
        assert get(other, f"{served.prefix}/explore")[0].status == 404  # the token of another server
        other.kill(signal.SIGINT)
        assert not other.redirect.exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["table.csv", "--host", "0.0.0.0"], "add --allow-remote"),
        (["*.csv"], "reads one table into memory, and *.csv is of those that are read piece by piece"),
    ],
)
def test_what_is_refused_at_the_command_line(tmp_path, words, told):
    (tmp_path / "table.csv").write_text(TABLE)
    command = [sys.executable, "-c", RUN, "explore", *words, "--no-browser"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert done.returncode == 2
    assert told in " ".join(done.stderr.split())
