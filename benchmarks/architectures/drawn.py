"""Models that nobody chose: drawn by a seed from the lists of timm, transformers and diffusers.

transformers: a kind of configuration, then one of the classes that are registered for it. Configurations are made small
by the names of their numbers, with as many layers as it takes to have each kind. The arguments of a call follow from
the names of its parameters. Models that torch cannot run so, or that are too large for a test, are not counted.
"""

from __future__ import annotations

import inspect
import random
import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from benchmarks.architectures.cases import Case

MAX_PARAMETERS = 120_000_000  #: our choice: half a GB of numbers
SHARES = (("timm", 0.45), ("transformers", 0.4), ("diffusers", 0.15))  #: our choice
TASKS = (
    "", "FOR_CAUSAL_LM_", "FOR_MASKED_LM_", "FOR_SEQ_TO_SEQ_CAUSAL_LM_", "FOR_IMAGE_CLASSIFICATION_",
    "FOR_SEMANTIC_SEGMENTATION_", "FOR_DEPTH_ESTIMATION_", "FOR_OBJECT_DETECTION_", "FOR_CTC_",
    "FOR_AUDIO_CLASSIFICATION_", "FOR_TOKEN_CLASSIFICATION_",
)  # fmt: skip
LIBRARIES = ("transformers", "timm", "diffusers")
#: numbers of a configuration by the pattern of their names, at most so large
SMALL = (
    (r"hidden_size|d_model|n_embd|.*embed_dim|embedding_size|dim|.*hidden_dim|word_embed_proj_dim", 256),
    (r".*attention_heads|n_heads?|num_heads|.*linear_num_\w+_heads", 4), (r".*key_value_heads|n_head_kv", 2),
    (r"head_dim|d_kv|attention_head_dim", 64),
    (r".*intermediate_size|.*ffn_dim|n_inner|d_ff|ffn_dim|.*intermediate_dim|feed_forward_proj_dim", 512),
    (r"num_experts|n_routed_experts|num_local_experts|moe_num_experts", 4), (r".*experts_per_tok|moe_topk", 2),
    (r"n_group|topk_group|n_shared_experts", 1), (r"vocab_size|.*_vocab_size", 1000),
    (r"kv_lora_rank|q_lora_rank", 64), (r"qk_nope_head_dim|v_head_dim", 32), (r"qk_rope_head_dim", 16),
    (r"num_(hidden_)?layers|n_layers?|num_(en|de)coder_layers|(en|de)coder_layers|num_single_layers|depth", 2),
    (r"(first_k|num_)dense_(replace|layers)", 1),
)  # fmt: skip
LENGTH, EXTENT, FRAMES = 32, 224, 8


def drawn(seed: int) -> Iterator[Case]:
    """Return cases without end, each once, as a seed draws them; libraries that are not installed are left out."""
    numbers, seen = random.Random(seed), set()
    lists = {library: names for library in LIBRARIES if (names := _names(library))}
    while True:
        library = numbers.choices([name for name, _ in SHARES], [share for _, share in SHARES])[0]
        if library not in lists:
            continue
        name, make = numbers.choice(lists[library])
        found = make(numbers)
        if (name, found[0]) not in seen:
            seen.add((name, found[0]))
            yield Case(library, f"{library}.{found[0]}", found[1])


