/** What devices send to the server, and what it answers. Made by scripts/write_web_wire.py from the served OpenAPI document. */

/** One of the values this version knows. In a reply: a newer server may have others. */
type Open<Known extends string> = Known | (string & {});

/** Something was accepted but not done as asked. */
export interface Caveat {
  code: string;
  message: string;
}

/** All devices of the owner. */
export interface DeviceList {
  devices: readonly DeviceState[];
}

/** A device's status, no content. `reachable`: a stream of it is open now. Times are Unix seconds. */
export interface DeviceState {
  device_id: string;
  label: string;
  type: Open<"android" | "extension" | "web" | "cli">;
  class: Open<"phone" | "desktop">;
  reachable: boolean;
  last_seen_at: number | null;
  app_build: number | null;
}

/** All devices of the owner, for one of them. */
export interface PeerList {
  devices: readonly PeerState[];
}

/** A device as the owner's other devices see it: with the keys to seal for it and to check what it signed. */
export interface PeerState {
  device_id: string;
  label: string;
  type: Open<"android" | "extension" | "web" | "cli">;
  class: Open<"phone" | "desktop">;
  reachable: boolean;
  last_seen_at: number | null;
  app_build: number | null;
  public_key: string;
  signing_key: string;
}

/** Redeem a setup code. Keys are raw 32-byte public keys in standard base64. */
export interface EnrollRequest {
  code: string;
  public_key: string;
  signing_key: string;
  label: string;
  type: "android" | "extension" | "web" | "cli";
  class: "phone" | "desktop";
  app_build?: number | null;
  features?: readonly string[];
  token_label?: string | null;
}

/** `default_token` is there only when this phone is its owner's first; it is shown this once. */
export interface EnrollResponse {
  owner_id: string;
  device_id: string;
  device_token: string;
  server_key: string;
  default_token: NewToken | null;
}

/** A token in the only reply that ever holds its plaintext. `warnings` only where there are some. */
export interface NewToken {
  id: string;
  label: string;
  token: string;
  warnings?: readonly Caveat[];
}

/** A setup code for one more device, its link, and when it expires (Unix seconds). */
export interface InvitationResponse {
  code: string;
  url: string;
  expires_at: number;
}

/** What a device reports of itself; absent fields stay as they are. `push` null ends its pushes. */
export interface UpdateDeviceRequest {
  label?: string;
  app_build?: number;
  features?: readonly string[];
  push?: PushState | null;
}

/** A push subscription in the form a browser's `toJSON()` gives it. */
export interface PushState {
  endpoint: string;
  keys: PushKeys;
}

/** A subscription's keys in base64url: a P-256 public key (65 bytes) and a secret (16 bytes). */
export interface PushKeys {
  p256dh: string;
  auth: string;
}

/** Some of what waits in the device's queue, in order; empty when nothing does. */
export interface SyncPage {
  entries: readonly SyncEntry[];
}

/** The data of one `message` event: `blob` is the wire blob in base64, `expires_at` Unix seconds. */
export interface SyncEntry {
  seq: number;
  from: string;
  blob: string;
  expires_at: number;
}

/** The server's VAPID key, base64url of an uncompressed point of P-256: the `applicationServerKey`. */
export interface PushKeyResponse {
  public_key: string;
}

/** Everything up to and including `seq` is safely stored on the device. */
export interface AckRequest {
  seq: number;
}

/** A phone's tap: the index of the choice, the phone's clock, and its signature (base64) over all of it. */
export interface AnswerRequest {
  choice_index: number;
  answered_at: number;
  signature?: string;
  v?: 2;
  number?: string;
  comment?: Comment;
}

/** A word with the tap, as the phone sent it: what was signed is its digest, which the salt keeps from guessers. */
export interface Comment {
  text: string;
  salt: string;
}

/** The recorded answer. `answered_at` is the server's clock, Unix seconds. */
export interface AnswerResponse {
  id: string;
  status: Open<"answered">;
  choice_index: number;
  answered_at: number;
}

/** End a question without an answer. */
export interface DismissRequest {
  reason?: "dismissed" | "wrong_number";
}

/** The question as it ended; another reason than the one given: it had ended before. */
export interface DismissResponse {
  id: string;
  status: Open<"cancelled">;
  reason?: Open<"abandoned" | "dismissed" | "revoked" | "withdrawn" | "wrong_number">;
}

