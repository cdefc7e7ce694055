from __future__ import annotations

import pytest

from codelake.extract.sources import module_names
from codelake.extract.sources.modules import root_package

LAYOUTS: dict[str, dict[str, str | None]] = {
    "django": {
        "pyproject.toml": None,
        "django/__init__.py": "django",
        "django/__main__.py": "django.__main__",
        "django/db/__init__.py": "django.db",
        "django/db/models/__init__.py": "django.db.models",
        "django/db/models/query.py": "django.db.models.query",
        "django/migrations/__init__.py": "django.migrations",
        "django/migrations/0001_initial.py": "django.migrations.0001_initial",
        "django/migrations/a b.py": None,
        "django/migrations/a.b.py": None,
        "django/no_init/0001_initial.py": None,
        "django/conf/app_template/views.py-tpl": None,
        "docs/conf.py": "docs.conf",
        "scripts/manage_translations.py": "scripts.manage_translations",
        "tests/runtests.py": "runtests",
        "tests/admin_views/__init__.py": "admin_views",
        "tests/admin_views/models.py": "admin_views.models",
        "tests/admin_views/no_init/deep.py": "admin_views.no_init.deep",
        "tests/gis_tests/rasterapp/__init__.py": "rasterapp",
    },
    "src layout": {
        "pyproject.toml": None,
        "noxfile.py": "noxfile",
        "src/pkg/__init__.py": "pkg",
        "src/pkg/mod.py": "pkg.mod",
        "src/pkg/mod.pyi": "pkg.mod",
        "src/pkg/gui.pyw": "pkg.gui",
        "src/single.py": "single",
        "tests/test_mod.py": "tests.test_mod",
        "tests/unit/test_deep.py": "tests.unit.test_deep",
    },
    "src that is a package": {
        "pyproject.toml": None,
        "src/__init__.py": "src",
        "src/app/main.py": "src.app.main",
    },
    "namespace, src": {
        "pyproject.toml": None,
        "src/zope/interface/__init__.py": "zope.interface",
        "src/zope/interface/adapter.py": "zope.interface.adapter",
        "src/zope/loose.py": "zope.loose",
    },
    "namespace, flat": {
        "setup.py": "setup",
        "google/cloud/storage/__init__.py": "google.cloud.storage",
        "google/cloud/storage/blob.py": "google.cloud.storage.blob",
        "google/cloud/version.py": "google.cloud.version",
        "tests/unit/__init__.py": "unit",
    },
    "monorepo": {
        "README.md": None,
        "libs/a/pyproject.toml": None,
        "libs/a/src/a/__init__.py": "a",
        "libs/a/src/a/x.py": "a.x",
        "libs/a/tests/test_x.py": "tests.test_x",
        "libs/b/setup.cfg": None,
        "libs/b/b/__init__.py": "b",
        "libs/b/b/y.py": "b.y",
        "libs/c/src/c.py": "c",
        "services/pay/pay/__init__.py": "pay",
        "services/pay/main.py": "main",
        "web/manage.py": "manage",
        "web/shop/models.py": "shop.models",
        "sdk/azure-storage-blob/azure/storage/__init__.py": "azure.storage",
    },
    "scripts": {
        "one.py": "one",
        "my-script.py": None,
        "a.b.py": None,
        "2to3.py": None,
        "class.py": "class",
        "été.py": "été",
        "tool": None,
        "__main__.py": "__main__",
        "my-tools/x.py": "x",
        "my-tools/sub/y.py": "sub.y",
        ".github/scripts/z.py": "scripts.z",
    },
    "nested tests": {
        "setup.py": "setup",
        "pkg/__init__.py": "pkg",
        "pkg/tests/__init__.py": "pkg.tests",
        "pkg/tests/data/helper.py": "pkg.tests.data.helper",
        "pkg/tests/data/inner/__init__.py": "pkg.tests.data.inner",
        "pkg/src/x.py": "pkg.src.x",
        "tests/__init__.py": "tests",
        "tests/a/__init__.py": "tests.a",
        "tests/a/test_a.py": "tests.a.test_a",
        "tests/fixtures/project/setup.py": "setup",
        "tests/fixtures/project/inner/__init__.py": "inner",
    },
    "setup.py in packages": {
        "setup.py": "setup",
        "numpy/__init__.py": "numpy",
        "numpy/setup.py": "numpy.setup",
        "numpy/linalg/__init__.py": "numpy.linalg",
        "numpy/linalg/setup.py": "numpy.linalg.setup",
        "numpy/linalg/x.py": "numpy.linalg.x",
    },
    "site-packages": {
        "pandas-2.0.dist-info/METADATA": None,
        "pandas/pyproject.toml": None,
        "pandas/__init__.py": "pandas",
        "google/cloud/x/__init__.py": "google.cloud.x",
        "tests/helpers/__init__.py": "tests.helpers",
        "foo-stubs/__init__.pyi": "foo",
        "foo-stubs/sub/a.pyi": "foo.sub.a",
        "six-1.0.data/purelib/six.py": "six",
        "six-1.0.data/purelib/ns/mod.py": "ns.mod",
    },
    "a package called like no package": {
        "my-pkg/__init__.py": None,
        "my-pkg/mod.py": "mod",
    },
    "an __init__ beside setup.py": {
        "setup.py": "setup",
        "__init__.py": None,
        "pkg/__init__.py": "pkg",
    },
    "typeshed": {
        "pyproject.toml": None,
        "stdlib/os/__init__.pyi": "os",
        "stdlib/abc.pyi": "abc",
        "stubs/six/METADATA.toml": None,
        "stubs/six/six.pyi": "six",
        "stubs/requests/requests/__init__.pyi": "requests",
    },
    "lib and python": {
        "python/pyspark/__init__.py": "pyspark",
        "python/pyspark/sql/x.py": "pyspark.sql.x",
        "Lib/os.py": "os",
        "other/lib/x.py": "other.lib.x",
    },
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layout(layout: str) -> None:
    expected = LAYOUTS[layout]
    assert module_names(expected) == expected


@pytest.mark.parametrize("layout", LAYOUTS)
def test_names_do_not_depend_on_the_order_of_paths(layout: str) -> None:
    expected = LAYOUTS[layout]
    assert module_names(reversed(list(expected))) == expected


def test_root_that_is_a_package() -> None:
    paths = ["__init__.py", "sql/__init__.py", "sql/types.py", "data/x.py", "src/y.py"]
    names = ["pyspark", "pyspark.sql", "pyspark.sql.types", "pyspark.data.x", "pyspark.src.y"]
    assert list(module_names(paths, package="pyspark").values()) == names
    assert module_names(paths)["__init__.py"] is None
    assert module_names(["sql/types.py"], package="pyspark") == {"sql/types.py": "sql.types"}


def test_name_of_a_root_includes_the_packages_above() -> None:
    files = {"site/pkg/__init__.py", "site/pkg/sub/__init__.py", "repo/__init__.py", "repo/pyproject.toml"}

    def name(folder: str) -> str:
        return root_package(folder.split("/"), lambda parts, file: "/".join([*parts, file]) in files)

    assert name("site/pkg") == "pkg"
    assert name("site/pkg/sub") == "pkg.sub"
    assert name("site/pkg/sub/deep") == "pkg.sub.deep"
    assert name("repo/inner") == "inner"
    assert name("my-repo") == ""
    assert name("foo-stubs") == "foo"
    assert root_package([], lambda parts, file: True) == ""
