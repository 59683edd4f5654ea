"""Executable claims, one file per paper."""
