"""Which question has which answer: sweeps over many searches, and one script per figure or table (docs/sweeps.md)."""
