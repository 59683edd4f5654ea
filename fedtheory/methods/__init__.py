"""Methods beyond averaging: control variates, adaptive server steps, delays, error feedback, random communication.

Modules are imported on first use.
"""

from typing import TYPE_CHECKING

from fedtheory._support import lazy

__getattr__, __dir__, __all__ = lazy.attach(
    __name__,
    submod_attrs={
        "compressed": ["EF21", "Compressed", "ErrorFeedback"],
        "compressors": ["Compressor", "RandK", "TopK"],
        "delayed": ["Delayed"],
        "fedavgm": ["FedAvgM"],
        "feddyn": ["FedDyn"],
        "fednova": ["FedNova"],
        "fedopt": ["FedOpt"],
        "rules": ["Method", "MethodRules"],
        "scaffnew": ["Scaffnew"],
        "scaffold": ["Scaffold"],
    },
)

if TYPE_CHECKING:
    from fedtheory.methods.compressed import EF21 as EF21
    from fedtheory.methods.compressed import Compressed as Compressed
    from fedtheory.methods.compressed import ErrorFeedback as ErrorFeedback
    from fedtheory.methods.compressors import Compressor as Compressor
    from fedtheory.methods.compressors import RandK as RandK
    from fedtheory.methods.compressors import TopK as TopK
    from fedtheory.methods.delayed import Delayed as Delayed
    from fedtheory.methods.fedavgm import FedAvgM as FedAvgM
    from fedtheory.methods.feddyn import FedDyn as FedDyn
    from fedtheory.methods.fednova import FedNova as FedNova
    from fedtheory.methods.fedopt import FedOpt as FedOpt
    from fedtheory.methods.rules import Method as Method
    from fedtheory.methods.rules import MethodRules as MethodRules
    from fedtheory.methods.scaffnew import Scaffnew as Scaffnew
    from fedtheory.methods.scaffold import Scaffold as Scaffold
