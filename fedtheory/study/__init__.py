"""Command line, progress, findings, tables and output files of study scripts."""

from typing import TYPE_CHECKING

from fedtheory._support import lazy
from fedtheory.study._files import read_study
from fedtheory.study.scripts import Finding, Progress, Study, Table, from_records, load, main, produce, silent

__all__ = ["Finding", "Progress", "Study", "Table", "from_records", "load", "main", "produce", "read_study", "silent"]

if not TYPE_CHECKING:  # a type checker would accept any name if it saw __getattr__
    __getattr__ = lazy.unknown_in(__name__)
