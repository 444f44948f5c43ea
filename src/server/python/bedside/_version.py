"""The version of this package: the same as of the npm package whose server it speaks to."""

__version__ = "0.1.0"
