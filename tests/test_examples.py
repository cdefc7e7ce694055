"""As a new user would: README.md followed word for word in a clean folder, on a repository that codelake has never
seen, then every example of the help. Only what no machine has is put in the place of what the pages say: revisions,
days."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import pytest
from pyspark.sql import SparkSession

from codelake.cli.main import run as run_command
from codelake.settings import load
from tests.extract.scip_index import Index
from tests.query.shop import git, write

pytestmark = pytest.mark.slow

README = (Path(__file__).parents[1] / "README.md").read_text()
BLOCKS = re.findall(r"```(console|pycon|sql)\n(.*?)```", README, re.DOTALL)
TYPED = [line[2:] for kind, text in BLOCKS if kind == "console" for line in text.splitlines() if line[:2] == "$ "]
COMMANDS = [line for line in TYPED if line.startswith("codelake")]
PAGE = (Path(__file__).parents[1] / "docs" / "cli.md").read_text()
ONCE = {line.partition(" #")[0].strip() for line in COMMANDS} | {"codelake mcp --lake ~/lakes/work"}
"""What the README has word for word is run there; `mcp` waits for an assistant: tests/query/test_mcp.py is one."""
EXAMPLES = [line for line in re.findall(r"^    (codelake .+)$", PAGE, re.MULTILINE) if line not in ONCE]
WITH_SPARK = ("codelake build", "codelake watch")
CACHE = str(load().cache_dir)
"""Set up once for the machine."""
FILES = {
    "django/__init__.py": "",
    "django/conf/__init__.py": "",
    "django/conf/settings.py": "DEBUG = False\n",
    "django/db/__init__.py": "",
    "django/db/connection.py": "def cursor():\n    return object()\n",
    "django/db/models.py": """from django.db import connection


class QuerySet:
    def get_or_create(self):
        return connection.cursor()


class Model:
    objects = QuerySet()

    def save(self):
        return self.objects.get_or_create()


class Page(Model):
    pass
""",
    "django/core/__init__.py": "",
    "django/core/management/__init__.py": "",
    "django/core/management/base.py": """import yaml
from django.conf import settings
from django.db.models import Model


def get_config(path):
    return yaml.load(path)


class BaseCommand:
    def execute(self):
        settings.DEBUG = True
        get_config("a.yml")
        Model().save()
""",
    "app/__init__.py": "",
    "app/models.py": "from django.db.models import Model\n\n\nclass Book(Model):\n    pass\n",
    "app/views.py": "from app.models import Book\n\n\ndef index():\n    Book().save()\n",
    "src/tool.py": "def use(thing):\n    return thing.frobnicate()\n",
    "requirements.txt": "PyYAML==6.0\n",
}


class Done(NamedTuple):
    code: int
    out: str
    err: str


class Place(NamedTuple):
    home: Path
    folder: Path
    said: dict[str, str]
    """What stands for what the pages say."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    home = tmp_path_factory.mktemp("home")
    folder, sources = home / "clean", home / "src/django"
    folder.mkdir()
    write(sources, FILES)
    git(sources, "init")
    revisions = []
    for tag, text in (("5.1", "DEBUG = False\n"), ("", "DEBUG = bool()\n"), ("5.2", "DEBUG = True\n")):
        write(sources, {"django/conf/settings.py": text})
        git(sources, "add", ".")
        git(sources, "commit", "-m", "a revision")
        revisions.append(git(sources, "rev-parse", "HEAD"))
        if tag:
            git(sources, "tag", tag)
    for version, revision in (("1.4", "5.1"), ("5.2", "5.2")):
        archive = folder / f"django-{version}.tar.gz"
        git(sources, "archive", f"--prefix=django-{version}/", "-o", str(archive), revision)
    (folder / "hello.py").write_text("print('hello')\n")
    (folder / "question.sql").write_text("SELECT path FROM files")
    used = Index(FILES).define("django/db/connection.py", "cursor", "`django.db.connection`/cursor().")
    used.refer("django/db/models.py", "cursor", "`django.db.connection`/cursor().").write(folder / "index.scip")
    return Place(home, folder, {"8e34f0c": revisions[2][:10], "1a9b2d7": revisions[1][:10]})


@pytest.fixture(scope="module")
def readme(place: Place, spark: SparkSession) -> dict[str, Done]:
    """What each command of the README said, in their order. The first starts a JVM, as for a user; after it, those that
    need Spark take the session that there is."""
    first, *others = COMMANDS
    done = {first: typed(place, first)}
    place.said["2026-01-31T12:00:00"] = place.said["2026-01-31"] = datetime.now(UTC).isoformat()
    for line in others:
        done[line] = called(place, line) if line.startswith(WITH_SPARK) else typed(place, line)
    return done


def called(place: Place, line: str) -> Done:
    """The command in this process. A watch ends after its first build: tests/cli/test_watch.py has one that goes on."""
    for said, found in place.said.items():
        line = line.replace(said, found)
    words = shlex.split(line.partition(" >")[0], comments=True)[1:]
    on_terminate = signal.getsignal(signal.SIGTERM)
    with pytest.MonkeyPatch.context() as patched, StringIO() as out, StringIO() as err:
        patched.setenv("HOME", str(place.home))
        patched.setenv("CODELAKE_CACHE_DIR", CACHE)
        patched.chdir(place.folder)
        patched.setattr("watchfiles.watch", lambda *_, **__: iter([set()]))
        with redirect_stdout(out), redirect_stderr(err):
            code = run_command([word.replace("~", str(place.home)) for word in words])
        signal.signal(signal.SIGTERM, on_terminate)
        return Done(code, out.getvalue(), err.getvalue())


def typed(place: Place, line: str) -> Done:
    for said, found in place.said.items():
        line = line.replace(said, found)
    environment = {
        **os.environ,
        "HOME": str(place.home),
        "CODELAKE_CACHE_DIR": CACHE,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    process = subprocess.Popen(
        ["bash", "-c", f"exec {line}"],
        cwd=place.folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    out, err = process.communicate(timeout=600)
    return Done(process.returncode, out, err)


@pytest.mark.parametrize("line", COMMANDS)
def test_the_readme_word_for_word(readme: dict[str, Done], line: str) -> None:
    done = readme[line]
    assert done.code == 0, done
    assert done.out or line.startswith("codelake mcp"), done


def test_the_readme_in_python_and_sql(readme: dict[str, Done], place: Place) -> None:
    [program] = [text for kind, text in BLOCKS if kind == "pycon"]
    code = "\n".join(line[4:] for line in program.splitlines() if line[:4] == ">>> ")
    last = code.splitlines()[-1]
    done = typed(place, f"{sys.executable} -c {shlex.quote(code.replace(last, f'print({last}.to_string())'))}")
    assert "app.views.index" in done.out, done
    [text] = [text for kind, text in BLOCKS if kind == "sql"]
    asked = typed(place, f"codelake sql --json {shlex.quote(text)}")
    assert "django.core.management.base.get_config" in asked.out, asked


@pytest.mark.parametrize("line", EXAMPLES)
def test_the_examples_of_the_help(readme: dict[str, Done], place: Place, spark: SparkSession, line: str) -> None:
    done = typed(place, line) if " < " in line else called(place, line)
    assert done.code == 0 and done.out, done
