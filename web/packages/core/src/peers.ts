/** The owner's other devices, as far as their keys are known here. Pure. */

import type { Approval, PublicKeys } from "./pairing.ts";
import type { PeerState } from "./wire/types.ts";

/** A device's keys. They are checked if they came through a pairing rather than by the server's word. */
export interface Peer extends PublicKeys {
  isChecked: boolean;
}

export type Peers = Readonly<Record<string, Peer>>;

/** With the devices the server lists: the keys seen first stay, so that others later are noticed. */
export function withSeen(peers: Peers, devices: readonly PeerState[]): Peers {
  const seen = devices.map(({ device_id, public_key, signing_key }) => [
    device_id,
    { public_key, signing_key, isChecked: false },
  ]);
  return { ...Object.fromEntries(seen), ...peers };
}

/** For the phone: with the device it has just approved. */
export function withChecked(peers: Peers, deviceId: string, { public_key, signing_key }: PublicKeys): Peers {
  return { ...peers, [deviceId]: { public_key, signing_key, isChecked: true } };
}

/** For the new device: those the phone vouches for. */
export function peersOf({ devices }: Approval): Peers {
  return devices.reduce<Peers>((peers, device) => withChecked(peers, device.device_id, device), {});
}

/** The X25519 key to open blobs with, null where the keys were not checked. */
export function checkedKeyOf(peers: Peers, deviceId: string): string | null {
  const peer = Object.hasOwn(peers, deviceId) ? peers[deviceId] : undefined;
  return peer?.isChecked ? peer.public_key : null;
}
