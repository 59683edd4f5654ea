(** Power-of-Choice with bounded gradients: many rounds of clients whose selection may be biased.

    [P r] is the law of round r: its outcomes decide the model at its start, the clients in the slots, their weights,
    and the noise. The law of the next model is that of the average at the end of the round ([follows]). *)

From FedTheory Require Export OneStepBounds ClosedForms.

Section Run.
Context {V : space}.
Variables (clients : law) (P : nat -> law) (past : nat -> nat -> nat -> nat -> Prop) (n : nat) (a : nat -> nat -> law).
Variables (u : nat -> nat -> V) (c : nat -> nat -> nat -> nat) (xi : nat -> nat -> nat -> nat -> V).
Variables (f : nat -> V -> R) (g : nat -> V -> V) (low : nat -> R) (tau : nat) (eta : nat -> R).
Variables (mu L G2 noise2 rho rho_tilde : R) (xs w0 : V).
Local Notation F := (mean_loss clients f).
Local Notation Gamma := (objective_gap clients f low xs).

(** Step t of the run has the length eta t; step s of round r is step tau r + s. *)
Definition steps_of r s : R := eta (tau * r + s).
Definition slot_model r i s o : V := path (u r) (c r) (xi r) g (steps_of r) i s o.
Definition run_average r s o : V := average_model (a r) (u r) (c r) (xi r) g (steps_of r) s o.
Definition run_distance r s : R := E (P r) (fun o => sq (run_average r s o - xs)).
Definition follows := forall r (h : V -> R), E (P (S r)) (fun o => h (u (S r) o))
  = E (P r) (fun o => h (run_average r tau o)).

(** What is assumed of the functions, of the noise and of the gradients in every round. *)
Record assumptions : Prop := {
  curvatures : 0 < mu <= L;
  strongly : forall k, strongly_convex mu (f k) (g k);
  smooth_clients : forall k, smooth L (f k) (g k);
  minima : forall k, bounded_below (f k) (low k);
  best : minimizer F xs;
  tau_pos : (0 < tau)%nat;
  slots : forall r o, size (a r o) = n;
  weights_known : forall r i, adapted (past r) 0 (fun o => weight (a r o) i);
  known : forall r, information (past r) (u r) (c r) (xi r);
  unbiased : forall r, unbiased_noise (P r) (past r) (xi r);
  step_variance : forall r s, (s < tau)%nat -> E (P r) (fun o => sq (step_noise (a r) (xi r) s o)) <= noise2;
  gradients : forall r s, (s < tau)%nat -> E (P r) (fun o => E (a r o)
    (fun i => sq (g (c r o i) (slot_model r i s o) + xi r i s o))) <= G2;
  start_gradients : forall r k, E (P r) (fun o => sq (g k (u r o))) <= G2;
  skews : forall r, skewed_slots (P r) clients (a r) (u r) (c r) f low rho rho_tilde xs;
  first_model : forall o, u O o = w0;
  next_model : follows
}.
Hypothesis A : assumptions.
Hypothesis steps : forall t, 0 < eta t.
Hypothesis short : forall t, eta t * L <= 1 / 4.

Lemma G2_nonnegative : 0 <= G2.
Proof. apply Rle_trans with (2 := start_gradients A 0 0). apply E_pos. intro. apply sq_pos. Qed.
Lemma Gamma_nonnegative : 0 <= Gamma.
Proof. apply E_pos. intro k. pose proof (minima A k xs). lra. Qed.
Lemma noise_nonnegative : 0 <= noise2.
Proof. apply Rle_trans with (2 := step_variance A 0 0 (tau_pos A)). apply E_pos. intro. apply sq_pos. Qed.
Lemma rho_nonnegative : 0 <= rho.
Proof. destruct (skews A 0). easy. Qed.

