(** One local step with bounded gradients: Li et al., and Power-of-Choice repaired. *)

From FedTheory Require Export OneStep.

Section General.
Context {V : space}.
Variables (P clients : law) (past : nat -> nat -> nat -> Prop) (n : nat) (a : nat -> law) (u : nat -> V)
  (c : nat -> nat -> nat).
Variables (xi : nat -> nat -> nat -> V) (f : nat -> V -> R) (g : nat -> V -> V) (low : nat -> R) (eta : nat -> R)
  (j : nat).
Variables (mu L G2 noise2 rho rho_tilde : R) (xs : V).
Hypothesis slots : forall o, size (a o) = n.
Hypothesis weights_known : forall i, adapted past 0 (fun o => weight (a o) i).
Hypothesis known : information past u c xi.
Hypothesis unbiased : unbiased_noise P past xi.
Hypothesis steps : forall s, 0 < eta s.
Hypothesis short : eta j * L <= 1 / 4.
Hypothesis curvatures : 0 < mu <= L.
Hypothesis strongly : forall k, strongly_convex mu (f k) (g k).
Hypothesis smooth_clients : forall k, smooth L (f k) (g k).
Hypothesis minima : forall k, bounded_below (f k) (low k).
Hypothesis best : minimizer (mean_loss clients f) xs.
Local Notation w := (path u c xi g eta).
Local Notation avg := (average_model a u c xi g eta).
Local Notation F := (mean_loss clients f).
Local Notation Gamma := (objective_gap clients f low xs).
Local Notation s := (elapsed eta j).

