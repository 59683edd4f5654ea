"""Claims about Power-of-Choice."""
