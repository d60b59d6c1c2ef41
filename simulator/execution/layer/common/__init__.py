"""What every order of an executed layer works with: its problem, plan, chip and windows."""
