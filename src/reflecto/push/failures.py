"""Why a post got no reply, under the same names whatever library finds it."""


class ForbiddenAddressError(Exception):
    """The host has no address that may be connected to."""


class UnreachableError(Exception):
    """No reply came; a later try may get one. The message names the failure."""


class UnsendableError(Exception):
    """The request could never be sent. The message names the failure."""
