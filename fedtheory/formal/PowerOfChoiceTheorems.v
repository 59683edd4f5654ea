(** Power-of-Choice, repaired: Theorem 3.1, Theorem A.1 and Appendix E.

    The hypotheses are those of [assumptions] in [SkewedRuns.v], with the slots' weights and the variance of the
    noise of a step as arguments: the plain mean of m slots has sigma2/m ([mean_step_variance]). *)

From FedTheory Require Export SkewedRuns Draws.

(** Uncorrelated noises of variance at most sigma2, on average over the slots. *)
Lemma mean_step_variance {V : space} (P : law) m (hm : (0 < m)%nat) (xi : nat -> nat -> nat -> V) s sigma2 :
  uncorrelated_noise P xi -> E (uniform m hm) (fun i => E P (fun o => sq (xi i s o))) <= sigma2 ->
  E P (fun o => sq (step_noise (fun _ => uniform m hm) xi s o)) <= sigma2 / INR m.
Proof.
  intros hu hv. pose proof (lt_0_INR m hm). pose proof (uncorrelated_mean (uniform m hm) P (fun i o => xi i s o)) as um.
  unfold step_noise.
  rewrite um by (intros i k h; now apply hu). cbn [uniform size weight]. rewrite (uniform_squares m hm). unfold Rdiv.
  rewrite (Rmult_comm sigma2). apply Rmult_le_compat_l; [pos | exact hv].
Qed.

Section Theorems.
Context {V : space}.
Variables (clients : law) (P : nat -> law) (past : nat -> nat -> nat -> nat -> Prop).
Variables (u : nat -> nat -> V) (c : nat -> nat -> nat -> nat) (xi : nat -> nat -> nat -> nat -> V).
Variables (f : nat -> V -> R) (g : nat -> V -> V) (low : nat -> R) (tau : nat).
Variables (mu L G2 rho rho_tilde : R) (xs w0 : V).
Local Notation F := (mean_loss clients f).
Local Notation Gamma := (objective_gap clients f low xs).
Local Notation Delta0 := (sq (w0 - xs)).
Local Notation T1 := (INR tau - 1).

(** Steps [eta], slots with weights [a], and the variance [noise2] of the weighted noise of a step. *)
Definition setting (eta : nat -> R) (n : nat) (a : nat -> nat -> law) (noise2 : R) : Prop :=
  assumptions clients P past n a u c xi f g low tau eta mu L G2 noise2 rho rho_tilde xs w0.
(** The expected gap after s steps of round r. *)
Definition expected_gap (eta : nat -> R) (a : nat -> nat -> law) r s : R :=
  E (P r) (fun o => F (run_average a u c xi g tau eta r s o)) - F xs.

Section Decaying.
Variables (n : nat) (a : nat -> nat -> law) (noise2 beta gamma k drift psi : R).
Let eta t := beta / (mu * (INR t + gamma)).
Hypothesis S : setting eta n a noise2.
Hypothesis beta_one : 1 <= beta.
Hypothesis gamma_large : 4 * beta * (L / mu) <= gamma.
Hypothesis skew : 0 <= rho <= L / mu.
Hypothesis k_pos : 0 <= k.
Hypothesis drifting : drifts_by clients P a u c xi f g low tau eta mu L noise2 rho rho_tilde xs k drift.
Hypothesis slope : beta * (1 + k * rho) <= gamma.
Hypothesis psi_start : gamma * Delta0 <= psi.
Hypothesis psi_steady : beta^2 * (drift + noise2 + 6 * rho * L * Gamma) / mu^2 <= (beta * (1 + k * rho) - 1) * psi.
Hypothesis ordered : rho <= rho_tilde.
Hypothesis first : T1 <= gamma \/ 28 / 3 * beta^2 * INR tau^2 * G2 / (gamma * mu^2) <= psi.

Lemma kappa_one : 1 <= L / mu.
Proof. pose proof (curvatures _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ S). apply Rmult_le_reg_r with mu; [lra |].
replace (L / mu * mu) with L by (field; lra). lra. Qed.
Lemma mu_pos : 0 < mu <= L.
Proof. exact (curvatures _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ S). Qed.
Lemma gamma_four : 4 <= gamma.
Proof. pose proof kappa_one. assert (1 <= beta * (L / mu)) by (rewrite <- (Rmult_1_l 1); apply Rmult_le_compat; lra).
lra. Qed.
Lemma eta_pos' t : 0 < eta t.
Proof. pose proof mu_pos. pose proof gamma_four. pose proof (pos_INR t). unfold eta.
apply Rdiv_lt_0_compat; [lra | apply Rmult_lt_0_compat; lra]. Qed.
Lemma eta_le t : eta t <= beta / (mu * gamma).
Proof.
  pose proof mu_pos. pose proof gamma_four. pose proof (pos_INR t). unfold eta. apply Rmult_le_compat_l; [lra |].
  apply Rinv_le_contravar; [apply Rmult_lt_0_compat; lra | apply Rmult_le_compat_l; lra].
Qed.
Lemma eta_L t : 0 < eta t * L <= beta / (mu * gamma) * L.
Proof.
  pose proof mu_pos. split; [apply Rmult_lt_0_compat; [apply eta_pos' | lra] | apply Rmult_le_compat_r; [lra | apply
    eta_le]].
Qed.

Lemma decayed r s : (s <= tau)%nat ->
  expected_gap eta a r s <= L / 2 * psi / (INR (tau * r + s) + gamma)
    + L * Gamma * (rho_tilde - rho) / (mu * (1 + k * rho)).
