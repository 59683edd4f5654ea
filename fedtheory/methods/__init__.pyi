"""What fedtheory.methods offers; written by ``python -m tests.stubs``."""

from fedtheory.methods import compressed as compressed
from fedtheory.methods import compressors as compressors
from fedtheory.methods import fednova as fednova
from fedtheory.methods import rules as rules
from fedtheory.methods import scaffnew as scaffnew
from fedtheory.methods import scaffold as scaffold
from fedtheory.methods.compressed import Compressed as Compressed
from fedtheory.methods.compressed import EF21 as EF21
from fedtheory.methods.compressed import ErrorFeedback as ErrorFeedback
from fedtheory.methods.compressors import Compressor as Compressor
from fedtheory.methods.compressors import RandK as RandK
from fedtheory.methods.compressors import ScaledSign as ScaledSign
from fedtheory.methods.compressors import TopK as TopK
from fedtheory.methods.fednova import FedNova as FedNova
from fedtheory.methods.rules import Method as Method
from fedtheory.methods.rules import MethodRules as MethodRules
from fedtheory.methods.scaffnew import Scaffnew as Scaffnew
from fedtheory.methods.scaffold import Scaffold as Scaffold
