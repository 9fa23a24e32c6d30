#!/bin/sh
# Installs the locked packages, each checked against its SHA-256, into the environment of a Python:
#   sh install.sh .venv/bin/python [dev]
# The locks are complete, so that nothing is resolved; source distributions are built with the
# setuptools of the lock, since what pip fetches to build them with it would not check.
set -eu
locked() { "$python" -m pip install --quiet --require-hashes --no-deps --no-build-isolation "$@"; }
python=$1
locked --requirement requirements-build.lock
if [ -f requirements-cpu.lock ]; then  # 0.2 GB instead of 3, where pip is told of a folder with it
    locked --no-index --requirement requirements-cpu.lock 2>/dev/null || true
fi
locked --requirement requirements.lock
if "$python" -c "
import importlib.metadata, sys
sys.exit(not any(line.startswith('cuda-') for line in importlib.metadata.requires('torch') or ()))"
then  # a build for GPUs, as on the public index; one for CPUs asks for none of this
    locked --requirement requirements-cuda.lock
fi
if [ "${2:-}" = dev ]; then locked --requirement requirements-dev.lock; fi
"$python" -m pip check
