"""A Spark cluster on this machine, a master and two workers of one core, and a graph learned on it.

    python tests/engines/cluster.py ROWS.parquet [--kill N]

``--kill N`` kills N workers, with their executors, once the first query runs. Prints one JSON object: the graph's
edges, or the error and its class, and what a ledger was charged.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dpcausal as dc
from dpcausal.counts import engine


def home() -> Path:
    """Return where Spark is installed; the package is there under ``make test-engines`` only."""
    import pyspark

    return Path(pyspark.__file__).parent


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def start(*words: str) -> subprocess.Popen[bytes]:
    """Start a Java class of Spark in a process group of its own."""
    command = [str(home() / "bin" / "spark-class"), *words]
    quiet = subprocess.DEVNULL
    return subprocess.Popen(
        command,
        stdout=quiet,
        stderr=quiet,
        start_new_session=True,
        env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_HOME": str(home())},
    )


@contextmanager
def cluster(workers: int) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """Yield the URL of a master and the processes of its workers."""
    port = free_port()
    url = f"spark://127.0.0.1:{port}"
    common = ["--host", "127.0.0.1", "--webui-port", "0"]
    master = start("org.apache.spark.deploy.master.Master", *common, "--port", str(port))
    running: list[subprocess.Popen[bytes]] = []
    try:
        until = time.monotonic() + 60
        while time.monotonic() < until:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.3)
        for _ in range(workers):
            folder = tempfile.mkdtemp()
            words = [*common, "--cores", "1", "--memory", "1g", "--work-dir", folder, url]
            running.append(start("org.apache.spark.deploy.worker.Worker", *words))
        yield url, running
    finally:
        for process in (*running, master):
            kill(process)


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and all that it started, executors included; they are in its group."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    process.wait()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", type=Path)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--kill", type=int, default=0)
    options = parser.parse_args()
    os.environ["PYSPARK_SUBMIT_ARGS"] = (
        "--conf spark.executor.memory=700m --conf spark.task.maxFailures=2 "
        "--conf spark.deploy.maxExecutorRetries=1 pyspark-shell"
    )
    schema = dc.Schema({name: dc.Categorical(["no", "yes"]) for name in "abcd"})
    folder = Path(tempfile.mkdtemp())
    ledger = dc.Ledger.open(f"sqlite:///{folder}/budget.db", create=True)
    ledger.create("cohort", 5.0, 1e-5)
    engine.RETRY_SECONDS = (1.0,)
    engine.NO_WORKER_SECONDS = 15.0
    said: dict[str, object] = {}
    with cluster(options.workers) as (url, workers):
        counts = dc.connect(url, schema, str(options.rows))
        said["n"] = counts.n
        fetch = engine.fetch

        def watched(expression: object) -> object:
            for process in workers[: options.kill]:
                threading.Timer(0.2, kill, [process]).start()
            return fetch(expression)  # type: ignore[arg-type]

        engine.fetch = watched  # type: ignore[assignment]
        try:
            found = dc.discover(
                counts, epsilon=2.0, delta=1e-6, ledger=ledger, dataset="cohort", confidence=0
            )
            said["edges"] = sorted("".join(sorted(pair)) for pair in found.graph.skeleton)
        except dc.DpcausalError as error:
            said["error"], said["class"] = str(error), type(error).__name__
    said["charged"] = [float(entry.epsilon) for entry in ledger.log("cohort")[1:]]
    sys.stdout.write(json.dumps(said) + "\n")
    sys.stdout.flush()
    os._exit(0)  # the JVM of a lost cluster is not waited for


if __name__ == "__main__":
    main()
