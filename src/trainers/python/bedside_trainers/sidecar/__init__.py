"""The sidecar: an HTTP server that speaks the Tinker wire in front of an engine."""