def _names(library: str) -> list[tuple[str, Any]]:
    """What there is to draw from: names, and how to draw one of its models."""
    try:
        if library == "timm":
            from benchmarks.architectures.vision import _import

            _import()
            import timm

            return [(name, lambda _, name=name: (name, partial(_timm, name))) for name in timm.list_models()]
        if library == "diffusers":
            import diffusers

            kinds = r"\b\w*(?:Transformer\w*D?Model|UNet\w*|Autoencoder\w+|DiT\w*Model|VQModel|ControlNetModel)\b"
            found = re.findall(kinds, " ".join(dir(diffusers)))
            return [(name, lambda _, name=name: (name, partial(_diffusers, name))) for name in sorted(set(found))]
        import transformers.integrations.moe  # noqa: F401  # it declares operators, which a broken torchvision prevents
        from transformers.models.auto import modeling_auto as auto
    except ImportError:
        return []
    kinds: dict[str, set[str]] = {}
    for task in TASKS:
        for kind, names in getattr(auto, f"MODEL_{task}MAPPING_NAMES", {}).items():
            kinds.setdefault(kind, set()).update([names] if isinstance(names, str) else names)

    def one_of(kind: str, rng: random.Random) -> tuple[str, Any]:
        name = rng.choice(sorted(kinds[kind]))
        return name, partial(_transformers, name)

    return [(kind, partial(one_of, kind)) for kind in sorted(kinds)]


def _sized(make: Any) -> Any:
    """A module, if it is of a size that a test can hold."""
    import torch

    with torch.device("meta"):
        count = sum(each.numel() for each in make().parameters())
    if count > MAX_PARAMETERS:
        raise ValueError(f"{count:,} parameters are too many for a test")
    return make().eval()


def _timm(name: str) -> tuple[Any, Any]:
    import timm
    import torch

    module = _sized(lambda: timm.create_model(name, pretrained=False))
    return module, (torch.zeros(1, *module.default_cfg["input_size"]),)


def _small(name: str, number: int) -> int:
    """A number of a configuration, at most as large as its name allows."""
    for pattern, limit in SMALL:
        if re.fullmatch(pattern, name):
            return min(number, limit)
    return number


def shrunk(kind: type) -> Any:
    """Return a configuration of some kind with small numbers, the configurations in it as well."""
    options: dict[str, Any] = {}
    default = kind()
    for name, value in vars(default).items():
        if type(value) is int and _small(name, value) != value:
            options[name] = _small(name, value)
        elif hasattr(value, "to_dict") and hasattr(type(value), "model_type"):
            options[name] = shrunk(type(value)).to_dict()
        elif name in ("depths", "encoder_depths") and isinstance(value, (list, tuple)):
            options[name] = type(value)(min(2, each) for each in value)
    layers = list(getattr(default, "layer_types", None) or [])
    if layers:
        count = max(2, *(layers.index(each) + 1 for each in set(layers)))
        options |= {"num_hidden_layers": count, "layer_types": layers[:count]}
        if getattr(default, "mlp_layer_types", None):
            options["mlp_layer_types"] = list(default.mlp_layer_types)[:count]
    for name in ("pad_token_id", "bos_token_id", "eos_token_id", "decoder_start_token_id"):
        if getattr(default, name, None) is not None:
            options[name] = 1
    return kind(**options)


def _transformers(name: str) -> tuple[Any, Any]:
    import transformers

    kind = getattr(transformers, name)
    try:
        configuration = shrunk(kind.config_class)
        module = _sized(lambda: kind(configuration))
    except Exception:  # numbers that must fit together: as published, with fewer layers
        configuration = kind.config_class()
        for key, value in vars(configuration).items():
            if type(value) is int and re.fullmatch(SMALL[-2][0], key):
                setattr(configuration, key, min(2, value))
        module = _sized(lambda: kind(configuration))
    return module, _call(module, configuration)


