"""`python -m worldaudit` is the command `worldaudit`."""

from flows.commands.cli import main

if __name__ == "__main__":
    main()