Proof.
  intro hs. pose proof mu_pos as hm. pose proof gamma_four as hg.
  pose proof (G2_nonnegative clients P past n a u c xi f g low tau eta mu L G2 noise2 rho rho_tilde xs w0 S) as hG.
  pose proof (Gamma_nonnegative clients P past n a u c xi f g low tau eta mu L G2 noise2 rho rho_tilde xs w0 S) as hGam.
  assert (hd : 0 <= 2 * Gamma * (rho_tilde - rho) / (mu * (1 + k * rho))).
  { assert (0 <= k * rho) by (apply Rmult_le_pos; lra). apply Rmult_le_pos;
      [apply Rmult_le_pos; lra | left; apply Rinv_0_lt_compat; apply Rmult_lt_0_compat; lra]. }
  assert (fr : T1 <= gamma \/ forall s, (s <= tau)%nat -> run_distance P a u c xi g tau eta xs 0 s
    <= psi / (INR s + gamma) + 2 * Gamma * (rho_tilde - rho) / (mu * (1 + k * rho))).
  { destruct first as [h | h]; [now left |]. destruct (Rle_dec T1 gamma) as [q | q]; [now left |]. right. intros i hi.
    apply Rle_trans with (psi / (INR i + gamma)); [| lra].
    apply Rle_trans with (1 := crude_distance clients P past n a u c xi f g low tau eta mu L G2 noise2 rho rho_tilde xs
      w0 S eta_pos' 0 i hi).
    set (H := sum i (fun t => / (INR t + gamma))).
    assert (us : mu * used tau eta 0 i = beta * H).
    { unfold used, steps_of, H. rewrite <- !sum_scal. apply sum_ext. intros t _. rewrite Nat.mul_0_r. cbn [Nat.add].
      unfold eta. pose proof (pos_INR t). field. lra. }
    rewrite us. pose proof (harmonic gamma i ltac:(lra)) as hh. fold H in hh. set (Tt := INR tau) in *.
    assert (hT : gamma <= Tt) by lra. assert (iT : 0 <= INR i <= Tt) by (split; [apply pos_INR | now apply le_INR]).
    assert (b1 : (1 + beta * H)^2 <= 2 + 2 * beta^2 * (4 / 3 * (Tt / gamma))).
    { assert (q2 : (1 + beta * H)^2 <= 2 + 2 * beta^2 * H^2) by (pose proof (pow2_ge_0 (1 - beta * H)); nra).
      assert (q3 : INR i / (gamma - 1) <= 4 / 3 * (Tt / gamma)).
      { apply Rmult_le_reg_r with (3 * gamma * (gamma - 1)); [apply Rmult_lt_0_compat; lra |].
        replace (INR i / (gamma - 1) * (3 * gamma * (gamma - 1))) with (3 * gamma * INR i) by (field; lra).
        replace (4 / 3 * (Tt / gamma) * (3 * gamma * (gamma - 1))) with (4 * (gamma - 1) * Tt) by (field; lra).
        assert (3 * gamma * INR i <= 3 * gamma * Tt) by (apply Rmult_le_compat_l; lra).
        assert (3 * gamma * Tt <= 4 * (gamma - 1) * Tt) by (apply Rmult_le_compat_r; lra). lra. }
      assert (0 <= 2 * beta^2) by (pose proof (pow2_ge_0 beta); lra).
      assert (2 * beta^2 * H^2 <= 2 * beta^2 * (4 / 3 * (Tt / gamma))) by (apply Rmult_le_compat_l; lra). lra. }
    assert (b2 : 2 + 2 * beta^2 * (4 / 3 * (Tt / gamma)) <= 14 / 3 * beta^2 * (Tt / gamma)).
    { assert (1 <= beta^2 * (Tt / gamma)); [| lra]. rewrite <- (Rmult_1_l 1). apply Rmult_le_compat; try lra.
      - rewrite <- (pow1 2). apply pow_incr. lra.
      - apply Rmult_le_reg_r with gamma; [lra |]. replace (Tt / gamma * gamma) with Tt by (field; lra). lra. }
    assert (hGm : 0 <= G2 / mu^2) by (apply Rmult_le_pos; [easy | left; apply Rinv_0_lt_compat, pow_lt; lra]).
    apply Rle_trans with (G2 / mu^2 * (14 / 3 * beta^2 * (Tt / gamma))); [apply Rmult_le_compat_l; lra |].
    apply Rmult_le_reg_r with (INR i + gamma); [lra |]. replace (psi / (INR i + gamma) * (INR i + gamma)) with psi
      by (field; lra).
    apply Rle_trans with (2 := h). apply Rle_trans with (G2 / mu^2 * (14 / 3 * beta^2 * (Tt / gamma)) * (2 * Tt)).
    - apply Rmult_le_compat_l; [| lra]. apply Rmult_le_pos; [easy |].
      apply Rmult_le_pos; [pose proof (pow2_ge_0 beta); lra | apply Rmult_le_pos;
        [lra | left; apply Rinv_0_lt_compat; lra]].
    - right. field. lra. }
  pose proof (decay clients P past n a u c xi f g low tau eta mu L G2 noise2 rho rho_tilde xs w0 S eta_pos'
    beta gamma k drift psi ltac:(easy) beta_one ltac:(lra) k_pos drifting slope psi_start psi_steady ordered fr r s hs)
    as d.
  apply (Rmult_le_compat_l (L / 2)) in d; [| lra].
  apply Rle_trans with (1 := gap_of_run clients P past n a u c xi f g low tau eta mu L G2 noise2 rho rho_tilde xs w0 S r
    s).
  apply Rle_trans with (1 := d). right. assert (0 <= k * rho) by (apply Rmult_le_pos; lra).
  pose proof (pos_INR (tau * r + s)). field. repeat split; lra.
Qed.
End Decaying.

(** *** What a step owes to the earlier ones of its round, for steps whose first is at most x0/L *)
Section Drifts.
Variables (n : nat) (a : nat -> nat -> law) (noise2 : R) (eta : nat -> R) (x0 : R).
Hypothesis S : setting eta n a noise2.
Hypothesis range : forall t, 0 < eta t * L <= x0.
Hypothesis small : x0 <= 1 / 4.
Hypothesis feasible : rho <= L / mu.
Local Notation drifts_by := (drifts_by clients P a u c xi f g low tau eta mu L noise2 rho rho_tilde xs).

Lemma steps_positive t : 0 < eta t.
Proof. pose proof (curvatures _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ S). pose proof (range t). nra. Qed.
Lemma skew_of_step t : eta t * mu * rho <= x0.
Proof.
  pose proof (curvatures _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ S) as cv.
  assert (rm : rho * mu <= L) by (apply (Rmult_le_compat_r mu) in feasible; [| lra];
    replace (L / mu * mu) with L in feasible by (field; lra); lra).
  pose proof (range t). pose proof (steps_positive t).
  assert (eta t * (rho * mu) <= eta t * L) by (apply Rmult_le_compat_l; lra). lra.
Qed.
Lemma drifts_small k : 0 <= k <= (1 - 2 * x0) * (1 - x0) ->
  drifts_by k (((8 + 4 * k * x0) * T1^2 + 4 * k * rho * T1) * G2).
Proof.
  intro hk. apply (drift_small clients P past n a u c xi f g low tau eta mu L G2 noise2 rho rho_tilde xs w0 S
    steps_positive ltac:(intro t; pose proof (range t); lra) k x0); [| exact skew_of_step].
  intro t. pose proof (range t). replace (2 * eta t * L) with (2 * (eta t * L)) by ring. split; [easy |].
  apply Rle_trans with (1 := proj2 hk). apply Rmult_le_compat; lra.
Qed.
Lemma drifts_apart k d : 0 <= k -> 0 < d -> k * (1 + d) <= (1 - 2 * x0) * (1 - x0 / 5) ->
  drifts_by k ((24 + 4 * (k * (1 + / d)) * x0) * T1^2 * G2).
Proof.
  intros hk hd hkd. apply (drift_apart clients P past n a u c xi f g low tau eta mu L G2 noise2 rho rho_tilde xs w0 S
    steps_positive ltac:(intro t; pose proof (range t); lra) k d x0); try easy; [| exact skew_of_step].
  intro t. pose proof (range t). replace (2 * eta t * L) with (2 * (eta t * L)) by ring.
  replace (/ 5 * eta t * L) with (/ 5 * (eta t * L)) by ring.
  apply Rle_trans with (1 := hkd). apply Rmult_le_compat; lra.
Qed.
End Drifts.

(** ** Theorem 3.1: steps 1/(mu (t + gamma)), gamma = 4 L/mu, and the plain mean of m slots *)

Definition plain m (hm : (0 < m)%nat) : nat -> nat -> law := fun _ _ => uniform m hm.
Definition decaying_step (t : nat) : R := 1 / (mu * (INR t + 4 * L / mu)).

Section Theorem_3_1.
Variables (m : nat) (hm : (0 < m)%nat) (sigma2 : R).
Local Notation gamma := (4 * L / mu).
Hypothesis S : setting decaying_step m (plain m hm) (sigma2 / INR m).
Hypothesis skew : 0 < rho <= L / mu.
Hypothesis ordered : rho <= rho_tilde.

Lemma decaying_range t : 0 < decaying_step t * L <= 1 / 4.
Proof.
  pose proof (curvatures _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ S) as cv. replace (1 / 4) with (1 / (mu * gamma) * L)
    by (field; lra).
  exact (eta_L m (plain m hm) (sigma2 / INR m) 1 gamma S ltac:(lra) ltac:(right; field; lra) t).
Qed.

(** With any constant D that the drift fits under. *)
Lemma theorem_3_1 drift D r s :
  drifts_by clients P (plain m hm) u c xi f g low tau decaying_step mu L (sigma2 / INR m) rho rho_tilde xs (3 / 8)
    drift -> (s <= tau)%nat -> 0 <= drift <= D -> (T1 <= gamma \/ 32 * INR tau^2 * G2 <= D) ->
  expected_gap decaying_step (plain m hm) r s
    <= / (INR (tau * r + s) + gamma) * Rmax (L * gamma / 2 * Delta0)
      (4 * L * (D + sigma2 / INR m) / (3 * mu^2 * rho) + 8 * L^2 * Gamma / mu^2)
      + 8 * L * Gamma * (rho_tilde - rho) / (mu * (8 + 3 * rho)).
Proof.
  intros hdr hs hD hfr. pose proof (curvatures _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ S) as cv.
  assert (hk : 1 <= L / mu) by (apply Rmult_le_reg_r with mu; [lra |]; replace (L / mu * mu) with L by (field; lra);
    lra).
  pose proof (G2_nonnegative clients P past m _ u c xi f g low tau _ mu L G2 _ rho rho_tilde xs w0 S) as hG.
  pose proof (Gamma_nonnegative clients P past m _ u c xi f g low tau _ mu L G2 _ rho rho_tilde xs w0 S) as hGam.
  pose proof (noise_nonnegative clients P past m _ u c xi f g low tau _ mu L G2 _ rho rho_tilde xs w0 S) as hN.
  set (N := sigma2 / INR m) in *.
  set (psi := Rmax (gamma * Delta0) (8 * (D + N + 6 * rho * L * Gamma) / (3 * rho * mu^2))).
  assert (x0 : 1 / (mu * gamma) * L = 1 / 4) by (field; lra).
  assert (hpsi2 : 8 * (D + N + 6 * rho * L * Gamma) / (3 * rho * mu^2) <= psi) by apply Rmax_r.
  pose proof (decayed m (plain m hm) N 1 gamma (3 / 8) drift psi S ltac:(lra) ltac:(right; field; lra) ltac:(lra)
    ltac:(lra) hdr ltac:(replace gamma with (4 * (L / mu)) by (unfold Rdiv; ring); lra) (Rmax_l _ _)) as d.
  specialize (d ltac:(rewrite pow1; replace ((1 * (1 + 3 / 8 * rho) - 1) * psi) with (3 / 8 * rho * psi) by ring;
    apply Rle_trans with (3 / 8 * rho * (8 * (D + N + 6 * rho * L * Gamma) / (3 * rho * mu^2)));
    [replace (3 / 8 * rho * (8 * (D + N + 6 * rho * L * Gamma) / (3 * rho * mu^2))) with
      (1 * (D + N + 6 * rho * L * Gamma) / mu^2) by (field; lra);
     apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat, pow_lt; lra | lra]
    | apply Rmult_le_compat_l; lra]) ordered).
  assert (fr : T1 <= gamma \/ 28 / 3 * 1^2 * INR tau^2 * G2 / (gamma * mu^2) <= psi).
  { destruct hfr as [h | h]; [now left | right]. apply Rle_trans with (2 := hpsi2).
    assert (q : 32 * INR tau^2 * G2 <= D + N + 6 * rho * L * Gamma).
    { assert (0 <= 6 * rho * L * Gamma) by (apply Rmult_le_pos; [apply Rmult_le_pos; lra | easy]). lra. }
    assert (t2 : 0 <= INR tau^2 * G2) by (apply Rmult_le_pos; [apply pow2_ge_0 | easy]).
    apply Rmult_le_reg_r with (3 * rho * mu^2 * gamma); [apply Rmult_lt_0_compat;
      [apply Rmult_lt_0_compat; [lra | apply pow_lt; lra] | apply Rdiv_lt_0_compat; lra] |].
    replace (28 / 3 * 1^2 * INR tau^2 * G2 / (gamma * mu^2) * (3 * rho * mu^2 * gamma)) with
      (28 * rho * (INR tau^2 * G2)) by (field; lra).
    replace (8 * (D + N + 6 * rho * L * Gamma) / (3 * rho * mu^2) * (3 * rho * mu^2 * gamma)) with
      (32 * (L / mu) * (D + N + 6 * rho * L * Gamma)) by (field; lra).
    assert (32 * (L / mu) * (32 * INR tau^2 * G2) <= 32 * (L / mu) * (D + N + 6 * rho * L * Gamma))
      by (apply Rmult_le_compat_l; lra).
    assert (28 * rho * (INR tau^2 * G2) <= 32 * (L / mu) * (INR tau^2 * G2)) by (apply Rmult_le_compat_r; lra).
    assert (0 <= 32 * (L / mu) * (INR tau^2 * G2)) by (apply Rmult_le_pos; lra). lra. }
  specialize (d fr r s hs). change (fun t => 1 / (mu * (INR t + gamma))) with decaying_step in d.
  fold (plain m hm) in d.
  apply Rle_trans with (1 := d). apply Rplus_le_compat.
  - right. unfold psi. rewrite (Rmult_comm (/ _)). unfold Rdiv at 1. f_equal.
    rewrite <- RmaxRmult by lra. f_equal; field; lra.
  - right. field. lra.
