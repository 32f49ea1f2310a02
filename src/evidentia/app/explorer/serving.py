"""How the page is served: to the person who started it, and to nobody else.

A random token is the first part of every address. Whoever does not know it, which is everyone but the reader of a file
that only the user can read, gets 404, whatever is asked. The Host must be the one that is served, too, so that no other
web page can make the browser ask under a name of its own; and the Origin of a request, which a websocket must have,
must be that of the page itself.
"""

from __future__ import annotations

import errno
import ipaddress
import logging
import os
import platform
import secrets
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import Any

from evidentia.safe_text import printable

FIRST_PORT, PORTS = 5006, 100
NAME = "/explore"
LOGS = ("tornado.application", "tornado.general", "tornado.access", "bokeh", "panel")
NEEDED = "The explorer needs Panel and Bokeh: pip install 'evidentia[explorer]'."
# Bokeh needs inline scripts and eval, Panel scripts that it makes itself (blob:). Scripts in attributes are forbidden:
# markup that is put into a page can run no others.
POLICY = (
    "default-src 'none'; script-src 'self' blob: 'unsafe-inline' 'unsafe-eval'; script-src-attr 'none'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
REDIRECT = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>evidentia explorer</title>
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={url}"></head><body><a href="{url}">Open the explorer</a></body></html>
"""


def page_module(name: str) -> Any:
    """A module that makes pages; a sentence where what it needs is not installed."""
    try:
        return import_module(f"evidentia.app.explorer.{name}")
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in ("panel", "bokeh", "tornado", "param"):
            raise
        raise ImportError(NEEDED) from error


class SecretFilter(logging.Filter):
    """Leaves a secret out of what is logged."""

    def __init__(self, secret: str):
        super().__init__()
        self.secret = secret

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = record.getMessage().replace(self.secret, "…"), ()
        if record.exc_info:
            record.exc_text = logging.Formatter().formatException(record.exc_info).replace(self.secret, "…")
        return True


def check_host(host: str, allow_remote: bool) -> None:
    """Refuse an address that others can reach, unless that is what is wanted."""
    try:
        alone = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        alone = False
    if not alone and not allow_remote:
        raise ValueError(
            f"--host {host} can be reached from other machines, and what is sent to them is not encrypted: whoever "
            "listens, or gets hold of the address, sees the table and can change what was said. If that is what you "
            "want, add --allow-remote."
        )


class Server:
    """A server of one page, that :meth:`run` runs until it is interrupted.

    Parameters
    ----------
    make : callable
        Gives what a page shows, for each page that is opened.
    host : str
    port : int
        The first to try; if it is taken, the next.
    title : str
    """

    def __init__(self, make: Callable[[], Any], *, host: str = "127.0.0.1", port: int = FIRST_PORT, title: str = ""):
        self.make, self.host, self.title = make, host, printable(title)
        self.prefix = "/" + secrets.token_urlsafe(24)
        self.server, self.port = self._bound(port)
        self._close = ExitStack()

    def _bound(self, first: int) -> tuple[Any, int]:
        from panel.io.server import get_server

        for port in range(first, first + PORTS):
            names = {self.host, "127.0.0.1", "localhost"}
            names |= set() if self.host in names - {self.host} else {platform.node()}
            origins = [f"{name}:{port}" for name in sorted(names)]
            try:
                server = get_server(
                    {NAME: self._open},
                    port=port,
                    address=self.host,
                    prefix=self.prefix,
                    websocket_origin=origins,
                    title={NAME: self.title},
                    use_index=False,
                    redirect_root=False,
                    show=False,
                    start=False,
                    verbose=False,
                )
            except OSError as error:
                if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                    raise
                continue
            restrict_access(server._tornado, self.prefix, origins)
            for name in LOGS:
                logging.getLogger(name).addFilter(SecretFilter(self.prefix.strip("/")))
            return server, port
        raise ValueError(f"All ports from {first} to {first + PORTS - 1} are taken. Name another one by --port.")

    def _open(self) -> Any:
        """An empty page, which is filled once a browser shows it: a request alone builds nothing."""
        import panel as pn

        shown = pn.Column(sizing_mode="stretch_width")
        pn.state.curdoc.template_variables["app_favicon"] = "data:,"  # else the browser asks for one at the root
        pn.state.onload(lambda: shown.append(self.make()))
        return shown

    @property
    def url(self) -> str:
        """The whole address, token included: not to be printed, logged, or put on a command line."""
        host = "127.0.0.1" if self.host in ("0.0.0.0", "localhost") else self.host
        return f"http://{host}:{self.port}{self.prefix}{NAME}"

    def write_redirect(self) -> Path:
        """A file that only the user can read, and that leads to the page; it is removed with the server."""
        folder = Path(self._close.enter_context(tempfile.TemporaryDirectory(prefix="evidentia-")))
        path = folder / "explorer.html"
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(REDIRECT.format(url=self.url))
        return path

    def run(self, tell: Callable[[Path], None] = lambda path: None) -> None:
        """Serve until interrupted; ``tell`` is given the file that leads to the page."""
        with self._close:
            path = self.write_redirect()
            self.server.start()
            tell(path)
            try:
                self.server.io_loop.start()
            except KeyboardInterrupt:
                pass
            finally:
                self.server.stop()


def restrict_access(application: Any, prefix: str, hosts: list[str]) -> None:
    """Let a Tornado application answer those alone who know the prefix, ask this host, and come from no other page."""
    from tornado.web import ErrorHandler, OutputTransform

    class Private(OutputTransform):
        """Headers that keep the address out of other pages."""

        def transform_first_chunk(self, status: int, headers: Any, chunk: bytes, finishing: bool) -> Any:
            headers["Referrer-Policy"] = "no-referrer"
            headers["X-Frame-Options"] = "DENY"
            headers["X-Content-Type-Options"] = "nosniff"
            headers["Cache-Control"] = "no-store"
            headers["Content-Security-Policy"] = POLICY
            headers["Cross-Origin-Resource-Policy"] = "same-origin"
            headers.pop("Access-Control-Allow-Origin", None)
            return status, headers, chunk

    find = application.find_handler

    def find_inside(request: Any, **more: Any) -> Any:
        secret = f"{prefix}/".encode()
        inside = secrets.compare_digest(request.path.encode()[: len(secret)], secret)
        if not inside or request.path.startswith(f"{prefix}/components/") or request.host not in hosts:
            return application.get_handler_delegate(request, ErrorHandler, {"status_code": 404})
        origin, own = request.headers.get("Origin"), f"http://{request.host}"
        if origin != own and (origin is not None or "Upgrade" in request.headers):
            return application.get_handler_delegate(request, ErrorHandler, {"status_code": 403})
        return find(request, **more)

    application.find_handler = find_inside
    application.add_transform(Private)
    application.settings["log_function"] = lambda handler: None  # paths hold the token
