"""Chain the stages; hold no logic of their own. `cli.py` is the command `worldaudit`."""
