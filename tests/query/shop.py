"""Two small repositories, one of them in two revisions, built into one lake by two runs: what the tests ask about."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

from codelake.contracts import Table
from codelake.delta.lake import Lake
from codelake.delta.publish import publish
from codelake.delta.reading import Reader
from codelake.delta.run import Run, pin
from codelake.delta.write import commit
from codelake.extract.guard import Limits
from codelake.extract.sources import open_sources
from codelake.pipeline.build import build
from codelake.pipeline.progress import Progress
from codelake.pipeline.reading import Reading
from codelake.query.published import BEFORE, PublishedRun, published
from codelake.query.rows import Row
from tests.lakes import PreparedLake

FIRST = {
    "shop/__init__.py": "",
    "shop/pricing.py": '''"""Prices."""

TAX = 0.2


def base(item):
    return item.price


def gross(item):
    """With tax."""
    return base(item) * (1 + TAX)
''',
    "shop/cart.py": """import json

from shop.pricing import gross


class Cart:
    def __init__(self):
        self.items = []

    def add(self, item):
        self.items.append(item)

    def total(self):
        return sum(gross(item) for item in self.items)


class Gift(Cart):
    def total(self):
        return 0


def checkout(cart: Cart):
    print(json.dumps(cart.total()))
    return cart.total()
""",
    "shop/cli.py": """from shop.cart import Cart, checkout


def main(argument):
    argument.unknown()
    checkout(Cart())
""",
}
SECOND = FIRST | {
    "shop/pricing.py": '''"""Prices."""

TAX = 0.25


def net(item):
    return item.price


def gross(item):
    """With tax."""
    return net(item) * (1 + TAX)
''',
    "shop/discount.py": "from shop.pricing import gross\n\n\ndef half(item):\n    return gross(item) / 2\n",
}
TILL = {"till.py": "from shop.cart import checkout\n\n\ndef ring(cart):\n    return checkout(cart)\n"}


def write(folder: Path, files: Mapping[str, str]) -> None:
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content)


def git(folder: Path, *arguments: str) -> str:
    names = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main")
    done = subprocess.run(["git", *names, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def built_shop(root: Path, prepared_lake: PreparedLake) -> None:
    """A lake in `root/lake`, and the two revisions in `root/revisions`."""
    shop, till, revisions = root / "shop", root / "till", []
    write(till, TILL)
    for files in (FIRST, SECOND):
        write(shop, files)
        git(shop, "init")
        git(shop, "add", ".")
        git(shop, "commit", "-m", "a revision")
        revisions.append(git(shop, "rev-parse", "HEAD"))
    lake = prepared_lake(root / "lake")
    for revision in revisions:
        sources = [*open_sources([str(shop)], rev=revision), *open_sources([str(till)])]
        build(lake, Reading(sources, Progress()), limits=Limits())
    (root / "revisions").write_text("\n".join(revisions))


class SparkAsking:
    """The same questions, answered by Spark SQL over the same versions."""

    def __init__(self, lake: Lake, at: str | None = None, before: str | None = None) -> None:
        self._spark = lake.session
        self._lake = lake
        reader = Reader(lake.store)
        self._run = published(reader, at)
        self._before = published(reader, before) if before else None
        self._open: set[str] = set()

    def ask(self, sql: str, *names: str) -> list[Row]:
        for name in set(names) - self._open:
            if self._before is not None and name.startswith(BEFORE):
                self._view(name, name.removeprefix(BEFORE), self._before)
            else:
                self._view(name, name, self._run)
            self._open.add(name)
        return self._spark.sql(sql).toArrow().to_pylist()

    def reads_whole(self, name: str) -> bool:
        return False

    def _view(self, name: str, table: str, run: PublishedRun) -> None:
        rows = self._spark.read.format("delta").option("versionAsOf", run.versions[table]).load(self._lake.uri(table))
        rows.createOrReplaceTempView(name)


def publish_without(lake: Lake, run_id: str, *gone: tuple[Table, str]) -> None:
    """A run in which rows of these tables are deleted by vectors, as Spark does; builds of few files leave none."""
    last = published(Reader(lake.store))
    run = Run(lake, run_id, stage="test")
    for table, where in gone:
        commit(run, table, mode="delete", where=where)
    recorded = last.versions | {table.name: lake.log(table.name).version for table, _ in gone}
    started_at = pin(run, gone[0][0]).committed_at
    publish(run, (), recorded=recorded, started_at=started_at, repositories=[], pins={}, manifest="{}")
