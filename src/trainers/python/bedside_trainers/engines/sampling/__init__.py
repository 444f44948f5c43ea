"""Sampling: continuous batching of sequences over stored prefixes, and the draw of a token."""
