"""Independent transcription of FedALIGN from the paper and the theory page, with the paper's letters.

Ravi, Shomorony (2023): Lemmas A.2 to A.6 and A.8, Theorems 1 and A.9. ``theta`` and ``rho`` are defined by eqs. (7) and
(8), ``a`` is E 1/(1 + sum_{k not in P} p_k I_k) and ``b`` is E sum p_k I_k Gamma_k / (1 + sum). Numbers are
``Fraction``, so that results can be compared exactly. This module does not import the library.
"""

LETTERS = {
    "num_steps": "T", "step_size": "eta", "elapsed_step_size": "s", "mu": "mu", "L": "L", "local_steps": "E",
    "num_draws": "K", "G2": "G2", "sigma2": "sigma2", "objective_gap": "Gamma", "initial_distance2": "Delta_0",
    "distance2": "Delta", "distances2": "distances2", "weights": "p", "squared_weights": "p2", "excess": "excess",
    "theta": "theta", "rho": "rho", "priority_weight": "a", "included_gap": "b", "priority_weights": "a",
    "included_gaps": "b", "gamma": "gamma",
}  # fmt: skip


def gradient_norm__printed(excess, L):
    """Lemma A.2, eq. (21)."""
    return excess * 2 * L


def aggregated_distance__printed(distances2, p):
    """Lemma A.3, eq. (23)."""
    return sum(share * distance2 for share, distance2 in zip(p, distances2, strict=True))


def client_drift__printed(eta, E, G2):
    """Lemma A.4, eq. (25)."""
    return 4 * eta**2 * (E - 1) ** 2 * G2


def gradient_variance__printed(sigma2):
    """Lemma A.5, eq. (27)."""
    return sigma2


def gradient_variance__refined(sigma2, p2):
    """Lemma A.5 before its last step, eqs. (28)-(29): sigma^2 E sum p'_k^2."""
    return p2 * sigma2


def one_step__printed(Delta, eta, mu, L, E, G2, sigma2, Gamma, a, b):
    """Lemma A.6, eqs. (30)-(31)."""
    B = 8 * (E - 1) ** 2 * G2 + 6 * L * Gamma * a + sigma2
    D = 2 * b
    return (1 - eta * mu) * Delta + eta**2 * B + eta * D


def refined_one_step__refined(Delta, eta, s, mu, L, G2, sigma2, Gamma, a, b, p2=1):
    """Lemma A.6 with the drift as it enters: in (44), and in (48) and (53), each at most (s G)^2; noise by (28)."""
    drift = s**2 * G2
    return (1 - eta * mu) * Delta + (drift + drift) + eta**2 * (sigma2 * p2 + 6 * L * Gamma * a) + 2 * eta * b


refined_one_step__printed = one_step__printed


def sampling_variance__printed(eta, E, K, G2):
    """Lemma A.8, eq. (57)."""
    return 4 * eta**2 * E**2 * G2 / K


def sampling_variance__refined(s, K, a, G2):
    """Lemma A.8 before rounding.

    By (56) w' - w is a = 1/(1 + sum) times the mean of K independent draws of w_k - w_tau, centered; each has moved by
    at most s G. The variance of a mean of K draws is 1/K of one draw's, which is at most its second moment.
    """
    return (a * s) ** 2 * G2 / K


def partial_one_step__refined(Delta, eta, mu, L, E, K, G2, sigma2, Gamma, a, b):
    """Eq. (59), first line: Lemma A.6 plus 4 eta^2 E^2 G^2 / K, which the second line rounds to 8."""
    without_draws = one_step__printed(Delta, eta, mu, L, E, G2, sigma2, Gamma, a, b)
    return without_draws + 4 * eta**2 * E**2 * G2 / K


def full_participation_gap__printed(T, mu, L, E, G2, sigma2, Gamma, Delta_0, theta, rho):
    """Theorem 1, eq. (6)."""
    gamma = max(8 * L / mu, E)
    C_1 = 2 * L / mu**2 * (sigma2 + 8 * (E - 1) ** 2 * G2) + 4 * L**2 / mu * Delta_0
    C_2 = 12 * L**2 / mu**2
    return (C_1 + C_2 * theta * Gamma) / (T + gamma) + rho


def full_participation_gap__corrected(T, mu, L, E, G2, sigma2, Gamma, Delta_0, theta, rho):
    """Theorem 1 with L gamma/2 before the distance, by (36): L/2 v_T/(T + gamma), v_T as before (32)."""
    gamma = max(8 * L / mu, E)
    v_without_bias = 4 / mu**2 * (sigma2 + 8 * (E - 1) ** 2 * G2 + 6 * L * Gamma * theta) + gamma * Delta_0
    return L / 2 * v_without_bias / (T + gamma) + rho


def partial_participation_gap__printed(T, mu, L, E, K, G2, sigma2, Gamma, Delta_0, theta, rho):
    """Theorem A.9, eq. (60), with gamma = 8 L / mu."""
    C_1 = 2 * L / mu**2 * (sigma2 + 8 * (E - 1) ** 2 * G2 + 8 * E**2 * G2 / K) + 4 * L**2 / mu * Delta_0
    return (C_1 + 12 * L**2 / mu**2 * theta * Gamma) / (T + 8 * L / mu) + rho


def partial_participation_gap__corrected(T, mu, L, E, K, G2, sigma2, Gamma, Delta_0, theta, rho):
    """Theorem 1, corrected, with the 4 E^2 G^2 / K of (57) and of the first line of (59) added to sigma^2.

    Derived here: the draws matter once per round, in the step that closes it. The models have then moved by E steps of
    at most 2 eta_t, if gamma is at least E, and Lemma A.8 adds 4 eta_t^2 E^2 G^2 / K to (30). The paper's 8 is not
    needed.
    """
    drawn = sigma2 + 4 * E**2 * G2 / K
    return full_participation_gap__corrected(T, mu, L, E, G2, drawn, Gamma, Delta_0, theta, rho)


def recursion_gap__refined(T, mu, L, E, G2, sigma2, Gamma, Delta_0, a, b):
    """Eq. (30) applied T times with eta_t = 2/(mu (t + gamma)), then smoothness, as in (36)."""
    gamma = max(8 * L / mu, E)
    Delta = Delta_0
    for t in range(T):
        Delta = one_step__printed(Delta, 2 / (mu * (t + gamma)), mu, L, E, G2, sigma2, Gamma, a[t], b[t])
    return L / 2 * Delta


def theta(a, gamma, E, first_step=0):
    """Eq. (7), sums from step 1 as printed or from step 0; ``a[j]`` belongs to round j of E steps."""
    T = len(a) * E
    return sum(a[i // E] for i in range(first_step, T)) / (T + gamma - 2)


def rho(b, mu, L, gamma, E, first_step=0):
    """Eq. (8)."""
    T = len(b) * E
    return 2 * L / (mu * (T + gamma - 2)) * sum(b[i // E] for i in range(first_step, T))


def decaying_step_sizes(T, mu, L, E):
    """Theorem 1: eta_t = 2/(mu (t + gamma)), gamma = max{8 L/mu, E}, for t < T."""
    return [2 / (mu * (t + max(8 * L / mu, E))) for t in range(T)]
