"""What the core needs from outside, as protocols: what processes of one server share stands here and nowhere else."""