Qed.

Theorem power_of_choice_decaying_steps_gap r s : (s <= tau)%nat ->
  expected_gap decaying_step (plain m hm) r s
    <= / (INR (tau * r + s) + gamma)
       * Rmax (L * gamma / 2 * Delta0) (4 * L * (32 * INR tau^2 * G2 + sigma2 / INR m) / (3 * mu^2 * rho)
           + 8 * L^2 * Gamma / mu^2)
      + 8 * L * Gamma * (rho_tilde - rho) / (mu * (8 + 3 * rho)).
Proof.
  intro hs. pose proof (G2_nonnegative clients P past m _ u c xi f g low tau _ mu L G2 _ rho rho_tilde xs w0 S) as hG.
  pose proof (le_INR 1 tau (tau_pos _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ S)) as ht. cbn in ht.
  pose proof (pow2_ge_0 T1). assert (T1^2 <= INR tau^2) by (apply pow_incr; lra).
  apply (theorem_3_1 _ (32 * INR tau^2 * G2) r s (drifts_apart m (plain m hm) (sigma2 / INR m) decaying_step (1 / 4) S
    decaying_range ltac:(lra) (proj2 skew) (3 / 8) (4 / 15) ltac:(lra) ltac:(lra) ltac:(lra)) hs); [| right; lra].
  replace (24 + 4 * (3 / 8 * (1 + / (4 / 15))) * (1 / 4)) with (825 / 32) by field.
  split; [apply Rmult_le_pos; [lra | easy] | apply Rmult_le_compat_r; lra].
