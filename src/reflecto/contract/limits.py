"""Every bound of the API, with its unit in its name and its reason beside it. Source: api.md, devices.md."""

from typing import Final

# Questions (contract: interactions.openapi.yaml)
QUESTION_MAX_CHARS: Final = 1_000  # code points
CHOICES_MIN: Final = 2
CHOICES_MAX: Final = 4
CHOICE_MAX_CHARS: Final = 100  # code points
DEFAULT_CHOICES: Final = ("Approve", "Deny")
EXPIRES_IN_MIN_SECONDS: Final = 60
EXPIRES_IN_MAX_SECONDS: Final = 86_400
EXPIRES_IN_DEFAULT_SECONDS: Final = 600
IDEMPOTENCY_KEY_MAX_CHARS: Final = 128
REPEAT_SECONDS: Final = 86_400  # the first reply to a request under an Idempotency-Key is kept this long
KEPT_REPLIES_MAX_PER_OWNER: Final = 20_000  # of some 500 bytes; a token that sends 600 a minute would have 864,000
TETHER_MIN_SECONDS: Final = 5
TETHER_MAX_SECONDS: Final = 300
PENDING_MAX_PER_OWNER: Final = 10
REFUSAL_QUIET_SECONDS: Final = 600  # the owner is not told more often that a sender found no place
MISSED_MAX_PER_DEVICE: Final = 50  # questions that ended unanswered, in the queue of a device that was away
RETENTION_SECONDS: Final = 86_400  # an ended question is readable this long, then 404
WAIT_MAX_SECONDS: Final = 60  # a long poll; proxies commonly cut an idle connection at 60 s
PENDING_RETRY_AFTER_SECONDS: Final = 10  # told to whom all places are taken: a person or the clock frees one
POLL_RETRY_AFTER_SECONDS: Final = 2  # what a plain poller is told while a question is pending

# What a question brings (consent.md); bytes are of UTF-8
DETAILS_MAX_BLOCKS: Final = 12
DETAILS_MAX_BYTES: Final = 49_152  # as canonical JSON: with all else its blob stays below 64 KiB
BLOCK_LABEL_MAX_BYTES: Final = 200
BLOCK_LANGUAGE_MAX_BYTES: Final = 40
FIELDS_MAX: Final = 20  # of a block of fields
FIELD_NAME_MAX_BYTES: Final = 60
FIELD_VALUE_MAX_BYTES: Final = 500
SOURCE_MAX_BYTES: Final = 100  # of each of its texts
COMMENT_MAX_CHARS: Final = 500  # code points, without the white space around it
COMMENT_SALT_BYTES: Final = 16
WRONG_NUMBERS_MAX: Final = 2  # the second ends the question

# Bodies: read no further than this before answering 413
JSON_BODY_MAX_BYTES: Final = 65_536
QUESTION_BODY_MAX_BYTES: Final = 327_680  # details of 48 KiB, all of it \u-escaped, and the rest
EVENT_MAX_BYTES: Final = 4_194_304  # of an agent's hook, command or HTTP: an edit carries both versions of a file
FORM_FIELDS_MAX: Final = 64
QUERY_FIELDS_MAX: Final = 64
JSON_VALUES_MAX: Final = 10_000  # objects, lists, texts and commas in a body; the largest of use has some hundreds

# Enrolment
SETUP_CODE_SECONDS: Final = 600
WRONG_GUESSES_MAX: Final = 5  # an address that guesses wrong this often
WRONG_GUESSES_WAIT_SECONDS: Final = 60  # waits this long
LABEL_MAX_CHARS: Final = 60  # of a device or a token
DEVICES_MAX_PER_OWNER: Final = 32  # each message is sealed and queued once per device
TOKENS_MAX_PER_OWNER: Final = 200
APP_BUILD_MAX: Final = 2**31 - 1
FEATURES_MAX: Final = 32  # that a device names
FEATURE_MAX_CHARS: Final = 40
REVOKED_TOKEN_AUDIT_SECONDS: Final = 30 * 86_400

# Pairing
PAIRING_SECONDS: Final = 600  # to claim and approve; and once approved, to fetch the outcome
PAIRINGS_MAX_PER_OWNER: Final = 8  # open at once
APPROVAL_MAX_CHARS: Final = 32_768  # 32 devices take some 15,000

# Relay
BLOB_MIN_BYTES: Final = 41  # version, nonce (24) and tag (16) around nothing
RELAY_TARGETS_MAX: Final = 32
RELAY_BLOB_MAX_BYTES: Final = 65_536
RELAY_BODY_MAX_BYTES: Final = 3_145_728  # 32 blobs in base64, and the ids
RELAYS_PER_MINUTE: Final = 600  # of one device

# Sync
QUEUE_TTL_MAX_SECONDS: Final = 72 * 3_600  # nothing waits in a queue longer than this
HEARTBEAT_SECONDS: Final = 20  # a comment on an idle stream, so that proxies keep it
STREAMS_MAX_PER_DEVICE: Final = 4  # one more ends the oldest
SYNC_PAGE_ENTRIES: Final = 16  # read from the queue at a time; a document is 128 KiB
SEQ_MAX: Final = 2**53 - 1  # what a JavaScript client can count to

