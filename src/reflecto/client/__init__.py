"""The asker's side: one I/O-free core and thin shells over it. `from reflecto import Reflecto` is the way in.

errors, results   what callers see
protocol          requests as plain data
replies           replies read into results or errors
retry             which failures are tried again, and when
flows             the calls, as generators of requests and pauses
sync              the blocking shell
"""
