"""Refusals name a field of the API; here they are turned into sentences about the option that was typed."""

from typing import Final

import click

# The API's name for a field, and a command's name for the parameter that carries it, where they differ.
_PARAMETERS: Final = {
    "idempotency_key": "key",
    "url": "link",
    "url_title": "link_title",
    "filename": "name",
    "content": "path",
}
# What is said in other units, or of other options too, than on the command line.
_RULES: Final = {
    "invalid_expires_in": "must be 1m to 1d",
    "invalid_duration": "must be 5s to 2m",
    "invalid_ttl": "must be a length of time",
    "invalid_url_title": "must be 1 to 100 bytes and needs --link",
    "invalid_choices": "must be given 2 to 4 times, with different labels of 1 to 100 characters, none of them blank",
    "invalid_action": "must be LABEL=URL, up to 3 times: 1 to 40 bytes, and an http or https URL of at most 512 bytes",
    "invalid_tags": "must be a short label",
    "invalid_at": "must be 60 seconds to 365 days ahead",
}


def in_words_of(command: click.Command, code: str, message: str) -> str:
    """Return the server's message about a field, said of the command's own option or argument."""
    field, _, rule = message.partition(" ")
    wanted = {field, _PARAMETERS.get(field, field)}
    for parameter in command.params:
        if parameter.name in wanted and rule.startswith("must "):
            return f"{_written(parameter)} {_RULES.get(code, rule)}"
    return message


def _written(parameter: click.Parameter) -> str:
    if isinstance(parameter, click.Argument):
        return parameter.make_metavar(click.Context(click.Command(None))).strip("[]")
    return max(parameter.opts, key=len)
