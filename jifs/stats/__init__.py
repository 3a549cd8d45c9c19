"""What can be counted on a batch of rows and merged with another: statistics, and the desk that remembers them."""
