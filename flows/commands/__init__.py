"""The command `worldaudit`, one file a group of commands; they read options, call, and print."""
