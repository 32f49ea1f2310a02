"""Text that does harm where a page takes it for more than text, and what shows in a browser that none did.

Every payload creates an element of the class ``hurt`` or sets ``window.hurt``, navigates, or turns the line around.
"""

from evidentia.safe_text import printable

PAYLOADS = (
    "<img class=hurt src=x onerror=hurt=1>",
    "<svg class=hurt onload=hurt=1><title>svg</title></svg>",
    "<script class=hurt>hurt=2</script>",
    "</script><script class=hurt>hurt=3</script>",
    "--></style></title></textarea></option></select><img class=hurt src=y onerror=hurt=4>",
    "\"'><b class=hurt autofocus tabindex=0 onfocus=hurt=5>bold</b>",
    "' onmouseover='hurt=6' class='hurt",
    "&lt;img class=hurt src=z onerror=hurt=7&gt;",
    "&amp;lt;i class=hurt&amp;gt;twice&#60;u class=hurt&#62;",
    "$$\\href{javascript:hurt=8}{\\class{hurt}{x}}$$ \\[\\class{hurt}{y}\\]",
    "${hurt=9} {{hurt=10}} {% hurt %} <%= hurt=11 %> #{hurt} $hurt",
    "@name{safe} @{name} $index $name{custom} %s {} {0} %(hurt)s",
    "<a class=hurt href=javascript:hurt=12>link</a><base class=hurt href=//evil.example>",
    "<meta class=hurt http-equiv=refresh content=0;url=about:blank#hurt>",
    "<iframe class=hurt srcdoc='<script>parent.hurt=13</script>'></iframe>",
    "<form class=hurt action=//evil.example><button class=hurt>send</button></form>",
    "[link](javascript:hurt=14) ![x](//evil.example) **bold** <x-hurt class=hurt>",
    "\u202eytilibaborp htiw\u2066 \u200f\u061c",
    "\x1b]0;hurt\x07\x1b[31m\x9b2J red\x00\x08\x7f",
    "two\u2028lines\u2029 and\x85three\x0b\x0c",
)

# Run before all else of a page: lists each element that is ever put into it, or into a shadow root, by a payload.
WATCH = """(() => {
  window.made = []
  const look = (node) => {
    if (node.nodeType != 1) return
    for (const one of [node, ...node.querySelectorAll("*")])
      if (one.classList.contains("hurt") || one.localName.startsWith("x-hurt")) window.made.push(one.outerHTML)
  }
  const watch = (root) => new MutationObserver((changes) => {
    for (const change of changes) change.addedNodes.forEach(look)
  }).observe(root, {childList: true, subtree: true})
  watch(document)
  const attach = Element.prototype.attachShadow
  Element.prototype.attachShadow = function (options) {
    const root = attach.call(this, options)
    watch(root)
    return root
  }
})()"""

# All that a person can read or hear: text, names for screen readers, choices, what is typed into fields.
WORDS = """() => {
  const found = [document.title]
  const read = (root) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const hidden = ["SCRIPT", "STYLE"].includes(node.parentNode?.nodeName)
      if (node.nodeType == 3) { if (!hidden) found.push(node.data); continue }
      for (const name of ["aria-label", "title", "placeholder"]) found.push(node.getAttribute(name) ?? "")
      if (typeof node.value == "string") found.push(node.value)
      if (node.shadowRoot) read(node.shadowRoot)
    }
  }
  read(document)
  return found
}"""


def hostile(what, count, *, each=1):
    """Names of some kind, each another one, and each with one payload or more."""
    return [
        " ".join([f"{what}{k}", *(PAYLOADS[(each * k + j) % len(PAYLOADS)] for j in range(each))]) for k in range(count)
    ]


def watch(page):
    """Before a page is opened: note what its payloads do."""
    page.add_init_script(WATCH)
    page.seen = []
    page.on("framenavigated", lambda frame: frame.parent_frame or page.seen.append(frame.url))
    page.on("popup", lambda other: page.seen.append(other.url))


def check_unhurt(page):
    """No handler ran, no element was made, nothing was navigated; errors and requests are the fixture's to check."""
    found = [page.evaluate("window.hurt"), page.evaluate("window.made"), page.seen[1:], len(page.frames)]
    assert found == [None, [], [], 1], found


def words(page):
    """The text of a page, with shadow roots, choices and names for screen readers."""
    return page.evaluate(WORDS)


def unshown(page, names):
    """Names that cannot be read in a page as they are, but for what steers a terminal or turns a line around."""
    text = "\n".join(words(page))
    return [name for name in names if printable(name) not in text]
