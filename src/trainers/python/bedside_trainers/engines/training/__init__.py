"""Training passes: micro-batches, losses, gradients and the optimiser."""
