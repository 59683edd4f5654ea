"""Independent transcription of Power-of-Choice from the paper and the theory page, with the paper's letters.

Cho, Wang, Joshi (2020): Theorem 3.1 with eq. (7), Theorem A.1 with eq. (8), Lemmas B.1 to B.3, the recursions (64)-(65)
and (81)-(82), and eq. (85). ``corrected`` and ``refined`` forms follow Theorem R, whose proof is on the theory page,
step by step. Numbers are ``Fraction``, so that results can be compared exactly. This module does not import the
library.
"""

from fractions import Fraction as Q

LETTERS = {
    "num_steps": "T", "num_rounds": "R", "gamma": "gamma", "step_size": "eta", "elapsed_step_size": "s", "mu": "mu",
    "L": "L", "local_steps": "tau", "num_selected": "m", "G2": "G2", "sigma2": "sigma2", "objective_gap": "Gamma",
    "rho_bar": "rho", "rho_diagonal": "rho", "rho_tilde": "rho_tilde", "initial_distance2": "Delta_0",
    "initial_gap": "gap_0", "distance2": "Delta", "distances2": "distances2", "squared_weights": "q2",
    "excess": "excess",
}  # fmt: skip


def gradient_norm__printed(excess, L):
    """Lemma B.1, eq. (9): |grad F_k|^2 <= 2 L (F_k - F_k*)."""
    return 2 * L * excess


def client_drift__printed(eta, tau, G2):
    """Lemma B.2, eq. (12)."""
    return 16 * eta**2 * tau**2 * G2


def client_drift__refined(eta, tau, G2):
    """Eq. (12) with 4 (tau - 1)^2: at most tau - 1 steps, each at most 2 eta long, before the round closes."""
    longest_way = (tau - 1) * 2 * eta
    return longest_way**2 * G2


def averaged_distance__printed(distances2):
    """Lemma B.3, eq. (24)."""
    return sum(distances2) / len(distances2)


def decaying_steps_gap__printed(T, mu, L, tau, m, G2, sigma2, Gamma, rho, rho_tilde, Delta_0):
    """Theorem 3.1, eq. (7), with gamma = 4 L / mu."""
    gamma = 4 * L / mu
    vanishing = 4 * L * (32 * tau**2 * G2 + sigma2 / m) / (3 * mu**2 * rho) + 8 * L**2 * Gamma / mu**2
    vanishing += L * gamma * Delta_0 / 2
    return vanishing / (T + gamma) + 8 * L * Gamma / (3 * mu) * (rho_tilde / rho - 1)


def decaying_steps_gap__corrected(T, mu, L, tau, m, G2, sigma2, Gamma, rho, rho_tilde, Delta_0):
    """Theorem R: L/2 (psi / (T + gamma) + delta) of step 7, with the printed C."""
    C = 32 * tau**2 * G2 + sigma2 / m + 6 * rho * L * Gamma
    return _fixed_point_shift(C, T=T, mu=mu, L=L, Gamma=Gamma, rho=rho, rho_tilde=rho_tilde, Delta_0=Delta_0)


def refined_decaying_steps_gap__refined(T, mu, L, tau, m, G2, sigma2, Gamma, rho, rho_tilde, Delta_0):
    """Theorem R with C_star of step 6 in the place of C."""
    C_star = (Q(8375, 1000) * (tau - 1) ** 2 + Q(3, 2) * rho * (tau - 1)) * G2 + sigma2 / m + 6 * rho * L * Gamma
    return _fixed_point_shift(C_star, T=T, mu=mu, L=L, Gamma=Gamma, rho=rho, rho_tilde=rho_tilde, Delta_0=Delta_0)


refined_decaying_steps_gap__printed = decaying_steps_gap__printed


def _fixed_point_shift(C, *, T, mu, L, Gamma, rho, rho_tilde, Delta_0):
    # Step 7: delta = D/(mu B) and psi = max{gamma Delta_0, 8 C/(3 rho mu^2)}.
    gamma = 4 * L / mu
    B, D = 1 + 3 * rho / 8, 2 * Gamma * (rho_tilde - rho)
    psi = max(gamma * Delta_0, 8 * C / (3 * rho * mu**2))
    return L / 2 * (psi / (T + gamma) + D / (mu * B))


def fixed_step_gap__printed(T, eta, mu, L, tau, m, G2, sigma2, Gamma, rho, rho_tilde, gap_0):
    """Theorem A.1, eq. (8), both braces as printed."""
    variance = 32 * tau**2 * G2 + sigma2 / m + 6 * rho * L * Gamma
    subtracted = 4 * (eta * variance + 2 * Gamma * (rho_tilde - rho)) / (8 + 3 * rho)
    vanishing = L / mu * (1 - eta * mu * (1 + 3 * rho / 8)) ** T * (gap_0 - subtracted)
    bias = 4 * L * eta * variance / (mu * (8 + 3 * rho)) + 8 * L * Gamma * (rho_tilde - rho) / (mu * (8 + 3 * rho))
    return vanishing + bias


