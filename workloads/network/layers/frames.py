"""Time: a convolution or pool over the frames of a clip.

Maps have no time axis, because nothing that is tiled needs one. A clip is the map of its frames, one below the other:
height is frames x rows. Kernel, stride, padding and dilation of a layer are those within a frame, and Frames are those
along time; so the bytes of tensors and weights and the MACs are exact. A window over time reads rows of several frames
that lie far apart, which is no window of the stacked map: the simulator refuses such a layer
(model/subgraph/subgraph.py), and scheduling whole tensors, which needs bytes only, takes it. Our choice: a fourth
extent of every map would reach into every rule of the model for two networks.
"""

from __future__ import annotations

from dataclasses import dataclass

from workloads.errors import NetworkError, shown

MAX_FRAMES = 2**16  #: our choice, far above any clip


@dataclass(frozen=True)
class Frames:
    """What one layer does along time; frames are counted, and every frame has the same rows.

    Examples
    --------
    >>> from workloads import Frames
    >>> Frames(16, kernel=3, stride=2, padding=1).outputs
    8
    """

    count: int  #: frames of the operands
    kernel: int = 1  #: frames of a window
    stride: int = 1
    padding: int = 0  #: empty frames before the first, and as many after the last

    @property
    def outputs(self) -> int:
        """Frames of the output; below 1 where the kernel does not fit."""
        return (self.count + 2 * self.padding - self.kernel) // self.stride + 1


def check_frames(name: str, frames: object) -> None:
    """Raise NetworkError unless the numbers are sane and at least one window fits."""
    if not isinstance(frames, Frames):
        raise NetworkError(f"layer {name!r} has frames {shown(frames)}; it must be None or Frames")
    for what, least in (("count", 1), ("kernel", 1), ("stride", 1), ("padding", 0)):
        value = getattr(frames, what)
        if type(value) is not int or not least <= value <= MAX_FRAMES:
            raise NetworkError(
                f"layer {name!r} has frames with {what} {shown(value)}; it must be an integer from {least} to 2**16"
            )
    if frames.outputs < 1:
        raise NetworkError(
            f"layer {name!r} has a window of {frames.kernel} frames, which does not fit on {frames.count} "
            f"with padding {frames.padding}"
        )


def rows_of_a_frame(name: str, height: int, frames: int) -> int:
    """Return the rows of one frame in a map of this many frames; raises NetworkError if the height does not divide."""
    if height % frames:
        raise NetworkError(f"layer {name!r} has {frames} frames on a height of {height}; they must divide it")
    return height // frames
