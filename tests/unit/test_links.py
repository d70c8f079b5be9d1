"""Where addresses lead: the shared vectors, which the browser's side runs on its own parser."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from reflecto.contract.api_error import ApiError
from reflecto.contract.errors import INVALID_URL
from reflecto.contract.limits import URL_MAX_BYTES
from reflecto.contract.links import Link, read_link, read_web_link
from reflecto.contract.loopback import is_loopback
from reflecto.core.checks import check_web_url
from reflecto.phone.identity import UnusableInvitationError, is_exposed, read_server_url

VECTORS: Final = json.loads((Path(__file__).parents[1] / "vectors" / "links.json").read_text("utf-8"))["vectors"]


@pytest.mark.parametrize("vector", VECTORS, ids=[ascii(vector["url"]) for vector in VECTORS])
def test_a_link_vector_leads_where_it_is_shown_to_lead(vector: dict[str, Any]):
    url = vector["url"]
    link = None if vector["scheme"] is None else Link(vector["scheme"], vector["target"])
    assert read_link(url) == link
    assert link is None or link.target.isascii()
    is_web = link is not None and link.scheme in {"http", "https"}
    assert read_web_link(url) == (link if is_web else None)


@pytest.mark.parametrize("vector", VECTORS, ids=[ascii(vector["url"]) for vector in VECTORS])
def test_the_server_takes_what_phones_show_as_a_link_to_the_web(vector: dict[str, Any]):
    url = vector["url"]
    if vector["scheme"] in {"http", "https"}:
        check_web_url(url, URL_MAX_BYTES, INVALID_URL)
    else:
        with pytest.raises(ApiError):
            check_web_url(url, URL_MAX_BYTES, INVALID_URL)


@pytest.mark.parametrize("url", ["https://bank.example/\ud800", "https://\udc00.example/"])
def test_half_a_pair_of_surrogates_is_no_link(url: str):
    assert read_link(url) is None


@pytest.mark.parametrize(
    "url",
    [
        "https://reflecto.example@evil.example",
        "http://evil.example\\@reflecto.example",
        "https:///reflecto.example",
        "https://reflecto.example/?x",
        "https://reflecto.example/#",
        "https://reflecto.example/a b",
        "homeassistant://reflecto",
    ],
)
def test_a_phone_enrols_at_an_address_only_that_leads_where_it_seems_to(url: str):
    with pytest.raises(UnusableInvitationError):
        read_server_url(url)


@pytest.mark.parametrize(
    ("url", "exposed"),
    [
        ("http://127.0.0.1:8080", False),
        ("http://localhost:8080", False),
        ("http://[::1]:8080", False),
        ("HTTP://127.evil.example", True),
        ("http://127.0.0.1.evil.example", True),
        ("http://nas.example", True),
        ("https://nas.example", False),
    ],
)
def test_a_name_that_begins_like_this_machine_is_not_this_machine(url: str, *, exposed: bool):
    assert is_exposed(url) == exposed
    assert url.startswith("https") or is_loopback(url) != exposed
