"""Synthetic clients whose numbers are a function of (seed, client): whoever is touched, and in what order, is the same.

A stream is a hash of a counter, SplitMix64's finalizer taken twice under two keys: any number of it can be had without
those before. One key alone would let the streams of a million clients overlap with a chance of percents.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np

from fedtheory._support.compiling import compiled, inlined

__all__ = ["write_client"]

# Places of a client's ingredients; the samples come last, so that more of them change nothing else.
_MODEL_MEAN, _FEATURE_MEAN, _MODEL, _CENTER, _SAMPLES = 0, 1, 2, 3, 4


@inlined
def _mixed(number):
    number = (number ^ (number >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    number = (number ^ (number >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return number ^ (number >> np.uint64(31))


@inlined
def _number(one, other, place):
    return _mixed(_mixed(one + np.uint64(0x9E3779B97F4A7C15) * np.uint64(place + 1)) ^ other)


@inlined
def _uniform(number):
    # in (0, 1], so that it has a logarithm
    return (np.float64(number >> np.uint64(11)) + 1.0) * 2.0**-53


@compiled
def _write_normals(one, other, normals):
    # Box and Muller: two uniform numbers make two normal ones.
    for i in range(0, normals.size, 2):
        radius = np.sqrt(-2.0 * np.log(_uniform(_number(one, other, i))))
        angle = 2.0 * np.pi * _uniform(_number(one, other, i + 1))
        normals[i] = radius * np.cos(angle)
        if i + 1 < normals.size:
            normals[i + 1] = radius * np.sin(angle)


@compiled
def write_client(streams, spreads, scales, client, model, center, features, labels):
    """Write the model (f + 1, C), its biases below, the center (f,), and as many samples (n, >= f) as there are labels.

    ``streams`` are two keys of the federation, ``spreads`` the deviations of the means of models and of centers.
    """
    num_features, num_classes = scales.size, model.shape[1]
    one, other = _number(streams[0], streams[1], client), _number(streams[1], streams[0], client)
    mean = np.empty(1)
    _write_normals(_number(one, other, _MODEL_MEAN), other, mean)
    flat = model.reshape(model.size)
    _write_normals(_number(one, other, _MODEL), other, flat)
    for i in range(flat.size):
        flat[i] += spreads[0] * mean[0]
    _write_normals(_number(one, other, _FEATURE_MEAN), other, mean)
    _write_normals(_number(one, other, _CENTER), other, center)
    for j in range(num_features):
        center[j] += spreads[1] * mean[0]
    samples, logits = _number(one, other, _SAMPLES), np.empty(num_classes)
    for i in range(labels.size):
        x = features[i, :num_features]
        _write_normals(_number(samples, other, i), other, x)
        for c in range(num_classes):
            logits[c] = model[num_features, c]
        for j in range(num_features):
            x[j] = center[j] + scales[j] * x[j]
            for c in range(num_classes):
                logits[c] += model[j, c] * x[j]
        labels[i] = np.argmax(logits)
