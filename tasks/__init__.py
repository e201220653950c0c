"""One package a stage or subject. Domain modules import no Prefect."""
