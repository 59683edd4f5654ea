"""Files: written completely or not at all, identified by digests, with their provenance."""
