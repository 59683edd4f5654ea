"""Common parts of all packages: validation of arguments, formatting of messages, console, compiled code."""
