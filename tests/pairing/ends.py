"""Both ends of a pairing as an app would write them on `crypto.pairing`; what passes between may be tampered with."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import httpx

from reflecto.crypto import pairing as rules
from reflecto.crypto.encoding import decode_base64, encode_base64
from tests.actors import DeviceActor
from tests.builders import NOW, DeviceKeys

Tamper = Callable[[dict[str, Any]], dict[str, Any]]

CODE: Final = "7F3K-Q2MA-9XTB-W4HD"


def honest(reply: dict[str, Any]) -> dict[str, Any]:
    """A server that passes on what it was told."""
    return reply


def raw(text: str, length: int = 32) -> bytes:
    """Return what base64 stands for."""
    decoded = decode_base64(text, length=length)
    assert decoded is not None
    return decoded


def public(keys: DeviceKeys) -> rules.PublicKeys:
    """Return the public halves."""
    return rules.PublicKeys(keys.box.public, keys.signing_key)


def claim_of(pairing_id: str, state: dict[str, Any]) -> rules.Claim:
    """Return what a reply says of the new device."""
    keys = rules.PublicKeys(raw(state["public_key"]), raw(state["signing_key"]))
    return rules.Claim(pairing_id, keys, state["label"], state["type"], state["class"])


@dataclass(slots=True)
class PhoneEnd:
    """The phone that invites."""

    phone: DeviceActor
    pairing: rules.PairingSecret
    nonce: bytes = field(default_factory=lambda: os.urandom(32))
    claim: rules.Claim | None = None
    device_id: str = ""

    @classmethod
    async def invite_by_link(cls, phone: DeviceActor) -> "PhoneEnd":
        """Open an invitation whose secret will be in a link."""
        opened = await phone.call("POST", "/v1/pairings", json={})
        assert opened.status_code == 201, opened.text
        return cls(phone, rules.PairingSecret(opened.json()["pairing_id"], os.urandom(32)))

    @classmethod
    async def invite_by_code(cls, phone: DeviceActor, code: str = CODE) -> "PhoneEnd":
        """Open an invitation for a code to type."""
        pairing = rules.PairingSecret.of_code(code)
        opened = await phone.call("POST", "/v1/pairings", json={"pairing_id": pairing.pairing_id})
        assert opened.status_code == 201, opened.text
        return cls(phone, pairing)

    @property
    def path(self) -> str:
        """Where the invitation is."""
        return f"/v1/pairings/{self.pairing.pairing_id}"

    def link(self) -> str:
        """Return the fragment to show."""
        return rules.PairingLink(self.pairing, public(self.phone.keys)).fragment()

    async def read(self, tamper: Tamper = honest, **query: Any) -> dict[str, Any]:
        """Read the invitation."""
        read = await self.phone.call("GET", self.path, params=query)
        assert read.status_code == 200, read.text
        return tamper(read.json())

    async def meet(self, tamper: Tamper = honest) -> dict[str, Any]:
        """Take the claim and check it. Raises: PairingLieError."""
        state = await self.read(tamper, wait=10, was="open")
        self.check(state)
        return state

    def check(self, state: dict[str, Any]) -> None:
        """Check what the server says of the new device. Raises: PairingLieError."""
        claim = claim_of(self.pairing.pairing_id, state["claim"])
        rules.check_claim(self.pairing.secret, claim, raw(state["claim"]["proof"]))
        self.claim, self.device_id = claim, state["claim"]["device_id"]

    async def greet(self) -> httpx.Response:
        """Show the nonce; only after the claim, and so the commitment, was taken."""
        assert self.claim is not None
        return await self.phone.call("POST", f"{self.path}/greet", json={"nonce": encode_base64(self.nonce)})

    async def digits(self, tamper: Tamper = honest) -> str:
        """Take the revealed nonce and return the digits to show. Raises: PairingLieError."""
        assert self.claim is not None
        state = (await self.read(tamper, wait=10, was="greeted"))["claim"]
        nonce = raw(state["nonce"])
        rules.check_commitment(raw(state["commitment"]), nonce, self.claim)
        return rules.digits(self.pairing.secret, self.claim, public(self.phone.keys), self.nonce, nonce)

    async def approval(self, tamper: Tamper = honest) -> rules.Approval:
        """Return the list of the owner's devices, with the new one. Raises: PairingLieError."""
        assert self.claim is not None
        listed = tamper((await self.phone.call("GET", "/v1/devices")).json())["devices"]
        devices = [
            rules.ListedDevice(
                *(each[name] for name in ("device_id", "label", "type", "class", "public_key", "signing_key"))
            )
            for each in listed
        ]
        rules.check_known(devices, {self.phone.id: public(self.phone.keys)})
        return rules.Approval(
            pairing_id=self.pairing.pairing_id,
            owner_id=self.phone.owner_id,
            server_key=self.phone.enrolled["server_key"],
            approver_id=self.phone.id,
            approved_at=NOW,
            devices=(*devices, rules.listed(self.device_id, self.claim)),
        )

    def proved(self, text: str) -> dict[str, str]:
        """Return the body of an approval."""
        return {
            "approval": text,
            "proof": encode_base64(rules.prove_approval(self.pairing.secret, text)),
            "signature": encode_base64(rules.sign_approval(self.phone.keys.signing_seed, text)),
        }

    async def approve(self, tamper: Tamper = honest) -> httpx.Response:
        """Let the device join."""
        text = (await self.approval(tamper)).text()
        return await self.phone.call("POST", f"{self.path}/approve", json=self.proved(text))

    async def reject(self) -> httpx.Response:
        """Withdraw it."""
        return await self.phone.call("DELETE", self.path)


