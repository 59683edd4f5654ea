"""Command line, progress, findings, tables and output files of study scripts."""

from typing import TYPE_CHECKING

from fedtheory._support import lazy
from fedtheory.study._files import read_study as read_study
from fedtheory.study.scripts import Finding as Finding
from fedtheory.study.scripts import Progress as Progress
from fedtheory.study.scripts import Study as Study
from fedtheory.study.scripts import Table as Table
from fedtheory.study.scripts import from_records as from_records
from fedtheory.study.scripts import load as load
from fedtheory.study.scripts import main as main
from fedtheory.study.scripts import produce as produce
from fedtheory.study.scripts import silent as silent

if not TYPE_CHECKING:  # a type checker would accept any name if it saw __getattr__
    __getattr__ = lazy.unknown_in(__name__)
