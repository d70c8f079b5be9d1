"""What every program of ours on a terminal needs: widths, times, a line that is redrawn, single keys."""
