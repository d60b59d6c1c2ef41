"""One ONNX file: its bytes, its tensors and constants, its operators by name."""
