"""Claims about softmax federations refute wrong constants."""

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
        (claims.gradient, "gradients", 1.001),
        (claims.smoothness, "smoothness", 0.99),
        (claims.strong_convexity, "strong_convexity", 1.01),
        (claims.minimizer, "minimizer", 1.0001),
        (claims.minimizer, "strong_convexity", 8.0),
        (claims.invariance, "minimum", None),
        (claims.batch_mean, "gradients", None),
        (claims.batch_variance, "minibatch_variances", 0.99),
        (claims.batch_variance_bound, "minibatch_variance", 0.9),
        (claims.gradient_bound, "gradient_bound", 0.25),
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
