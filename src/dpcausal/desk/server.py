"""The web application: the JSON interface and the pages, with what protects both.

Sizes and rates are limited, every answer has a policy that lets a browser load nothing from elsewhere, and errors are
one line that says nothing of rows. The access log of the server is off: its lines hold the times of results.
"""

from __future__ import annotations

import gc
import time
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException as StarletteHTTPException

from dpcausal._version import __version__
from dpcausal.core.errors import BudgetError, DpcausalError, InputError
from dpcausal.desk import api, pages
from dpcausal.desk.identity import Identity
from dpcausal.desk.store import Conflict, Desk, NotAllowed, NotFound

LARGEST_BODY = 64 * 1024
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # with no-referrer a browser sends forms with "Origin: null", which is refused
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Limits:
    """How many requests a person, or an address that is not signed in, may send in a minute."""

    def __init__(self, per_minute: int) -> None:
        self._most = per_minute
        self._seen: dict[str, deque[float]] = defaultdict(deque)

    def count(self, who: str) -> None:
        """Count one request; raise 429 where there were too many."""
        now, seen = time.monotonic(), self._seen[who]
        while seen and seen[0] < now - 60:
            seen.popleft()
        if len(seen) >= self._most:
            raise HTTPException(429, "too many requests: wait a minute", {"Retry-After": "60"})
        seen.append(now)
        if len(self._seen) > 10_000:  # addresses that are gone
            self._seen.clear()

    def count_stranger(self, request: Request) -> None:
        """Count one request of somebody who is not signed in, by the address it comes from."""
        self.count(f"address {request.client.host if request.client else ''}")


def status_of(error: DpcausalError) -> int:
    """Return the HTTP status of an error of ours."""
    for kind, status in (
        (NotFound, 404),
        (NotAllowed, 403),
        (Conflict, 409),
        (BudgetError, 409),
        (InputError, 422),
    ):
        if isinstance(error, kind):
            return status
    return 503


def prepare() -> None:
    """Do once, before the first request, what would make one page slow: for a process that only serves.

    Templates are compiled; and what is loaded by now stays for good, so that no full collection of garbage looks
    through it again, which took longer than several pages together.
    """
    pages.compile_templates()
    gc.collect()
    gc.freeze()


def create_app(desk: Desk) -> FastAPI:
    """Return the application that serves a desk."""
    app = FastAPI(
        title="dpcausal desk",
        version=__version__,
        description="Ask questions of data that you may not see, under differential privacy.",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
    )
    app.state.desk, app.state.identity = desk, Identity(desk)
    app.state.limits = Limits(desk.config.requests_per_minute)

    @app.middleware("http")
    async def guard(request: Request, follow: Callable[[Request], Awaitable[Response]]) -> Response:
        length = request.headers.get("content-length", "0")
        if "transfer-encoding" in request.headers or not length.isdigit() or int(length) > LARGEST_BODY:
            answer = pages.fault(request, 413, "this is too large, or of no stated size", "refused")
        else:
            answer = await follow(request)
        for name, value in HEADERS.items():
            answer.headers.setdefault(name, value)
        return answer

    @app.exception_handler(DpcausalError)
    def told(request: Request, error: DpcausalError) -> Response:
        kind = "budget" if isinstance(error, BudgetError) else type(error).__name__
        return pages.fault(request, status_of(error), str(error), kind)

    @app.exception_handler(StarletteHTTPException)
    def refused(request: Request, error: StarletteHTTPException) -> Response:
        answer = pages.fault(request, error.status_code, str(error.detail), "refused")
        answer.headers.update(error.headers or {})
        return answer

    @app.exception_handler(RequestValidationError)
    def misspelt(request: Request, error: RequestValidationError) -> Response:
        first: Any = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"][1:])
        return pages.fault(request, 422, f"{where}: {first['msg']}"[:300], "InputError")

    app.include_router(api.router)
    app.include_router(pages.router)
    app.mount("/static", StaticFiles(directory=Path(__file__).parent / "static"), name="static")
    return app