Qed.

Theorem power_of_choice_refined_decaying_steps_gap r s : (s <= tau)%nat -> INR tau <= 4 * L / mu + 1 ->
  expected_gap decaying_step (plain m hm) r s
    <= / (INR (tau * r + s) + gamma)
       * Rmax (L * gamma / 2 * Delta0) (4 * L * ((67 * T1^2 + 12 * rho * T1) / 8 * G2
           + sigma2 / INR m) / (3 * mu^2 * rho) + 8 * L^2 * Gamma / mu^2)
      + 8 * L * Gamma * (rho_tilde - rho) / (mu * (8 + 3 * rho)).
Proof.
  intros hs hg. pose proof (G2_nonnegative clients P past m _ u c xi f g low tau _ mu L G2 _ rho rho_tilde xs w0 S) as
    hG. pose proof (le_INR 1 tau (tau_pos _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ S)) as ht. cbn in ht.
  apply (theorem_3_1 _ _ r s (drifts_small m (plain m hm) (sigma2 / INR m) decaying_step (1 / 4) S
    decaying_range ltac:(lra) (proj2 skew) (3 / 8) ltac:(lra)) hs); [| left; lra].
  replace ((8 + 4 * (3 / 8) * (1 / 4)) * T1^2 + 4 * (3 / 8) * rho * T1) with ((67 * T1^2 + 12 * rho * T1) / 8) by field.
  split; [| lra]. apply Rmult_le_pos; [| easy].
  assert (0 <= rho * T1) by (apply Rmult_le_pos; lra). pose proof (pow2_ge_0 T1). lra.
Qed.
End Theorem_3_1.

(** ** Theorem A.1: a fixed step size *)

Section Theorem_A_1.
Variables (m : nat) (hm : (0 < m)%nat) (sigma2 eta : R).
Hypothesis S : setting (fun _ => eta) m (plain m hm) (sigma2 / INR m).
Hypothesis eta_pos : 0 < eta.
Hypothesis short : eta * L <= 1 / 4.
Hypothesis feasible : rho <= L / mu.
Hypothesis ordered : rho <= rho_tilde.
Let x := 1 - eta * mu * (1 + 3 * rho / 8).

Lemma theorem_a_1 D r s : (s <= tau)%nat -> Rmin (67 / 32 * T1^2 + 3 / 4 * rho * T1) (13 / 2 * T1^2) * G2 <= D ->
  let C := D + sigma2 / INR m + 6 * rho * L * Gamma in
  expected_gap (fun _ => eta) (plain m hm) r s
    <= L / 2 * x ^ (tau * r + s) * Delta0
      + (1 - x ^ (tau * r + s)) * (4 * L * eta * C / (mu * (8 + 3 * rho))
          + 8 * L * Gamma * (rho_tilde - rho) / (mu * (8 + 3 * rho))).
Proof.
  intros hs hD C. pose proof (curvatures _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ S) as cv.
  pose proof (rho_nonnegative clients P past m _ u c xi f g low tau _ mu L G2 _ rho rho_tilde xs w0 S) as hr.
  pose proof (all_steps clients P past m (plain m hm) u c xi f g low tau (fun _ => eta) mu L G2 (sigma2 / INR m) rho
    rho_tilde xs w0 S
    (fun _ => eta_pos) (fun _ => short) eta D (fun _ => eq_refl) feasible hD r s hs) as d. cbv zeta in d.
  replace (1 + 3 / 8 * rho) with (1 + 3 * rho / 8) in d by field. fold x in d.
  assert (hx : 0 <= x <= 1).
  { assert (rm : rho * mu <= L) by (apply (Rmult_le_compat_r mu) in feasible; [| lra];
      replace (L / mu * mu) with L in feasible by (field; lra); lra).
    assert (eta * mu <= eta * L) by (apply Rmult_le_compat_l; lra).
    assert (eta * (rho * mu) <= eta * L) by (apply Rmult_le_compat_l; lra).
    assert (0 < eta * mu) by (apply Rmult_lt_0_compat; lra). assert (0 <= eta * mu * rho) by (apply Rmult_le_pos; lra).
    unfold x. lra. }
  set (q := x ^ (tau * r + s)) in *. assert (hq : 0 <= q <= 1) by (apply geometric_one; lra).
  set (fl := (eta * _ + _) / _) in d.
  assert (hf : fl <= (eta * C + 2 * Gamma * (rho_tilde - rho)) / (mu * (1 + 3 * rho / 8))).
  { unfold fl. apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; apply Rmult_lt_0_compat; lra |].
    apply Rplus_le_compat_r.
    apply Rmult_le_compat_l; [lra |]. unfold fixed_constant, C. lra. }
  apply Rle_trans with (1 := gap_of_run clients P past m (plain m hm) u c xi f g low tau (fun _ => eta) mu L G2
    (sigma2 / INR m) rho rho_tilde xs w0 S r s).
  apply Rle_trans with (L / 2 * (q * Delta0 + (1 - q) * ((eta * C
    + 2 * Gamma * (rho_tilde - rho)) / (mu * (1 + 3 * rho / 8))))).
  - apply Rmult_le_compat_l; [lra |]. apply (Rmult_le_compat_l (1 - q)) in hf; [| lra]. lra.
  - right. field. lra.
Qed.

Theorem power_of_choice_fixed_step_gap r s : (s <= tau)%nat ->
  let C := 32 * INR tau^2 * G2 + sigma2 / INR m + 6 * rho * L * Gamma in
  expected_gap (fun _ => eta) (plain m hm) r s
    <= L / mu * x ^ (tau * r + s) * (F w0 - F xs)
      + (1 - x ^ (tau * r + s)) * (4 * L * eta * C / (mu * (8 + 3 * rho))
          + 8 * L * Gamma * (rho_tilde - rho) / (mu * (8 + 3 * rho))).
Proof.
  intros hs C. pose proof (curvatures _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ S) as cv.
  pose proof (G2_nonnegative clients P past m _ u c xi f g low tau _ mu L G2 _ rho rho_tilde xs w0 S) as hG.
  pose proof (rho_nonnegative clients P past m _ u c xi f g low tau _ mu L G2 _ rho rho_tilde xs w0 S) as hr.
  pose proof (le_INR 1 tau (tau_pos _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ S)) as ht. cbn in ht.
  pose proof (Rmin_r (67 / 32 * T1^2 + 3 / 4 * rho * T1) (13 / 2 * T1^2)). pose proof (pow2_ge_0 T1).
  assert (T1^2 <= INR tau^2) by (apply pow_incr; lra).
  apply Rle_trans with (1 := theorem_a_1 (32 * INR tau^2 * G2) r s hs ltac:(apply Rmult_le_compat_r; lra)). fold C.
  apply Rplus_le_compat_r.
  assert (b : mu / 2 * Delta0 <= F w0 - F xs).
  { apply (above_minimum mu L F (mean_gradient clients g)); [apply mean_loss_lower | apply mean_loss_upper; intro;
      apply (smooth_clients _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ S) |];
      [exact (strongly _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ S) |
        exact (SkewedRuns.best _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ S)]. }
  assert (hx : 0 <= x ^ (tau * r + s)).
  { apply pow_le. assert (rm : rho * mu <= L) by (apply (Rmult_le_compat_r mu) in feasible; [| lra];
      replace (L / mu * mu) with L in feasible by (field; lra); lra).
    assert (eta * mu <= eta * L) by (apply Rmult_le_compat_l; lra).
    assert (eta * (rho * mu) <= eta * L) by (apply Rmult_le_compat_l; lra). unfold x. lra. }
  set (q := x ^ (tau * r + s)) in *.
  apply Rle_trans with (L / mu * q * (mu / 2 * Delta0)).
  - right. field. lra.
  - apply Rmult_le_compat_l; [| easy]. apply Rmult_le_pos; [left; apply Rdiv_lt_0_compat; lra | easy].
