"""One of each thing that a package can add to Worldaudit; the entry points in pyproject.toml name them."""
