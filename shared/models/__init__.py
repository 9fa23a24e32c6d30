"""Models behind ports: protocols, the models behind them, and the catalogue of models."""