def fixed_step_gap__corrected(T, eta, mu, L, tau, m, G2, sigma2, Gamma, rho, rho_tilde, gap_0):
    """Eq. (68) applied T times from Delta_0 <= 2 gap_0 / mu, then smoothness: the steps from (68) to (71)."""
    C = 32 * tau**2 * G2 + sigma2 / m + 6 * rho * L * Gamma
    return L / 2 * _recursion(C, 2 * gap_0 / mu, T=T, eta=eta, mu=mu, Gamma=Gamma, rho=rho, rho_tilde=rho_tilde)


def refined_fixed_step_gap__refined(T, eta, mu, L, tau, m, G2, sigma2, Gamma, rho, rho_tilde, Delta_0):
    """The same recursion with the C_star of a fixed step, from the distance itself."""
    C_star = (Q(209375, 100000) * (tau - 1) ** 2 + Q(3, 4) * rho * (tau - 1)) * G2 + sigma2 / m + 6 * rho * L * Gamma
    return L / 2 * _recursion(C_star, Delta_0, T=T, eta=eta, mu=mu, Gamma=Gamma, rho=rho, rho_tilde=rho_tilde)


refined_fixed_step_gap__printed = fixed_step_gap__printed


def _recursion(C, Delta, *, T, eta, mu, Gamma, rho, rho_tilde):
    B, D = 1 + 3 * rho / 8, 2 * Gamma * (rho_tilde - rho)
    for _ in range(T):
        Delta = (1 - eta * mu * B) * Delta + eta**2 * C + eta * D
    return Delta


def one_step__printed(Delta, eta, mu, L, tau, m, G2, sigma2, Gamma, rho, rho_tilde):
    """Eqs. (64)-(65), with rho_tilde - rho_bar for the misprinted rho_bar - rho_bar."""
    C = 32 * tau**2 * G2 + sigma2 / m + 6 * rho * L * Gamma
    return (1 - eta * mu * (1 + 3 * rho / 8)) * Delta + eta**2 * C + 2 * eta * Gamma * (rho_tilde - rho)


def one_step__corrected(Delta, eta, s, mu, L, m, G2, sigma2, Gamma, rho, rho_tilde):
    """Steps 4 to 6 of Theorem R, where the models have moved by at most e^(1/2) = s G since the round began."""
    return _repaired_step(Delta, sigma2 / m, eta=eta, s=s, mu=mu, L=L, G2=G2, Gamma=Gamma, rho=rho, rho_tilde=rho_tilde)


def weighted_one_step__corrected(Delta, eta, s, mu, L, G2, sigma2, Gamma, rho, rho_tilde, q2=1):
    """The same for weights q_k of sum 1, whose squares sum to at most q2: sigma^2 q2 for sigma^2/m."""
    return _repaired_step(
        Delta, sigma2 * q2, eta=eta, s=s, mu=mu, L=L, G2=G2, Gamma=Gamma, rho=rho, rho_tilde=rho_tilde
    )


def _repaired_step(Delta, noise, *, eta, s, mu, L, G2, Gamma, rho, rho_tilde):
    # Step 4 has 2 E V, where E V <= e = s^2 G^2. Step 6 trades Delta at the round's start for Delta_t minus
    # 2 (Delta e)^(1/2) + e, where mu Delta^(1/2) <= G, and so costs 3/8 eta mu rho (2 s G^2/mu + e). The page then
    # rounds eta mu rho up to 1/4; here it is kept.
    e = s**2 * G2
    trade = 3 * eta * mu * rho / 8 * (2 * s * G2 / mu + e)
    contraction = (1 - eta * mu) - 3 * eta * mu * rho / 8
    return (
        contraction * Delta
        + 2 * e
        + trade
        + eta**2 * (noise + 6 * rho * L * Gamma)
        + 2 * eta * (rho_tilde * Gamma - rho * Gamma)
    )


def weighted_one_step__printed(Delta, eta, mu, L, tau, m, G2, sigma2, Gamma, rho, rho_tilde):
    """Appendix E, eq. (81)."""
    bracket = 32 * m**2 * (m - 1) * tau**2 * G2 + sigma2 * m + 2 * L * (2 + m) * rho * Gamma
    slope = 1 - eta * mu * (Q(1, m) + rho / 2)
    return slope * Delta + 2 * eta * Gamma * (rho_tilde - rho) + eta**2 * bracket


def weighted_average_gap__printed(T, mu, L, tau, m, G2, sigma2, Gamma, rho, rho_tilde, Delta_0):
    """Appendix E, eq. (85), with gamma = 4 m (1 + m) L / mu."""
    gamma = 4 * m * (1 + m) * L / mu
    vanishing = L * m**2 * (32 * m * (m - 1) * tau**2 * G2 + sigma2) / (mu**2 * rho)
    vanishing += 2 * L**2 * m * (m + 2) * Gamma / mu**2 + L * gamma * Delta_0 / 2
    return vanishing / (T + gamma) + 2 * L * Gamma / (rho * mu) * (rho_tilde / rho - 1)


