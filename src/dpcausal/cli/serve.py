"""``dpcausal serve`` and ``dpcausal work``: a custodian's desk, and the processes that answer its questions."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import socket
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpcausal.cli.options import AsJson, path
from dpcausal.core.errors import InputError

if TYPE_CHECKING:
    from dpcausal.desk.config import DeskConfig
    from dpcausal.desk.store import Desk

HELP = """Serve a desk: analysts ask, nobody but the custodian holds a row.

[bold]Examples[/bold]

# made-up data, one custodian, two analysts: open the links it prints
dpcausal serve --demo

# the real one, and a process that answers
dpcausal serve --config desk.toml
dpcausal work --config desk.toml"""
WORK_HELP = """Answer questions that a desk has approved and charged; run as many of these as you like.

[bold]Examples[/bold]

dpcausal work --config desk.toml"""


def _needs_server() -> None:
    """Refuse where the packages of a server are not installed."""
    try:
        import alembic
        import fastapi
        import joserfc
        import uvicorn

        _ = alembic, fastapi, joserfc, uvicorn
    except ImportError:
        raise InputError('a desk needs more packages: pip install ".[server]" in its folder') from None


def run_serve(
    config: Annotated[
        Path | None,
        typer.Option("--config", help="The settings of the desk.", metavar="desk.toml", parser=path),
    ] = None,
    demo: Annotated[bool, typer.Option("--demo", help="Made-up data, one custodian, two analysts.")] = False,
    port: Annotated[int | None, typer.Option("--port", help="Port to listen at.", min=0, max=65535)] = None,
    link: Annotated[
        str | None,
        typer.Option("--link", help="Print a new one-time link for this person, too.", metavar="NAME"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Serve a desk until interrupted."""
    if demo == (config is not None):
        raise InputError("give --demo, or --config desk.toml")
    from dpcausal.desk.config import read_config

    settings = None if config is None else read_config(config)
    _say("serve", "starting ...")  # before packages of a server are loaded, which can take a while
    _needs_server()
    from dpcausal.desk.demo import write_demo

    if settings is not None:
        port = settings.port if port is None else port
        if link is not None and _is_served(settings.host, port):
            typer.echo(_link_alone(settings, port, link, as_json=as_json))
            return
        with _listening(settings.host, port) as listener:
            settings = _with_address(settings, listener.getsockname()[1])
            _serve(settings, listener, as_json=as_json, demo=False, link=link)
        return
    with (
        tempfile.TemporaryDirectory(prefix="dpcausal-desk-") as folder,
        _listening("127.0.0.1", port or 0) as listener,
    ):
        settings = write_demo(Path(folder), listener.getsockname()[1])
        _serve(settings, listener, as_json=as_json, demo=True)


def _with_address(settings: DeskConfig, port: int) -> DeskConfig:
    """Return settings that say where browsers reach the desk."""
    here = f"[{settings.host}]" if ":" in settings.host else settings.host
    return settings if settings.address else replace(settings, address=f"http://{here}:{port}")


def _is_served(host: str, port: int) -> bool:
    """Return whether somebody listens at an address: the desk runs already."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.settimeout(5)
        return port > 0 and probe.connect_ex((host, port)) == 0


def _link_alone(settings: DeskConfig, port: int, name: str, *, as_json: bool) -> str:
    """Return a new one-time link for a person of a desk that is served already."""
    from dpcausal.desk.store import Desk

    desk = Desk.open(_with_address(settings, port))
    links = _new_links(desk, [name])
    return json.dumps({"url": desk.config.address, "links": links}) if as_json else f"{name}: {links[name]}"


def _new_links(desk: Desk, names: Iterable[str]) -> dict[str, str]:
    """Return a new one-time link for each of these persons."""
    return {name: f"{desk.config.address}/enter/{desk.issue(name, 'link')}" for name in names}


@contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
    """Listen at an address while the block runs; yield the socket; refuse an address that can't be had."""
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        raise InputError(f"can't listen at {host}:{port}: {error.strerror}") from None
    with listener:
        yield listener


