"""The one exception that means: the user can mend this."""


class UserError(Exception):
    """A user's mistake, told in one line: what is wrong, where, and what to do.

    Commands print it on stderr without a traceback and exit with status 2.
    """