def _call(module: Any, configuration: Any) -> dict[str, Any]:
    """The arguments of the usual call: the main input, what decoders start with, no cache."""
    import torch

    names = inspect.signature(module.forward).parameters
    words = torch.ones(1, LENGTH, dtype=torch.int64)
    found: dict[str, Any] = {"use_cache": False} if "use_cache" in names else {}
    main = module.main_input_name if module.main_input_name in names else next(iter(names))
    sides = [configuration, *(value for value in vars(configuration).values() if hasattr(value, "to_dict"))]

    def number(*keys: str, default: int) -> int:
        values = [getattr(side, key, None) for side in sides for key in keys]
        return next((value for value in values if type(value) is int), default)

    extents = (getattr(side, "image_size", None) for side in sides)
    extent = next((each for each in extents if isinstance(each, (int, list, tuple))), EXTENT)
    sizes = [extent, extent] if isinstance(extent, int) else list(extent)[-2:]
    channels = number("num_channels", "in_channels", default=3)
    frames = number("num_frames", "frames_per_clip", default=FRAMES)
    arrays = {
        "input_ids": words,
        "decoder_input_ids": words[:, :8],
        "inputs_embeds": torch.zeros(1, LENGTH, number("hidden_size", default=256)),
        "pixel_values": torch.zeros(1, channels, *sizes),
        "pixel_values_videos": torch.zeros(1, frames, channels, *sizes),
        "input_values": torch.zeros(1, 8000),
        "input_features": torch.zeros(
            1, number("num_mel_bins", "feature_size", default=80), 2 * number("max_source_positions", default=150)
        ),
    }
    needed = [name for name, each in names.items() if each.default is inspect.Parameter.empty]
    wanted = dict.fromkeys(name for name in (main, *needed, "decoder_input_ids") if name in names and name in arrays)
    return {name: arrays[name] for name in wanted} | found


def _diffusers(name: str) -> tuple[Any, Any]:
    import diffusers
    import torch

    kind = getattr(diffusers, name)
    options = {}
    for key, each in inspect.signature(kind.__init__).parameters.items():
        if type(each.default) is int and _small(key, each.default) != each.default:
            options[key] = _small(key, each.default)
    try:
        module = _sized(lambda: kind(**options))
    except Exception:  # numbers that must fit together
        module = _sized(kind)
    given, names = module.config, inspect.signature(module.forward).parameters

    def number(*keys: str, default: int) -> int:
        return next((given[key] for key in keys if type(given.get(key)) is int), default)

    channels, extent = number("in_channels", default=4), number("sample_size", default=32)
    extent = min(extent, 64) if re.match("Autoencoder|VQ", name) else extent  # theirs is that of pictures
    is_clip = "3D" in name or "Video" in name or "Wan" in name
    image = torch.zeros(1, channels, *([5] if is_clip else []), extent, extent)
    widths = "cross_attention_dim", "text_embed_dim", "text_dim", "caption_channels", "joint_attention_dim"
    words = torch.zeros(1, 16, number(*widths, "caption_projection_dim", default=256))
    arrays = {
        **dict.fromkeys(("sample", "x", "hidden_states"), image),
        **dict.fromkeys(("encoder_hidden_states", "prompt_embeds"), words),
        "timestep": torch.tensor([10]),
        "class_labels": torch.tensor([1]),
        "pooled_projections": torch.zeros(1, number("pooled_projection_dim", default=256)),
        "guidance": torch.tensor([1.0]),
        "encoder_attention_mask": torch.ones(1, 16),
        "text_embeds": words[:, 0],
        "added_time_ids": torch.zeros(1, 3),
        "controlnet_cond": torch.zeros(1, 3, 8 * extent, 8 * extent),
        "conditioning_scale": 1.0,
    }
    needed = [key for key, each in names.items() if each.default is inspect.Parameter.empty]
    needed += [key for key in ("timestep", "encoder_hidden_states", "pooled_projections") if key in names]
    needed = [key for key in needed if key in arrays]
    if names.get("hidden_states") and number("patch_size", default=0) == 0 or name.startswith(("Flux", "Chroma")):
        arrays["hidden_states"] = torch.zeros(1, 64, channels)
        arrays |= {"img_ids": torch.zeros(64, 3), "txt_ids": torch.zeros(16, 3)}
        needed += [key for key in ("img_ids", "txt_ids") if key in names]
    return module, {key: arrays[key] for key in needed} | ({"return_dict": False} if "return_dict" in names else {})
