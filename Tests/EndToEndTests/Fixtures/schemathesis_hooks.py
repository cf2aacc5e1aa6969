"""Teaches schemathesis to send events as lines."""

import schemathesis


@schemathesis.serializer("application/x-ndjson")
def lines(ctx, value):
    text = value if isinstance(value, str) else str(value)
    return text.encode("utf-8", errors="replace")
