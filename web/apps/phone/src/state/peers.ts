/** The owner's other devices: seen, invited and approved from this one. Their keys are kept from the first time. */

import { recall, remember, type Session } from "@reflecto/browser";
import { type Candidate, PairingPhone, type PeerState, withChecked, withSeen } from "@reflecto/core";

/** What the server lists. Throws RefusedError, UnreachableError. */
export async function listDevices({ api, database }: Session): Promise<readonly PeerState[]> {
  const { devices } = await api.devices();
  await remember(database, "peers", withSeen((await recall(database, "peers")) ?? {}, devices));
  return devices;
}

/** Invites a device by the protocol in which neither end has to believe the server. */
export async function invitePairing(session: Session | null): Promise<PairingPhone> {
  if (!session) throw new Error("This phone is not paired");
  return PairingPhone.invite(session);
}

/** Lets the candidate join, and keeps its keys. Throws PairingLieError, RefusedError, UnreachableError. */
export async function approvePairing(database: Session["database"], pairing: PairingPhone, candidate: Candidate) {
  const peers = (await recall(database, "peers")) ?? {};
  await pairing.approve(candidate, peers);
  await remember(database, "peers", withChecked(peers, candidate.deviceId, candidate.claim));
}
