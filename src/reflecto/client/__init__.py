"""The asker's side: one I/O-free core and thin shells over it. `from reflecto import Reflecto` is the way in.

errors, results         what callers see
protocol, outgoing      requests as plain data: of questions, and of what is sent to devices
replies, sent_replies   replies read into results or errors
retry                   which failures are tried again, and when
flows, sending          the calls, as generators of requests and pauses
files                   documents read from disk
network, async_network  one request over httpx
proofs                  signatures, and whose are taken
sync, aio               the shells: blocking, and asynchronous
approval                `@approve`
"""
