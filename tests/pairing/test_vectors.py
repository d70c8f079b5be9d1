"""What other implementations are tested against too, recomputed here from the document's words."""

import base64
import hashlib
import hmac
import json
from pathlib import Path
from typing import Any

import pytest

from reflecto.crypto import pairing as rules

DOCUMENT = json.loads((Path(__file__).parents[1] / "vectors" / "pairing.json").read_text("utf-8"))
LINKS = [pytest.param(vector, id=vector["name"]) for vector in DOCUMENT["vectors"] if "fragment" in vector]
VECTORS = [pytest.param(vector, id=vector["name"]) for vector in DOCUMENT["vectors"]]


def claim_in(vector: dict[str, Any]) -> rules.Claim:
    return rules.Claim(
        vector["pairing_id"], keys_in(vector["device"]), vector["label"], vector["type"], vector["class"]
    )


def keys_in(keys: dict[str, str]) -> rules.PublicKeys:
    return rules.PublicKeys(bytes.fromhex(keys["public_key"]), bytes.fromhex(keys["signing_key"]))


def mac(key_hex: str, message: bytes) -> str:
    return hmac.new(bytes.fromhex(key_hex), b"reflecto-pair-v1 " + message, hashlib.sha256).hexdigest()


@pytest.mark.parametrize("vector", DOCUMENT["codes"], ids=lambda vector: vector["typed"])
def test_a_typed_code_becomes_an_id_and_a_secret(vector: dict[str, str]):
    derived = rules.PairingSecret.of_code(vector["typed"])
    assert derived == rules.PairingSecret(vector["pairing_id"], bytes.fromhex(vector["secret"]))


def test_the_id_and_the_secret_of_a_code_are_two_macs_under_it():
    key = b"7F3KQ2MA9XTBW4HD".hex()
    vector = DOCUMENT["codes"][0]
    assert vector["pairing_id"] == "par_" + mac(key, b"id")[:32]
    assert vector["secret"] == mac(key, b"secret")


@pytest.mark.parametrize("typed", ["", "7F3K-Q2MA-9XTB", "7F3K-Q2MA-9XTB-W4HDX", "UUUU-UUUU-UUUU-UUUU"])
def test_what_is_no_code_is_refused(typed: str):
    with pytest.raises(ValueError, match="code"):
        rules.PairingSecret.of_code(typed)


@pytest.mark.parametrize("vector", VECTORS)
def test_the_claim_its_proof_and_the_commitment(vector: dict[str, Any]):
    claim = claim_in(vector)
    text = vector["claim_text"].encode()
    assert claim.text() == text
    assert json.loads(text) == {
        "pairing_id": vector["pairing_id"],
        "public_key": base64.b64encode(bytes.fromhex(vector["device"]["public_key"])).decode(),
        "signing_key": base64.b64encode(bytes.fromhex(vector["device"]["signing_key"])).decode(),
        "label": vector["label"],
        "type": vector["type"],
        "class": vector["class"],
    }
    assert rules.prove_claim(bytes.fromhex(vector["secret"]), claim).hex() == vector["claim_proof"]
    assert vector["claim_proof"] == mac(vector["secret"], b"claim\n" + text)
    nonce = bytes.fromhex(vector["device_nonce"])
    assert rules.commit(nonce, claim).hex() == vector["commitment"]
    assert vector["commitment"] == hashlib.sha256(b"reflecto-pair-v1 commitment\n" + nonce + text).hexdigest()


@pytest.mark.parametrize("vector", VECTORS)
def test_the_six_digits(vector: dict[str, Any]):
    phone_nonce, device_nonce = bytes.fromhex(vector["phone_nonce"]), bytes.fromhex(vector["device_nonce"])
    shown = rules.digits(
        bytes.fromhex(vector["secret"]), claim_in(vector), keys_in(vector["phone"]), phone_nonce, device_nonce
    )
    seen = phone_nonce + device_nonce + bytes.fromhex(vector["phone"]["public_key"] + vector["phone"]["signing_key"])
    number = int(mac(vector["secret"], b"digits\n" + seen + vector["claim_text"].encode())[:12], 16)
    assert shown == vector["digits"] == str(number % 1_000_000).zfill(6)


@pytest.mark.parametrize("vector", VECTORS)
def test_the_approval_its_proof_and_its_signature(vector: dict[str, Any]):
    secret, text = bytes.fromhex(vector["secret"]), vector["approval_text"]
    proof, signature = bytes.fromhex(vector["approval_proof"]), bytes.fromhex(vector["approval_signature"])
    assert rules.prove_approval(secret, text) == proof
    assert vector["approval_proof"] == mac(vector["secret"], b"approval\n" + text.encode())
    assert rules.sign_approval(bytes.fromhex(vector["phone"]["signing_seed"]), text) == signature
    server_key = base64.b64encode(bytes.fromhex(vector["server_key"])).decode()
    joined = rules.Joined(
        claim_in(vector), vector["device_id"], vector["owner_id"], server_key, keys_in(vector["phone"])
    )
    approval = rules.check_approval(secret, text, proof, signature, joined)
    assert approval.text() == text
    assert [device.device_id for device in approval.devices] == [vector["phone_id"], vector["device_id"]]


@pytest.mark.parametrize("vector", LINKS)
def test_a_link_holds_the_id_the_secret_and_the_phones_keys_and_comes_back(vector: dict[str, Any]):
    pairing = rules.PairingSecret(vector["pairing_id"], bytes.fromhex(vector["secret"]))
    link = rules.PairingLink(pairing, keys_in(vector["phone"]))
    assert link.fragment() == vector["fragment"]
    assert rules.PairingLink.of_fragment(vector["fragment"]) == link
    parts = ("01", vector["pairing_id"].removeprefix("par_"), vector["secret"])
    keys = (vector["phone"]["public_key"], vector["phone"]["signing_key"])
    padded = vector["fragment"] + "=" * (-len(vector["fragment"]) % 4)
    assert base64.urlsafe_b64decode(padded).hex() == "".join((*parts, *keys))


@pytest.mark.parametrize("vector", LINKS)
def test_a_link_that_is_cut_short_changed_or_newer_is_refused(vector: dict[str, Any]):
    fragment = vector["fragment"]
    for broken in ("", fragment[:-1], fragment + "A", "!" + fragment[1:], "Ag" + fragment[2:]):
        with pytest.raises(ValueError, match="link"):
            rules.PairingLink.of_fragment(broken)
