"""A toy world's side of its child process."""