def derived_weighted_average_gap__derived(T, mu, L, tau, m, G2, sigma2, Gamma, rho, rho_tilde, Delta_0):
    """What (82)-(84) give for beta = m/mu: psi of (83) at t = T, its maximum bounded by the sum."""
    B = Q(1, m) + rho / 2
    C = 32 * m**2 * (m - 1) * tau**2 * G2 + sigma2 * m + 2 * L * (2 + m) * rho * Gamma
    D = 2 * Gamma * (rho_tilde - rho)
    beta, gamma = m / mu, 4 * m * (1 + m) * L / mu
    psi = gamma * Delta_0 + (beta**2 * C + D * beta * (T + gamma)) / (beta * mu * B - 1)
    return L / 2 * psi / (gamma + T)


derived_weighted_average_gap__printed = weighted_average_gap__printed


def weighted_average_gap__corrected(T, mu, L, tau, m, G2, sigma2, Gamma, rho, rho_tilde, Delta_0, q2=1):
    """Theorem R for weights of sum 1 with the step sizes of (85).

    The page states the recursion only. With eta_t = beta/(t + gamma), beta = m/mu, its step 7 needs
    (beta mu B - 1) psi >= beta^2 C: then psi/(t + gamma) + D/(mu B) is preserved.
    """
    beta, gamma = m / mu, 4 * m * (1 + m) * L / mu
    B, D = 1 + 3 * rho / 8, 2 * Gamma * (rho_tilde - rho)
    C = 32 * tau**2 * G2 + sigma2 * q2 + 6 * rho * L * Gamma
    psi = max(gamma * Delta_0, beta**2 * C / (beta * mu * B - 1))
    return L / 2 * (psi / (T + gamma) + D / (mu * B))


def decaying_step_sizes(T, mu, L):
    """Theorem 3.1: eta_t = 1/(mu (t + gamma)), gamma = 4 L/mu, for t < T."""
    return [1 / (mu * (t + 4 * L / mu)) for t in range(T)]


def weighted_step_sizes(T, mu, L, m):
    """Eq. (85): eta_t = beta/(t + gamma), beta = m/mu, gamma = 4 m (1 + m) L/mu."""
    return [m / mu / (t + 4 * m * (1 + m) * L / mu) for t in range(T)]


def loss_after_step__derived(excess, eta, L):
    """A step on the parabola of curvature L, from where its excess is one half L w^2."""
    w2 = 2 * excess / L
    return L / 2 * (1 - eta * L) ** 2 * w2


def exact_client_drift__derived(eta, mu, tau, G2):
    """The way that the client of curvature mu goes in tau - 1 steps, the first of length eta G."""
    way = sum(eta * (1 - eta * mu) ** i for i in range(tau - 1))
    return G2 * way**2


def one_round__derived(Delta, eta, mu, L, tau, m, sigma2, Gamma, rho, rho_tilde):
    """The lemma of a round, sum by sum, for equal step sizes."""
    c, x = 1 - eta * mu, eta * L
    high = sum(eta * (1 - x) * (1 - x) ** (2 * s) * c ** (tau - 1 - s) for s in range(tau))
    bias = sum(eta * c ** (tau - 1 - s) for s in range(tau))
    noise = sum(eta**2 * c ** (tau - 1 - s) for s in range(tau - 1)) + eta**2 / m
    return c**tau * Delta - 2 * rho * (mu / 2 * Delta + Gamma) * high + 2 * rho_tilde * Gamma * bias + sigma2 * noise


def fixed_step_distance__derived(R, eta, mu, L, tau, m, sigma2, Gamma, rho, rho_tilde, Delta_0):
    """The lemma of a round, R times."""
    for _ in range(R):
        Delta_0 = one_round__derived(Delta_0, eta, mu, L, tau, m, sigma2, Gamma, rho, rho_tilde)
    return Delta_0


def decaying_steps_distance__derived(R, gamma, mu, L, tau, m, sigma2, Gamma, rho, rho_tilde, Delta_0):
    """The theorem for steps 1/(mu (t + gamma)), with psi and delta."""
    delta, kappa = 2 * Gamma * (rho_tilde - rho) / (mu * (1 + rho)), L / mu
    K = 2 * tau * kappa * rho * Gamma * (1 + rho_tilde) / (mu * (1 + rho)) + sigma2 * (tau - 1 + Q(1, m)) / (
        tau * mu**2
    )
    psi = max(gamma * max(Delta_0 - delta, 0), 2 * K / rho)
    return psi / (tau * R + gamma) + delta


def averaged_rounds_gap__derived(R, eta, mu, L, tau, m, sigma2, Gamma, rho, rho_tilde, Delta_0):
    """The theorem for averaged models, with theta, A and Omega as sums."""
    c, x = 1 - eta * mu, eta * L
    A = sum(c**j for j in range(tau))
    theta = (1 - x) / A * sum(c ** (tau - 1 - s) * (1 - x) ** (2 * s) for s in range(tau))
    Omega = sum(c ** (-tau * r) for r in range(1, R + 1))
    gap = Gamma * (rho_tilde / (rho * theta) - 1) + Delta_0 / (2 * eta * rho * theta * A * Omega)
    return gap + eta * sigma2 * (1 - (1 - Q(1, m)) / A) / (2 * rho * theta)
