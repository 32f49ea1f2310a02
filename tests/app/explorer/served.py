"""A server in a process of its own, as a person starts it; a warning in it is an error."""

import base64
import http.client
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

RUN = "from evidentia.app.cli import main; main()"


class Served:
    """``evidentia explore`` with the words given; ``url`` is what the file for the browser leads to."""

    def __init__(self, table, *words, wait=True):
        self.log = Path(table).with_suffix(f".{time.monotonic_ns()}.log")
        command = [sys.executable, "-W", "error", "-c", RUN, "explore", str(table), "--no-browser", *map(str, words)]
        env = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
        with open(self.log, "wb") as file:
            self.process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, env=env)
        if wait:
            self.redirect = self._wait_for(r"page +(\S+\.html)")
            self.url = re.search(r'href="([^"]+)"', self.redirect.read_text()).group(1)
            parts = urlsplit(self.url)
            self.port, self.prefix = parts.port, "/" + parts.path.split("/")[1]

    def _wait_for(self, pattern, seconds=90):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and self.process.poll() is None:
            found = re.search(pattern, self.log.read_text())
            if found:
                return Path(found.group(1))
            time.sleep(0.05)
        raise AssertionError(f"the explorer did not start: {self.log.read_text()}")

    def kill(self, number=signal.SIGKILL):
        self.process.send_signal(number)
        self.process.wait(30)

    def __enter__(self):
        return self

    def __exit__(self, *what):
        if self.process.poll() is None:
            self.kill()


def get(served, path, headers=None, method="GET"):
    """The answer to a request, and its content; a header of None is not sent."""
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=30)
    sent = {"Host": f"127.0.0.1:{served.port}"} | (headers or {})
    connection.putrequest(method, path, skip_host=True)
    for name, value in sent.items():
        if value is not None:
            connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    body = b"" if answer.status == 101 else answer.read()
    connection.close()
    return answer, body


def knock(served, path, headers, token="token"):
    """The status of the handshake of a websocket."""
    key = base64.b64encode(os.urandom(16)).decode()
    shaken = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Key": key, "Sec-WebSocket-Version": "13",
              "Sec-WebSocket-Protocol": f"bokeh, {token}"}  # fmt: skip
    return get(served, path, shaken | headers)[0].status
