#!/bin/sh
# Installs locked packages, each checked against its SHA-256, into the environment of a Python:
#   sh requirements/install.sh .venv/bin/python [gateway | metrics | models | embedded | dev | guide | object-storage | openvino | torch-cpu | torch-gpu]...
# No target: all that the service on one machine needs, with the CPU build of torch.
# TORCH=torch-gpu takes the CUDA build instead: about 3 GB more on Linux.
# The locks are complete, so that nothing is resolved; source distributions are built with the
# setuptools of the lock, since what pip fetches to build them with it would not check.
# With COMPILE=later, bytecode is written when a module is first imported: the packages have 24,000
# modules, of which few are. An image, which nobody writes to, needs it from the start.
set -eu
CPU_INDEX=https://download.pytorch.org/whl/cpu # PyPI has no CPU build for Linux
locked() {
    [ "${COMPILE:-}" = later ] && set -- --no-compile "$@"
    "$python" -m pip install --quiet --require-hashes --no-deps --no-build-isolation "$@"
}
torch_cpu() {
    if [ "$(uname -s)" != Linux ]; then # elsewhere PyPI has one build, which needs no CUDA
        locked --requirement requirements/torch-gpu.lock
        return
    fi
    # first from the folders that pip is configured with, then from PyTorch's index
    locked --no-index --requirement requirements/torch-cpu.lock 2>/dev/null ||
        locked --index-url "$CPU_INDEX" --requirement requirements/torch-cpu.lock || {
        echo "The CPU build of torch was not found. Set PIP_EXTRA_INDEX_URL to a mirror of" \
            "$CPU_INDEX, or use the CUDA build: TORCH=torch-gpu" >&2
        exit 1
    }
    # headers and test programs, 190 MB: nothing here compiles extensions
    folder=$("$python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')/torch
    rm -rf "$folder/include" "$folder/test" "$folder"/bin/*[Tt]est* "$folder"/bin/protoc*
}
python=$1
shift
[ $# != 0 ] || set -- "${TORCH:-torch-cpu}" gateway metrics models embedded
locked --requirement requirements/build.lock
torch=
for target; do
    if [ "$target" = torch-cpu ]; then
        torch_cpu & # a third of all bytes, beside the other packages
        torch=$!
    else
        locked --requirement "requirements/$target.lock"
    fi
done
[ -z "$torch" ] || wait "$torch"
"$python" -m pip check
