"""Results on disk: writes and reads the contents of run folders and front folders."""
