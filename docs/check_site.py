"""The built pages need no network and open from a folder: ``python docs/check_site.py docs/_build/html``.

Whatever a browser loads by itself (scripts, styles, fonts, pictures, frames) has to lie beside the pages, and every
link to a page, a place in a page or a file has to lead somewhere. Links that a reader may follow to the outside are
free.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# What a browser fetches without being asked: attributes that name a file, by the tag they stand on.
LOADED = {"src", "srcset", "poster", "data", "background"}
LOADING_LINKS = {"stylesheet", "icon", "preload", "prefetch", "modulepreload", "preconnect", "dns-prefetch", "manifest"}
IN_STYLES = re.compile(r"""url\(\s*['"]?([^'")]+)|@import\s+['"]([^'"]+)""")


class Page(HTMLParser):
    """What a page loads, the addresses it links to, and the places that can be linked to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.places: set[str] = set()
        self._style = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self._style = tag == "style"
        self.places.update(values[name] for name in ("id", "name") if name in values)
        for name in LOADED & values.keys() - ({"data"} if tag != "object" else set()):
            parts = (
                values[name].split(",") if name == "srcset" and not values[name].startswith("data:") else [values[name]]
            )
            self.loads += [part.split()[0] for part in parts if part.strip()]
        self.loads += in_styles(values.get("style", ""))
        if tag == "link" and LOADING_LINKS & set(values.get("rel", "").split()):
            self.loads.append(values.get("href", ""))
        elif tag == "a" and "href" in values:
            self.links.append(values["href"])

    def handle_data(self, data: str) -> None:
        if self._style:
            self.loads += in_styles(data)
            self._style = False


def in_styles(text: str) -> list[str]:
    """Addresses that a style sheet loads."""
    return [a or b for a, b in IN_STYLES.findall(text)]


def outside(address: str) -> bool:
    """Whether an address leads to another machine; one without a scheme (``//host/x``) does too."""
    parts = urlsplit(address)
    return parts.scheme not in ("", "data") or bool(parts.netloc)


def faults(root: Path) -> Iterator[str]:
    """A sentence for every address that is outside or leads nowhere."""
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in sorted(root.rglob("*.html"))}
    loads = [(path, address) for path, page in pages.items() for address in page.loads]
    styles = [path for path in sorted(root.rglob("*.css")) if path.is_file()]
    loads += [(path, address) for path in styles for address in in_styles(path.read_text(encoding="utf-8"))]
    for path, address in loads:
        if outside(address):
            yield f"{path}: loads {address[:100]} from outside"
        elif not address.startswith(("data:", "#")) and not _target(path, address).exists():
            yield f"{path}: loads {address[:100]}, which is not there"
    for path, page in pages.items():
        for address in page.links:
            if outside(address) or not address:
                continue
            target, place = _target(path, address), unquote(urlsplit(address).fragment)
            if not target.exists():
                yield f"{path}: links to {address}, which is not there"
            elif place and target in pages and place not in pages[target].places:
                yield f"{path}: links to {address}, but {target.name} has no such place"


def _target(path: Path, address: str) -> Path:
    """The file of an address in a page; an address that is a place alone is the page itself."""
    name = unquote(urlsplit(address).path)
    return (path.parent / name).resolve() if name else path.resolve()


def main() -> None:
    root = Path(sys.argv[1])
    found = list(faults(root))
    print("\n".join(found[:50]))
    count = sum(1 for _ in root.rglob("*.html"))
    if found or not count:
        raise SystemExit(f"{len(found)} addresses of {count} pages are wrong.")
    print(f"{count} pages: nothing is loaded from outside, and every link inside leads somewhere.")


if __name__ == "__main__":
    main()
