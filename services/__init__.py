"""The services. Import this package first in every process that computes, because it sets the mode
of MKL, Intel's math library."""

from shared.process.numerics import ensure_mode

ensure_mode()  # before anything loads MKL, for this process and its children
