"""``dc.remote``: ask a desk as if its rows were here; the answers are the library's own result objects."""

from __future__ import annotations

import json
import os
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from dpcausal.citests.forecast import CITestForecast, forecast_ci_test
from dpcausal.citests.result import CITestResult
from dpcausal.core.errors import BudgetError, EngineError, InputError
from dpcausal.core.progress import shown
from dpcausal.data.dataset import Dataset
from dpcausal.data.schema import Schema
from dpcausal.desk.wire import from_wire
from dpcausal.discovery.result import DiscoveryResult
from dpcausal.effects.effect import forecast_effect
from dpcausal.effects.forecast import EffectForecast
from dpcausal.effects.result import EffectResult
from dpcausal.gwas.result import Screening
from dpcausal.networks.dummy import dummy
from dpcausal.planning.plan import Plan, plan

if TYPE_CHECKING:
    import httpx

TOKEN = "DPCAUSAL_TOKEN"
PAUSE = 0.5, 10.0  # seconds between two looks: the first, and the longest
ENDS = ("done", "failed", "refused", "withdrawn")


class DeskError(EngineError):
    """The desk could not be reached, or a request ended without a result."""


def remote(url: str, token: str | None = None) -> RemoteDesk:
    """Connect to a custodian's desk.

    Parameters
    ----------
    url : str
        The address of the desk, such as ``https://desk.example.org``.
    token : str or None, default None
        Your token; None takes it from the environment (``DPCAUSAL_TOKEN``).

    Returns
    -------
    RemoteDesk
        ``desk["cohort"]`` is a data set there; ``desk.names`` lists them.

    Raises
    ------
    InputError
        If there is no token, or the desk does not accept it.

    Examples
    --------
    >>> import dpcausal as dc
    >>> desk = dc.remote("https://desk.example.org", token="...")  # doctest: +SKIP
    >>> desk["cohort"].discover(epsilon=0.5, delta=1e-6, purpose="what comes before it?")  # doctest: +SKIP
    """
    found = token or os.environ.get(TOKEN)
    if not found:
        raise InputError(f"a desk needs your token: token=..., or {TOKEN} in the environment")
    return RemoteDesk(url, found)


class RemoteDesk(Mapping[str, "RemoteDataset"]):
    """A desk, by the names of its data sets; ``dc.remote`` makes it."""

    def __init__(self, url: str, token: str, transport: httpx.BaseTransport | None = None) -> None:
        if not url.startswith(("http://", "https://")):
            raise InputError(f"the address of a desk begins with https:// (or http://), not {url[:40]!r}")
        try:
            import httpx  # only where a desk is asked
        except ImportError:
            raise InputError("a desk needs one more package: pip install 'dpcausal[remote]'") from None
        headers = {"Authorization": f"Bearer {token}"}
        self._failed = httpx.HTTPError
        self.url = url.rstrip("/")
        near = httpx.URL(self.url).host in ("127.0.0.1", "localhost", "::1")  # no proxy stands in between
        self._http = httpx.Client(
            base_url=self.url, headers=headers, timeout=60.0, transport=transport, trust_env=not near
        )
        self.me: Mapping[str, str] = self.call("GET", "/api/me").json()

    def __repr__(self) -> str:
        return f"RemoteDesk({self.url!r}, {self.me['name']!r})"

    def call(self, verb: str, path: str, body: object = None) -> httpx.Response:
        """Send a request to the desk; raise its errors as the library would."""
        try:
            answer = (
                self._http.request(verb, path, json=body)
                if body is not None
                else self._http.request(verb, path)
            )
        except self._failed as error:
            raise DeskError(f"the desk {self.url} can't be reached: {_why(error)}") from None
        if answer.is_success:
            return answer
        try:
            told = answer.json()
            line, kind = str(told["error"]), str(told.get("kind", ""))
        except (ValueError, KeyError, TypeError, AttributeError):
            raise DeskError(f"the desk {self.url} answered {answer.status_code}") from None
        if kind == "budget":
            raise BudgetError(line)
        raise (DeskError if answer.status_code >= 500 else InputError)(line)

    @property
    def names(self) -> list[str]:
        """The data sets that you may ask of."""
        return [str(one["name"]) for one in self.call("GET", "/api/datasets").json()]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, name: str) -> RemoteDataset:
        return RemoteDataset(self, name)

    def requests(self) -> list[RemoteRequest]:
        """Return your requests, the newest first: also those that another session asked."""
        found: dict[str, None] = {}  # in order; one that moved to the next page meanwhile counts once
        path = "/api/requests"
        while path:
            answer = self.call("GET", path)
            found |= {str(one["id"]): None for one in answer.json()}
            path = answer.links.get("next", {}).get("url", "")
        return [RemoteRequest(self, one) for one in found]

    def request(self, id: str) -> RemoteRequest:  # noqa: A002
        """Return a request by its id, to wait for it or to read it again."""
        return RemoteRequest(self, id)