# Queues (api.md "Limits"); bytes are of sealed blobs
QUEUE_MAX_ENTRIES: Final = 4_000  # of one device
QUEUE_MAX_BYTES: Final = 32 * 1024 * 1024
RELAYED_MAX_ENTRIES: Final = 2_000  # of these; beyond, the oldest relayed ones go
RELAYED_MAX_BYTES: Final = 16 * 1024 * 1024
OWNER_QUEUES_MAX_BYTES: Final = 256 * 1024 * 1024  # of all queues of one owner
QUEUE_RESERVED_BYTES: Final = 4 * 1024 * 1024  # the last of each, for questions and closings
QUEUE_RESERVED_ENTRIES: Final = 500  # beyond QUEUE_MAX_ENTRIES, for the same
QUEUE_FULL_RETRY_AFTER_SECONDS: Final = 60  # what has expired is swept once a minute

# Push
ENDPOINT_MAX_CHARS: Final = 2_048  # the longest that push services hand out are about 500
PUSH_GRACE_SECONDS: Final = 1.5  # an open stream has this long to acknowledge: a frozen page looks connected

# Messages (api.md "POST /v1/send"); bytes are of UTF-8
MESSAGE_MAX_BYTES: Final = 1_500
TITLE_MAX_BYTES: Final = 100
URL_MAX_BYTES: Final = 512
URL_TITLE_MAX_BYTES: Final = 100
ACTIONS_MAX: Final = 3
ACTION_LABEL_MAX_BYTES: Final = 40
TAGS_MAX: Final = 5
TAG_MAX_BYTES: Final = 32
ENVELOPE_MAX_BYTES: Final = 2_048  # of a message, serialized, before it is sealed
TTL_MAX_SECONDS: Final = 259_200
SELECTOR_MAX_CHARS: Final = 4_096  # `device`: each name is looked for among all devices, and may become a warning
SELECTOR_NAMES_MAX: Final = 64  # twice as many as an owner has devices
CONNECTED_ONLY_SECONDS: Final = 30  # ttl 0: how long a connected device has to take the message
SEND_BODY_MAX_BYTES: Final = 65_536  # a valid message, wholly escaped, is below 12 KB; multipart adds headers
PICTURE_MAX_BYTES: Final = 5_242_880  # in a multipart body; ignored, and as large as Pushover's clients may attach one

# Documents
FILENAME_MAX_CHARS: Final = 120
# Plain text that a tap shows, and never runs or renders: no html, svg, js, xhtml, bat, ps1, sh, desktop, url, …
# fmt: off
FILENAME_EXTENSIONS: Final = frozenset({
    "txt", "md", "log", "csv", "tsv", "json", "jsonl", "yaml", "yml", "toml", "ini", "conf", "xml", "diff", "patch",
    "sql", "tex", "ics", "rst", "adoc", "org", "srt", "vtt", "properties", "lock", "env", "tf", "hcl", "nix", "cmake",
    "c", "h", "cc", "cpp", "hpp", "cs", "go", "rs", "java", "kt", "kts", "swift", "m", "rb", "php", "pl", "lua", "r",
    "jl", "hs", "ml", "ex", "exs", "erl", "clj", "scala", "dart", "zig", "nim", "py", "pyi", "ts", "tsx", "jsx", "vue",
    "css", "scss", "less", "proto", "graphql",
})
# fmt: on
DOCUMENT_MAX_BYTES: Final = 131_072
DOCUMENT_BODY_MAX_BYTES: Final = 1_048_576  # 128 KiB, each byte \u-escaped, and the rest
MCP_BODY_MAX_BYTES: Final = DOCUMENT_BODY_MAX_BYTES + 65_536  # the largest document, and JSON-RPC around it

# Rings and reminders
RING_MIN_SECONDS: Final = 5
RING_MAX_SECONDS: Final = 120
RING_DEFAULT_SECONDS: Final = 30
RING_DELIVERY_SECONDS: Final = 60  # later it is dropped, not delivered
REMINDER_MESSAGE_MAX_CHARS: Final = 500
REMINDER_MIN_AHEAD_SECONDS: Final = 60
REMINDER_MAX_AHEAD_SECONDS: Final = 365 * 86_400
REMINDER_LATE_SECONDS: Final = 2  # fired later than this, it carries the flag `late`
REMINDERS_MAX_PER_OWNER: Final = 1_000

# Pushover's messages: its own bounds, in characters, since its clients never try again after a 4xx
PUSHOVER_MESSAGE_MAX_CHARS: Final = 1_024
PUSHOVER_TITLE_MAX_CHARS: Final = 250
PUSHOVER_URL_MAX_CHARS: Final = 512
PUSHOVER_URL_TITLE_MAX_CHARS: Final = 100
PUSHOVER_ENVELOPE_MAX_BYTES: Final = 16_384  # without the picture
PUSHOVER_BODY_MAX_BYTES: Final = 7_340_032  # a picture of 5 MiB in base64, and the rest
IMAGE_MAX_BYTES: Final = 40_960
SOUND_MAX_CHARS: Final = 40  # of a sound's name

# Emergencies (Pushover's priority 2)
EMERGENCY_RETRY_MIN_SECONDS: Final = 30
EMERGENCY_RETRY_DEFAULT_SECONDS: Final = 60  # for a client that names none
EMERGENCY_EXPIRE_MAX_SECONDS: Final = 10_800
EMERGENCY_EXPIRE_DEFAULT_SECONDS: Final = 3_600
EMERGENCIES_MAX_PER_OWNER: Final = 50  # under way at once: each is kept sealed once per device
RECEIPT_SECONDS: Final = 7 * 86_400  # from its creation on a receipt can be read, as at Pushover
CALLBACK_URL_MAX_CHARS: Final = 512
EMERGENCY_TAGS_MAX: Final = 16
CALLBACK_TRIES_MAX: Final = 6  # the last is some 5 hours after the first
