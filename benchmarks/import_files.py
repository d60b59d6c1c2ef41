"""Read ONNX files that packages ship, as a user of the shell does: with the extents that the messages ask for.

    pip download --no-deps --dest FOLDER basic-pitch==0.4.0 ...      (the packages are in the reference)
    python -m benchmarks.import_files FOLDER [--out FILE]
    python -m benchmarks.import_files --page [--out FILE]

Of each network that loads, a partition at 2 MB is searched and executed as in `benchmarks.import_models`. FILE has one
JSON object per ONNX file. --page writes the table of docs/importing.md from it.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from zipfile import ZipFile

import workloads
from benchmarks.architectures.tables import HERE, PAGE, Row, on_page, read_rows
from benchmarks.import_models import planned, write_rows

REFERENCE = HERE / "files.jsonl"
#: extents by the end of a package and file: of images as the package feeds them, and a second of sound
EXTENTS = {
    "ddddocr/common.onnx": {"image_width": 160},
    "ddddocr/common_old.onnx": {"image_width": 160},
    "nudenet/320n.onnx": {"height": 320, "width": 320},
    "models/ch_PP-OCRv4_det_infer.onnx": {"p2o.DynamicDimension.1": 640, "p2o.DynamicDimension.2": 640},
    "models/ch_PP-OCRv4_rec_infer.onnx": {"x.2": 48, "x.3": 320},
    "models/ch_ppocr_mobile_v2.0_cls_infer.onnx": {"x.2": 48, "x.3": 192},
    "data/silero_vad.onnx": {"input.1": 512, "state.1": 1},
    "data/silero_vad_16k_op15.onnx": {"sequence": 512},
    "data/silero_vad_half.onnx": {"sequence": 512},
    "data/silero_vad_op18_ifless.onnx": {"sequence": 512},
    "swift_f0/model.onnx": {"samples": 16000},
}
SOUND = "onnx_asr/preprocessors/data/"  #: of these N is the number of samples
SECOND = {"N": 16000}


def extents_of(name: str) -> dict[str, int]:
    """Return the extents that the file is read with: none unless they are listed."""
    return next((given for end, given in EXTENTS.items() if name.endswith(end)), SECOND if SOUND in name else {})


def answer_of(path: Path, name: str) -> Row:
    """Return what became of one ONNX file, as plain data."""
    given, started = extents_of(name), time.process_time()
    found: Row = {"name": name, "extents": given}
    try:
        network = workloads.load(path, extents=given, masks="none")
    except workloads.NetworkError as error:
        return found | {"status": "refused", "why": str(error).split(": ", 1)[-1]}
    found |= {"status": "loaded", "seconds": round(time.process_time() - started, 2), "layers": len(network.layers)}
    return found | {"macs": network.macs, "weights": network.weight_bytes} | planned(network)


def main() -> None:
    """Read the ONNX files of all wheels of a folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", metavar="FOLDER", type=Path, nargs="?")
    parser.add_argument("--out", metavar="FILE", type=Path, default=REFERENCE)
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args()
    if options.page:
        rows = list(read_rows(options.out).values())
        PAGE.write_text(on_page(PAGE.read_text(encoding="utf-8"), "files", rows), "utf-8")
        return
    rows = {}
    for wheel in sorted(options.folder.glob("*.whl")):
        package = "-".join(wheel.name.split("-")[:2])
        with ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as scratch:
            for member in sorted(name for name in archive.namelist() if name.endswith(".onnx")):
                row = answer_of(Path(archive.extract(member, scratch)), f"{package}: {member}")
                print(row, flush=True)
                rows[row["name"]] = row
    write_rows(options.out, rows)


if __name__ == "__main__":
    main()