class RemoteRequest:
    """A question that was asked of a desk."""

    def __init__(self, desk: RemoteDesk, id: str) -> None:  # noqa: A002
        self.desk, self.id = desk, id

    def __repr__(self) -> str:
        return f"RemoteRequest({self.id!r}, {self.state!r})"

    def view(self) -> dict[str, Any]:
        """Return what the desk tells of it."""
        return cast("dict[str, Any]", self.desk.call("GET", f"/api/requests/{self.id}").json())

    @property
    def state(self) -> str:
        """``waiting`` (for approval), ``working``, ``done``, ``failed``, ``refused`` or ``withdrawn``."""
        return str(self.view()["state"])

    def result(self) -> Any:
        """Return the result of a request that is done."""
        return from_wire(self.desk.call("GET", f"/api/requests/{self.id}/files/result.json").text)

    def file(self, name: str) -> bytes:
        """Return a file of the release, such as ``report.html``."""
        return self.desk.call("GET", f"/api/requests/{self.id}/files/{name}").content

    def withdraw(self) -> None:
        """Take it back, while it waits for approval."""
        self.desk.call("POST", f"/api/requests/{self.id}/withdraw")

    def wait(self, timeout: float | None = None, progress: bool = False) -> Any:
        """Return the result as soon as there is one.

        Raises ``DeskError`` where it was refused or failed, and after ``timeout`` seconds; it can then be waited for
        again, in this session or another: ``desk.request(id).wait()``.
        """
        begin, pause = time.monotonic(), PAUSE[0]
        with shown("waiting for the desk", None, progress):
            while (view := self.view())["state"] not in ENDS:
                if timeout is not None and time.monotonic() - begin > timeout:
                    raise DeskError(
                        f"request {self.id} is {view['state']}: desk.request({self.id!r}).wait() goes on"
                    )
                time.sleep(pause)
                pause = min(1.3 * pause, PAUSE[1])
        if view["state"] == "done":
            return self.result()
        paid = "it stays charged" if view["charged"] else "nothing was charged"
        why = "".join(f": {reason}" for reason in view.get("reasons", []))
        raise DeskError(f"request {self.id} was {view['state']}{why}; {paid}")