Lemma start_same r o : same (run_average r 0 o) (u r o).
Proof. intro v. exact (vE_const (a r o) (u r o) v). Qed.
Lemma distance_start r : run_distance r 0 = E (P r) (fun o => sq (u r o - xs)).
Proof. apply E_ext. intros o _. apply same_sq. intro v. now rewrite !ip_sub, (start_same r o v). Qed.
Lemma distance_first : run_distance 0 0 = sq (w0 - xs).
Proof. rewrite distance_start, (E_ext (P 0) _ (fun _ => sq (w0 - xs))); [apply E_const |]. intros o _.
now rewrite (first_model A). Qed.
Lemma distance_next r : run_distance (S r) 0 = run_distance r tau.
Proof. rewrite distance_start. exact (next_model A r (fun z => sq (z - xs))). Qed.

Definition used r s : R := sum s (steps_of r).

Lemma recursion k r s : (s < tau)%nat -> 0 <= k <= (1 - 2 * steps_of r s * L) * (1 - steps_of r s * L) ->
  run_distance r (S s) <= (1 - steps_of r s * mu * (1 + k * rho)) * run_distance r s
    + (2 * (used r s)^2 + 2 * k * steps_of r s * rho * used r s + k * steps_of r s * mu * rho * (used r s)^2) * G2
    + steps_of r s ^ 2 * (noise2 + 6 * rho * L * Gamma) + 2 * steps_of r s * Gamma * (rho_tilde - rho).
Proof.
  intros hs hk. apply (skewed_step_with (P r) clients (past r) n (a r) (u r) (c r) (xi r) f g low (steps_of r) s mu L G2
    noise2 rho rho_tilde xs);
    try apply A; try easy.
  - intro t. apply steps.
  - apply short.
  - intros t ht. apply (gradients A r t). lia.
Qed.

Lemma recursion_apart k d r s : (s < tau)%nat -> 0 <= k -> 0 < d ->
  k * (1 + d) <= (1 - 2 * steps_of r s * L) * (1 - / 5 * steps_of r s * L) ->
  run_distance r (S s) <= (1 - steps_of r s * mu * (1 + k * rho)) * run_distance r s
    + (6 + k * (1 + / d) * (steps_of r s * mu * rho)) * (used r s)^2 * G2
    + steps_of r s ^ 2 * (noise2 + 6 * rho * L * Gamma) + 2 * steps_of r s * Gamma * (rho_tilde - rho).
Proof.
  intros hs hk hd hkd. apply (skewed_step_apart (P r) clients (past r) n (a r) (u r) (c r) (xi r) f g low (steps_of r) s
    mu L G2 noise2 rho rho_tilde xs); try apply A; try easy.
  - intro t. apply steps.
  - apply short.
  - intros t ht. apply (gradients A r t). lia.
Qed.

