#!/usr/bin/env bash
# Build the compiled engines with AddressSanitizer and UndefinedBehaviorSanitizer in a copy, and run their tests there:
#   bash tests/sanitize.sh [PYTHON]        needs gcc, and a Python with the test extra, cython and setuptools
set -euo pipefail

python=${1:-python3}
checkout=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$checkout"
git ls-files -z --cached --others --exclude-standard | tar --create --null --no-recursion --files-from - \
    | tar --extract --directory "$work"
cd "$work"

export CFLAGS="-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -g -O1"
"$python" setup.py -q build_ext --inplace --force
export LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so)"
# the interpreter keeps memory until it ends, so leaks are not looked for
export ASAN_OPTIONS=detect_leaks=0:abort_on_error=1 UBSAN_OPTIONS=print_stacktrace=1 PYTHONPATH="$work" PYTHONMALLOC=malloc
"$python" -m pytest -p no:cacheprovider tests/cocco/search/kernel/test_kernel.py tests/cocco/search/kernel/test_cheapest.py \
    tests/cocco/search/kernel/test_language.py tests/cocco/exploration/test_methods.py tests/cocco/exploration/test_polish.py \
    tests/cocco/allocation/test_search.py tests/cocco/allocation/test_ejection.py
