"""What a folder says, computed again from its plans."""
