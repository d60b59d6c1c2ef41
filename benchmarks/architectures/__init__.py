"""Real modules of torchvision, timm, transformers and diffusers from configurations, with random weights.

cases       a case, and all of them by name
vision      torchvision: classifiers, detectors, segmentation, video
timm_models timm: classifiers
language    transformers: text, speech, vision
diffusion   diffusers: U-Nets, transformers, autoencoders

Nothing is downloaded. `python -m benchmarks.import_models` reads them and writes the table of docs/importing.md.
"""
