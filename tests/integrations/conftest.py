from tests.delta.conftest import historic, history_made

__all__ = ["historic", "history_made"]
