"""``dpcausal work``: jobs, one after the other, each in a process of its own with limits of memory and time.

The process that runs a job may be killed at any moment. Before ``begin_drawing`` the job goes back to the queue; after
it the request has failed and stays charged. A worker that dies takes its job's process with it, and another worker
finds the job when its lease has run out. Nothing that a job raises is told to anybody but by the name of its kind, in
the worker's log: what a person reads is that the job failed.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import multiprocessing
import os
import resource
import signal
import socket
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dpcausal._version import __version__
from dpcausal.core.errors import InputError
from dpcausal.core.spelling import for_form
from dpcausal.desk.forms import FORMS
from dpcausal.desk.questions import Question, Request, rehearse
from dpcausal.desk.store import BEAT, LEASE, Conflict, Desk
from dpcausal.desk.wire import to_wire
from dpcausal.discovery.result import DiscoveryResult
from dpcausal.gwas.result import Screening
from dpcausal.present import display
from dpcausal.present.files import file_texts
from dpcausal.present.origin import Code, Origin, python_text
from dpcausal.present.page import write as write_page
from dpcausal.privacy.ledger import Entry

RESULT = "result.json"  # what ``dc.remote`` rebuilds the result from
LOADED = display  # before jobs are forked
PARENT_DIED = 1  # PR_SET_PDEATHSIG
ACRO_VERSION, UID = "1.0.2", "output_0"  # of the form, which ACRO wants to be its own, and of the one output
TOOL = {"@type": "SoftwareApplication", "name": "dpcausal", "version": __version__}


class PaidCharge:
    """A request that was charged, in place of a ledger: asked to charge, it allows one draw of noise for it.

    Amounts that differ from those charged are refused. The entry that the statement names is counted among the
    analyst's own, so that it does not tell how many others have; and it comes without its hash, by which somebody with
    two entries could find, by trying, the sum that others have spent.
    """

    def __init__(self, desk: Desk, request: Request) -> None:
        self._desk, self._request = desk, request
        self.address = desk.ledger.address

    def charge(
        self,
        dataset: str,
        release: str,
        epsilon: float,
        delta: float = 0.0,
        *,
        neighbours: Any,
        note: Any = None,
    ) -> Entry:
        """Return the entry of the request, once; from then on noise may be drawn."""
        paid = self._request
        if dataset != paid.dataset or neighbours.value != paid.neighbours:
            raise Conflict("this was not charged")
        if epsilon > paid.epsilon or delta > paid.delta:
            raise Conflict("this costs more than was charged")
        assert paid.lease is not None
        entry = self._desk.begin_drawing(paid.id, paid.lease)
        return replace(entry, seq=self._desk.own_number(paid), hash="")

    def left_after(self, entry: Entry) -> dict[str, float]:
        """Return what is left to the analyst."""
        left = self._desk.left(self._request.person, self._request.dataset)
        return {"epsilon": left.epsilon, "delta": left.delta}


def origin_of(request: Request) -> Origin:
    """Return how the same is asked again: the call of ``dc.remote`` with all that was declared."""
    given = dict(request.question.typed())
    place = f"desk[{request.dataset!r}].discover"
    before = ["desk = dc.remote(URL)  # the address of the desk, with your token in DPCAUSAL_TOKEN", ""]
    return Origin(request.dataset, (), python_text(place, (), given | {"purpose": Code("PURPOSE")}, before))


def release_files(answer: Any, request: Request) -> dict[str, bytes]:
    """Return the files of a release: those of the command line, the result for ``dc.remote``, and an ACRO record."""
    if isinstance(answer, DiscoveryResult):
        with tempfile.TemporaryDirectory() as folder:
            written = write_page(answer, Path(folder) / "report.html", origin=origin_of(request))
            page = Path(written).read_text(encoding="utf-8")
        texts = {**file_texts(answer, data=request.dataset), "report.html": page}
    else:
        texts = {"privacy.json": answer.privacy.to_json(), "answer.json": answer.to_json()}
        if isinstance(answer, Screening):
            texts["hits.tsv"] = answer.to_tsv()
    with for_form(FORMS[request.command].in_words()):  # a page shows it
        texts |= {"summary.txt": answer.summary(), RESULT: to_wire(answer)}
    files = {name: text.encode() for name, text in texts.items()}
    return {**files, **record(files, request)}


def record(files: Mapping[str, bytes], request: Request) -> dict[str, bytes]:
    """Return a release as a record for output checking, in the form that ACRO writes and the SACRO viewer reads.

    ``results.json`` lists the files with ``status`` "review" and an empty ``outcome``: no rule for suppression applies,
    since noise was added before. ``checksums`` holds the SHA-256 of each file. Where two people read every output, they
    read these.
    """
    statement = json.loads(files["privacy.json"])
    entry = {
        "uid": UID,
        "status": "review",
        "type": "custom",
        "properties": {
            "method": "differential privacy",
            "epsilon": statement["epsilon"],
            "delta": statement["delta"],
            "neighbours": request.neighbours,
        },
        "files": [{"name": name, "sdc": {}} for name in files],
        "outcome": {},
        "command": str(request.question),
        "summary": (
            f"differentially private, epsilon {statement['epsilon']:g}, delta {statement['delta']:g}: privacy.json "
            "states what that promises; nothing is suppressed, noise was drawn before"
        ),
        "timestamp": datetime.fromtimestamp(request.asked, UTC).isoformat(),
        "comments": [f"data set {request.dataset}, asked by {request.person}: {request.purpose}"],
        "exception": "",
        "fair": {},
    }
    results = {"version": ACRO_VERSION, "tool": TOOL, "results": {UID: entry}}
    sums = {
        f"checksums/{name}.txt": hashlib.sha256(content).hexdigest().encode()
        for name, content in files.items()
    }
    return {"results.json": json.dumps(results, indent=2, ensure_ascii=False).encode(), **sums}


def run_job(desk: Desk, request: Request) -> None:
    """Answer one request and store its release; raise whatever goes wrong."""
    desk.refuse_declared_otherwise(request)
    settings = desk.config.datasets[request.dataset]
    data = desk.subjects[request.dataset].open(settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answer = request.question.ask(data, PaidCharge(desk, request), request.dataset)
        files = release_files(answer, request)
    assert request.lease is not None
    desk.finish(request.id, request.lease, files)


def warm_up(desk: Desk) -> None:
    """Ask each kind of question of dummy rows, up to its charge.

    The processes of jobs are forked from this one, and find what is imported and compiled here: a small job then takes
    a twentieth of the time. No row is read and no noise is drawn.
    """
    for name, settings in desk.config.datasets.items():
        subject = desk.subjects[name].small()
        for command, example in subject.examples(settings.neighbours).items():
            with suppress(InputError):  # of two columns that do not go together
                rehearse(Question(command, {**example, "epsilon": 1.0}), subject)


def _child(desk: Desk, request: Request, memory: int, parent: int, log: Callable[[str], None]) -> None:
    """Run a job in this process, which ends with its parent, and within its memory."""
    ctypes.CDLL(None).prctl(PARENT_DIED, signal.SIGKILL)
    if os.getppid() != parent:  # it died before
        os._exit(1)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    try:
        run_job(desk, request)
    except BaseException as error:  # a message could hold a value of a row
        log(f"request {request.id}: {type(error).__name__}")
        os._exit(1)
    os._exit(0)


def work(
    desk: Desk,
    *,
    running: Callable[[], bool] = lambda: True,
    until_empty: bool = False,
    pause: float = 1.0,
    log: Callable[[str], None] = lambda line: None,
) -> None:
    """Take jobs from the queue while ``running``; with ``until_empty`` return when there are none."""
    life = Life(desk)
    while running():
        life.sign()
        job = desk.claim() if desk.has_work() else None
        if job is not None:
            supervise(desk, job, log, life)
        elif until_empty:
            return
        else:
            time.sleep(pause)


class Life:
    """Signs of life of one worker, every few seconds."""

    def __init__(self, desk: Desk) -> None:
        self._desk, self._name, self._next = desk, f"{socket.gethostname()} {os.getpid()}", 0.0

    def sign(self) -> None:
        """Give one, if the last was long ago."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + BEAT
            self._desk.beat(self._name)


def supervise(desk: Desk, job: Request, log: Callable[[str], None], life: Life) -> None:
    """Run a job in a process of its own, keep its lease, and end it where it takes too long or dies."""
    assert job.lease is not None
    memory = int(desk.config.job_memory * 2**30)
    desk.read_charges()
    desk.remember_head()
    context = multiprocessing.get_context("fork")
    process = context.Process(target=_child, args=(desk, job, memory, os.getpid(), log), daemon=True)
    process.start()
    began = time.monotonic()
    while process.is_alive():
        process.join(LEASE / 6)
        if not process.is_alive():
            break
        life.sign()
        try:
            desk.renew(job.id, job.lease)
        except Conflict:  # it was given to another worker, or ended just now
            process.join(1.0)
            process.kill()
        if time.monotonic() - began > desk.config.job_seconds:
            log(f"request {job.id}: out of time")
            process.kill()
    process.join()
    if process.exitcode != 0:
        with suppress(Conflict):
            desk.finish(job.id, job.lease, None)
