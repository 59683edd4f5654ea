"""The command line: one file for each command; ``fedtheory.__main__`` reads the arguments and calls one of them."""
