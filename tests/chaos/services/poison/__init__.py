"""HateXScore with a text that kills: only the chaos suite serves this metric."""
