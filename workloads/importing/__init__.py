"""Networks from other programs: files and PyTorch modules become layers and folded nodes (docs/importing.md).

views         how the dimensions of an array lie on the rows, columns and channels of a map
values        what a reader knows of a value: an array on maps, or a constant
sketch        the layers found so far: what folds, what splits, what is left over
families      the operators, in families: sliding, moving, multiplying, combining; both readers speak to these
layer_graph   the format of this project, read and written
onnx          one ONNX file: limits, numbers that shapes need, operator to family
torch         one torch.export graph, operator to family
"""
