"""One PyTorch module, as torch.export sees it."""
