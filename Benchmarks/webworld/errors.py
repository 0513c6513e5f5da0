"""Errors that end the command with a message."""


class BenchmarkError(Exception):
    """A failure whose message says what to do. The command prints the message without a traceback."""
