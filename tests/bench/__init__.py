"""The benchmark: `python -m tests.bench [--quick] [--only NAME]`, or `make bench`. Nothing here is a test."""
