"""A private bandit behind HTTP: which of four layouts does this visitor get? Rewards stay in the process until a batch is noisy.

    BANDIT_FOLDER=state uvicorn --factory service:create_app

POST /select            a ticket: which action to play                    409 while a batch waits for its rewards, 410 at the end
POST /update            {"ticket", "reward"}: taken late, out of order, twice (ignored)   404 for a ticket from before a restart
POST /finish            close the batch now: the declared default stands in for rewards that never came
GET  /budget, /metrics  what is spent and left, exactly; the same for Prometheus

A release that the budget does not allow is answered by 429, with what it would cost. No answer and no log holds a reward.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from pydantic import BaseModel

import dpaudit as dp
from algorithms.online.bandit import BatchOutstanding, HorizonReached, OnlineBandit, UnknownTicket
from dpaudit.claims import show
from dpaudit.deployment.telemetry import Telemetry
from dpaudit.ledger import Ledger

ACTIONS = [[1.0, 0.0], [0.6, 0.8], [0.0, 1.0], [-1.0, 0.0]]
STATUS: dict[type[Exception], int] = {BatchOutstanding: 409, HorizonReached: 410, UnknownTicket: 404, dp.DpauditError: 400}


class Reward(BaseModel):
    """What a client sends back with its ticket."""

    ticket: str
    reward: float


class Service:
    """The bandit and its door. All of its work is done in the door's thread, so that nothing blocks the event loop."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.registry = folder, CollectorRegistry()
        self.door: Any = None
        self.bandit: OnlineBandit
        self.ledger: Ledger

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Go on from the last batch boundary, if there is one. A batch that a crash cut short is played again, unpaid."""
        await asyncio.to_thread(self.folder.mkdir, parents=True, exist_ok=True)
        self.ledger = await asyncio.to_thread(dp.open_ledger, self.folder / "bandit.ledger")
        try:
            with Telemetry(self.registry) as telemetry:
                telemetry.watch("bandit", self.ledger)
                async with dp.alive(self.ledger) as self.door:
                    self.bandit = await self.door.call(lambda _: self._bandit())
                    yield
        finally:
            await asyncio.to_thread(self.ledger.close)

    def _bandit(self) -> OnlineBandit:
        state = self.folder / "bandit.json"
        if state.exists():
            return OnlineBandit.load(state, ledger=self.ledger)
        return OnlineBandit(
            "central", epsilon=os.environ.get("BANDIT_EPSILON", "1"), horizon=int(os.environ.get("BANDIT_HORIZON", "10000")),
            actions=ACTIONS, ledger=self.ledger, state=state,
        )  # fmt: skip

    async def ask(self, work: Callable[[], Any]) -> Any:
        return await self.door.call(lambda _: work())


def create_app(folder: str | Path | None = None) -> FastAPI:
    """The service; its ledger and the public state of its bandit are in ``folder`` (default: BANDIT_FOLDER)."""
    service = Service(Path(folder or os.environ.get("BANDIT_FOLDER", ".")))

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with service.running():
            yield

    app = FastAPI(title="A private bandit", lifespan=lifespan)
    _add_errors(app)

    @app.post("/select")
    async def select() -> dict[str, Any]:
        ticket = await service.ask(service.bandit.select)
        return {"ticket": ticket.id, "action": ticket.action, "round": ticket.round, "batch": ticket.batch}

    @app.post("/update")
    async def update(sent: Reward) -> dict[str, bool]:
        return {"counted": await service.ask(lambda: service.bandit.update(sent.ticket, sent.reward))}

    @app.post("/finish")
    async def finish() -> dict[str, int]:
        return {"stood_in": await service.ask(service.bandit.finish_batch)}

    @app.get("/budget")
    async def budget() -> dict[str, Any]:
        spent, allowed = await service.ask(lambda: (service.ledger.spent(), service.ledger.budget))
        return {"spent": _pair(spent), "budget": _pair((allowed.epsilon, allowed.delta))}

    @app.get("/metrics")
    async def metrics() -> Response:
        page = await service.ask(lambda: generate_latest(service.registry))
        return Response(page, media_type=CONTENT_TYPE_LATEST)

    return app


def _add_errors(app: FastAPI) -> None:
    """Errors as answers. What was sent is never repeated: FastAPI's own answer to a wrong body would."""

    @app.exception_handler(RequestValidationError)
    async def unreadable(_: Request, error: RequestValidationError) -> JSONResponse:
        fields = sorted({".".join(str(part) for part in one["loc"][1:] if isinstance(part, str)) for one in error.errors()})
        return JSONResponse({"error": "unreadable", "fields": [f for f in fields if f in Reward.model_fields]}, 422)

    @app.exception_handler(dp.BudgetExceeded)
    async def over_budget(_: Request, error: dp.BudgetExceeded) -> JSONResponse:
        costs = {"would_cost": _pair(error.would_cost), "budget": _pair(error.budget)}
        return JSONResponse({"error": "budget exceeded", "rule": error.rule, "message": str(error), **costs}, 429)

    @app.exception_handler(dp.DpauditError)
    async def refused(_: Request, error: dp.DpauditError) -> JSONResponse:
        status = next(code for kind, code in STATUS.items() if isinstance(error, kind))
        return JSONResponse({"error": type(error).__name__, "message": str(error)}, status)


def _pair(spend: tuple[Any, Any]) -> dict[str, str]:
    return {"epsilon": show(spend[0]), "delta": show(spend[1])}
