"""Reports of other tools, read: what they claim of names and calls, by spans in raw bytes and by codelake's ids."""

from codelake.extract.claims.placing import Claimed, claimed
from codelake.extract.claims.pyrefly import open_pyrefly
from codelake.extract.claims.report import Report
from codelake.extract.claims.scip import open_scip

__all__ = ["Claimed", "Report", "claimed", "open_pyrefly", "open_scip"]
