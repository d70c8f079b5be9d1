"""Encryption and identity by themselves: the RFC's example, bounds, the contact, the key in the data folder."""

import json
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from reflecto.bootstrap import open_services
from reflecto.config import ConfigError, Settings, load_settings
from reflecto.crypto.webpush import VapidKeys, encrypt, is_point
from reflecto.data_folder import DataFolderError
from reflecto.push.sender import seconds_of
from reflecto.push.vapid import Vapid, contact_for, origin_of
from tests.builders import NOW
from tests.push.subscriber import Subscriber, check_vapid, from_base64url, to_base64url

# RFC 8291, section 5 and appendix A.
RFC_PLAINTEXT = b"When I grow up, I want to be a watermelon"
RFC_SENDER_SECRET = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
RFC_RECEIVER_POINT = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
RFC_AUTH = "BTBZMqHH6r4Tts7J_aSIgg"
RFC_SALT = "DGv6ra1nlYgDCS1FRnbzlw"
RFC_BODY = (
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6Tlz"
    "AC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
)


def test_the_example_of_rfc_8291_comes_out_to_the_byte():
    secret = int.from_bytes(from_base64url(RFC_SENDER_SECRET), "big")
    body = encrypt(
        RFC_PLAINTEXT,
        from_base64url(RFC_RECEIVER_POINT),
        from_base64url(RFC_AUTH),
        salt=from_base64url(RFC_SALT),
        sender_key=ec.derive_private_key(secret, ec.SECP256R1()),
    )
    assert body == from_base64url(RFC_BODY)


@pytest.mark.parametrize("size", [1, 3_992, 3_993])
def test_up_to_3993_bytes_become_at_most_4096_and_come_back(size: int):
    subscriber = Subscriber("https://push.example/a")
    body = encrypt(b"\x02" * size, subscriber.point, subscriber.auth)
    assert len(body) == size + 103 <= 4096
    assert subscriber.decrypt(body) == b"\x02" * size


@pytest.mark.parametrize("size", [0, 3_994])
def test_nothing_and_more_than_3993_bytes_are_refused(size: int):
    subscriber = Subscriber("https://push.example/a")
    with pytest.raises(ValueError, match="fit"):
        encrypt(b"x" * size, subscriber.point, subscriber.auth)


def test_only_uncompressed_points_of_the_curve_are_keys():
    point = Subscriber("https://push.example/a").point
    assert is_point(point)
    assert not is_point(point[:-1])
    assert not is_point(point[:33])
    assert not is_point(b"\x04" + b"\x01" * 64)
    assert not is_point(bytes(65))


@pytest.mark.parametrize(
    ("endpoint", "origin"),
    [
        ("https://push.example/a/b?c", "https://push.example"),
        ("https://push.example:443/a", "https://push.example"),
        ("https://push.example:8443/a", "https://push.example:8443"),
        ("https://PUSH.example/a", "https://push.example"),
        ("https://[2001:db8::1]:99/a", "https://[2001:db8::1]:99"),
        ("http://127.0.0.1:80/a", "http://127.0.0.1"),
    ],
)
def test_the_audience_is_the_origin_of_the_endpoint(endpoint: str, origin: str):
    assert origin_of(endpoint) == origin
    claims, _ = check_vapid(Vapid(VapidKeys.generate(), "mailto:a@b.example").authorization(endpoint, NOW))
    assert claims == {"aud": origin, "exp": NOW + 43_200, "sub": "mailto:a@b.example"}


def test_two_push_services_get_tokens_of_their_own():
    vapid = Vapid(VapidKeys.generate(), "mailto:a@b.example")
    first, second = (vapid.authorization(f"https://{name}.example/x", NOW) for name in ("one", "two"))
    assert first != second
    assert vapid.authorization("https://one.example/y", NOW + 1) == first


@pytest.mark.parametrize(
    ("public_url", "contact"),
    [
        ("https://reflecto.example/", "https://reflecto.example"),
        ("https://reflecto.example:8443", "https://reflecto.example:8443"),
        ("http://reflecto.example", "mailto:reflecto@localhost"),
        (None, "mailto:reflecto@localhost"),
    ],
)
def test_the_contact_is_the_public_address_where_there_is_one(public_url: str | None, contact: str):
    assert contact_for(public_url) == contact


@pytest.mark.parametrize("value", ["me@example.org", "http://example.org", ""])
def test_a_contact_that_is_no_address_is_refused(value: str):
    with pytest.raises(ConfigError, match="push_contact"):
        load_settings({"push_contact": value}, environ={})


@pytest.mark.parametrize(("value", "seconds"), [("7", 7), ("", 0), ("1e3", 0), ("9" * 12, 0), ("Thu, 99", 0)])
def test_a_retry_after_that_makes_no_sense_asks_for_nothing(value: str, seconds: float):
    assert seconds_of(value, NOW) == seconds


async def test_the_key_is_made_at_first_start_only_for_its_owner_to_read_and_kept(tmp_path: Path):
    keys = []
    for _ in range(2):
        services = await open_services(Settings(data=tmp_path))
        keys.append(services.push_key)
        await services.store.close()
    assert keys[0] == keys[1]
    assert len(from_base64url(keys[0])) == 65
    file = tmp_path / "vapid.key"
    assert file.stat().st_mode & 0o777 == 0o600
    assert to_base64url(bytes.fromhex(file.read_text("ascii"))) not in json.dumps(keys)


@pytest.mark.parametrize("content", ["", "zz" * 32, "11" * 31, "00" * 32, "ff" * 32])
async def test_a_damaged_key_is_refused_by_its_name(tmp_path: Path, content: str):
    (tmp_path / "vapid.key").write_text(content, "ascii")
    with pytest.raises(DataFolderError, match=r"vapid\.key"):
        await open_services(Settings(data=tmp_path))
