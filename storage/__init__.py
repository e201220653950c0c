"""The artifact store and the table schemas. Knows no stage."""

from storage.keys import artifact_key, canonical_json, digest
from storage.store import Artifact, ArtifactError, Store, StoreError
from storage.tables import SCHEMAS, TableError, conform

__all__ = [
    "SCHEMAS",
    "Artifact",
    "ArtifactError",
    "Store",
    "StoreError",
    "TableError",
    "artifact_key",
    "canonical_json",
    "conform",
    "digest",
]
