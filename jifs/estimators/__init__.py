"""Information between columns, estimated from statistics."""
