"""Networks from other programs: ONNX files and PyTorch modules become layers and folded nodes (docs/importing.md).

views       how the dimensions of an array lie on the rows, columns and channels of a map
sketch      the layers found so far: what folds, what splits, what is left over
combining, sliding, multiplying, moving    the operators, in families; both readers speak to these
onnx_file, onnx_constants, onnx_table      one ONNX file: limits, numbers that shapes need, operator to family
torch_table                                one torch.export graph
"""
