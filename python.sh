#!/bin/sh
# sh python.sh PYTHON FOLDER: a virtual environment, or the reason why there can be none.
# Which versions: those that every pin of requirements.lock can be installed for.
set -eu
if [ -z "$1" ]; then
    echo "Touchstone needs Python 3.11, 3.12 or 3.13 with its venv module, and finds none." >&2
    echo "Install one, or name it: make PYTHON=/path/to/python3.12 $(basename "$2" | tr -d .)" >&2
    exit 1
fi
version=$("$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])') || {
    echo "$1 does not run" >&2
    exit 1
}
case "$version" in
3.11 | 3.12 | 3.13) echo "using $(command -v "$1"), Python $version, in $2" ;;
*)
    echo "$1 is Python $version; Touchstone needs 3.11, 3.12 or 3.13" >&2
    exit 1
    ;;
esac
"$1" -m venv "$2"
