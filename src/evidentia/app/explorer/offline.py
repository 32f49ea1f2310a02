"""Panel without a network: what a page needs comes from this machine, and all that is said arrives."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import panel as pn

from evidentia.app.explorer.parts import STYLE


def prepare(*, notebook: bool = False) -> None:
    """Load what pages need from this machine alone: a notebook holds it, a server serves it."""
    import panel.reactive
    import panel.theme.base
    from bokeh.settings import settings
    from panel.io import resources

    pn.extension("tabulator", raw_css=[STYLE], inline=notebook, notifications=False)
    settings.resources.set_value("inline" if notebook else "server")
    # Of a part that is added later Panel does not know the document, and asks its own site for style sheets.
    if notebook:
        panel.reactive.patch_stylesheet = resources.patch_stylesheet = put_inside
    else:
        send_all_messages()
        for module in (panel.reactive, panel.theme.base):
            module.CDN_DIST = resources.LOCAL_DIST


def send_all_messages() -> None:
    """Let Panel send what was said while it was sending: 1.9.4 leaves it until something else is said."""
    from panel.io import document

    send = document._dispatch_msgs

    async def send_all(doc: Any) -> None:
        await send(doc)
        while doc in document._WRITE_MSGS and doc not in document._WRITE_BLOCK:
            document._WRITE_BLOCK[doc] = True
            await send(doc)

    if send.__name__ != send_all.__name__:
        document._dispatch_msgs = send_all


def put_inside(sheet: Any, place: str) -> None:
    """Let a style sheet of Panel's site be its own content; takes the place of Panel's ``patch_stylesheet``."""
    from panel.io.resources import CDN_DIST, DIST_DIR

    name = str(sheet.url).partition("?")[0]
    path = DIST_DIR / name.removeprefix(CDN_DIST)
    if name.startswith(CDN_DIST) and path.is_file():
        sheet.url = "data:text/css;base64," + b64encode(path.read_bytes()).decode()
