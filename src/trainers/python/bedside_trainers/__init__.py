"""The Python side of Bedside: what has to run where the weights are."""
