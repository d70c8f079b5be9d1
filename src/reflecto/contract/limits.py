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
PENDING_MAX_PER_OWNER: Final = 10
RETENTION_SECONDS: Final = 86_400  # an ended question is readable this long, then 404
WAIT_MAX_SECONDS: Final = 60  # a long poll; proxies commonly cut an idle connection at 60 s
POLL_RETRY_AFTER_SECONDS: Final = 2  # what a plain poller is told while a question is pending

# Bodies: read no further than this before answering 413
JSON_BODY_MAX_BYTES: Final = 65_536  # the largest valid question, all of it \u-escaped, is about 20 KB

# Enrolment
SETUP_CODE_SECONDS: Final = 600
WRONG_GUESSES_MAX: Final = 5  # an address that guesses wrong this often
WRONG_GUESSES_WAIT_SECONDS: Final = 60  # waits this long
LABEL_MAX_CHARS: Final = 60  # of a device or a token
DEVICES_MAX_PER_OWNER: Final = 32  # each message is sealed and queued once per device
TOKENS_MAX_PER_OWNER: Final = 200
APP_BUILD_MAX: Final = 2**31 - 1
REVOKED_TOKEN_AUDIT_SECONDS: Final = 30 * 86_400

# Sync
QUEUE_TTL_MAX_SECONDS: Final = 72 * 3_600  # nothing waits in a queue longer than this
HEARTBEAT_SECONDS: Final = 20  # a comment on an idle stream, so that proxies keep it
STREAMS_MAX_PER_DEVICE: Final = 4  # one more ends the oldest
SYNC_PAGE_ENTRIES: Final = 64  # read from the queue at a time, the stream's only buffer
SEQ_MAX: Final = 2**53 - 1  # what a JavaScript client can count to
