"""Networks made of networks: resized, repeated, in blocks, concatenations rewritten."""
