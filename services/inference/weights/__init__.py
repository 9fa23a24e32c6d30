"""Weights in memory and the queue before their device: for every service that holds models."""
