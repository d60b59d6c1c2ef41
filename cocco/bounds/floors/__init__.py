"""What no plan undercuts, in milliseconds: by layer, by tensor, by buffer."""
