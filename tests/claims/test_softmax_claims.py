"""Wrong constants of softmax federations are caught by the claims about them."""

import pytest

from fedtheory.claims import softmax as claims
from fedtheory.federation.softmax import SoftmaxFederation
from tests.claims.refutation import broken


def scaled(name, factor):
    """The federation's constant, made smaller or larger by a factor."""
    honest = vars(SoftmaxFederation)[name]
    if callable(honest):
        return lambda self, *args: factor * honest(self, *args)
    function = getattr(honest, "func", None) or honest.fget
    return property(lambda self: factor * function(self))


@pytest.mark.parametrize(
    ("claim", "name", "factor"),
    [
        (claims.GRADIENT, "gradients", 1.001),
        (claims.SMOOTHNESS, "smoothness", 0.99),
        (claims.STRONG_CONVEXITY, "strong_convexity", 1.01),
        (claims.MINIMIZER, "minimizer", 1.0001),
        (claims.MINIMIZER, "strong_convexity", 8.0),
        (claims.INVARIANCE, "minimum", None),
        (claims.BATCH_MEAN, "gradients", None),
        (claims.BATCH_VARIANCE, "minibatch_variances", 0.99),
        (claims.BATCH_VARIANCE_BOUND, "minibatch_variance", 0.9),
        (claims.GRADIENT_BOUND, "gradient_bound", 0.25),
    ],
    ids=lambda value: getattr(value, "key", value),
)
def test_a_wrong_constant_is_caught(monkeypatch, claim, name, factor):
    gradients = SoftmaxFederation.gradients
    # Without a factor: what depends on how many clients share the samples.
    wrong = {
        "minimum": property(lambda self: float(self.loss(self.minimizer)) + self.num_clients),
        "gradients": lambda self, w: gradients(self, w) + self.num_clients,
    }
    monkeypatch.setattr(SoftmaxFederation, name, wrong[name] if factor is None else scaled(name, factor))
    assert broken(claim)
