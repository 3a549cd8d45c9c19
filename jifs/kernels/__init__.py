"""Compiled loops: arrays in, arrays out; each has its slow twin in tests/naive."""