Qed.

Theorem power_of_choice_refined_fixed_step_gap r s : (s <= tau)%nat ->
  let C := (67 * T1^2 + 24 * rho * T1) / 32 * G2 + sigma2 / INR m + 6 * rho * L * Gamma in
  expected_gap (fun _ => eta) (plain m hm) r s
    <= L / 2 * x ^ (tau * r + s) * Delta0
      + (1 - x ^ (tau * r + s)) * (4 * L * eta * C / (mu * (8 + 3 * rho))
          + 8 * L * Gamma * (rho_tilde - rho) / (mu * (8 + 3 * rho))).
Proof.
  intros hs C. pose proof (G2_nonnegative clients P past m _ u c xi f g low tau _ mu L G2 _ rho rho_tilde xs w0 S) as
    hG.
  apply (theorem_a_1 ((67 * T1^2 + 24 * rho * T1) / 32 * G2) r s hs). apply Rmult_le_compat_r; [easy |].
  pose proof (Rmin_l (67 / 32 * T1^2 + 3 / 4 * rho * T1) (13 / 2 * T1^2)). lra.
Qed.
End Theorem_A_1.

(** ** Appendix E: weights of sum one, and steps m/(mu (t + gamma)) with gamma = 4 m (1 + m) L/mu

    The slots' weights are any [a], known when the round starts; [noise2] bounds the variance of the weighted noise,
    which is at most sigma2 times the largest sum of squared weights ([step_noise_le]). *)

Section Appendix_E.
Variables (n : nat) (a : nat -> nat -> law) (m : nat) (noise2 : R).
Hypothesis m_pos : (0 < m)%nat.
Local Notation M := (INR m).
Local Notation gamma := (4 * M * (1 + M) * L / mu).
Definition weighted_step (t : nat) : R := M / (mu * (INR t + gamma)).
Hypothesis S : setting weighted_step n a noise2.
Hypothesis ordered : rho <= rho_tilde.
Hypothesis feasible : rho <= L / mu.

Lemma M_one : 1 <= M.
Proof. apply (le_INR 1). lia. Qed.
Lemma kappa_of : 1 <= L / mu /\ 0 < mu <= L.
Proof.
  pose proof (curvatures _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ S) as cv. split; [| exact cv].
  apply Rmult_le_reg_r with mu; [lra |]. replace (L / mu * mu) with L by (field; lra). lra.
Qed.
Lemma weighted_x : M / (mu * gamma) * L = / (4 * (1 + M)).
Proof. pose proof M_one. pose proof kappa_of as [_ cv]. field. repeat split; lra. Qed.
Lemma weighted_x_le : 0 < / (4 * (1 + M)) <= 1 / 8.
Proof.
  pose proof M_one. split; [apply Rinv_0_lt_compat; lra |]. apply Rmult_le_reg_r with (4 * (1 + M)); [lra |].
  rewrite Rinv_l by lra. lra.
Qed.
Lemma weighted_range t : 0 < weighted_step t * L <= / (4 * (1 + M)).
Proof.
  pose proof M_one. rewrite <- weighted_x. apply (eta_L n a noise2 M gamma S); [easy |].
  pose proof kappa_of as [hk _]. replace gamma with (4 * M * (1 + M) * (L / mu)) by (unfold Rdiv; ring). nra.
Qed.
Lemma gamma_of_kappa : gamma = 4 * M * (1 + M) * (L / mu).
Proof. unfold Rdiv. ring. Qed.

Theorem power_of_choice_weighted_average_gap r s : (s <= tau)%nat -> 0 <= noise2 -> 1 < M * (1 + 3 * rho / 8) ->
  let B := 1 + 3 * rho / 8 in let C := 32 * INR tau^2 * G2 + noise2 + 6 * rho * L * Gamma in
  expected_gap weighted_step a r s
    <= / (INR (tau * r + s) + gamma) * Rmax (L * gamma / 2 * Delta0) (L * M^2 * C / (2 * mu^2 * (M * B - 1)))
      + 8 * L * Gamma * (rho_tilde - rho) / (mu * (8 + 3 * rho)).
