"""What a signal leaves half made is put away in silence."""

import subprocess
import sys

HALF_MADE = """
import os, signal
from reflecto.cli.interruption import Interrupted, signals_interrupt

class HalfMade:
    def __del__(self):
        raise AttributeError("not made yet")

with signals_interrupt():
    try:
        made = HalfMade()
        os.kill(os.getpid(), signal.SIGTERM)
        signal.pause()
    except Interrupted as interrupted:
        del made
        print(interrupted.exit_code)
"""


def test_objects_that_a_signal_left_half_made_say_nothing_on_the_terminal():
    ran = subprocess.run([sys.executable, "-c", HALF_MADE], capture_output=True, text=True, check=True, timeout=30)
    assert (ran.stdout, ran.stderr) == ("143\n", "")
