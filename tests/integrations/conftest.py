from tests.delta.conftest import historic, history_made
from tests.query.conftest import shop

__all__ = ["historic", "history_made", "shop"]
