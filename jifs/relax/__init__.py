"""The best k of n features for a quadratic form: bounds with certificates, local search, exact optimum."""
