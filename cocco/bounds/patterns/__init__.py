"""What the rest of a plan costs at least, from tables of smaller problems: pattern databases."""
