"""A name that changes its mind, and where it leads: see `startup/sitecustomize.py`."""

REBINDING = "rebinding.example.test"
OURS = "127.0.0.1"  # allowed to be reached
INSIDE = "127.0.0.2"  # not allowed
INSIDE_SHARE = 0.3  # of the answers that lead there
