"""The round loop, its kernels, and its door ``fedtheory.fedavg``."""
