"""Decoder-only language models: what their public configurations say, and the steps of prefill and decode."""
