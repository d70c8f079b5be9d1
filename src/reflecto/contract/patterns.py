"""What the server takes, as far as a regular expression can say it: never less than the server takes.

They keep to what ECMAScript, Python and RE2 read alike: no look-ahead, no flags, no names of character classes.
"""

from typing import Final

# The last character before the padding of canonical base64 carries but 4 or 2 bits.
_LAST_OF_4_BITS: Final = "[AEIMQUYcgkosw048]"
_LAST_OF_2_BITS: Final = "[AQgw]"
BASE64_OF_32_BYTES: Final = f"^[A-Za-z0-9+/]{{42}}{_LAST_OF_4_BITS}=$"
BASE64_OF_64_BYTES: Final = f"^[A-Za-z0-9+/]{{85}}{_LAST_OF_2_BITS}==$"
BASE64URL_OF_16_BYTES: Final = f"^[A-Za-z0-9_-]{{21}}{_LAST_OF_2_BITS}=*$"
BASE64URL_OF_A_POINT: Final = f"^B[A-P][A-Za-z0-9_-]{{84}}{_LAST_OF_4_BITS}=*$"  # its first byte is 4
# A wire blob in base64: its first byte is 1, its version.
BASE64_OF_A_BLOB: Final = "^A[Q-Za-f][A-Za-z0-9+/]{2}([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"
# The 16 characters of a setup code, and what stands between them; O, I and L are read as digits.
SETUP_CODE: Final = r"^[\s-]*([0-9A-TV-Za-tv-z][\s-]*){16}$"
# Not all that is refused: a host must also be one for a browser, see contract/links.py.
WEB_URL: Final = r"^[Hh][Tt][Tt][Pp][Ss]?://[^/?#@\\\s]+([/?#][^\\\s]*)?$"
# Printable ASCII but backslash and #, and no @ in front of the path.
PUSH_ENDPOINT: Final = r'^[Hh][Tt][Tt][Pp][Ss]://[!"$-.0->A-\[\]-~]+([/?][!"$-\[\]-~]*)?$'
NAMES_SOMETHING: Final = r"[^\s,]"  # between commas
_DATE: Final = "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
_HOUR: Final = "([01][0-9]|2[0-3])"
DATE_TIME: Final = rf"^{_DATE}[Tt ]{_HOUR}:[0-5][0-9]:[0-5][0-9](\.[0-9]+)?([Zz]|[+-]{_HOUR}:[0-5][0-9])$"
