"""Strategies: loops over the faces of criteria, with no knowledge of what is scored."""
