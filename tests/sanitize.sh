#!/usr/bin/env bash
# Build the compiled engines with AddressSanitizer and UndefinedBehaviorSanitizer and with checked bounds in a copy, and
# run their tests there:
#   bash tests/sanitize.sh [PYTHON [short|all|build [FOLDER]]]
# needs gcc (else it says that it is skipped), and a Python with the test extra, cython and setuptools.
# short (default): the selection of .ci/run, 2 minutes; all: more networks, and all tests of the engines, half an hour;
# build: the engines only, in this folder, which may be a copy already, and where the others then find them.
set -euo pipefail

python=${1:-python3} what=${2:-short} work=${3:-}
if ! command -v gcc > /dev/null || [ ! -e "$(gcc -print-file-name=libasan.so)" ]; then
    echo "skipped: there is no gcc with sanitizers here"
    exit 0
fi
checkout=$(cd "$(dirname "$0")/.." && pwd)
if [ -z "$work" ]; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
fi
if [ ! -e "$work/setup.py" ]; then
    mkdir -p "$work"
    cd "$checkout"
    git ls-files -z --cached --others --exclude-standard | tar --create --null --no-recursion --files-from - \
        | tar --extract --directory "$work"
fi
cd "$work"
if [ ! -e built ]; then
    sed -i 's/"-O2", "-g0"/"-O1"/' setup.py
    sed -i '1s/boundscheck=False/boundscheck=True, show_performance_hints=False/; 1s/initializedcheck=False/initializedcheck=True/' \
        cocco/search/kernel/*.pyx cocco/allocation/compiled/*.pyx
    CFLAGS="-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -g1 -w" \
        "$python" setup.py -q build_ext --inplace --force --parallel 2
    touch built
fi
[ "$what" != build ] || exit 0

export LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so)"
# the interpreter keeps memory until it ends, so leaks are not looked for
export ASAN_OPTIONS=detect_leaks=0:abort_on_error=1 UBSAN_OPTIONS=print_stacktrace=1 PYTHONPATH="$work" PYTHONMALLOC=malloc
kernel=tests/cocco/search/kernel
chosen=(tests/cocco/search/kernel/test_many.py)
case "$what" in
    short)
        # with the first: generations, settling, enumeration, exact search, patterns, alike tensors, allocation
        chosen+=(tests/cocco/bounds/test_alike.py tests/cocco/allocation/test_ejection.py) ;;
    all)
        chosen+=(
            $kernel tests/cocco/search/baselines tests/cocco/search/keeping tests/cocco/search/pricing
            tests/cocco/bounds/test_alike.py tests/cocco/bounds/test_kept_patterns.py tests/cocco/bounds/test_kept.py
            tests/cocco/exploration/test_methods.py tests/cocco/exploration/searching/test_polish.py tests/cocco/allocation
        )
        export MANY_NETWORKS=400 ;;
    *) echo "tests/sanitize.sh: short, all or build, not $what" >&2; exit 2 ;;
esac
# a check of bounds that fails where nothing may be raised is a warning
"$python" -m pytest -q -p no:cacheprovider -W error::pytest.PytestUnraisableExceptionWarning "${chosen[@]}"
