"""What researchers do with selections: bounds to look at, and how many samples a covariance needs."""
