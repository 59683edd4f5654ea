"""Files of results: atomic writes, data sets, JSON, identities and provenance."""

import time

# `fedtheory` imports this first: the text of a module that was edited later may not be what this process runs.
STARTED = time.time()