class RemoteDataset:
    """A data set at a desk. Its rows stay there; ``discover``, ``ci_test``, ``effect`` and ``gwas`` ask and wait."""

    def __init__(self, desk: RemoteDesk, name: str) -> None:
        self.desk, self.name = desk, name
        self.on_request: Callable[[RemoteRequest], object] = lambda request: None  # before it is waited for
        self._facts: dict[str, Any] | None = None

    def __repr__(self) -> str:
        return f"RemoteDataset({self.name!r} at {self.desk.url})"

    def _view(self) -> dict[str, Any]:
        return cast("dict[str, Any]", self.desk.call("GET", f"/api/datasets/{self.name}").json())

    @property
    def facts(self) -> dict[str, Any]:
        """What the custodian declares of it."""
        if self._facts is None:
            self._facts = self._view()
        return self._facts

    @property
    def schema(self) -> Schema:
        """The declared columns."""
        if "schema" not in self.facts:
            raise InputError(f"{self.name} is a study of SNPs and has no columns: ask it by gwas")
        return Schema.from_toml_string(str(self.facts["schema"]))

    @property
    def rows(self) -> int:
        """The public number of rows, or of people in a study; under add-remove a guess."""
        facts = self.facts
        return int(facts["rows"] if "rows" in facts else facts["cases"] + facts["controls"])

    @property
    def n(self) -> int:
        """The public number of rows, as a data set calls it."""
        return self.rows

    @property
    def left(self) -> tuple[float, float]:
        """Epsilon and delta that are left to you."""
        found = self._view().get("left")
        if found is None:
            raise InputError("only an analyst has a share of the budget")
        return float(found["epsilon"]), float(found["delta"])

    def dummy(self, rows: int, seed: int = 0) -> Dataset:
        """Return dummy rows, made here from the schema alone, to try a script on."""
        return dummy(self.schema, rows, seed)

    def plan(self, epsilon: float, delta: float = 0.0, **options: Any) -> Plan:
        """Return what ``dc.plan`` says for this data set; made here, free."""
        options.setdefault("neighbours", self.facts["neighbours"])
        return plan(self.schema, options.pop("rows", self.rows), epsilon, delta, **options)

    def forecast_ci_test(self, x: Any, y: Any, given: Any = (), **options: Any) -> CITestForecast:
        """Return what ``dc.forecast_ci_test`` says for this data set; made here, free."""
        options.setdefault("neighbours", self.facts["neighbours"])
        return forecast_ci_test(self.schema, x, y, given, rows=self.rows, **options)

    def forecast_effect(self, treatment: str, outcome: str, **options: Any) -> EffectForecast:
        """Return what ``dc.forecast_effect`` says for this data set; made here, free."""
        options.setdefault("neighbours", self.facts["neighbours"])
        return forecast_effect(self.schema, treatment, outcome, rows=self.rows, **options)

    def ask(
        self, command: str, arguments: Mapping[str, Any], purpose: str, project: str | None = None
    ) -> RemoteRequest:
        """Ask a question and return at once; it is charged when it is approved."""
        body = {
            "command": command,
            "arguments": {name: plain(value) for name, value in arguments.items()},
            "purpose": purpose,
            "project": project,
            "key": uuid.uuid4().hex,
        }
        try:
            json.dumps(body, allow_nan=False)
        except (TypeError, ValueError):
            raise InputError(
                "an argument can't be sent to a desk: only texts, numbers and lists of them"
            ) from None
        path = f"/api/datasets/{self.name}/requests"
        try:
            found = self.desk.call("POST", path, body)
        except DeskError:  # perhaps it arrived: the key makes it one request
            found = self.desk.call("POST", path, body)
        return RemoteRequest(self.desk, found.json()["id"])

    def _answer(
        self,
        command: str,
        arguments: Mapping[str, Any],
        purpose: str,
        project: str | None,
        more: dict[str, Any],
    ) -> Any:
        timeout, progress = more.pop("timeout", None), more.pop("progress", False)
        request = self.ask(command, {**arguments, **more}, purpose, project)
        self.on_request(request)
        return request.wait(timeout, progress)

    def discover(
        self, *, epsilon: float, purpose: str, project: str | None = None, **options: Any
    ) -> DiscoveryResult:
        """Ask for a graph and wait for it: ``dc.discover`` at the desk, with the same options.

        ``timeout`` limits the wait in seconds; ``desk.requests()`` finds the request again.
        """
        return cast(
            DiscoveryResult, self._answer("discover", {"epsilon": epsilon}, purpose, project, options)
        )

    def ci_test(
        self, x: Any, y: Any, given: Any = (), *, epsilon: float, purpose: str, project: str | None = None,
        **options: Any,
    ) -> CITestResult:  # fmt: skip
        """Ask for a test and wait for it: ``dc.ci_test`` at the desk, with the same options."""
        asked = {"x": x, "y": y, "given": given, "epsilon": epsilon}
        return cast(CITestResult, self._answer("ci_test", asked, purpose, project, options))

    def effect(
        self, treatment: str, outcome: str, *, epsilon: float, purpose: str, project: str | None = None,
        **options: Any,
    ) -> EffectResult:  # fmt: skip
        """Ask for an effect and wait for it: ``dc.effect`` at the desk, with the same options."""
        asked = {"treatment": treatment, "outcome": outcome, "epsilon": epsilon}
        return cast(EffectResult, self._answer("effect", asked, purpose, project, options))

    def gwas(self, *, epsilon: float, purpose: str, project: str | None = None, **options: Any) -> Screening:
        """Ask for a screening of all SNPs and wait for it: ``dc.gwas.screen`` at the desk, with the same options."""
        return cast(Screening, self._answer("gwas", {"epsilon": epsilon}, purpose, project, options))


def _why(error: Exception) -> str:
    """Return in words why nothing came back.

    >>> class ConnectTimeout(Exception): ...
    >>> _why(ConnectTimeout())
    'no answer in time'
    """
    kind = type(error).__name__
    if kind.endswith("Timeout"):
        return "no answer in time"
    return "nothing answers at this address" if kind == "ConnectError" else f"the connection broke ({kind})"


def plain(value: Any) -> Any:
    """Return an argument as JSON holds it: an edge without direction as ``{"edge": [a, b]}``.

    >>> plain([("a", "b"), frozenset({"c", "d"})])
    [['a', 'b'], {'edge': ['c', 'd']}]
    """
    if isinstance(value, frozenset | set):
        return {"edge": sorted(map(str, value))}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return value