Proof.
  intros hs hn hB B C. pose proof M_one as hM. pose proof kappa_of as [hk cv]. pose proof weighted_x as wx.
  pose proof weighted_x_le as wl.
  pose proof (G2_nonnegative clients P past n a u c xi f g low tau _ mu L G2 _ rho rho_tilde xs w0 S) as hG.
  pose proof (Gamma_nonnegative clients P past n a u c xi f g low tau _ mu L G2 _ rho rho_tilde xs w0 S) as hGam.
  pose proof (rho_nonnegative clients P past n a u c xi f g low tau _ mu L G2 _ rho rho_tilde xs w0 S) as hr.
  assert (hT1 : 0 <= T1) by (pose proof (le_INR 1 tau (tau_pos _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ S)) as h;
    cbn in h; lra).
  assert (t2 : 0 <= INR tau^2 * G2) by (apply Rmult_le_pos; [apply pow2_ge_0 | easy]).
  assert (g6 : 0 <= 6 * rho * L * Gamma) by (apply Rmult_le_pos; [apply Rmult_le_pos; lra | easy]).
  assert (hC : 32 * (INR tau^2 * G2) <= C) by (unfold C; lra).
  set (psi := Rmax (gamma * Delta0) (M^2 * C / (mu^2 * (M * B - 1)))).
  assert (hMB : 0 < M * B - 1) by (unfold B; lra).
  assert (hpsi : M^2 * C / (mu^2 * (M * B - 1)) <= psi) by apply Rmax_r.
  assert (mk : M * (L / mu) <= M * (1 + M) * (L / mu)) by (apply Rmult_le_compat_r; nra).
  pose proof (pow2_ge_0 T1). assert (t1 : T1^2 <= INR tau^2) by (apply pow_incr; lra).
  pose proof (drifts_apart n a noise2 weighted_step (/ (4 * (1 + M))) S weighted_range ltac:(lra) feasible (3 / 8) (4 /
    15)
    ltac:(lra) ltac:(lra) ltac:(set (y := / (4 * (1 + M))) in *; nra)) as dr.
  replace (3 / 8 * (1 + / (4 / 15))) with (57 / 32) in dr by field.
  set (drift := (24 + 4 * (57 / 32) * / (4 * (1 + M))) * T1^2 * G2) in *.
  assert (hdr : drift <= 32 * INR tau^2 * G2).
  { apply Rmult_le_compat_r; [easy |]. apply Rle_trans with (32 * T1^2); [apply Rmult_le_compat_r; lra | lra]. }
  pose proof (decayed n a noise2 M gamma (3 / 8) drift psi S hM) as d.
  specialize (d ltac:(rewrite gamma_of_kappa; nra) ltac:(lra) ltac:(lra) dr).
  specialize (d ltac:(rewrite gamma_of_kappa; assert (M * rho <= M * (L / mu)) by (apply Rmult_le_compat_l; lra); nra)
    (Rmax_l _ _)).
  assert (steady : M^2 * (drift + noise2 + 6 * rho * L * Gamma) / mu^2 <= (M * (1 + 3 / 8 * rho) - 1) * psi).
  { replace (M * (1 + 3 / 8 * rho) - 1) with (M * B - 1) by (unfold B; field).
    apply Rle_trans with ((M * B - 1) * (M^2 * C / (mu^2 * (M * B - 1)))); [| apply Rmult_le_compat_l; lra].
    replace ((M * B - 1) * (M^2 * C / (mu^2 * (M * B - 1)))) with (M^2 * C / mu^2) by (field; lra).
    apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat, pow_lt; lra |].
    apply Rmult_le_compat_l; [apply pow2_ge_0 | unfold C; lra]. }
  specialize (d steady ordered).
  assert (fr : 28 / 3 * M^2 * INR tau^2 * G2 / (gamma * mu^2) <= psi).
  { apply Rle_trans with (2 := hpsi). apply Rmult_le_reg_r with (gamma * (mu^2 * (M * B - 1))).
    - apply Rmult_lt_0_compat; [rewrite gamma_of_kappa; apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat; lra | lra] |
        apply Rmult_lt_0_compat; [apply pow_lt; lra | lra]].
    - replace (28 / 3 * M^2 * INR tau^2 * G2 / (gamma * mu^2) * (gamma * (mu^2 * (M * B - 1)))) with
        (M^2 * (28 / 3 * (M * B - 1) * (INR tau^2 * G2))) by (field; repeat split; lra).
      replace (M^2 * C / (mu^2 * (M * B - 1)) * (gamma * (mu^2 * (M * B - 1)))) with (M^2 * (gamma * C))
        by (field; repeat split; lra).
      apply Rmult_le_compat_l; [apply pow2_ge_0 |].
      assert (e1 : 28 / 3 * (M * B - 1) <= 32 * gamma).
      { rewrite gamma_of_kappa. assert (M * B <= M * (11 / 8 * (L / mu)))
          by (apply Rmult_le_compat_l; [lra | unfold B; lra]). nra. }
      apply Rle_trans with (32 * gamma * (INR tau^2 * G2)); [now apply Rmult_le_compat_r |].
      replace (32 * gamma * (INR tau^2 * G2)) with (gamma * (32 * (INR tau^2 * G2))) by ring.
      apply Rmult_le_compat_l; [rewrite gamma_of_kappa; apply Rmult_le_pos; [apply Rmult_le_pos; lra | lra] | easy]. }
  specialize (d (or_intror fr) r s hs). change (fun t => M / (mu * (INR t + gamma))) with weighted_step in d.
  apply Rle_trans with (1 := d). apply Rplus_le_compat.
  - right. unfold psi. rewrite (Rmult_comm (/ _)). unfold Rdiv at 1. f_equal. rewrite <- RmaxRmult by lra.
    f_equal; field; repeat split; lra.
  - right. field. lra.
Qed.

(** For m >= 2, with the constants of the recursion (82) to (84): [rho] is rho_bar, or the diagonal skew. *)
Lemma several_clients sigma2 r s : (s <= tau)%nat -> (2 <= m)%nat -> 0 < rho -> noise2 <= sigma2 ->
  expected_gap weighted_step a r s
    <= / (INR (tau * r + s) + gamma)
       * (L * M / (mu^2 * rho) * (32 * M^2 * (M - 1) * INR tau^2 * G2 + M * sigma2 + 2 * (2 + M) * rho * L * Gamma)
           + L * gamma / 2 * Delta0)
      + L * Gamma * (rho_tilde - rho) / (mu * (1 + 1 / 2 * rho)).
