"""The services. Whatever computes imports this package first: MKL's mode is chosen here, once."""

from shared.process.numerics import ensure_mode

ensure_mode()  # before anything loads MKL, for this process and its children
