"""The definitions, slow and obvious, in NumPy only: what the fast code is compared with. Never imports jifs."""