def _serve(
    settings: DeskConfig, listener: socket.socket, *, as_json: bool, demo: bool, link: str | None = None
) -> None:
    """Open the desk, say how to reach it, and serve it; a demonstration has a worker of its own."""
    import uvicorn

    from dpcausal.desk.server import create_app, prepare
    from dpcausal.desk.store import Desk

    desk = Desk.open(settings, create=True)
    worker = _demo_worker(desk) if demo else None
    try:
        server = uvicorn.Server(
            uvicorn.Config(create_app(desk), log_level="warning", access_log=False, server_header=False)
        )
        prepare()
        listener.listen(128)
        typer.echo(_demo_words(desk, as_json) if demo else _first_words(desk, as_json, link))
        if not demo:
            for line in _what_is_left_to_do(settings):
                _say("serve", line)
        server.run(sockets=[listener])
    finally:
        if worker is not None:
            worker.terminate()
            worker.join(5)


def _demo_worker(desk: Desk) -> Any:
    """Start a process that works off the questions of the demonstration desk, and return it."""
    worker = multiprocessing.get_context("fork").Process(target=_work, args=(desk, 0.2))
    worker.start()
    return worker


def _work(desk: Desk, pause: float) -> None:
    """Answer questions as a worker until terminated, or until the parent process is gone."""
    from dpcausal.desk.worker import warm_up, work

    parent = os.getppid()
    going = [True]

    def stop(*_: object) -> None:
        going[0] = False

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warm_up(desk)
    work(desk, running=lambda: going[0] and os.getppid() == parent, pause=pause, log=_log)


def _say(command: str, line: str) -> None:
    """Print a line on standard error."""
    typer.echo(f"dpcausal {command}: {line}", err=True)


def _log(line: str) -> None:
    """Print a line of the worker's log on standard error."""
    _say("work", line)


def _what_is_left_to_do(settings: DeskConfig) -> list[str]:
    """Return what a custodian does after the start: files that this machine does not have, and the worker."""
    lines = [
        f"[datasets.{name}]: {file.name}: no such file on this machine; where dpcausal work runs, it must be there"
        for name, one in settings.datasets.items()
        if "://" not in one.source
        and not (file := Path(f"{one.source}.bed" if one.is_study else one.source)).exists()
    ]
    return [
        *lines,
        "questions are answered by dpcausal work --config desk.toml: start it, too",
        "a new link, in place of one that was lost: dpcausal serve --config desk.toml --link NAME",
    ]


def _demo_words(desk: Desk, as_json: bool) -> str:
    """Return what a newcomer needs to log in to the demonstration desk, as text or as JSON."""
    from dpcausal.desk.demo import ANALYSTS, AUDITOR, CUSTODIAN, DATASET

    url = desk.config.address
    tokens = {name: desk.issue(name, "token") for name in (CUSTODIAN, *ANALYSTS)}
    if as_json:
        shown = {"url": url, "dataset": DATASET, "custodian": tokens[CUSTODIAN]}
        return json.dumps({**shown, "analysts": [tokens[name] for name in ANALYSTS]})
    links = _new_links(desk, [name for name in desk.config.persons if name != AUDITOR])
    lines = [f"{desk.config.persons[name]:>9}: {link}" for name, link in links.items()]
    first = f"import dpcausal as dc; desk = dc.remote({url!r}, token={tokens[ANALYSTS[0]]!r})"
    ask = f"desk[{DATASET!r}].discover(epsilon=0.5, delta=1e-6, purpose='a first look')"
    return "\n".join(
        ["A desk with made-up patients; each link works once:", *lines, "In Python:", first, ask]
    )


def _first_words(desk: Desk, as_json: bool, link: str | None) -> str:
    """Return the desk's address with one-time links: for ``link``, and for everybody who never had one."""
    new = [name for name in desk.config.persons if name == link or not desk.has_token(name)]
    if link is not None and link not in new:
        new.append(link)
    links = _new_links(desk, new)
    if as_json:
        return json.dumps({"url": desk.config.address, "links": links})
    return "\n".join([desk.config.address, *(f"{name}: {link}" for name, link in links.items())])


def run_work(
    config: Annotated[
        Path, typer.Option("--config", help="The settings of the desk.", metavar="desk.toml", parser=path)
    ],
    until_empty: Annotated[bool, typer.Option("--until-empty", help="Return when no job is left.")] = False,
) -> None:
    """Answer approved questions until terminated."""
    from dpcausal.desk.config import read_config

    settings = read_config(config)
    _say("work", "starting ...")
    _needs_server()
    from dpcausal.desk.store import Desk
    from dpcausal.desk.worker import warm_up, work

    desk = Desk.open(settings)
    for name, one in desk.config.datasets.items():
        desk.subjects[name].open(one)  # what is wrong with a source is said here, once
    _log("ready")
    if until_empty:
        warm_up(desk)
        work(desk, until_empty=True, log=_log)
    else:
        _work(desk, 1.0)
