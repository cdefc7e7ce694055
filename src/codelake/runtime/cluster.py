"""A Spark cluster on this machine: a standalone master and two workers on loopback, from the installed Spark.

    python -m codelake.runtime.cluster                          until Ctrl-C
    python -m codelake.runtime.cluster codelake build PATH      for one command, which finds it in CODELAKE_MASTER

It is for trying what a real cluster does, not for speed: every process has one core and little memory.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from codelake.errors import CodelakeError, Unavailable
from codelake.runtime import java
from codelake.runtime.home import spark_home
from codelake.settings import Settings, load

N_WORKERS = 2
_HOST = "127.0.0.1"
_SECONDS = 120.0
"""In which a process must be up; on a machine that does nothing else it takes three."""
_GRACE = 10.0
_DEPLOY = "org.apache.spark.deploy"
_REGISTERED = "Successfully registered with master"


@contextmanager
def cluster(settings: Settings, *, n_workers: int = N_WORKERS) -> Iterator[str]:
    """The URL of a master whose workers have registered. All processes are stopped at the end, executors too."""
    with tempfile.TemporaryDirectory(prefix="codelake-cluster-") as name, ExitStack() as running:
        folder, port = Path(name), _free_port()
        variables = _variables(settings, folder)
        url = f"spark://{_HOST}:{port}"
        master = (f"{_DEPLOY}.master.Master", "--host", _HOST, "--port", str(port), "--webui-port", "0")
        running.enter_context(_process(folder / "master.log", master, variables, said=url))
        # A worker that waits for its first words does not keep the others from starting.
        workers = []
        for number in range(n_workers):
            work = ("--cores", "1", "--memory", "1g", "--work-dir", str(folder / f"work-{number}"))
            worker = (f"{_DEPLOY}.worker.Worker", "--host", _HOST, "--webui-port", "0", *work, url)
            log = folder / f"worker-{number}.log"
            workers.append((running.enter_context(_process(log, worker, variables)), log))
        for process, log in workers:
            _wait_until_said(process, log, _REGISTERED)
        yield url


def main(command: Sequence[str]) -> int:
    """What the command returns; 0 where there is none and the cluster was asked to stop."""
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        with cluster(load()) as url:
            print(f"{url} with {N_WORKERS} workers", file=sys.stderr)
            if command:
                return subprocess.run(command, env=os.environ | {"CODELAKE_MASTER": url}, check=False).returncode
            print("Ctrl-C stops it", file=sys.stderr)
            while True:
                signal.pause()
    except KeyboardInterrupt:
        return 130 if command else 0
    except CodelakeError as error:
        print(error, file=sys.stderr)
        return error.exit_code


@contextmanager
def _process(
    log: Path, arguments: Sequence[str], variables: dict[str, str], *, said: str = ""
) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(spark_home() / "bin" / "spark-class"), *arguments],
            stdout=output,
            stderr=output,
            env=os.environ | variables,
            cwd=log.parent,
            # Ctrl-C is for us: we stop them in order.
            start_new_session=True,
        )
    try:
        _wait_until_said(process, log, said)
        yield process
    finally:
        process.terminate()
        try:
            process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_said(process: subprocess.Popen[bytes], log: Path, said: str) -> None:
    deadline = time.monotonic() + _SECONDS
    while said not in (text := log.read_text(errors="replace")):
        if process.poll() is not None or time.monotonic() > deadline:
            raise Unavailable(
                f"Spark's {log.stem} on {_HOST}",
                expected=f"`{said}` within {_SECONDS:.0f} s",
                found=(text.strip().splitlines() or ["no word"])[-1],
                do="Run `codelake doctor`.",
            )
        time.sleep(0.1)


def _variables(settings: Settings, folder: Path) -> dict[str, str]:
    return {
        "JAVA_HOME": str(java.find(settings).home),
        # Another Spark of the machine would be another version.
        "SPARK_HOME": str(spark_home()),
        "SPARK_CONF_DIR": str(folder),
        # Web pages would otherwise be served on every interface.
        "SPARK_LOCAL_IP": _HOST,
        "SPARK_LOCAL_DIRS": str(folder / "local"),
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Dspark.master.rest.enabled=false",
        "SPARK_LAUNCHER_OPTS": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
    }


def _free_port() -> int:
    with socket.socket() as free:
        free.bind((_HOST, 0))
        return int(free.getsockname()[1])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
