"""What is computed: networks as checked graphs of layers. Built-in ones by name, others from files.

network = workloads.load("resnet50")            # or a path: layer-graph/1 (.json), ONNX (.onnx)
network = workloads.from_torch(module, (image,))
"""

from workloads.faces import face

__getattr__, __dir__ = face(globals())
