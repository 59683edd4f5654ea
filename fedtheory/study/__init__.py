"""Command line, progress, findings, tables and output files of study scripts."""

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
