#!/bin/sh
# A first install: seconds and megabytes of `make demo` in a new clone of the last commit. `sh bench/install.sh` takes
# packages from pip's cache; with PIP_NO_CACHE_DIR=1 pip downloads each of them.
set -eu
repository=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
git clone --quiet "$repository" "$folder/touchstone"
cd "$folder/touchstone"
for target in .venv/runtime demo; do
    start=$(date +%s)
    make "$target" >"$folder/printed" 2>&1 || { cat "$folder/printed"; exit 1; }
    echo "make $target: $(($(date +%s) - start)) s"
done
echo "megabytes installed, and of the largest packages:"
du -sm .venv
du -sm .venv/lib/python*/site-packages/* | sort -rn | head -8
