"""What every package uses: checks of arguments, words of messages, the console, compiled code."""
