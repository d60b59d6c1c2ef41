"""Video classification over clips: S3D (Xie et al., 2017) and R(2+1)D-18 (Tran et al., 2017), 400 classes.

The models of torchvision 0.29. S3D on 16 frames of 224x224: 17.98 GMAC, 8,320,048 parameters. R(2+1)D-18 on 16 frames
of 112x112: 40.5 GMAC, 31,505,325 parameters; COSMA runs it at 224x224, four times the work.

A clip is the map of its frames, one below the other (frames.py): all bytes and MACs are exact, and whole tensors can be
scheduled; nothing prices these networks in tiles. What does not look at several positions (1x1x1 convolutions) or looks
at all (the last pool) is an ordinary layer on that map.
"""

from __future__ import annotations

from workloads.network.builder import Builder
from workloads.network.layers.frames import Frames
from workloads.network.network import Network

FRAMES = 16
CLASSES = 400
WIDTHS = (64, 128, 256, 512)  #: channels of the stages of R(2+1)D-18; each has two blocks

#: S3D's modules: 1x1; 3x3 reduce, 3x3; 5x5 reduce (its kernels are 3x3 too), 5x5; pool projection (channels)
MODULES = {
    "3a": (64, 96, 128, 16, 32, 32), "3b": (128, 128, 192, 32, 96, 64), "4a": (192, 96, 208, 16, 48, 64),
    "4b": (160, 112, 224, 24, 64, 64), "4c": (128, 128, 256, 24, 64, 64), "4d": (112, 144, 288, 32, 64, 64),
    "4e": (256, 160, 320, 32, 128, 128), "5a": (256, 160, 320, 32, 128, 128), "5b": (384, 192, 384, 48, 128, 128),
}  # fmt: skip


class _Clip:
    """Writes layers over time into a builder; remembers how many frames each map has."""

    def __init__(self, name: str, size: int) -> None:
        self.builder = Builder(name)
        self.clip = self.builder.input("clip", FRAMES * size, size, 3)
        self.frames = {self.clip: FRAMES}

    def spatial(self, name: str, x: str, channels: int, kernel: int, stride: int = 1) -> str:
        """1 x k x k: every frame alone."""
        frames = Frames(self.frames[x])
        return self._made(
            self.builder.conv(name, x, channels, kernel, stride, kernel // 2, frames=frames), frames.outputs
        )

    def temporal(self, name: str, x: str, channels: int, kernel: int, stride: int = 1) -> str:
        """k x 1 x 1: every position alone."""
        frames = Frames(self.frames[x], kernel, stride, kernel // 2)
        return self._made(self.builder.conv(name, x, channels, frames=frames), frames.outputs)

    def pointwise(self, name: str, x: str, channels: int, stride: int = 1) -> str:
        """1 x 1 x 1; with a stride along all three extents."""
        count = self.frames[x]
        over = Frames(count, 1, stride) if stride > 1 else None
        made = self.builder.conv(name, x, channels, stride=stride, frames=over)
        return self._made(made, over.outputs if over else count)

    def maxpool(self, name: str, x: str, time: int, stride: tuple[int, int]) -> str:
        """time x 3 x 3, padded by one within frames and by half the kernel along time."""
        frames = Frames(self.frames[x], time, stride[0], time // 2)
        return self._made(self.builder.maxpool(name, x, 3, stride[1], 1, frames=frames), frames.outputs)

    def add(self, name: str, inputs: list[str]) -> str:
        return self._made(self.builder.add(name, inputs), self.frames[inputs[0]])

    def concat(self, name: str, inputs: list[str]) -> str:
        return self._made(self.builder.concat(name, inputs), self.frames[inputs[0]])

    def classify(self, x: str) -> Network:
        """A pool over the whole clip and a fully connected layer."""
        self.builder.fc("fc", self.builder.global_avgpool("pool", x), CLASSES)
        return self.builder.build()

    def _made(self, name: str, frames: int) -> str:
        self.frames[name] = frames
        return name


def s3d(size: int = 224) -> Network:
    """Return S3D on 16 frames; every 3-D convolution is one within frames and one along time."""
    c = _Clip("s3d", size)
    x = _separable(c, "conv1", c.clip, 64, 7, 2)
    x = c.maxpool("pool1", x, 1, (1, 2))
    x = c.pointwise("conv2_reduce", x, 64)
    x = _separable(c, "conv2", x, 192, 3, 1)
    x = c.maxpool("pool2", x, 1, (1, 2))
    for name, channels in MODULES.items():
        x = _inception(c, f"inception_{name}", x, *channels)
        if name == "3b":
            x = c.maxpool("pool3", x, 3, (2, 2))
        if name == "4e":
            x = c.maxpool("pool4", x, 3, (2, 2))
    return c.classify(x)


def r2plus1d(size: int = 224) -> Network:
    """Return R(2+1)D-18 on 16 frames: ResNet18 with every 3-D convolution taken apart."""
    c = _Clip("r2plus1d", size)
    x = c.temporal("conv1_time", c.spatial("conv1", c.clip, 45, 7, 2), 64, 3)
    for stage, width in enumerate(WIDTHS, start=1):
        for block in (1, 2):
            x = _block(c, f"s{stage}b{block}", x, width, 2 if stage > 1 and block == 1 else 1)
    return c.classify(x)


def _separable(c: _Clip, name: str, x: str, channels: int, kernel: int, stride: int) -> str:
    return c.temporal(f"{name}_time", c.spatial(name, x, channels, kernel, stride), channels, kernel, stride)


def _inception(c: _Clip, name: str, x: str, c1: int, c3r: int, c3: int, c5r: int, c5: int, pool: int) -> str:
    """Four branches over one map, concatenated by channel."""
    y1 = c.pointwise(f"{name}_1x1", x, c1)
    y3 = _separable(c, f"{name}_3x3", c.pointwise(f"{name}_3x3_reduce", x, c3r), c3, 3, 1)
    y5 = _separable(c, f"{name}_5x5", c.pointwise(f"{name}_5x5_reduce", x, c5r), c5, 3, 1)
    yp = c.pointwise(f"{name}_pool_proj", c.maxpool(f"{name}_pool", x, 3, (1, 1)), pool)
    return c.concat(f"{name}_concat", [y1, y3, y5, yp])


def _block(c: _Clip, name: str, x: str, width: int, stride: int) -> str:
    """Two convolutions, each within frames and along time, next to an identity or a projection; then the sum.

    The channels between the two parts keep the parameters of the 3-D convolution (Tran et al., Sec. 3.5); torchvision
    takes for both of a block those of the first.
    """
    channels = c.builder.shape(x)[2]
    middle = channels * width * 27 // (channels * 9 + 3 * width)
    y = c.temporal(f"{name}_a_time", c.spatial(f"{name}_a", x, middle, 3, stride), width, 3, stride)
    y = c.temporal(f"{name}_b_time", c.spatial(f"{name}_b", y, middle, 3), width, 3)
    if stride > 1:
        x = c.pointwise(f"{name}_shortcut", x, width, stride)
    return c.add(f"{name}_add", [y, x])
