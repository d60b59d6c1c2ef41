"""Tables, numbers and lines as text."""
