#!/bin/sh
# Installs locked packages, each checked against its SHA-256, into the environment of a Python:
#   sh requirements/install.sh .venv/bin/python [gateway | metrics | models | embedded | dev | guide | object-storage | openvino | torch-cpu | torch-gpu]...
# No target: all that the service on one machine needs, with the torch that suits the machine.
# The locks are complete, so that nothing is resolved; source distributions are built with the
# setuptools of the lock, since what pip fetches to build them with it would not check.
# With COMPILE=later, bytecode is written when a module is first imported: the packages have 24,000
# modules, of which few are. An image, which nobody writes to, needs it from the start.
set -eu
locked() {
    [ "${COMPILE:-}" = later ] && set -- --no-compile "$@"
    "$python" -m pip install --quiet --require-hashes --no-deps --no-build-isolation "$@"
}
torch() {
    # 0.2 GB instead of 3, where pip is told of a folder with it
    locked --no-index --requirement requirements/torch-cpu.lock 2>/dev/null && return
    alone=$(mktemp)
    awk '/^torch==/ {found = 1} found {print} found && !/\\$/ {exit}' requirements/torch-gpu.lock > "$alone"
    locked --requirement "$alone"
    rm -f "$alone"
    if "$python" -c "
import importlib.metadata, sys
sys.exit(not any(line.startswith('cuda-') for line in importlib.metadata.requires('torch') or ()))"
    then  # a build for GPUs; one for CPUs asks for none of this
        locked --requirement requirements/torch-gpu.lock
    fi
}
python=$1
shift
[ $# != 0 ] || set -- gateway metrics models embedded torch
locked --requirement requirements/build.lock
for target; do
    if [ "$target" = torch ]; then torch; else locked --requirement "requirements/$target.lock"; fi
done
"$python" -m pip check
