"""The answers as tables and sentences for people."""
