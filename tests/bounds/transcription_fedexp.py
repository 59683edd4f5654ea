"""Extrapolation: what the polarization identity and steps that come closer to w* say of the mean update."""

LETTERS = {
    "L": "L", "local_steps": "tau", "step_size": "eta", "server_step_size": "alpha", "distance2": "Delta",
    "update2": "U", "mean_update2": "M",
}  # fmt: skip


def one_round__derived(Delta, L, tau, eta, alpha, U, M):
    """-2 <u, w* - w> = |w + u - w*|^2 - |w - w*|^2 - |u|^2, of which the first two are at most -a |u|^2/tau."""
    a = 2 / (eta * L) - 1
    return Delta + alpha * (-a * U / tau - U) + alpha**2 * M