Proof.
  intros hs h2 hr hns. pose proof kappa_of as [hk cv]. pose proof weighted_x as wx.
  assert (hM : 2 <= M) by (apply (le_INR 2); lia).
  assert (wl : 0 < / (4 * (1 + M)) <= 1 / 12).
  { split; [apply Rinv_0_lt_compat; lra |]. apply Rmult_le_reg_r with (4 * (1 + M)); [lra |]. rewrite Rinv_l by lra.
    lra. }
  pose proof (G2_nonnegative clients P past n a u c xi f g low tau _ mu L G2 _ rho rho_tilde xs w0 S) as hG.
  pose proof (Gamma_nonnegative clients P past n a u c xi f g low tau _ mu L G2 _ rho rho_tilde xs w0 S) as hGam.
  pose proof (noise_nonnegative clients P past n a u c xi f g low tau _ mu L G2 _ rho rho_tilde xs w0 S) as hN.
  assert (hT1 : 0 <= T1) by (pose proof (le_INR 1 tau (tau_pos _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ S)) as h;
    cbn in h; lra).
  assert (t2 : 0 <= INR tau^2 * G2) by (apply Rmult_le_pos; [apply pow2_ge_0 | easy]).
  assert (rLG : 0 <= rho * L * Gamma) by (apply Rmult_le_pos; [apply Rmult_le_pos; lra | easy]).
  set (C := 32 * M^2 * (M - 1) * INR tau^2 * G2 + M * sigma2 + 2 * (2 + M) * rho * L * Gamma).
  assert (m2 : 0 <= M^2 * (M - 1)) by (apply Rmult_le_pos; [apply pow2_ge_0 | lra]).
  assert (hC0 : 32 * (M^2 * (M - 1)) * (INR tau^2 * G2) <= C).
  { unfold C. assert (0 <= M * sigma2) by (apply Rmult_le_pos; lra).
    assert (0 <= 2 * (2 + M) * (rho * L * Gamma)) by (apply Rmult_le_pos; lra). lra. }
  assert (hC : 0 <= C) by (apply Rle_trans with (2 := hC0); apply Rmult_le_pos; lra).
  set (psi := 2 * M / (mu^2 * rho) * C + gamma * Delta0).
  assert (mr : 0 < mu^2 * rho) by (apply Rmult_lt_0_compat; [apply pow_lt; lra | easy]).
  assert (c0 : 0 <= 2 * M / (mu^2 * rho)) by (apply Rmult_le_pos; [lra | left; now apply Rinv_0_lt_compat]).
  assert (g0 : 0 < gamma) by (rewrite gamma_of_kappa; apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat; lra | lra]).
  pose proof (sq_pos (w0 - xs)%V) as hD0.
  assert (hgD : 0 <= gamma * Delta0) by (apply Rmult_le_pos; lra).
  assert (hpc : 2 * M / (mu^2 * rho) * C <= psi) by (unfold psi; lra).
  assert (cC : 0 <= 2 * M / (mu^2 * rho) * C) by (apply Rmult_le_pos; lra).
  assert (mk : M * (L / mu) <= M * (1 + M) * (L / mu)) by (apply Rmult_le_compat_r; nra).
  pose proof (pow2_ge_0 T1). assert (t1 : T1^2 <= INR tau^2) by (apply pow_incr; lra).
  pose proof (drifts_apart n a noise2 weighted_step (/ (4 * (1 + M))) S weighted_range ltac:(lra) feasible (1 / 2) (3 /
    5)
    ltac:(lra) ltac:(lra) ltac:(set (y := / (4 * (1 + M))) in *; nra)) as dr.
  replace (1 / 2 * (1 + / (3 / 5))) with (4 / 3) in dr by field.
  set (drift := (24 + 4 * (4 / 3) * / (4 * (1 + M))) * T1^2 * G2) in *.
  assert (hdr : drift <= 32 * M^2 * (M - 1) * INR tau^2 * G2).
  { apply Rmult_le_compat_r; [easy |]. apply Rle_trans with (32 * T1^2); [apply Rmult_le_compat_r; lra |].
    apply Rle_trans with (32 * INR tau^2); [lra |]. pose proof (pow2_ge_0 (INR tau)).
    assert (1 * INR tau^2 <= M^2 * (M - 1) * INR tau^2) by (apply Rmult_le_compat_r; nra). lra. }
  pose proof (decayed n a noise2 M gamma (1 / 2) drift psi S ltac:(lra)) as d.
  specialize (d ltac:(rewrite gamma_of_kappa; nra) ltac:(lra) ltac:(lra) dr).
  specialize (d ltac:(rewrite gamma_of_kappa; assert (M * rho <= M * (L / mu)) by (apply Rmult_le_compat_l; lra); nra)
    ltac:(unfold psi; lra)).
  assert (steady : M^2 * (drift + noise2 + 6 * rho * L * Gamma) / mu^2 <= (M * (1 + 1 / 2 * rho) - 1) * psi).
  { apply Rle_trans with (M * rho / 2 * (2 * M / (mu^2 * rho) * C)).
    - replace (M * rho / 2 * (2 * M / (mu^2 * rho) * C)) with (M^2 * C / mu^2) by (field; split; lra).
      apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat, pow_lt; lra |].
      apply Rmult_le_compat_l; [apply pow2_ge_0 |].
      assert (noise2 <= M * sigma2) by nra. assert (6 * (rho * L * Gamma) <= 2 * (2 + M) * (rho * L * Gamma))
        by (apply Rmult_le_compat_r; lra).
      unfold C. lra.
    - apply Rmult_le_compat; [apply Rmult_le_pos; [apply Rmult_le_pos; lra | lra] | easy | lra | easy]. }
  specialize (d steady ordered).
  assert (fr : 28 / 3 * M^2 * INR tau^2 * G2 / (gamma * mu^2) <= psi).
  { apply Rle_trans with (2 := hpc). apply Rle_trans with (2 * M / (mu^2 * rho) *
      (32 * (M^2 * (M - 1)) * (INR tau^2 * G2))); [| now apply Rmult_le_compat_l].
    apply Rmult_le_reg_r with (gamma * (mu^2 * rho)); [now apply Rmult_lt_0_compat |].
    replace (28 / 3 * M^2 * INR tau^2 * G2 / (gamma * mu^2) * (gamma * (mu^2 * rho))) with
      (M^2 * (28 / 3 * rho) * (INR tau^2 * G2)) by (field; repeat split; lra).
    replace (2 * M / (mu^2 * rho) * (32 * (M^2 * (M - 1)) * (INR tau^2 * G2)) * (gamma * (mu^2 * rho))) with
      (M^2 * (64 * (M * (M - 1) * gamma)) * (INR tau^2 * G2)) by (field; repeat split; lra).
    apply Rmult_le_compat_r; [easy |]. apply Rmult_le_compat_l; [apply pow2_ge_0 |].
    assert (rho <= gamma) by (rewrite gamma_of_kappa; nra). assert (1 * gamma <= M * (M - 1) * gamma)
      by (apply Rmult_le_compat_r; nra). lra. }
  specialize (d (or_intror fr) r s hs). change (fun t => M / (mu * (INR t + gamma))) with weighted_step in d.
  apply Rle_trans with (1 := d). apply Rplus_le_compat.
  - right. rewrite (Rmult_comm (/ _)). unfold Rdiv at 1. f_equal. unfold psi, C. field. repeat split; lra.
  - right. field. lra.
Qed.

Theorem power_of_choice_derived_weighted_average_gap sigma2 r s : (s <= tau)%nat -> (2 <= m)%nat -> 0 < rho ->
  noise2 <= sigma2 ->
  expected_gap weighted_step a r s
    <= / (INR (tau * r + s) + gamma)
       * (L * M / (mu^2 * rho) * (32 * M^2 * (M - 1) * INR tau^2 * G2 + M * sigma2 + 2 * (2 + M) * rho * L * Gamma)
           + L * gamma / 2 * Delta0)
      + 2 * L * Gamma / mu * (rho_tilde / rho - 1).
Proof.
  intros hs h2 hr hns. pose proof kappa_of as [hk cv].
  pose proof (Gamma_nonnegative clients P past n a u c xi f g low tau _ mu L G2 _ rho rho_tilde xs w0 S) as hGam.
  apply Rle_trans with (1 := several_clients sigma2 r s hs h2 hr hns). apply Rplus_le_compat_l.
  replace (2 * L * Gamma / mu * (rho_tilde / rho - 1)) with (2 * L * Gamma * (rho_tilde - rho) / (mu * rho))
    by (field; lra).
  apply Rmult_le_reg_r with (mu * rho * (1 + 1 / 2 * rho));
    [apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat; lra | lra] |].
  replace (L * Gamma * (rho_tilde - rho) / (mu * (1 + 1 / 2 * rho)) * (mu * rho * (1 + 1 / 2 * rho))) with
    (L * Gamma * (rho_tilde - rho) * rho) by (field; lra).
  replace (2 * L * Gamma * (rho_tilde - rho) / (mu * rho) * (mu * rho * (1 + 1 / 2 * rho))) with
    (L * Gamma * (rho_tilde - rho) * (2 + rho)) by (field; lra).
  apply Rmult_le_compat_l; [apply Rmult_le_pos; [apply Rmult_le_pos; lra | lra] | lra].
Qed.
End Appendix_E.

(** ** All skews are 1 *)
Section SkewsOne.
Variables (m : nat) (hm : (0 < m)%nat) (sigma2 : R).
Local Notation gamma := (4 * L / mu).
Hypothesis S : setting decaying_step m (plain m hm) (sigma2 / INR m).
Hypothesis skew_one : rho = 1.
Hypothesis skew_tilde_one : rho_tilde = 1.

Lemma skews_one_gap r s : (s <= tau)%nat ->
  expected_gap decaying_step (plain m hm) r s
    <= / (INR (tau * r + s) + gamma) * (4 * L * (32 * INR tau^2 * G2 + sigma2 / INR m) / (3 * mu^2)
      + 8 * L^2 * Gamma / mu^2 + L * gamma * Delta0 / 2).
