"""Where batches of rows come from; each source reduces its rows to a statistic."""
