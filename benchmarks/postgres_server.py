"""A PostgreSQL server in a temporary folder, which can be killed; and a proxy in front of it, which can cut connections."""

from __future__ import annotations

import glob
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Self

_SETTINGS = (
    "listen_addresses=127.0.0.1", "fsync=on", "synchronous_commit=on", "max_connections=500", "shared_buffers=32MB",
    "unix_socket_directories=", "max_wal_senders=0", "wal_level=minimal", "autovacuum=off",
)  # fmt: skip


class Server:
    """Started as a user without root's rights, as initdb wants it."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="dpaudit-pg-"))
        self._user = ["runuser", "-u", "nobody", "--"] if os.getuid() == 0 else []
        if self._user:
            shutil.chown(self.folder, "nobody")
        self.port = _free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._run(self._program("initdb"), "-D", str(self.folder / "data"), "-A", "trust", "-U", "dpaudit", "-N", "--no-locale")

    def _program(self, name: str) -> str:
        found = sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{name}"))
        return found[-1] if found else name

    def _run(self, *command: str) -> None:
        done = subprocess.run([*self._user, *command], capture_output=True, text=True, cwd=self.folder, check=False)
        assert done.returncode == 0, done.stderr

    @property
    def address(self) -> str:
        return f"postgresql://dpaudit@127.0.0.1:{self.port}/postgres"

    def start(self) -> Self:
        settings = [part for setting in _SETTINGS for part in ("-c", setting)]
        command = [self._program("postgres"), "-D", str(self.folder / "data"), "-p", str(self.port), *settings]
        with open(self.folder / "log", "ab") as log:
            self._process = subprocess.Popen([*self._user, *command], stdout=log, stderr=log, cwd=self.folder)
        until = time.monotonic() + 60
        while time.monotonic() < until:
            ready = subprocess.run(
                [self._program("pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)], check=False, env={"PATH": ""}
            )
            if ready.returncode == 0:
                return self
            time.sleep(0.05)
        raise AssertionError((self.folder / "log").read_text()[-2000:])

    def cpu(self) -> float:
        """Seconds of CPU that the server and its children took so far."""
        pid = int((self.folder / "data" / "postmaster.pid").read_text().split()[0])
        ticks = sum(_ticks(path) for path in glob.glob("/proc/[0-9]*/stat") if _parent(path) == pid)
        return (ticks + _ticks(f"/proc/{pid}/stat", of_children=True)) / os.sysconf("SC_CLK_TCK")

    def kill(self) -> None:
        """kill -9 of the server; its own children end when they notice."""
        pid = int((self.folder / "data" / "postmaster.pid").read_text().split()[0])
        os.kill(pid, signal.SIGKILL)
        if self._process is not None:
            self._process.wait()
        children = f"/proc/{pid}"
        while os.path.exists(children):
            time.sleep(0.01)

    def stop(self) -> None:
        with suppress(FileNotFoundError, ProcessLookupError):
            pid = int((self.folder / "data" / "postmaster.pid").read_text().split()[0])
            os.kill(pid, signal.SIGQUIT)
        if self._process is not None:
            self._process.wait(timeout=30)
        shutil.rmtree(self.folder, ignore_errors=True)


class Proxy:
    """Hands on what passes between clients and a server until ``cut`` drops every connection."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                try:
                    server = socket.create_connection(("127.0.0.1", self._target))
                except OSError:
                    client.close()
                    continue
                self._pairs.append((client, server))
                for one, other in ((client, server), (server, client)):
                    threading.Thread(target=_hand_on, args=(one, other), daemon=True).start()

    def cut(self) -> int:
        """Drop every connection; returns how many there were."""
        pairs, self._pairs = self._pairs, []
        for pair in pairs:
            for each in pair:
                with suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
        return len(pairs)

    def close(self) -> None:
        self._listener.close()
        self.cut()


def _hand_on(one: socket.socket, other: socket.socket) -> None:
    with suppress(OSError):
        while data := one.recv(1 << 16):
            other.sendall(data)
    for each in (one, other):
        with suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
        each.close()


def _stat(path: str) -> list[str]:
    """The fields after the name of a process; none of one that is gone."""
    try:
        return Path(path).read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _parent(path: str) -> int:
    return int((_stat(path) or ["", "0"])[1])


def _ticks(path: str, of_children: bool = False) -> int:
    return sum(int(field) for field in _stat(path)[11 : 15 if of_children else 13])


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        port: int = found.getsockname()[1]
        return port
