"""Files: written whole or not at all, told apart by digests, and what produced them."""
