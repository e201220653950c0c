"""What keeps runs going: starting and repeating them, the Prefect server, placement, deployed flows, notification, clean-up."""
