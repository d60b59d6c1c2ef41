"""What to keep on chip between the steps of a given partition in a given order."""