(** Stochastic gradients of the active clients in the steps made so far, and gradients of all at the round's start. *)
Hypothesis gradients : forall r, (r < j)%nat -> E P (fun o => E (a o) (fun i => sq (g (c o i) (w i r o) + xi i r o)))
  <= G2.
Hypothesis start_gradients : forall k, E P (fun o => sq (g k (u o))) <= G2.
Hypothesis step_variance : E P (fun o => sq (step_noise a xi j o)) <= noise2.

(** The skews, with the weights of the slots. *)
Definition skewed_slots :=
  0 <= rho /\ rho * E P (fun o => F (u o) - F xs + Gamma) <= E P
    (fun o => E (a o) (fun i => f (c o i) (u o) - low (c o i))) /\
  E P (fun o => E (a o) (fun i => f (c o i) xs - low (c o i))) <= rho_tilde * Gamma.

Lemma G2_pos : 0 <= G2.
Proof. apply Rle_trans with (2 := start_gradients O). apply E_pos. intro. apply sq_pos. Qed.
Lemma elapsed_pos : 0 <= s.
Proof. apply sum_pos. intros. left. apply steps. Qed.

Lemma one_step_core_with q (v : nat -> V) : 0 < q <= 1 -> E P (fun o => sq (avg (S j) o - xs))
  <= (1 - eta j * mu) * E P (fun o => sq (avg j o - xs)) + E P (fun o => E (a o) (fun i => sq (w i j o - avg j o)))
    + / q * E P (fun o => E (a o) (fun i => sq (w i j o - v o)))
    - 2 * eta j * (1 - 2 * eta j * L) * (1 - q * eta j * L) * E P
        (fun o => E (a o) (fun i => f (c o i) (v o) - low (c o i)))
    + 2 * eta j * E P (fun o => E (a o) (fun i => f (c o i) xs - low (c o i))) + eta j ^ 2 * noise2.
Proof.
  intro hq. rewrite (noise_separates P past n a u c xi g eta xs slots weights_known known unbiased).
  apply Rplus_le_compat; [| apply Rmult_le_compat_l; [apply pow2_ge_0 | exact step_variance]].
  rewrite <- !E_scal, <- !E_plus, <- E_minus, <- E_plus. apply E_le. intro o.
  apply (core (a o) (c o) (fun i => w i j o) f g low mu L (eta j) xs (v o)); easy.
Qed.
Lemma one_step_core (v : nat -> V) : E P (fun o => sq (avg (S j) o - xs))
  <= (1 - eta j * mu) * E P (fun o => sq (avg j o - xs)) + E P (fun o => E (a o) (fun i => sq (w i j o - avg j o)))
    + E P (fun o => E (a o) (fun i => sq (w i j o - v o)))
    - 2 * eta j * (1 - 2 * eta j * L) * (1 - eta j * L) * E P
        (fun o => E (a o) (fun i => f (c o i) (v o) - low (c o i)))
    + 2 * eta j * E P (fun o => E (a o) (fun i => f (c o i) xs - low (c o i))) + eta j ^ 2 * noise2.
Proof. pose proof (one_step_core_with 1 v ltac:(lra)) as h. rewrite Rinv_1, !Rmult_1_l in h. exact h. Qed.

Lemma start_distance_le : mu^2 * E P (fun o => sq (u o - xs)) <= G2.
Proof.
  apply Rle_trans with (E P (fun o => E clients (fun k => sq (g k (u o))))).
  - rewrite <- E_scal. apply E_le. intro o. apply Rle_trans with (2 := jensen_zero clients (fun k => g k (u o))).
    apply (strong_gradient mu F (mean_gradient clients g)); [lra | now apply mean_loss_lower |].
    apply (minimizer_gradient L F (mean_gradient clients g));
      [apply mean_loss_upper; intro; apply smooth_clients | exact best].
  - rewrite E_swap, <- (E_const clients G2). apply E_le. exact start_gradients.
Qed.

Lemma start_gap_le : mu / 2 * E P (fun o => sq (u o - xs)) + Gamma <= E P (fun o => F (u o) - F xs + Gamma).
Proof.
  rewrite E_plus, E_const. apply Rplus_le_compat_r. rewrite <- E_scal. apply E_le. intro o.
  apply (above_minimum mu L F (mean_gradient clients g)); [now apply mean_loss_lower | apply mean_loss_upper; intro;
    apply smooth_clients | exact best].
Qed.

Lemma distances : E P (fun o => sq (avg j o - xs)) <= E P (fun o => sq (u o - xs)) + 2 * s * G2 / mu + s^2 * G2.
Proof.
  pose proof (round_average P a u c xi g eta j G2 steps gradients) as ra. pose proof start_distance_le as sd.
  pose proof G2_pos as hG. pose proof elapsed_pos as hs.
  set (X := fun o => (u o - xs)%V). set (Y := fun o => (avg j o - u o)%V).
  assert (e : E P (fun o => sq (avg j o - xs)) = E P (fun o => sq (X o)) + 2 * E P (fun o => ip (X o) (Y o))
    + E P (fun o => sq (Y o))).
  { rewrite <- E_scal, <- !E_plus. apply E_ext. intros o _. unfold X, Y. ips. ring. }
  pose proof (@ip_le (L2 P V) X Y (sqrt G2 / mu) (s * sqrt G2)) as cs.
  assert (e2 : sqrt G2 ^ 2 = G2) by now apply pow2_sqrt. pose proof (sqrt_pos G2).
  specialize (cs ltac:(pos) ltac:(pos)).
  change (@sq (L2 P V) X) with (E P (fun o => sq (X o))) in cs.
  change (@sq (L2 P V) Y) with (E P (fun o => sq (Y o))) in cs.
  change (@ip (L2 P V) X Y) with (E P (fun o => ip (X o) (Y o))) in cs.
  assert (c1 : E P (fun o => sq (X o)) <= (sqrt G2 / mu)^2).
  { apply Rmult_le_reg_l with (mu^2); [pos |]. replace (mu^2 * (sqrt G2 / mu)^2) with (sqrt G2 ^ 2) by (field; lra).
    rewrite e2. exact sd. }
  assert (c2 : E P (fun o => sq (Y o)) <= (s * sqrt G2)^2) by (rewrite Rpow_mult_distr, e2; exact ra).
  specialize (cs c1 c2). replace (sqrt G2 / mu * (s * sqrt G2)) with (s * sqrt G2 ^ 2 / mu) in cs by (field; lra).
  rewrite e2 in cs.
  rewrite Rpow_mult_distr, e2 in c2. rewrite e. fold X. change (E P (fun o => sq (u o - xs))) with
    (E P (fun o => sq (X o))).
  replace (2 * s * G2 / mu) with (2 * (s * G2 / mu)) by (field; lra). lra.
Qed.

(** [k] bounds (1 - 2 x)(1 - x) from below, x = eta L. *)
Lemma skewed_step_with k : skewed_slots -> 0 <= k <= (1 - 2 * eta j * L) * (1 - eta j * L) ->
  E P (fun o => sq (avg (S j) o - xs))
    <= (1 - eta j * mu * (1 + k * rho)) * E P (fun o => sq (avg j o - xs))
      + (2 * s^2 + 2 * k * eta j * rho * s + k * eta j * mu * rho * s^2) * G2
      + eta j ^ 2 * (noise2 + 6 * rho * L * Gamma) + 2 * eta j * Gamma * (rho_tilde - rho).
Proof.
  intros (hr & h1 & h2) hk. pose proof (one_step_core u) as h. set (e := eta j) in *.
  assert (he : 0 < e) by apply steps.
  pose proof (round_drift P a u c xi g eta j G2 steps gradients) as d1.
  pose proof (round_way P a u c xi g eta j G2 steps gradients) as d2.
  pose proof (factor_range mu L e curvatures he short) as [_ k2]. set (kk := (1 - 2 * e * L) * (1 - e * L)) in *.
  pose proof G2_pos as hG. pose proof elapsed_pos as hs.
  assert (hGam : 0 <= Gamma) by (apply E_pos; intro q; pose proof (minima q xs); lra).
  set (Du := E P (fun o => sq (u o - xs))). assert (hDu : 0 <= Du) by (apply E_pos; intro; apply sq_pos).
  pose proof start_gap_le as m. fold Du in m.
  apply (Rmult_le_compat_l rho) in m; [| easy].
  set (Lu := E P (fun o => E (a o) (fun i => f (c o i) (u o) - low (c o i)))) in *.
  set (Lx := E P (fun o => E (a o) (fun i => f (c o i) xs - low (c o i)))) in *.
  replace (2 * e * (1 - 2 * e * L) * (1 - e * L)) with (2 * e * kk) in h by (unfold kk; ring).
  assert (a1 : 2 * e * kk * (rho * (mu / 2 * Du + Gamma)) <= 2 * e * kk * Lu) by (apply Rmult_le_compat_l; [pos | lra]).
  assert (a2 : k * (e * rho * mu * Du) <= kk * (e * rho * mu * Du)) by (apply Rmult_le_compat_r; [pos | easy]).
  assert (a3 : (1 - 3 * (e * L)) * (2 * e * rho * Gamma) <= kk * (2 * e * rho * Gamma))
    by (apply Rmult_le_compat_r; [pos | easy]).
  assert (a4 : 2 * e * Lx <= 2 * e * (rho_tilde * Gamma)) by (apply Rmult_le_compat_l; lra).
  pose proof distances as dd. fold Du in dd. set (Dj := E P (fun o => sq (avg j o - xs))) in *.
  assert (a5 : k * e * mu * rho * Dj <= k * e * mu * rho * (Du + 2 * s * G2 / mu + s^2 * G2))
    by (apply Rmult_le_compat_l; [pos | easy]).
  replace (k * e * mu * rho * (Du + 2 * s * G2 / mu + s^2 * G2))
    with (k * (e * rho * mu * Du) + (2 * k * e * rho * s + k * e * mu * rho * s^2) * G2) in a5 by (field; lra).
  lra.
Qed.

(** The same without the bound on the distance of the round's start: a fifth of the excess is kept for the drift, which
    does not depend on the skew. *)
Lemma skewed_step_apart k d : skewed_slots -> 0 <= k -> 0 < d ->
  k * (1 + d) <= (1 - 2 * eta j * L) * (1 - / 5 * eta j * L) ->
  E P (fun o => sq (avg (S j) o - xs))
    <= (1 - eta j * mu * (1 + k * rho)) * E P (fun o => sq (avg j o - xs))
      + (6 + k * (1 + / d) * (eta j * mu * rho)) * s^2 * G2
      + eta j ^ 2 * (noise2 + 6 * rho * L * Gamma) + 2 * eta j * Gamma * (rho_tilde - rho).
Proof.
  intros (hr & h1 & h2) hk hd hkd. pose proof (one_step_core_with (/ 5) u ltac:(lra)) as h. rewrite Rinv_inv in h.
  set (e := eta j) in *. assert (he : 0 < e) by apply steps.
  pose proof (round_drift P a u c xi g eta j G2 steps gradients) as d1.
  pose proof (round_way P a u c xi g eta j G2 steps gradients) as d2.
  pose proof (round_average P a u c xi g eta j G2 steps gradients) as d3.
  pose proof G2_pos as hG. pose proof elapsed_pos as hs. assert (hx : 0 < e * L) by pos.
  replace (2 * e * L) with (2 * (e * L)) in * by ring. replace (/ 5 * e * L) with (/ 5 * (e * L)) in * by ring.
  set (kk := (1 - 2 * (e * L)) * (1 - / 5 * (e * L))) in *. assert (k2 : 1 - 3 * (e * L) <= kk) by (unfold kk; nra).
  assert (hkk : 0 <= kk) by (unfold kk; nra).
  assert (hGam : 0 <= Gamma) by (apply E_pos; intro q; pose proof (minima q xs); lra).
  set (Du := E P (fun o => sq (u o - xs))). assert (hDu : 0 <= Du) by (apply E_pos; intro; apply sq_pos).
  pose proof start_gap_le as m. fold Du in m.
  apply (Rmult_le_compat_l rho) in m; [| easy].
  set (Lu := E P (fun o => E (a o) (fun i => f (c o i) (u o) - low (c o i)))) in *.
  set (Lx := E P (fun o => E (a o) (fun i => f (c o i) xs - low (c o i)))) in *.
  replace (2 * e * (1 - 2 * (e * L)) * (1 - / 5 * (e * L))) with (2 * e * kk) in h by (unfold kk; ring).
  assert (a1 : 2 * e * kk * (rho * (mu / 2 * Du + Gamma)) <= 2 * e * kk * Lu) by (apply Rmult_le_compat_l; [pos | lra]).
  assert (a2 : k * (1 + d) * (e * mu * rho * Du) <= kk * (e * mu * rho * Du)) by (apply Rmult_le_compat_r; [pos |
    easy]).
  assert (a3 : (1 - 3 * (e * L)) * (2 * e * rho * Gamma) <= kk * (2 * e * rho * Gamma))
    by (apply Rmult_le_compat_r; [pos | easy]).
  assert (a4 : 2 * e * Lx <= 2 * e * (rho_tilde * Gamma)) by (apply Rmult_le_compat_l; lra).
  set (Dj := E P (fun o => sq (avg j o - xs))) in *.
  assert (dd : Dj <= (1 + d) * Du + (1 + / d) * (s^2 * G2)).
  { assert (0 < / d) by pos. apply Rle_trans with ((1 + d) * Du + (1 + / d) * E P (fun o => sq (avg j o - u o)));
      [| apply Rplus_le_compat_l, Rmult_le_compat_l; [lra | exact d3]].
    unfold Dj, Du. rewrite <- !E_scal, <- E_plus. apply E_le. intro o.
    pose proof (young d (u o - xs)%V (avg j o - u o)%V hd) as y.
    replace (sq (avg j o - xs)) with (sq (u o - xs) + 2 * ip (u o - xs) (avg j o - u o) + sq (avg j o - u o))
      by (ips; ring). lra. }
  assert (a5 : k * (e * mu * rho) * Dj <= k * (e * mu * rho) * ((1 + d) * Du + (1 + / d) * (s^2 * G2)))
    by (apply Rmult_le_compat_l; [pos | easy]).
  lra.
Qed.

Theorem skewed_step : skewed_slots ->
  E P (fun o => sq (avg (S j) o - xs))
    <= (1 - eta j * mu * (1 + 3 * rho / 8)) * E P (fun o => sq (avg j o - xs))
      + (2 * s^2 + 3 / 4 * eta j * rho * s + 3 / 8 * eta j * mu * rho * s^2) * G2
      + eta j ^ 2 * (noise2 + 6 * rho * L * Gamma) + 2 * eta j * Gamma * (rho_tilde - rho).
Proof.
  intro h. pose proof (factor_range mu L (eta j) curvatures (steps j) short) as [k1 _].
  apply Rle_trans with (1 := skewed_step_with (3 / 8) h ltac:(lra)). right. field.
Qed.
End General.

(** ** Power-of-Choice: m active clients, and the plain mean *)

Section PowerOfChoice.
Context {V : space}.
Variables (P clients : law) (past : nat -> nat -> nat -> Prop) (u : nat -> V) (c : nat -> nat -> nat).
Variables (xi : nat -> nat -> nat -> V) (f : nat -> V -> R) (g : nat -> V -> V) (low : nat -> R) (eta : nat -> R)
  (j : nat).
Variables (mu L G2 sigma2 rho rho_tilde : R) (xs : V).
Hypothesis known : information past u c xi.
Hypothesis unbiased : unbiased_noise P past xi.
Hypothesis steps : forall s, 0 < eta s.
Hypothesis short : eta j * L <= 1 / 4.
Hypothesis curvatures : 0 < mu <= L.
Hypothesis strongly : forall k, strongly_convex mu (f k) (g k).
Hypothesis smooth_clients : forall k, smooth L (f k) (g k).
Hypothesis minima : forall k, bounded_below (f k) (low k).
Hypothesis best : minimizer (mean_loss clients f) xs.
Hypothesis start_gradients : forall k, E P (fun o => sq (g k (u o))) <= G2.
Local Notation Gamma := (objective_gap clients f low xs).
Local Notation s := (elapsed eta j).

Theorem power_of_choice_one_step m (hm : (0 < m)%nat) :
  let a := fun _ : nat => uniform m hm in let avg := average_model a u c xi g eta in
  uncorrelated_noise P xi -> E (uniform m hm) (fun i => E P (fun o => sq (xi i j o))) <= sigma2 ->
  (forall r, (r < j)%nat -> E P (fun o => E (uniform m hm) (fun i => sq
    (g (c o i) (path u c xi g eta i r o) + xi i r o))) <= G2) ->
  skewed_slots P clients a u c f low rho rho_tilde xs ->
  E P (fun o => sq (avg (S j) o - xs))
    <= (1 - eta j * mu * (1 + 3 * rho / 8)) * E P (fun o => sq (avg j o - xs))
      + (2 * s^2 + 3 / 4 * eta j * rho * s + 3 / 8 * eta j * mu * rho * s^2) * G2
      + eta j ^ 2 * (sigma2 / INR m + 6 * rho * L * Gamma) + 2 * eta j * Gamma * (rho_tilde - rho).
Proof.
  intros a avg hu hv hg hs. pose proof (lt_0_INR m hm) as pm.
  apply (skewed_step P clients past m a u c xi f g low eta j mu L G2 (sigma2 / INR m) rho rho_tilde xs); try easy.
  pose proof (uncorrelated_mean (uniform m hm) P (fun i o => xi i j o)) as um. unfold step_noise, a.
  rewrite um by (intros i k h; now apply hu). cbn [uniform size weight]. rewrite (uniform_squares m hm). unfold Rdiv.
  rewrite (Rmult_comm sigma2). apply Rmult_le_compat_l; [pos | exact hv].
Qed.

(** Weights of sum one that are known when the round starts; [squared_weights] bounds the sum of their squares. *)
Theorem power_of_choice_weighted_one_step n (a : nat -> law) squared_weights :
  let avg := average_model a u c xi g eta in
  (forall o, size (a o) = n) -> (forall i, adapted past 0 (fun o => weight (a o) i)) -> 0 <= sigma2 ->
  (forall o, sum (size (a o)) (fun i => weight (a o) i ^ 2) <= squared_weights) ->
  (forall i k (phi : nat -> R), i <> k -> adapted past j phi -> E P (fun o => phi o * ip (xi i j o) (xi k j o)) = 0) ->
  (forall i (phi : nat -> R), (forall o, 0 <= phi o) -> adapted past j phi -> E P (fun o => phi o * sq (xi i j o))
    <= sigma2 * E P phi) ->
  (forall r, (r < j)%nat -> E P (fun o => E (a o) (fun i => sq (g (c o i) (path u c xi g eta i r o) + xi i r o))) <= G2)
    ->
  skewed_slots P clients a u c f low rho rho_tilde xs ->
  E P (fun o => sq (avg (S j) o - xs))
    <= (1 - eta j * mu * (1 + 3 * rho / 8)) * E P (fun o => sq (avg j o - xs))
      + (2 * s^2 + 3 / 4 * eta j * rho * s + 3 / 8 * eta j * mu * rho * s^2) * G2
      + eta j ^ 2 * (sigma2 * squared_weights + 6 * rho * L * Gamma) + 2 * eta j * Gamma * (rho_tilde - rho).
Proof.
  intros avg hn hw h0 hq hu hv hg hs.
  apply (skewed_step P clients past n a u c xi f g low eta j mu L G2 (sigma2 * squared_weights) rho rho_tilde xs);
    try easy.
  apply Rle_trans with (1 := step_noise_le P past n a xi j sigma2 hn
    ltac:(intros i o o' h; apply hw; destruct known as (hp & _); now apply (past_back past j)) hu hv).
  apply Rmult_le_compat_l; [easy |]. rewrite <- (E_const P squared_weights). apply E_le. exact hq.
Qed.
End PowerOfChoice.

(** ** Li et al.: all clients, with their weights *)

Section AllClients.
Context {V : space}.
Variables (P clients : law) (past : nat -> nat -> nat -> Prop) (u : nat -> V).
Variables (xi : nat -> nat -> nat -> V) (f : nat -> V -> R) (g : nat -> V -> V) (low : nat -> R) (eta : nat -> R)
  (j tau : nat).
Variables (mu L G2 : R) (sigma2 : nat -> R) (xs : V).
Let own := fun (_ : nat) (i : nat) => i.
Hypothesis known : information past u own xi.
Hypothesis unbiased : unbiased_noise P past xi.
Hypothesis unrelated : uncorrelated_noise P xi.
Hypothesis variance : forall i, E P (fun o => sq (xi i j o)) <= sigma2 i.
Hypothesis steps : forall s, 0 < eta s.
Hypothesis short : eta j * L <= 1 / 4.
Hypothesis in_round : (j <= tau - 1)%nat /\ (1 <= tau)%nat.
Hypothesis halving : forall s, (s < j)%nat -> eta s <= 2 * eta j.
Hypothesis curvatures : 0 < mu <= L.
Hypothesis strongly : forall k, strongly_convex mu (f k) (g k).
Hypothesis smooth_clients : forall k, smooth L (f k) (g k).
Hypothesis minima : forall k, bounded_below (f k) (low k).
Hypothesis best : minimizer (mean_loss clients f) xs.
Hypothesis G2_nonnegative : 0 <= G2.
Hypothesis gradients : forall k r, (r < j)%nat -> E P (fun o => sq (g k (path u own xi g eta k r o) + xi k r o)) <= G2.
Local Notation Gamma := (objective_gap clients f low xs).

Theorem fedavg_one_step :
  let avg := average_model (fun _ => clients) u own xi g eta in
  let weighted_sigma2 := sum (size clients) (fun k => weight clients k ^ 2 * sigma2 k) in
  E P (fun o => sq (avg (S j) o - xs))
    <= (1 - eta j * mu) * E P (fun o => sq (avg j o - xs))
      + eta j ^ 2 * (weighted_sigma2 + 6 * L * Gamma + 8 * (INR tau - 1)^2 * G2).
Proof.
  intros avg weighted_sigma2. set (a := fun _ : nat => clients) in *. set (e := eta j) in *.
  assert (he : 0 < e) by apply steps.
  assert (sv : E P (fun o => sq (step_noise a xi j o)) <= weighted_sigma2).
  { unfold step_noise, a. pose proof (uncorrelated_mean clients P (fun i o => xi i j o)) as um.
    rewrite um by (intros i k h; now apply unrelated). apply sum_le. intros k _.
    apply Rmult_le_compat_l; [apply pow2_ge_0 | apply variance]. }
  assert (mg : forall r, (r < j)%nat -> E P (fun o => E (a o)
    (fun i => sq (g (own o i) (path u own xi g eta i r o) + xi i r o))) <= G2).
  { intros r hr. unfold a. rewrite E_swap, <- (E_const clients G2). apply E_le. intro k. exact (gradients k r hr). }
  pose proof (one_step_core P past (size clients) a u own xi f g low eta j mu L weighted_sigma2 xs ltac:(easy)
    ltac:(easy) known
    unbiased steps short curvatures strongly smooth_clients minima sv (avg j)) as h. fold e avg in h.
  pose proof (round_drift P a u own xi g eta j G2 steps mg) as d. fold avg in d.
  pose proof (halving_le eta j G2 (fun s => Rlt_le _ _ (steps s)) e tau G2_nonnegative (Rlt_le _ _ he) (proj1 in_round)
    (proj2 in_round) halving) as hv.
  unfold elapsed in d.
  pose proof (factor_range mu L e curvatures he short) as [k1 k2]. set (k := (1 - 2 * e * L) * (1 - e * L)) in *.
  assert (hGam : 0 <= Gamma) by (apply E_pos; intro q; pose proof (minima q xs); lra).
  set (La := E P (fun o => E (a o) (fun i => f (own o i) (avg j o) - low (own o i)))) in *.
  set (Lx := E P (fun o => E (a o) (fun i => f (own o i) xs - low (own o i)))) in *.
  assert (ex : Lx = Gamma) by exact (E_const P Gamma).
  assert (ea : Gamma <= La).
  { unfold La. rewrite <- (E_const P Gamma). apply E_le. intro o. unfold a, own, objective_gap. rewrite !E_minus.
    pose proof (best (avg j o)) as b. unfold mean_loss in b. lra. }
  replace (2 * e * (1 - 2 * e * L) * (1 - e * L)) with (2 * e * k) in h by (unfold k; ring).
  assert (2 * e * k * Gamma <= 2 * e * k * La) by (apply Rmult_le_compat_l; [pos | easy]).
  assert ((1 - 3 * (e * L)) * (2 * e * Gamma) <= k * (2 * e * Gamma)) by (apply Rmult_le_compat_r; [pos | easy]).
  rewrite ex in h. lra.
Qed.
End AllClients.
