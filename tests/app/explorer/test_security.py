"""Who gets nothing: another machine, another user of this one, a reader of logs. What is sent: test_attacks."""

import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from app.explorer.served import RUN, Served, get, knock
from evidentia.app.explorer.serving import check_host

TABLE = "name,u,v\n" + "".join(f"n{k},{k % 3},{(k * 7) % 11}\n" for k in range(24))


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    table = tmp_path_factory.mktemp("served") / "table.csv"
    table.write_text(TABLE)
    with Served(table, "--id", "name", "--method", "ecm", "--clusters", "2", "--port", 5406) as found:
        yield found


def test_the_person_who_started_it_gets_the_page(served):
    answer, body = get(served, f"{served.prefix}/explore")
    assert answer.status == 200
    assert b"evidentia" in body
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert "Access-Control-Allow-Origin" not in answer.headers


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
        knock(served, f"{served.prefix}/explore/ws", {"Origin": origin})
    token = served.prefix.removeprefix("/")
    assert len(token) == 32
    served._wait_for("(Uncaught exception)")  # of the knock without a session: told, but not where
    assert token not in served.log.read_text()
    assert token not in " ".join(served.process.args)


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
        (["*.csv"], "reads one table into memory, and *.csv is of those that are read chunk by chunk"),
    ],
)
def test_what_is_refused_at_the_command_line(tmp_path, words, told):
    (tmp_path / "table.csv").write_text(TABLE)
    command = [sys.executable, "-c", RUN, "explore", *words, "--no-browser"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert done.returncode == 2
    assert told in " ".join(done.stderr.split())
