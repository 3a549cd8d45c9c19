"""Measures of dependence between rows of numbers and a target: pure functions of arrays, and what searches ask of them."""
