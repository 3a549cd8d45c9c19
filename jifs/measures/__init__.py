"""Measures of dependence between rows of numbers and a target: functions of arrays, and what a search asks of them."""
