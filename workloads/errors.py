"""What the reader of a malformed input gets: one line that names the thing, the rule and the value."""

from __future__ import annotations

import reprlib

_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 80
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxdict = 8
_SHORT.maxlevel = 3


class FileFormatError(ValueError):
    """A file that cannot be read or is not the text it should be: the message names the file and the rule."""


class NetworkError(ValueError):
    """A network that is malformed: the message names the layer, the rule and the value.

    Examples
    --------
    >>> import workloads
    >>> workloads.Builder("tiny").conv("conv1", "image", 16)
    Traceback (most recent call last):
    workloads.errors.NetworkError: network 'tiny' has nothing named 'image' so far
    """


def shown(value: object) -> str:
    """Return the value as a short text on one line, whatever it is: long lists and numbers are cut."""
    try:
        return _SHORT.repr(value)
    except (ValueError, RecursionError):  # Python writes no integer of more than 4300 digits
        return f"a {type(value).__name__} too large to show"


def check_option(network: str, option: str, value: object, multiple: int) -> None:
    """Raise NetworkError unless the option of a built-in network is a positive multiple of a number."""
    if type(value) is not int or value < 1 or value % multiple:
        rule = f"it must be a positive multiple of {multiple}"
        raise NetworkError(f"network {network!r} has {option} {shown(value)}; {rule}")


def check_type(name: str, value: object, kind: type, example: str) -> None:
    """Raise TypeError, one line with an example, unless the argument `name` is of this public class."""
    if not isinstance(value, kind):
        wanted = f"{kind.__module__.partition('.')[0]}.{kind.__name__}, such as {example}"
        raise TypeError(f"{name} must be a {wanted}; got {shown(value)}")


def check_count(name: str, value: object, most: int, unit: str = "") -> None:
    """Raise ValueError, one line, unless a value is an integer from 1 to `most`."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise ValueError(f"{name} must be an integer from 1 to {most}{unit and ' ' + unit}, got {shown(value)}")


def one_line(error: object) -> str:
    """Return the text of an error with its line breaks and runs of blanks as single blanks."""
    return " ".join(str(error).split())