@dataclass(slots=True)
class DeviceEnd:
    """The new device."""

    http: httpx.AsyncClient
    pairing: rules.PairingSecret
    phone: rules.PublicKeys | None = None  # known from the link, or from the greeting
    keys: DeviceKeys = field(default_factory=DeviceKeys)
    nonce: bytes = field(default_factory=lambda: os.urandom(32))
    label: str = "Firefox on laptop"
    device_class: str = "desktop"
    claimed: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of_link(cls, http: httpx.AsyncClient, fragment: str, **fields: Any) -> "DeviceEnd":
        """Open a link."""
        link = rules.PairingLink.of_fragment(fragment)
        return cls(http, link.pairing, link.phone, **fields)

    @classmethod
    def of_code(cls, http: httpx.AsyncClient, typed: str = CODE, **fields: Any) -> "DeviceEnd":
        """Type a code."""
        return cls(http, rules.PairingSecret.of_code(typed), **fields)

    @property
    def claim(self) -> rules.Claim:
        """What it says of itself."""
        return rules.Claim(self.pairing.pairing_id, public(self.keys), self.label, "web", self.device_class)  # type: ignore[arg-type]

    def body(self, *, by_code: bool = False) -> dict[str, Any]:
        """Return the claim's body."""
        body = {
            "public_key": encode_base64(self.keys.box.public),
            "signing_key": encode_base64(self.keys.signing_key),
            "label": self.label,
            "type": "web",
            "class": self.device_class,
            "proof": encode_base64(rules.prove_claim(self.pairing.secret, self.claim)),
        }
        return body | ({"commitment": encode_base64(rules.commit(self.nonce, self.claim))} if by_code else {})

    async def call(self, method: str, step: str, **options: Any) -> httpx.Response:
        """Make a request with the claim token."""
        headers = {"authorization": f"Bearer {self.claimed['claim_token']}"} if self.claimed else {}
        return await self.http.request(
            method, f"/v1/pairings/{self.pairing.pairing_id}/{step}", headers=headers, **options
        )

    async def ask_to_join(self, *, by_code: bool = False) -> None:
        """Claim the invitation."""
        claimed = await self.call("POST", "claim", json=self.body(by_code=by_code))
        assert claimed.status_code == 201, claimed.text
        self.claimed = claimed.json()

    async def outcome(self, tamper: Tamper = honest, **query: Any) -> dict[str, Any]:
        """Read how it stands."""
        read = await self.call("GET", "outcome", params=query)
        assert read.status_code == 200, read.text
        return tamper(read.json())

    async def digits(self, tamper: Tamper = honest) -> str:
        """Take the greeting, reveal the nonce and return the digits to show. Only once: the first greeting counts."""
        assert self.phone is None
        greeting = (await self.outcome(tamper, wait=10, was="claimed"))["greeting"]
        self.phone = rules.PublicKeys(raw(greeting["public_key"]), raw(greeting["signing_key"]))
        revealed = await self.call("POST", "reveal", json={"nonce": encode_base64(self.nonce)})
        assert revealed.status_code == 204, revealed.text
        return rules.digits(self.pairing.secret, self.claim, self.phone, raw(greeting["nonce"]), self.nonce)

    async def join(self, tamper: Tamper = honest, *, was: str = "claimed") -> tuple[DeviceActor, rules.Approval]:
        """Wait for the approval, check it and become a device. Raises: PairingLieError."""
        admission = (await self.outcome(tamper, wait=10, was=was))["admission"]
        assert admission is not None
        assert self.phone is not None
        joined = rules.Joined(
            self.claim, self.claimed["device_id"], admission["owner_id"], admission["server_key"], self.phone
        )
        approval = rules.check_approval(
            self.pairing.secret,
            admission["approval"],
            raw(admission["proof"]),
            raw(admission["signature"], 64),
            joined,
        )
        return DeviceActor(self.http, admission, self.keys), approval
