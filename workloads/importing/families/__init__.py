"""Operators in families; both readers, ONNX and PyTorch, speak to these."""
