"""Scores of explanations in Osprey's rules."""
