"""Inspection of built pages in a browser without network: ``python -m tests.pages docs/_build/html``.

Each page is opened in a frame, once per width. The program reports TeX that was not converted to a formula, formulas
with errors, pictures that do not load, elements that are wider than their column at 1280 px, pages that scroll
sideways, and requests to other hosts, which the browser blocks. ``--pictures FOLDER`` also stores a screenshot of each
page, light and dark.
"""

import argparse
import functools
import http.server
import json
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
OFFLINE = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
# What is not the server's own is refused by the browser and reported, before it could leave.
POLICY = "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; report-uri /refused"
WIDTHS = (390, 1280)
HARNESS = """<!doctype html><body style="margin:0"><iframe style="border:0;display:block"></iframe><script>
const asked = new URLSearchParams(location.search), frame = document.querySelector("iframe");
const texts = root => {
  const walker = root.createTreeWalker(root.body, NodeFilter.SHOW_TEXT), found = [];
  for (let node; node = walker.nextNode();)
    if (!node.parentElement.closest("pre, code, script, style, mjx-container")) found.push(node.data);
  return found;
};
const wide = (inner, column) => [...column.querySelectorAll("div, pre, p, dd, li, td, table, mjx-container")]
  .filter(e => e.clientWidth > 1 && e.scrollWidth > e.clientWidth + 1 && !e.parentElement.closest("mjx-container"))
  .filter(e => inner.getComputedStyle(e).overflowX !== "visible")
  .map(e => e.tagName.toLowerCase() + " " + e.textContent.trim().slice(0, 50));
const look = async (page, width) => {
  frame.style.width = width + "px"; frame.style.height = "900px";
  await new Promise(done => { frame.onload = done; frame.src = page; });
  const inner = frame.contentWindow, root = inner.document;
  await inner.MathJax?.startup?.promise;
  const raw = texts(root).filter(text => /\\\\[a-zA-Z([]|\\$[^$\\s][^$]*\\$/.test(text)).map(text => text.trim());
  return {
    page, width,
    formulas: root.querySelectorAll("mjx-container").length,
    "raw TeX": raw,
    "wrong formulas": [...root.querySelectorAll("[data-mml-node=merror]")].map(e => e.textContent),
    "empty pictures": [...root.images].filter(i => i.loading !== "lazy" && !i.naturalWidth).map(i => i.src),
    "wider than its column": width < 1280 ? [] : wide(inner, root.querySelector("article") || root.body),
    "scrolls sideways": Math.max(0, root.documentElement.scrollWidth - width) || [],
  };
};
(async () => {
  const told = [];
  for (const page of asked.getAll("page"))
    for (const width of asked.getAll("width")) told.push(await look(page, Number(width)));
  await fetch("/told", {method: "POST", body: JSON.stringify(told)});
})();
</script>"""
FAULTS = ("raw TeX", "wrong formulas", "empty pictures", "wider than its column", "scrolls sideways")


class Server(http.server.ThreadingHTTPServer):
    """Serves a folder and a page that looks at its pages, and keeps what it is told."""

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), functools.partial(Handler, directory=str(folder)))
        self.told: list[dict[str, Any]] = []
        self.refused: set[str] = set()
        self.done = threading.Event()


class Handler(http.server.SimpleHTTPRequestHandler):
    """Files with a policy that forbids other hosts; the harness; and reports."""

    server: Server

    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", POLICY)
        super().end_headers()

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        if not self.path.startswith("/harness?"):
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(HARNESS.encode())
        return None

    def do_POST(self) -> None:
        told = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(204)
        self.end_headers()
        if self.path == "/told":
            self.server.told = told
            self.server.done.set()
        else:
            report = told["csp-report"]
            self.server.refused.add(f"{report['document-uri'].split('/', 3)[3]} asks for {report['blocked-uri']}")


def looked_at(
    folder: Path, pages: Sequence[str], widths: Sequence[int] = WIDTHS
) -> tuple[list[dict[str, Any]], set[str]]:
    """Return what the browser saw on each page, and what it was asked to fetch elsewhere."""
    with Server(folder) as server, tempfile.TemporaryDirectory() as profile:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        query = urlencode({"page": [f"/{page}" for page in pages], "width": widths}, doseq=True)
        address = f"http://127.0.0.1:{server.server_address[1]}/harness?{query}"
        options = [f"--user-data-dir={profile}", "--window-size=1400,1000", "--remote-debugging-port=0"]
        browser = subprocess.Popen([str(BROWSER), *OFFLINE, *options, address], stderr=subprocess.DEVNULL)
        try:
            if not server.done.wait(60 + 5 * len(pages)):
                raise TimeoutError(f"the browser must come to an end with {len(pages)} pages")
        finally:
            browser.terminate()
            browser.wait()
            server.shutdown()
        return server.told, server.refused


def faults(seen: list[dict[str, Any]], refused: set[str]) -> list[str]:
    """Say in a line each what should not be."""
    found = [
        f"{page['page']} at {page['width']} px, {fault}: {page[fault]}"
        for page in seen
        for fault in FAULTS
        if page[fault]
    ]
    return found + sorted(refused)


def photograph(folder: Path, page: str, width: int, *, dark: bool, out: Path) -> None:
    """Keep a picture of the first 4,000 pixels of a page."""
    options = ["--hide-scrollbars", f"--window-size={width},4000", "--virtual-time-budget=8000", f"--screenshot={out}"]
    scheme = ["--blink-settings=preferredColorScheme=0"] if dark else ["--blink-settings=preferredColorScheme=1"]
    subprocess.run(
        [str(BROWSER), *OFFLINE, *options, *scheme, (folder / page).as_uri()],
        check=True,
        capture_output=True,
        timeout=120,
    )


def main(arguments: Sequence[str]) -> int:
    """Look at all pages of a folder; 1 if something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="**/*.html", help="pages to look at, as a pattern")
    parser.add_argument("--pictures", type=Path, help="keep pictures here")
    asked = parser.parse_args(arguments)
    pages = sorted(
        str(file.relative_to(asked.folder)) for file in asked.folder.glob(asked.only) if "_static" not in file.parts
    )
    batches = [pages[start : start + 50] for start in range(0, len(pages), 50)]
    results = [looked_at(asked.folder, batch) for batch in batches]
    found = [fault for seen, refused in results for fault in faults(seen, refused)]
    print(*found, sep="\n")
    formulas = sum(page["formulas"] for seen, _ in results for page in seen) // len(WIDTHS)
    print(f"{len(pages)} pages, {formulas} formulas, {len(found)} faults")
    for page in pages if asked.pictures else ():
        asked.pictures.mkdir(parents=True, exist_ok=True)
        for width in WIDTHS:
            for dark in (False, True):
                name = f"{page.removesuffix('.html').replace('/', '-')}-{width}-{'dark' if dark else 'light'}.png"
                photograph(asked.folder, page, width, dark=dark, out=asked.pictures / name)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
