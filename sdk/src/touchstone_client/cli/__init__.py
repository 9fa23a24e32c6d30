"""The command line, `touchstone`. It needs the package cyclopts."""

import sys
from importlib.util import find_spec

if find_spec("cyclopts") is None:
    sys.stderr.write(
        "touchstone: the command line needs the package cyclopts; run pip install "
        "'path/to/sdk[cli]'\n"
    )
    raise SystemExit(64)
