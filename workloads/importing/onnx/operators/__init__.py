"""What each operator of ONNX is in a network."""