Proof.
  intro hs. pose proof (curvatures _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ S) as cv.
  assert (hk : 1 <= L / mu) by (apply Rmult_le_reg_r with mu; [lra |]; replace (L / mu * mu) with L by (field; lra);
    lra).
  pose proof (G2_nonnegative clients P past m _ u c xi f g low tau _ mu L G2 _ rho rho_tilde xs w0 S) as hG.
  pose proof (Gamma_nonnegative clients P past m _ u c xi f g low tau _ mu L G2 _ rho rho_tilde xs w0 S) as hGam.
  pose proof (noise_nonnegative clients P past m _ u c xi f g low tau _ mu L G2 _ rho rho_tilde xs w0 S) as hN.
  pose proof (le_INR 1 tau (tau_pos _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ S)) as ht. cbn in ht.
  pose proof (power_of_choice_decaying_steps_gap m hm sigma2 S ltac:(lra) ltac:(lra) r s hs) as h.
  apply Rle_trans with (1 := h). rewrite skew_one, skew_tilde_one.
  replace (8 * L * Gamma * (1 - 1) / (mu * (8 + 3 * 1))) with 0 by (field; lra). rewrite Rplus_0_r.
  pose proof (pos_INR (tau * r + s)) as pt.
  assert (g0 : 0 < gamma) by (replace gamma with (4 * (L / mu)) by (unfold Rdiv; ring); lra).
  apply Rmult_le_compat_l; [left; apply Rinv_0_lt_compat; lra |].
  pose proof (sq_pos (w0 - xs)%V) as hD0.
  assert (0 <= 32 * INR tau^2 * G2) by (apply Rmult_le_pos; [pose proof (pow2_ge_0 (INR tau)); lra | easy]).
  assert (0 <= 4 * L * (32 * INR tau^2 * G2 + sigma2 / INR m) / (3 * mu^2)).
  { apply Rmult_le_pos; [apply Rmult_le_pos; lra | left; apply Rinv_0_lt_compat; pose proof (pow_lt mu 2 ltac:(lra));
      lra]. }
  assert (0 <= 8 * L^2 * Gamma / mu^2).
  { apply Rmult_le_pos; [apply Rmult_le_pos; [pose proof (pow2_ge_0 L); lra | easy] | left;
      apply Rinv_0_lt_compat, pow_lt; lra]. }
  assert (0 <= L * gamma * Delta0 / 2) by (apply Rmult_le_pos;
    [apply Rmult_le_pos; [apply Rmult_le_pos; lra | easy] | lra]).
  replace (3 * mu^2 * 1) with (3 * mu^2) by ring. apply Rmax_lub; lra.
Qed.
End SkewsOne.

(** Draws by the weights have the skews 1. *)
Lemma unbiased_skews (r : nat) m (hm : (0 < m)%nat) : (forall k, bounded_below (f k) (low k)) ->
  (forall i (h : nat -> V -> R), (i < m)%nat -> E (P r) (fun o => h (c r o i) (u r o))
    = E (P r) (fun o => E clients (fun k => h k (u r o)))) ->
  skewed_slots (P r) clients (fun _ => uniform m hm) (u r) (c r) f low 1 1 xs.
Proof.
  intros hl hd. assert (e : forall z : nat -> V -> R, E (P r) (fun o => E (uniform m hm) (fun i => z (c r o i) (u r o)))
    = E (P r) (fun o => E clients (fun k => z k (u r o)))).
  { intro z. rewrite E_swap, (E_ext (uniform m hm) _ (fun _ => E (P r) (fun o => E clients (fun k => z k (u r o)))));
      [apply E_const |].
    intros i hi. now apply (hd i z). }
  split; [lra | split].
  - rewrite (e (fun k x => f k x - low k)), Rmult_1_l. right. apply E_ext. intros o _. unfold mean_loss, objective_gap.
    Es. ring.
  - rewrite (e (fun k _ => f k xs - low k)), Rmult_1_l. right. exact (E_const (P r) (objective_gap clients f low xs)).
Qed.
End Theorems.

(** ** Theorem 2 of Li et al. in the form of Power-of-Choice

    Each slot's client is drawn with probability p_k, independently of the model at the round's start ([draws]). *)
Section Unbiased.
Context {V : space}.
Variables (clients : law) (P : nat -> law) (past : nat -> nat -> nat -> nat -> Prop).
Variables (u : nat -> nat -> V) (c : nat -> nat -> nat -> nat) (xi : nat -> nat -> nat -> nat -> V).
Variables (f : nat -> V -> R) (g : nat -> V -> V) (low : nat -> R) (tau : nat).
Variables (mu L G2 : R) (xs w0 : V) (m : nat) (hm : (0 < m)%nat) (sigma2 : R).
Local Notation gamma := (4 * L / mu).
Local Notation slot_gradient r i s o := (g (c r o i) (slot_model u c xi g tau (decaying_step mu L) r i s o)
  + xi r i s o)%V.
Hypothesis curvatures : 0 < mu <= L.
Hypothesis strongly : forall k, strongly_convex mu (f k) (g k).
Hypothesis smooth_clients : forall k, smooth L (f k) (g k).
Hypothesis minima : forall k, bounded_below (f k) (low k).
Hypothesis best : minimizer (mean_loss clients f) xs.
Hypothesis tau_pos : (0 < tau)%nat.
Hypothesis known : forall r, information (past r) (u r) (c r) (xi r).
Hypothesis unbiased : forall r, unbiased_noise (P r) (past r) (xi r).
Hypothesis unrelated : forall r, uncorrelated_noise (P r) (xi r).
Hypothesis variance : forall r s, E (uniform m hm) (fun i => E (P r) (fun o => sq (xi r i s o))) <= sigma2.
Hypothesis gradients : forall r s, (s < tau)%nat ->
  E (P r) (fun o => E (uniform m hm) (fun i => sq (slot_gradient r i s o))) <= G2.
Hypothesis start_gradients : forall r k, E (P r) (fun o => sq (g k (u r o))) <= G2.
Hypothesis draws : forall r i (h : nat -> V -> R), (i < m)%nat ->
  E (P r) (fun o => h (c r o i) (u r o)) = E (P r) (fun o => E clients (fun k => h k (u r o))).
Hypothesis start : forall o, u O o = w0.
Hypothesis next : follows P (plain m hm) u c xi g tau (decaying_step mu L).

Theorem fedavg_decaying_steps_gap r s : (s <= tau)%nat ->
  expected_gap clients P u c xi f g tau xs (decaying_step mu L) (plain m hm) r s
    <= / (INR (tau * r + s) + gamma) * (4 * L * (32 * INR tau^2 * G2 + sigma2 / INR m) / (3 * mu^2)
      + 8 * L^2 * objective_gap clients f low xs / mu^2 + L * gamma * sq (w0 - xs) / 2).
Proof.
  apply (skews_one_gap clients P past u c xi f g low tau mu L G2 1 1 xs w0 m hm sigma2); try easy. constructor; try
    easy.
  - intros q t _. exact (mean_step_variance (P q) m hm (xi q) t sigma2 (unrelated q) (variance q t)).
  - intro q. exact (unbiased_skews clients P u c f low xs q m hm minima (draws q)).
Qed.
End Unbiased.
