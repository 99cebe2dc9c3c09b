"""The version, alone in its module so that asking for it loads nothing else."""

VERSION = "0.1.0"
