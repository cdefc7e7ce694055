"""Times as people type them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


def moment(text: str) -> datetime | None:
    """ISO 8601, UTC unless it says otherwise; None for what is no time. One in seconds is meant to the end of that
    second: so times are shown, and who types one that was shown means what was there by then."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    found = found if found.tzinfo else found.replace(tzinfo=UTC)
    has_fraction = any(mark in text for mark in ".,")
    return found if has_fraction else found + timedelta(seconds=1) - timedelta.resolution
