"""Pictures of the gallery: as SVG, sharp at any size and on paper."""

from __future__ import annotations

from typing import Any

from sphinx_gallery.scrapers import matplotlib_scraper


def scrape(block: tuple[str, str, int], block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """What a block of an example has drawn."""
    return matplotlib_scraper(block, block_vars, gallery_conf, format="svg", bbox_inches="tight")
