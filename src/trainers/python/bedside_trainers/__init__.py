"""Python package of Bedside: training engines, the sidecar server, and plugins of trainers that own their process."""

#: Version of the package, which is that of the npm package.
__version__ = "0.1.0"
