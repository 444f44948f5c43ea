"""Python package of Bedside: training engines and the sidecar server."""