/** The owner's live tokens, oldest first, as a phone sees them. */
export interface TokenList {
  tokens: readonly TokenState[];
}

/** A token without its plaintext. `last_used_at` may lag by a minute. Times are Unix seconds. */
export interface TokenState {
  id: string;
  label: string;
  test: boolean;
  priority_cap: Open<"min" | "low" | "default" | "high" | "urgent"> | null;
  scopes: readonly Open<"ask" | "files" | "remind" | "ring" | "send">[];
  created_at: number;
  last_used_at: number | null;
  colour: Open<"amber" | "blue" | "brick" | "olive" | "rose" | "slate" | "teal" | "violet">;
  muted_until: number | string | null;
}

/** The same, as a desktop sees them. */
export interface TokenLabelList {
  tokens: readonly TokenLabel[];
}

/** All that a desktop may see of a token. */
export interface TokenLabel {
  id: string;
  label: string;
}

/** Make a sender token. No `priority_cap` means no cap; no `scopes` means all that the cap leaves possible. */
export interface CreateTokenRequest {
  label: string;
  priority_cap?: "min" | "low" | "default" | "high" | "urgent" | null;
  scopes?: readonly ("ask" | "files" | "remind" | "ring" | "send")[];
  test?: boolean;
}

/** Change a sender token; absent fields stay as they are. */
export interface UpdateTokenRequest {
  label?: string;
  colour?: "amber" | "blue" | "brick" | "olive" | "rose" | "slate" | "teal" | "violet";
  muted_until?: number | string | null;
}

/** The questions that this has ended. */
export interface DismissAllResponse {
  dismissed: readonly string[];
}

/** Invite a device. The phone draws `pairing_id` from the code it shows; absent, the server makes one. */
export interface CreatePairingRequest {
  pairing_id?: string;
}

/** An invitation, good for one device until `expires_at` (Unix seconds). */
export interface CreatePairingResponse {
  pairing_id: string;
  expires_at: number;
}

/** An invitation as its phone sees it. Times are Unix seconds. */
export interface PairingState {
  pairing_id: string;
  status: Open<"open" | "claimed" | "greeted" | "revealed" | "approved" | "rejected">;
  expires_at: number;
  claim: ClaimState | null;
}

/** The device that asks to join, for the phone: nothing of it is true unless `proof` is right. */
export interface ClaimState {
  device_id: string;
  public_key: string;
  signing_key: string;
  label: string;
  type: Open<"android" | "extension" | "web" | "cli">;
  class: Open<"phone" | "desktop">;
  proof: string;
  commitment: string | null;
  nonce: string | null;
}

/** Ask to join. With a typed code also a `commitment` to a nonce that is revealed later. */
export interface ClaimRequest {
  public_key: string;
  signing_key: string;
  label: string;
  type: "android" | "extension" | "web" | "cli";
  class: "phone" | "desktop";
  app_build?: number | null;
  features?: readonly string[];
  proof: string;
  commitment?: string | null;
}

/** The device's id if it is approved, and the token to ask for the outcome with: then its device token. */
export interface ClaimResponse {
  claim_token: string;
  device_id: string;
  expires_at: number;
}

/** An invitation as the new device sees it. Times are Unix seconds. */
export interface OutcomeState {
  status: Open<"open" | "claimed" | "greeted" | "revealed" | "approved" | "rejected">;
  expires_at: number;
  greeting: Greeting | null;
  admission: Admission | null;
}

/** The phone's keys and nonce, for a device that came with a typed code. */
export interface Greeting {
  public_key: string;
  signing_key: string;
  nonce: string;
}

/** What a device that may join needs; nothing of it is to be believed before `approval` was checked. */
export interface Admission {
  owner_id: string;
  device_id: string;
  device_token: string;
  server_key: string;
  approval: string;
  proof: string;
  signature: string;
}

/** Show a nonce to the other end. */
export interface NonceRequest {
  nonce: string;
}

/** Let the device join. `approval` is canonical JSON as text; the server passes it on as it is. */
export interface ApproveRequest {
  approval: string;
  proof: string;
  signature: string;
}

/** Blobs (base64) for other devices of the owner: the first for the first id, and so on. */
export interface RelayRequest {
  to: readonly string[];
  blobs: readonly string[];
}