(** Before anything is known of the recursion: the way from the round's start, whose distance the gradients bound. *)
Lemma crude_distance r s : (s <= tau)%nat -> run_distance r s <= G2 / mu^2 * (1 + mu * used r s)^2.
Proof.
  intro hs. pose proof (curvatures A) as cv. pose proof G2_nonnegative as hG.
  pose proof (distances (P r) clients (a r) (u r) (c r) (xi r) f g (steps_of r) s mu L G2 xs (fun t => steps _) cv
    (strongly A) (smooth_clients A) (best A)
    (fun t ht => gradients A r t ltac:(lia)) (start_gradients A r)) as d.
  pose proof (start_distance_le (P r) clients (u r) f g mu L G2 xs cv (strongly A) (smooth_clients A) (best A)
    (start_gradients A r)) as sd.
  apply Rle_trans with (1 := d). change (elapsed (steps_of r) s) with (used r s).
  assert (h : E (P r) (fun o => sq (u r o - xs)) <= G2 / mu^2).
  { apply Rmult_le_reg_l with (mu^2); [apply pow_lt; lra |]. replace (mu^2 * (G2 / mu^2)) with G2 by (field; lra).
    easy. }
  replace (G2 / mu^2 * (1 + mu * used r s)^2) with (G2 / mu^2 + 2 * used r s * G2 / mu + (used r s)^2 * G2)
    by (field; lra). lra.
Qed.

Lemma gap_le x : F x - F xs <= L / 2 * sq (x - xs).
Proof.
  apply (above_minimum mu L F (mean_gradient clients g));
    [apply mean_loss_lower, (strongly A) | apply mean_loss_upper; intro; apply (smooth_clients A) | exact (best A)].
Qed.
Lemma gap_of_run r s : E (P r) (fun o => F (run_average r s o)) - F xs <= L / 2 * run_distance r s.
Proof. unfold run_distance. rewrite <- E_scal, <- (E_const (P r) (F xs)), <- E_minus. apply E_le. intro. apply gap_le.
Qed.

Local Notation T1 := (INR tau - 1).
Lemma T1_pos : 0 <= T1.
Proof. pose proof (le_INR 1 tau (tau_pos A)) as h. cbn in h. lra. Qed.

(** [drift] bounds what a step of a round in which steps at most halve owes to the earlier ones, in units of eta^2. *)
Definition drifts_by k drift := forall r s, (s < tau)%nat -> used r s <= 2 * T1 * steps_of r s ->
  run_distance r (S s) <= (1 - steps_of r s * mu * (1 + k * rho)) * run_distance r s
    + steps_of r s ^ 2 * (drift + noise2 + 6 * rho * L * Gamma) + 2 * steps_of r s * Gamma * (rho_tilde - rho).

Lemma drift_small k q0 : (forall t, 0 <= k <= (1 - 2 * eta t * L) * (1 - eta t * L)) ->
  (forall t, eta t * mu * rho <= q0) -> drifts_by k (((8 + 4 * k * q0) * T1^2 + 4 * k * rho * T1) * G2).
Proof.
  intros hk hq r s hs us. pose proof (recursion k r s hs (hk _)) as rc. set (e := steps_of r s) in *.
  pose proof (hk O) as [k0 _]. pose proof (curvatures A). pose proof G2_nonnegative as hG.
  pose proof rho_nonnegative as hrho. pose proof T1_pos as t1. assert (he : 0 < e) by apply steps.
  assert (q0p : 0 <= q0) by (apply Rle_trans with (2 := hq O); pose proof (steps O); pos).
  assert (u0 : 0 <= used r s) by (apply sum_pos; intros; left; apply steps). assert (esk : e * mu * rho <= q0) by apply
    hq.
  assert (dr : 2 * (used r s)^2 + 2 * k * e * rho * used r s + k * e * mu * rho * (used r s)^2
    <= e^2 * ((8 + 4 * k * q0) * T1^2 + 4 * k * rho * T1)).
  { assert (u2 : (used r s)^2 <= (2 * T1 * e)^2) by (apply pow_incr; lra).
    assert (a1 : 2 * k * e * rho * used r s <= 2 * k * e * rho * (2 * T1 * e))
      by (apply Rmult_le_compat_l; [pos | easy]).
    assert (a2 : k * e * mu * rho * (used r s)^2 <= k * q0 * (2 * T1 * e)^2).
    { apply Rmult_le_compat; [pos | apply pow2_ge_0 | | easy].
      replace (k * e * mu * rho) with (k * (e * mu * rho)) by ring. apply Rmult_le_compat_l; easy. }
    lra. }
  apply (Rmult_le_compat_r G2) in dr; [| easy]. lra.
Qed.
Lemma drift_apart k d q0 : 0 <= k -> 0 < d ->
  (forall t, k * (1 + d) <= (1 - 2 * eta t * L) * (1 - / 5 * eta t * L)) ->
  (forall t, eta t * mu * rho <= q0) -> drifts_by k ((24 + 4 * (k * (1 + / d)) * q0) * T1^2 * G2).
Proof.
  intros k0 hd hk hq r s hs us. pose proof (recursion_apart k d r s hs k0 hd (hk _)) as rc. set (e := steps_of r s) in
    *.
  pose proof (curvatures A). pose proof G2_nonnegative as hG. pose proof rho_nonnegative as hrho.
  pose proof T1_pos as t1. assert (he : 0 < e) by apply steps. assert (0 < / d) by pos.
  assert (u0 : 0 <= used r s) by (apply sum_pos; intros; left; apply steps). assert (esk : e * mu * rho <= q0) by apply
    hq.
  assert (b0 : 0 <= k * (1 + / d)) by pos. set (b := k * (1 + / d)) in *.
  assert (dr : (6 + b * (e * mu * rho)) * (used r s)^2 <= (6 + b * q0) * (2 * T1 * e)^2).
  { apply Rmult_le_compat; [pos | apply pow2_ge_0 | apply Rplus_le_compat_l, Rmult_le_compat_l; easy | apply pow_incr;
    lra].
  }
  apply (Rmult_le_compat_r G2) in dr; [| easy]. lra.
Qed.

(** ** Steps beta/(mu (t + gamma)) *)
Section Decay.
Variables (beta gamma k drift psi : R).
Let B := 1 + k * rho.
Let delta := 2 * Gamma * (rho_tilde - rho) / (mu * B).
Hypothesis decaying_steps : forall t, eta t = beta / (mu * (INR t + gamma)).
Hypothesis beta_one : 1 <= beta.
Hypothesis gamma_one : 1 <= gamma.
Hypothesis k_pos : 0 <= k.
Hypothesis drifting : drifts_by k drift.
Hypothesis slope : beta * B <= gamma.
Hypothesis psi_start : gamma * sq (w0 - xs) <= psi.
Hypothesis psi_steady : beta^2 * (drift + noise2 + 6 * rho * L * Gamma) / mu^2 <= (beta * B - 1) * psi.
Hypothesis ordered : rho <= rho_tilde.
(** In rounds whose steps at most halve; the first may have to be bounded in another way. *)
Hypothesis first_round : T1 <= gamma \/ forall s, (s <= tau)%nat -> run_distance 0 s <= psi / (INR s + gamma) + delta.

Lemma B_one : 1 <= B.
Proof. pose proof rho_nonnegative. unfold B. assert (0 <= k * rho) by pos. lra. Qed.
Lemma delta_pos : 0 <= delta.
Proof.
  pose proof Gamma_nonnegative. pose proof (curvatures A). pose proof B_one. unfold delta.
  apply Rmult_le_pos; [pos | left; apply Rinv_0_lt_compat; pos].
Qed.
Lemma psi_pos : 0 <= psi.
Proof. apply Rle_trans with (2 := psi_start). pose proof (sq_pos (w0 - xs)%V). pos. Qed.

Lemma used_halving r s : (s < tau)%nat -> ((0 < r)%nat \/ T1 <= gamma) -> used r s <= 2 * T1 * steps_of r s.
Proof.
  intros hs hr. pose proof (curvatures A) as cv. pose proof T1_pos as t1.
  assert (hd : forall i, (i < s)%nat -> steps_of r i <= 2 * steps_of r s).
  { intros i hi. unfold steps_of. rewrite !decaying_steps, !plus_INR. pose proof (pos_INR (tau * r)).
    pose proof (pos_INR i). pose proof (pos_INR s).
    assert (is : INR s <= T1) by (replace (INR tau - 1) with (INR (tau - 1))
      by (rewrite minus_INR by (pose proof (tau_pos A); lia); easy); apply le_INR; lia).
    set (q := INR (tau * r)) in *. assert (hq : INR s <= q + gamma).
    { destruct hr as [hr | hr]; [| lra]. assert (INR tau <= q) by (unfold q; apply le_INR; nia). lra. }
    apply Rmult_le_reg_r with (mu * (q + INR i + gamma) * (q + INR s + gamma)); [pos |].
    replace (beta / (mu * (q + INR i + gamma)) * (mu * (q + INR i + gamma) * (q + INR s + gamma))) with
      (beta * (q + INR s + gamma)) by (field; lra).
    replace (2 * (beta / (mu * (q + INR s + gamma))) * (mu * (q + INR i + gamma) * (q + INR s + gamma))) with
      (beta * (2 * (q + INR i + gamma))) by (field; pose proof (pos_INR s); lra).
    apply Rmult_le_compat_l; lra. }
  apply Rle_trans with (INR s * (2 * steps_of r s)).
  - unfold used. rewrite <- sum_const. now apply sum_le.
  - pose proof (steps (tau * r + s)). fold (steps_of r s) in *.
    assert (INR s <= T1) by (replace (INR tau - 1) with (INR (tau - 1))
      by (rewrite minus_INR by (pose proof (tau_pos A); lia); easy); apply le_INR; lia).
    replace (2 * T1 * steps_of r s) with (T1 * (2 * steps_of r s)) by ring. apply Rmult_le_compat_r; lra.
Qed.

Lemma decay_step r s : (s < tau)%nat -> ((0 < r)%nat \/ T1 <= gamma) ->
  run_distance r s <= psi / (INR (tau * r + s) + gamma) + delta ->
  run_distance r (S s) <= psi / (INR (S (tau * r + s)) + gamma) + delta.
Proof.
  intros hs hr h. pose proof (curvatures A) as cv. pose proof B_one as hB.
  pose proof (drifting r s hs (used_halving r s hs hr)) as all. fold B in all. set (e := steps_of r s) in *.
  set (constant := drift + noise2 + 6 * rho * L * Gamma) in *.
  replace (2 * e * Gamma * (rho_tilde - rho)) with (e * (mu * B * delta)) in all
    by (unfold delta; field; split; lra).
  set (t := (tau * r + s)%nat) in *. set (p := INR t + gamma).
  assert (hp : 1 <= p) by (unfold p; pose proof (pos_INR t); lra).
  assert (ee : e = beta / (mu * p)) by apply decaying_steps.
  assert (ep : e * mu = beta / p) by (rewrite ee; field; lra).
  assert (hslope : 0 <= 1 - beta * B / p).
  { assert (beta * B / p <= 1); [| lra]. apply Rmult_le_reg_r with p; [lra |].
    replace (beta * B / p * p) with (beta * B) by (field; lra). unfold p. pose proof (pos_INR t). lra. }
  replace (e * mu * B) with (beta * B / p) in all by (rewrite ep; field; lra).
  replace (e^2 * constant) with (beta^2 * constant / mu^2 / p^2) in all by (rewrite ee; field; lra).
  replace (e * (mu * B * delta)) with (beta * B * delta / p) in all by (rewrite ee; field; lra).
  apply (Rmult_le_compat_l (1 - beta * B / p)) in h; [| easy]. fold p in h.
  pose proof (decay_floor p psi delta (beta * B) (beta^2 * constant / mu^2) hp psi_pos
    ltac:(unfold p; pose proof (pos_INR t); lra) psi_steady) as d.
  rewrite S_INR. replace (INR t + 1 + gamma) with (p + 1) by (unfold p; ring). lra.
Qed.

Theorem decay r s : (s <= tau)%nat -> run_distance r s <= psi / (INR (tau * r + s) + gamma) + delta.
Proof.
  pose proof delta_pos as hd.
  assert (h0 : run_distance 0 0 <= psi / (INR 0 + gamma) + delta).
  { rewrite distance_first. cbn [INR]. rewrite Rplus_0_l. assert (sq (w0 - xs) <= psi / gamma); [| lra].
    apply Rmult_le_reg_l with gamma; [lra |]. replace (gamma * (psi / gamma)) with psi by (field; lra). easy. }
  destruct first_round as [fr | fr].
  - revert r s. apply (rounds_induction run_distance (fun t => psi / (INR t + gamma) + delta) tau h0).
    + intro r. right. apply distance_next.
    + intros r s hs h. apply decay_step; auto.
  - revert s. induction r as [| r IH].
    + intros s hs. rewrite Nat.mul_0_r. now apply fr.
    + assert (hz : run_distance (S r) 0 <= psi / (INR (tau * S r + 0) + gamma) + delta).
      { rewrite distance_next. replace (tau * S r + 0)%nat with (tau * r + tau)%nat by lia. apply IH. lia. }
      induction s as [| s IHs]; intro hs; [easy |]. rewrite Nat.add_succ_r.
      apply decay_step; [lia | left; lia | apply IHs; lia].
Qed.
End Decay.

(** ** A fixed step *)
Section Fixed.
Variables (e drift : R).
Let B := 1 + 3 / 8 * rho.
Hypothesis equal_steps : forall t, eta t = e.
Hypothesis feasible : rho <= L / mu.
Hypothesis drift_fits : Rmin (67 / 32 * T1^2 + 3 / 4 * rho * T1) (13 / 2 * T1^2) * G2 <= drift.
Definition fixed_constant : R := drift + noise2 + 6 * rho * L * Gamma.

Lemma fixed_step r s : (s < tau)%nat ->
  run_distance r (S s) <= (1 - e * mu * B) * run_distance r s
    + (e^2 * fixed_constant + 2 * e * Gamma * (rho_tilde - rho)).
Proof.
  intro hs. pose proof (curvatures A) as cv. pose proof G2_nonnegative as hG. pose proof rho_nonnegative as hrho.
  assert (he : 0 < e) by (rewrite <- (equal_steps 0); apply steps).
  assert (hsh : e * L <= 1 / 4) by (rewrite <- (equal_steps 0); apply short). pose proof T1_pos as t1.
  pose proof (factor_range mu L e cv he hsh) as [f1 _]. assert (hx : 0 < e * L) by pos.
  pose proof (recursion (3 / 8) r s hs) as rc. pose proof (recursion_apart (3 / 8) (4 / 15) r s hs) as ra.
  unfold steps_of in rc, ra. rewrite equal_steps in rc, ra. specialize (rc ltac:(lra)).
  specialize (ra ltac:(lra) ltac:(lra)
    ltac:(replace (2 * e * L) with (2 * (e * L)) by ring; replace (/ 5 * e * L) with (/ 5 * (e * L)) by ring; nra)).
  assert (us : used r s = INR s * e) by (unfold used; rewrite (sum_ext s _ (fun _ => e)) by (intros; apply equal_steps);
    apply sum_const).
  assert (is : 0 <= INR s <= T1).
  { split; [apply pos_INR |]. replace (INR tau - 1) with (INR (tau - 1))
      by (rewrite minus_INR by (pose proof (tau_pos A); lia); easy). apply le_INR. lia. }
  assert (rm : rho * mu <= L) by (apply (Rmult_le_compat_r mu) in feasible; [| lra];
    replace (L / mu * mu) with L in feasible by (field; lra); lra).
  assert (esk : e * mu * rho <= 1 / 4) by (assert (e * (rho * mu) <= e * L) by (apply Rmult_le_compat_l; lra); lra).
  assert (0 <= e * mu * rho) by pos.
  assert (i2 : INR s^2 <= T1^2) by (apply pow_incr; lra). assert (0 <= INR s^2) by apply pow2_ge_0.
  assert (e2 : 0 <= e^2) by apply pow2_ge_0. rewrite us in rc, ra.
  assert (small : 2 * (INR s * e)^2 + 2 * (3 / 8) * e * rho * (INR s * e) + 3 / 8 * e * mu * rho * (INR s * e)^2
    <= e^2 * (67 / 32 * T1^2 + 3 / 4 * rho * T1)).
  { assert (a1 : e^2 * (2 * INR s^2) <= e^2 * (2 * T1^2)) by (apply Rmult_le_compat_l; lra).
    assert (a2 : e^2 * (3 / 4 * rho) * INR s <= e^2 * (3 / 4 * rho) * T1)
      by (apply Rmult_le_compat_l; [apply Rmult_le_pos; lra | lra]).
    assert (a3 : e^2 * (3 / 8) * ((e * mu * rho) * INR s^2) <= e^2 * (3 / 8) * (1 / 4 * T1^2)).
    { apply Rmult_le_compat_l; [lra |]. apply Rmult_le_compat; lra. }
    lra. }
  assert (apart : (6 + 3 / 8 * (1 + / (4 / 15)) * (e * mu * rho)) * (INR s * e)^2 <= e^2 * (13 / 2 * T1^2)).
  { replace ((INR s * e)^2) with (e^2 * INR s^2) by ring.
    assert (e^2 * INR s^2 <= e^2 * T1^2) by (apply Rmult_le_compat_l; lra). assert (0 <= e^2 * INR s^2) by pos.
    replace (3 / 8 * (1 + / (4 / 15))) with (57 / 32) by field.
    assert ((6 + 57 / 32 * (e * mu * rho)) * (e^2 * INR s^2) <= 13 / 2 * (e^2 * INR s^2))
      by (apply Rmult_le_compat_r; lra). lra. }
  apply (Rmult_le_compat_r G2) in small; [| easy]. apply (Rmult_le_compat_r G2) in apart; [| easy].
  assert (d : e^2 * (Rmin (67 / 32 * T1^2 + 3 / 4 * rho * T1) (13 / 2 * T1^2) * G2) <= e^2 * drift)
    by (apply Rmult_le_compat_l; [apply pow2_ge_0 | exact drift_fits]).
  unfold fixed_constant, B. revert d. apply (Rmin_case (67 / 32 * T1^2 + 3 / 4 * rho * T1) (13 / 2 * T1^2)); lra.
Qed.

Lemma all_steps : forall r s, (s <= tau)%nat ->
  let x := 1 - e * mu * B in let floor := (e * fixed_constant + 2 * Gamma * (rho_tilde - rho)) / (mu * B) in
  run_distance r s <= floor + x ^ (tau * r + s) * (sq (w0 - xs) - floor).
Proof.
  pose proof (curvatures A) as cv. pose proof rho_nonnegative as hrho.
  assert (he : 0 < e) by (rewrite <- (equal_steps 0); apply steps).
  assert (hsh : e * L <= 1 / 4) by (rewrite <- (equal_steps 0); apply short).
  assert (hB : 1 <= B) by (unfold B; lra).
  assert (rm : rho * mu <= L) by (apply (Rmult_le_compat_r mu) in feasible; [| lra];
    replace (L / mu * mu) with L in feasible by (field; lra); lra).
  assert (hx : 0 <= 1 - e * mu * B).
  { assert (e * mu <= e * L) by (apply Rmult_le_compat_l; lra).
    assert (e * (rho * mu) <= e * L) by (apply Rmult_le_compat_l; lra). unfold B. lra. }
  intros r s hs x floor. revert r s hs.
  apply (rounds_induction run_distance (fun t => floor + x ^ t * (sq (w0 - xs) - floor)) tau).
  - rewrite distance_first. cbn [pow]. lra.
  - intro r. right. apply distance_next.
  - intros r s hs h. apply Rle_trans with (1 := fixed_step r s hs). fold x in hx. apply (Rmult_le_compat_l x) in h;
      [| easy].
    assert (ef : e^2 * fixed_constant + 2 * e * Gamma * (rho_tilde - rho) = (1 - x) * floor)
      by (unfold x, floor; field; lra).
    fold x. rewrite ef. cbn [pow]. lra.
Qed.
End Fixed.
End Run.
