"""The services. Every process that computes imports this package first, because it sets MKL's
mode."""

from shared.process.numerics import ensure_mode

ensure_mode()  # before anything loads MKL, for this process and its children
