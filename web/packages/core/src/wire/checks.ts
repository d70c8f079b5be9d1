/** Whether JSON is the reply it should be. Made by scripts/write_web_wire.py from the served OpenAPI document. */

import { isBoolean, isNumber, isNumberOrString, isString, listOf, objectOf, orAbsent, orNull } from "../check.ts";
import type {
  Admission,
  AnswerResponse,
  Caveat,
  ClaimResponse,
  ClaimState,
  CreatePairingResponse,
  DeviceList,
  DeviceState,
  DismissAllResponse,
  DismissResponse,
  EnrollResponse,
  Greeting,
  InvitationResponse,
  NewToken,
  OutcomeState,
  PairingState,
  PeerList,
  PeerState,
  PushKeyResponse,
  SyncEntry,
  SyncPage,
  TokenLabel,
  TokenLabelList,
  TokenList,
  TokenState,
} from "./types.ts";

export const isCaveat = objectOf<Caveat>({ code: isString, message: isString });

export const isDeviceState = objectOf<DeviceState>({
  device_id: isString,
  label: isString,
  type: isString,
  class: isString,
  reachable: isBoolean,
  last_seen_at: orNull(isNumber),
  app_build: orNull(isNumber),
});

export const isDeviceList = objectOf<DeviceList>({ devices: listOf(isDeviceState) });

export const isPeerState = objectOf<PeerState>({
  device_id: isString,
  label: isString,
  type: isString,
  class: isString,
  reachable: isBoolean,
  last_seen_at: orNull(isNumber),
  app_build: orNull(isNumber),
  public_key: isString,
  signing_key: isString,
});

export const isPeerList = objectOf<PeerList>({ devices: listOf(isPeerState) });

export const isNewToken = objectOf<NewToken>({
  id: isString,
  label: isString,
  token: isString,
  warnings: orAbsent(listOf(isCaveat)),
});

export const isEnrollResponse = objectOf<EnrollResponse>({
  owner_id: isString,
  device_id: isString,
  device_token: isString,
  server_key: isString,
  default_token: orNull(isNewToken),
});

export const isInvitationResponse = objectOf<InvitationResponse>({
  code: isString,
  url: isString,
  expires_at: isNumber,
});

export const isSyncEntry = objectOf<SyncEntry>({ seq: isNumber, from: isString, blob: isString, expires_at: isNumber });

export const isSyncPage = objectOf<SyncPage>({ entries: listOf(isSyncEntry) });

export const isPushKeyResponse = objectOf<PushKeyResponse>({ public_key: isString });

export const isAnswerResponse = objectOf<AnswerResponse>({
  id: isString,
  status: isString,
  choice_index: isNumber,
  answered_at: isNumber,
});

export const isDismissResponse = objectOf<DismissResponse>({
  id: isString,
  status: isString,
  reason: orAbsent(isString),
});

export const isTokenState = objectOf<TokenState>({
  id: isString,
  label: isString,
  test: isBoolean,
  priority_cap: orNull(isString),
  scopes: listOf(isString),
  created_at: isNumber,
  last_used_at: orNull(isNumber),
  colour: isString,
  muted_until: orNull(isNumberOrString),
});

export const isTokenList = objectOf<TokenList>({ tokens: listOf(isTokenState) });

export const isTokenLabel = objectOf<TokenLabel>({ id: isString, label: isString });

export const isTokenLabelList = objectOf<TokenLabelList>({ tokens: listOf(isTokenLabel) });

export const isDismissAllResponse = objectOf<DismissAllResponse>({ dismissed: listOf(isString) });

export const isCreatePairingResponse = objectOf<CreatePairingResponse>({ pairing_id: isString, expires_at: isNumber });

export const isClaimState = objectOf<ClaimState>({
  device_id: isString,
  public_key: isString,
  signing_key: isString,
  label: isString,
  type: isString,
  class: isString,
  proof: isString,
  commitment: orNull(isString),
  nonce: orNull(isString),
});

export const isPairingState = objectOf<PairingState>({
  pairing_id: isString,
  status: isString,
  expires_at: isNumber,
  claim: orNull(isClaimState),
});

export const isClaimResponse = objectOf<ClaimResponse>({
  claim_token: isString,
  device_id: isString,
  expires_at: isNumber,
});

export const isAdmission = objectOf<Admission>({
  owner_id: isString,
  device_id: isString,
  device_token: isString,
  server_key: isString,
  approval: isString,
  proof: isString,
  signature: isString,
});

export const isGreeting = objectOf<Greeting>({ public_key: isString, signing_key: isString, nonce: isString });

export const isOutcomeState = objectOf<OutcomeState>({
  status: isString,
  expires_at: isNumber,
  greeting: orNull(isGreeting),
  admission: orNull(isAdmission),
});
