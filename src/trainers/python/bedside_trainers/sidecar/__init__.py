"""The sidecar: a server that speaks the Tinker wire in front of an engine."""
