"""Random tiny models of the architecture and configuration of known ones, made on the spot."""
