"""The commands of the command line, one file each; ``fedtheory.__main__`` reads the arguments and calls one of them."""
