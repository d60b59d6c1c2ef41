"""What comes back: results, fronts, answers under limits, sizes that cost nearly as little, and what is lacking."""
