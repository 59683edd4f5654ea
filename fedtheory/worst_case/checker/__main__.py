"""``python -m checker certificate.json``, from the folder in which the checker lies."""

import sys

from .printing import main

sentence, code = main(sys.argv[1:])
print(sentence)  # noqa: T201
sys.exit(code)
