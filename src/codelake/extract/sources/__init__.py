"""Where Python files come from: working trees, git revisions, archives."""

from codelake.extract.sources.distributions import Distribution, MetadataProblem, distributions, import_names
from codelake.extract.sources.metadata import Declared
from codelake.extract.sources.model import Reason, SourceFile
from codelake.extract.sources.modules import module_names
from codelake.extract.sources.open import MAX_FILE_BYTES, commits_between, open_source, open_sources, read_list
from codelake.extract.sources.source import Source

__all__ = [
    "MAX_FILE_BYTES",
    "Declared",
    "Distribution",
    "MetadataProblem",
    "Reason",
    "Source",
    "SourceFile",
    "commits_between",
    "distributions",
    "import_names",
    "module_names",
    "open_source",
    "open_sources",
    "read_list",
]
