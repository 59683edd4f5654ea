"""The command line, one file per command; ``fedtheory.__main__`` parses the arguments and calls a command."""
