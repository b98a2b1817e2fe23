"""``dpaudit serve``: the budget of a ledger and how it was spent, as a read-only page for a browser."""

from __future__ import annotations

import argparse
import json
import threading
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from dpaudit.claims import DpauditError, InvalidValue, float_down, float_up, whole
from dpaudit.commands import HOLDS, Answer, Command
from dpaudit.commands.accounting.account import account_command

HOST, PORT = "127.0.0.1", 8000
TYPES = {"html": "text/html", "json": "application/json", "metrics": "text/plain; version=0.0.4"}
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
PATHS = {"/": "html", "/account.json": "json", "/metrics": "metrics"}
LOCAL = ("localhost", "127.0.0.1", "::1")


class Pages:
    """What is served, made anew when the ledger has grown."""

    def __init__(self, ledger: str) -> None:
        self.ledger = ledger
        self._lock = threading.Lock()
        self._made: dict[str, tuple[object, str]] = {}

    def page(self, form: str) -> str:
        """Raises DpauditError and OSError for a ledger that cannot be read now."""
        with self._lock:
            state = self.state()
            if form not in self._made or self._made[form][0] != state:
                self._made[form] = (state, _metrics(self._account("json")) if form == "metrics" else self._account(form))
            return self._made[form][1]

    def state(self) -> tuple[str, object]:
        """What changes when anything that is shown does."""
        from dpaudit.ledger import open_ledger

        with open_ledger(self.ledger, readonly=True) as ledger:
            return ledger.head().root, ledger.refusals()

    def _account(self, form: str) -> str:
        """As ``dpaudit account LEDGER`` writes it."""
        plain = dict.fromkeys(("epsilon", "delta", "fixed", "odometer", "trade_off", "renyi", "group", "snapshot", "output"))
        return account_command(argparse.Namespace(ledger=self.ledger, format=form, **plain))[1]


def _metrics(account: str) -> str:
    """In the text format of Prometheus: figures of the ledger, none of them private. Spent rounded up, counts exact."""
    document: dict[str, Any] = json.loads(account)
    lines = [
        "# HELP dpaudit_epsilon_spent Proven upper bound on the privacy loss, by observer.",
        "# TYPE dpaudit_epsilon_spent gauge",
        *(
            f'dpaudit_epsilon_spent{{observer="{name}"}} {float_up(Fraction(spent["epsilon"]))!r}'
            for name, spent in document["observers"].items()
        ),
        "# HELP dpaudit_delta Delta that the bounds hold at.",
        "# TYPE dpaudit_delta gauge",
        f"dpaudit_delta {float_up(Fraction(document['delta']))!r}",
        "# HELP dpaudit_releases Releases that were charged.",
        "# TYPE dpaudit_releases gauge",
        f"dpaudit_releases {len(document['releases'])}",
    ]
    return "\n".join(lines) + "\n"


def budget_metrics(ledger: str) -> str:
    """The budget, what is left of it, as the door sees it, and what it refused; nothing without a budget."""
    from dpaudit.ledger import open_ledger

    with open_ledger(ledger, readonly=True) as opened:
        if opened.budget is None:
            return ""
        refused = Counter({"budget": 0})
        for each in opened.refusals():
            refused[each.reason] += each.count
        left = max(opened.budget.epsilon - opened.spent()[0], Fraction(0))
        return (
            "# HELP dpaudit_epsilon_budget Budget that the door keeps.\n# TYPE dpaudit_epsilon_budget gauge\n"
            f"dpaudit_epsilon_budget {float_up(opened.budget.epsilon)!r}\n"
            "# HELP dpaudit_epsilon_left What the door would still grant, rounded down.\n# TYPE dpaudit_epsilon_left gauge\n"
            f"dpaudit_epsilon_left {float_down(left)!r}\n"
            "# HELP dpaudit_refusals_total Releases that the door refused, by reason.\n"
            "# TYPE dpaudit_refusals_total counter\n"
            + "".join(f'dpaudit_refusals_total{{reason="{reason}"}} {count}\n' for reason, count in sorted(refused.items()))
        )


def handler(pages: Pages, local: bool) -> type[BaseHTTPRequestHandler]:
    """Answers GET and HEAD of the known paths. ``local``: only for names of this machine, lest a page elsewhere read this one."""

    class Handler(BaseHTTPRequestHandler):
        server_version, sys_version = "dpaudit", ""

        def do_GET(self) -> None:
            form = PATHS.get(self.path.partition("?")[0])
            if local and self.headers.get("Host", "").rpartition(":")[0].strip("[]") not in LOCAL:
                self._answer(HTTPStatus.FORBIDDEN, "text/plain", "this address serves its own machine only\n")
            elif form is None:
                self._answer(HTTPStatus.NOT_FOUND, "text/plain", f"there is {', '.join(PATHS)}\n")
            else:
                self._page(form)

        do_HEAD = do_GET

        def _page(self, form: str) -> None:
            try:
                text = pages.page(form) + (budget_metrics(pages.ledger) if form == "metrics" else "")
            except (DpauditError, OSError) as error:
                self._answer(HTTPStatus.SERVICE_UNAVAILABLE, "text/plain", f"{error}\n")
            else:
                self._answer(HTTPStatus.OK, TYPES[form], text)

        def _answer(self, status: HTTPStatus, kind: str, text: str) -> None:
            body = text.encode()
            self.send_response(status)
            for name, value in {**HEADERS, "Content-Type": f"{kind}; charset=utf-8", "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def log_message(self, format: str, *arguments: Any) -> None:
            """Who looks is not written down."""

    return Handler


def serve_command(options: argparse.Namespace) -> Answer:
    """Serves until it is interrupted."""
    from dpaudit.ledger.opening import shown_place

    try:
        port = whole(options.port, "port", least=0, most=65535)
    except InvalidValue as error:
        raise DpauditError(f"--{error}") from None
    pages = Pages(options.ledger)
    if "://" not in options.ledger and not Path(options.ledger).exists():
        raise DpauditError(f"{options.ledger}: no such ledger")
    pages.page("html")  # what cannot be read is said now
    try:
        server = ThreadingHTTPServer((options.host, port), handler(pages, _is_local(options.host)))
    except OSError as error:
        raise DpauditError(f"cannot listen on {options.host}:{port}: {error.strerror}; choose another --port") from None
    server.daemon_threads = True
    _serve(server, lambda address: print(f"{shown_place(options.ledger)} at {address} (Ctrl-C ends)", flush=True))
    return HOLDS, ""


def _serve(server: ThreadingHTTPServer, tell: Callable[[str], None]) -> None:
    host, port = server.server_address[:2]
    with server:
        tell(f"http://{host!s}:{port}/")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return


def _is_local(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("ledger", metavar="LEDGER", help="the ledger whose budget and spending are shown")
    command.add_argument("--host", default=HOST, help=f"address to listen on (default {HOST}: this machine only)")
    command.add_argument("--port", default=PORT, help=f"port to listen on; 0 takes a free one (default {PORT})")


COMMANDS = (
    Command("serve", "a read-only page of a ledger: budget, spending over time, who pays most", serve_command, _add_options),
)
