"""The scripts and the style of the page."""
