"""A real browser, headless Chromium driven through its own debugging protocol; and gates whose names try to break out."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from websocket import WebSocket, create_connection

from dpaudit.claims import Claim
from dpaudit.gate.results import Checked, Judged, Noted, SourcePlace, Waiver

# Labels of charts that leave the page; pairs of them that cover each other.
OUTSIDE = """[...document.querySelectorAll('svg text')].filter(t => { const r = t.getBoundingClientRect();
  return r.left < 0 || r.right > document.documentElement.clientWidth }).map(t => t.textContent)"""
COVERED = """[...document.querySelectorAll('svg')].flatMap(s => { const t = [...s.querySelectorAll('text')].map(e =>
  [e.textContent, e.getBoundingClientRect()]); return t.flatMap(([a, p], i) => t.slice(i + 1).filter(([b, q]) =>
  p.left < q.right && q.left < p.right && p.top + 3 < q.bottom && q.top + 3 < p.bottom).map(([b]) => a + ' / ' + b)) })"""

NASTY = "release '<script>alert(1)</script>' | 50 %,\r\n::error::owned\n##[error]owned \x00\x1b[31m ![x](http://x.example) @all `"
HERE = SourcePlace("service/a b:c.py", 13)
WAIVER = Waiver("DPA004", "b" * 16, f"reason {NASTY}", "ann <ann@example.org>", date(2027, 1, 31))
FINDING = Noted("DPA004", NASTY, NASTY, "a" * 16, HERE, fails=True)
HOLDS = Judged(
    "holds", "a.py:f", Claim("1"), "certified", "certified", 0, "proven", HERE, Fraction(1), {"epsilon": 0.9, "samples": 10,
    "method": "exact replay", "confidence": 1.0}, 1.0, change="ε 0.8 → 1, budget 1", seconds=0.5, timeout=600,
)  # fmt: skip
FAILS = replace(HOLDS, name="fails", verdict="refuted", code=1, reason=NASTY, target=NASTY, findings=(FINDING,), change=NASTY)
WAIVED = replace(FAILS, name="waived", code=0, findings=(replace(FINDING, waiver=WAIVER),))
UNPROVEN = replace(HOLDS, name="unproven", verdict="unproven", code=3, reason=NASTY, upper=None)
NOTED = replace(HOLDS, name="noted", findings=(replace(FINDING, rule="DPA006", fails=False),), change=None)
GONE = replace(HOLDS, name="gone", verdict="not checked", code=2, reason=NASTY, upper=None, lower=None, detectable=None)
STALE = Noted("DPA008", NASTY, "pyproject.toml:3", "c" * 16, SourcePlace("pyproject.toml", 3), fails=True)
EVERYTHING = Checked(
    "pyproject.toml", (HOLDS, FAILS, WAIVED, UNPROVEN, NOTED, GONE), (STALE,), ("old <b>budget</b>",), seed=1, seconds=2.0
)
CLEAN = Checked("pyproject.toml", (HOLDS,), seed=1)
NOTHING = Checked("")


@pytest.fixture
def gates() -> dict[str, Checked]:
    return {"everything": EVERYTHING, "clean": CLEAN, "nothing": NOTHING}


@dataclass
class Page:
    """An opened page: what it asked for, what it complained about, and what a script sees in it."""

    socket: WebSocket
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    _calls: int = 0

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._calls += 1
        self.socket.send(json.dumps({"id": self._calls, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.recv())
            self._note(message)
            if message.get("id") == self._calls:
                result: dict[str, Any] = message["result"]
                return result

    def wait_for(self, event: str) -> None:
        while True:
            message = json.loads(self.socket.recv())
            self._note(message)
            if message.get("method") == event:
                return

    def evaluate(self, script: str) -> Any:
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def whole(self) -> None:
        """Nothing asked for, nothing complained about, nothing too wide, everything drawn has a size, every label can be read."""
        assert self.complaints == []
        assert [url for url in self.requests if not url.startswith("file:")] == []
        assert self.evaluate("document.scripts.length + document.images.length") == 0
        assert self.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        sized = "[...document.querySelectorAll('{}')].every(s => (r => r.height > {} && r.width > {})(s.getBoundingClientRect()))"
        assert self.evaluate(sized.format("svg", 40, 200))
        assert self.evaluate(sized.format("rect, .bar", 0, 0))
        assert self.evaluate(OUTSIDE) == []
        assert self.evaluate(COVERED) == []

    def pdf(self) -> bytes:
        """The page as it is printed, on A4."""
        return base64.b64decode(self.call("Page.printToPDF", paperWidth=8.27, paperHeight=11.69)["data"])

    def _note(self, message: dict[str, Any]) -> None:
        method, about = message.get("method"), message.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(about["request"]["url"])
        if method in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"):
            self.complaints.append(json.dumps(about))


@pytest.fixture(scope="session")
def debugger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a running browser's debugger."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        if os.environ.get("CI"):
            pytest.fail("Chromium is missing; install Debian's package chromium")
        pytest.skip("Chromium is not installed")
    profile = tmp_path_factory.mktemp("chromium")
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-port=0"]
    options += ["--remote-allow-origins=*", "--no-first-run", f"--user-data-dir={profile}", "about:blank"]
    with subprocess.Popen([program, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            yield f"http://127.0.0.1:{_port(profile / 'DevToolsActivePort', process)}"
        finally:
            process.terminate()
            process.wait(20)


def _port(file: Path, process: subprocess.Popen[bytes]) -> str:
    for _ in range(600):
        if file.exists() and "\n" in (text := file.read_text(encoding="utf-8")):
            return text.splitlines()[0]
        assert process.poll() is None, "Chromium ended"
        time.sleep(0.1)
    raise AssertionError("Chromium does not answer")


@pytest.fixture
def open_page(debugger: str, tmp_path: Path) -> Iterator[Callable[..., Page]]:
    """Open a text of HTML at a width; requests and complaints are noted from the first moment on."""
    sockets: list[WebSocket] = []

    def opened(html: str, width: int = 1200, dark: bool = False, media: str = "screen") -> Page:
        file = tmp_path / f"page{len(sockets)}.html"
        file.write_text(html, encoding="utf-8")
        request = urllib.request.Request(f"{debugger}/json/new?about:blank", method="PUT")
        with urllib.request.urlopen(request, timeout=30) as answer:
            address = json.load(answer)["webSocketDebuggerUrl"]
        page = Page(create_connection(address, timeout=60))
        sockets.append(page.socket)
        for domain in ("Page", "Network", "Runtime", "Log"):
            page.call(f"{domain}.enable")
        page.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        page.call("Emulation.setEmulatedMedia", media=media, features=[scheme])
        page.call("Page.navigate", url=file.as_uri())
        page.wait_for("Page.loadEventFired")
        return page

    yield opened
    for socket in sockets:
        socket.close()


@pytest.fixture(scope="session")
def referee_report(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The real report on all claims of the paper, made once by the command that a reviewer types."""
    folder = tmp_path_factory.mktemp("referee")
    program = str(Path(sys.executable).with_name("dpaudit"))
    command = [program, "claims", "--quick", "--format", "html", "--output", "referee.html"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 1, done.stderr  # the paper has refuted claims
    return (folder / "referee.html").read_text(encoding="utf-8")
