"""The version that is installed; "not installed" where this runs from a folder of sources."""

from importlib import metadata

try:
    __version__ = metadata.version("cocco")
except metadata.PackageNotFoundError:
    __version__ = "not installed"
