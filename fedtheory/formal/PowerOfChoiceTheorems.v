(** Power-of-Choice, repaired: Theorem 3.1, Theorem A.1 and Appendix E.

    The hypotheses are those of [assumptions] in [SkewedRuns.v], with the slots' weights and the variance of the noise of a
    step as arguments: the plain mean of m slots has sigma2/m ([mean_step_variance]). *)

From FedTheory Require Export SkewedRuns Draws.

(** Uncorrelated noises of variance at most sigma2, on average over the slots. *)
Lemma mean_step_variance {V : space} (P : law) m (hm : (0 < m)%nat) (xi : nat -> nat -> nat -> V) s sigma2 :
  uncorrelated_noise P xi -> E (uniform m hm) (fun i => E P (fun o => sq (xi i s o))) <= sigma2 ->
  E P (fun o => sq (step_noise (fun _ => uniform m hm) xi s o)) <= sigma2 / INR m.
Proof.
  intros hu hv. pose proof (lt_0_INR m hm). pose proof (uncorrelated_mean (uniform m hm) P (fun i o => xi i s o)) as um. unfold step_noise.
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
Variables (n : nat) (a : nat -> nat -> law) (noise2 beta gamma k q0 psi : R).
Let eta t := beta / (mu * (INR t + gamma)).
Hypothesis S : setting eta n a noise2.
Hypothesis beta_one : 1 <= beta.
Hypothesis gamma_large : 4 * beta * (L / mu) <= gamma.
Hypothesis factor : 0 <= k /\ k <= (1 - 2 * (beta / (mu * gamma)) * L) * (1 - beta / (mu * gamma) * L).
Hypothesis skew : 0 < rho <= L / mu.
Hypothesis step_skew : beta / (mu * gamma) * L <= q0.
Hypothesis slope : beta * (1 + k * rho) <= gamma.
Hypothesis psi_start : gamma * Delta0 <= psi.
Hypothesis psi_steady : beta^2 * ((8 + 4 * k * q0) * T1^2 + 4 * k * rho * T1) * G2 / mu^2 + beta^2 * (noise2 + 6 * rho * L * Gamma) / mu^2
  <= (beta * (1 + k * rho) - 1) * psi.
Hypothesis ordered : rho <= rho_tilde.
Hypothesis first : T1 <= gamma \/ 28 / 3 * beta^2 * INR tau^2 * G2 / (gamma * mu^2) <= psi.

Lemma kappa_one : 1 <= L / mu.
Proof. pose proof (curvatures _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ S). apply Rmult_le_reg_r with mu; [lra |]. replace (L / mu * mu) with L by (field; lra). lra. Qed.
Lemma mu_pos : 0 < mu <= L.
Proof. exact (curvatures _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ S). Qed.
Lemma gamma_four : 4 <= gamma.
Proof. pose proof kappa_one. assert (1 <= beta * (L / mu)) by (rewrite <- (Rmult_1_l 1); apply Rmult_le_compat; lra). lra. Qed.
Lemma eta_pos' t : 0 < eta t.
Proof. pose proof mu_pos. pose proof gamma_four. pose proof (pos_INR t). unfold eta. apply Rdiv_lt_0_compat; [lra | apply Rmult_lt_0_compat; lra]. Qed.
Lemma eta_le t : eta t <= beta / (mu * gamma).
Proof.
  pose proof mu_pos. pose proof gamma_four. pose proof (pos_INR t). unfold eta. apply Rmult_le_compat_l; [lra |].
  apply Rinv_le_contravar; [apply Rmult_lt_0_compat; lra | apply Rmult_le_compat_l; lra].
Qed.
Lemma first_x : beta / (mu * gamma) * L <= 1 / 4.
Proof.
  pose proof mu_pos. pose proof gamma_four. apply Rmult_le_reg_r with (4 * gamma); [lra |].
  replace (beta / (mu * gamma) * L * (4 * gamma)) with (4 * beta * (L / mu)) by (field; lra). lra.
Qed.
Lemma eta_L t : eta t * L <= beta / (mu * gamma) * L.
Proof. pose proof mu_pos. apply Rmult_le_compat_r; [lra | apply eta_le]. Qed.

Lemma decayed r s : (s <= tau)%nat ->
  expected_gap eta a r s <= L / 2 * psi / (INR (tau * r + s) + gamma) + L * Gamma * (rho_tilde - rho) / (mu * (1 + k * rho)).
Proof.
  intro hs. pose proof mu_pos as hm. pose proof gamma_four as hg. pose proof first_x as fx.
  pose proof (G2_nonnegative clients P past n a u c xi f g low tau eta mu L G2 noise2 rho rho_tilde xs w0 S) as hG.
  pose proof (Gamma_nonnegative clients P past n a u c xi f g low tau eta mu L G2 noise2 rho rho_tilde xs w0 S) as hGam.
  set (x0 := beta / (mu * gamma) * L) in *.
  assert (hx0 : 0 < x0) by (unfold x0; apply Rmult_lt_0_compat; [apply Rdiv_lt_0_compat; [lra | apply Rmult_lt_0_compat; lra] | lra]).
  assert (et : forall t, 0 < eta t * L <= x0) by (intro t; split; [apply Rmult_lt_0_compat; [apply eta_pos' | lra] | apply eta_L]).
  assert (hk : forall t, 0 <= k <= (1 - 2 * eta t * L) * (1 - eta t * L)).
  { intro t. split; [apply factor |]. pose proof (et t) as e. destruct factor as [_ fk].
    replace (2 * (beta / (mu * gamma)) * L) with (2 * x0) in fk by (unfold x0; ring). change (beta / (mu * gamma) * L) with x0 in fk.
    apply Rle_trans with (1 := fk). replace (2 * eta t * L) with (2 * (eta t * L)) by ring. apply Rmult_le_compat; lra. }
  assert (rm : rho * mu <= L).
  { destruct skew as [_ h]. apply (Rmult_le_compat_r mu) in h; [| lra]. replace (L / mu * mu) with L in h by (field; lra). lra. }
  assert (hq : forall t, eta t * mu * rho <= q0).
  { intro t. apply Rle_trans with (2 := step_skew). pose proof (et t). pose proof (eta_pos' t).
    assert (eta t * (rho * mu) <= eta t * L) by (apply Rmult_le_compat_l; lra). change (beta / (mu * gamma) * L) with x0. lra. }
  assert (st : beta^2 * step_constant clients f low tau L G2 noise2 rho xs k q0 / mu^2 <= (beta * (1 + k * rho) - 1) * psi).
  { apply Rle_trans with (2 := psi_steady). right. unfold step_constant, drift_constant. field. lra. }
  assert (hd : 0 <= 2 * Gamma * (rho_tilde - rho) / (mu * (1 + k * rho))).
  { assert (0 <= k * rho) by (apply Rmult_le_pos; lra). apply Rmult_le_pos; [apply Rmult_le_pos; lra | left; apply Rinv_0_lt_compat; apply Rmult_lt_0_compat; lra]. }
  assert (fr : T1 <= gamma \/ forall s, (s <= tau)%nat -> run_distance P a u c xi g tau eta xs 0 s
    <= psi / (INR s + gamma) + 2 * Gamma * (rho_tilde - rho) / (mu * (1 + k * rho))).
  { destruct first as [h | h]; [now left |]. destruct (Rle_dec T1 gamma) as [q | q]; [now left |]. right. intros i hi.
    apply Rle_trans with (psi / (INR i + gamma)); [| lra].
    apply Rle_trans with (1 := crude_distance clients P past n a u c xi f g low tau eta mu L G2 noise2 rho rho_tilde xs w0 S eta_pos' 0 i hi).
    set (H := sum i (fun t => / (INR t + gamma))).
    assert (us : mu * used tau eta 0 i = beta * H).
    { unfold used, steps_of, H. rewrite <- !sum_scal. apply sum_ext. intros t _. rewrite Nat.mul_0_r. cbn [Nat.add]. unfold eta. pose proof (pos_INR t). field. lra. }
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
    apply Rmult_le_reg_r with (INR i + gamma); [lra |]. replace (psi / (INR i + gamma) * (INR i + gamma)) with psi by (field; lra).
    apply Rle_trans with (2 := h). apply Rle_trans with (G2 / mu^2 * (14 / 3 * beta^2 * (Tt / gamma)) * (2 * Tt)).
    - apply Rmult_le_compat_l; [| lra]. apply Rmult_le_pos; [easy |]. apply Rmult_le_pos; [pose proof (pow2_ge_0 beta); lra | apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; lra]].
    - right. field. lra. }
  pose proof (decay clients P past n a u c xi f g low tau eta mu L G2 noise2 rho rho_tilde xs w0 S eta_pos' ltac:(intro t; pose proof (et t); lra)
    beta gamma k q0 psi ltac:(easy) beta_one ltac:(lra) hk hq slope psi_start st ordered fr r s hs) as d.
  apply (Rmult_le_compat_l (L / 2)) in d; [| lra].
  apply Rle_trans with (1 := gap_of_run clients P past n a u c xi f g low tau eta mu L G2 noise2 rho rho_tilde xs w0 S r s).
  apply Rle_trans with (1 := d). right. assert (0 <= k * rho) by (apply Rmult_le_pos; lra). pose proof (pos_INR (tau * r + s)). field. repeat split; lra.
Qed.
End Decaying.

(** ** Theorem 3.1: steps 1/(mu (t + gamma)), gamma = 4 L/mu, and the plain mean of m slots *)

Definition plain m (hm : (0 < m)%nat) : nat -> nat -> law := fun _ _ => uniform m hm.
Definition decaying_step (t : nat) : R := 1 / (mu * (INR t + 4 * L / mu)).

Section Theorem_3_1.
Variables (m : nat) (hm : (0 < m)%nat) (sigma2 : R).
Local Notation gamma := (4 * L / mu).
Hypothesis S : setting decaying_step m (plain m hm) (sigma2 / INR m).
Hypothesis skew : 0 < rho <= L / mu.
Hypothesis ordered : rho <= rho_tilde.

(** With any constant D that the drift fits under. *)
Lemma theorem_3_1 D r s : (s <= tau)%nat -> (67 / 8 * T1^2 + 12 / 8 * rho * T1) * G2 <= D -> (T1 <= gamma \/ 32 * INR tau^2 * G2 <= D) ->
  expected_gap decaying_step (plain m hm) r s
    <= / (INR (tau * r + s) + gamma) * Rmax (L * gamma / 2 * Delta0) (4 * L * (D + sigma2 / INR m) / (3 * mu^2 * rho) + 8 * L^2 * Gamma / mu^2)
      + 8 * L * Gamma * (rho_tilde - rho) / (mu * (8 + 3 * rho)).
Proof.
  intros hs hD hfr. pose proof (curvatures _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ S) as cv.
  assert (hk : 1 <= L / mu) by (apply Rmult_le_reg_r with mu; [lra |]; replace (L / mu * mu) with L by (field; lra); lra).
  pose proof (G2_nonnegative clients P past m _ u c xi f g low tau _ mu L G2 _ rho rho_tilde xs w0 S) as hG.
  pose proof (Gamma_nonnegative clients P past m _ u c xi f g low tau _ mu L G2 _ rho rho_tilde xs w0 S) as hGam.
  pose proof (noise_nonnegative clients P past m _ u c xi f g low tau _ mu L G2 _ rho rho_tilde xs w0 S) as hN.
  set (N := sigma2 / INR m) in *.
  set (psi := Rmax (gamma * Delta0) (8 * (D + N + 6 * rho * L * Gamma) / (3 * rho * mu^2))).
  assert (x0 : 1 / (mu * gamma) * L = 1 / 4) by (field; lra).
  assert (hpsi2 : 8 * (D + N + 6 * rho * L * Gamma) / (3 * rho * mu^2) <= psi) by apply Rmax_r.
  assert (hT1 : 0 <= T1) by (pose proof (le_INR 1 tau (tau_pos _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ S)) as h; cbn in h; lra).
  assert (hD0 : 0 <= D).
  { apply Rle_trans with (2 := hD). apply Rmult_le_pos; [| easy]. apply Rplus_le_le_0_compat; [pose proof (pow2_ge_0 T1); lra | apply Rmult_le_pos; lra]. }
  pose proof (decayed m (plain m hm) N 1 gamma (3 / 8) (1 / 4) psi S ltac:(lra) ltac:(right; field; lra)
    ltac:(split; [lra |]; replace (2 * (1 / (mu * gamma)) * L) with (2 * (1 / (mu * gamma) * L)) by ring; rewrite x0; lra) skew ltac:(rewrite x0; lra)
    ltac:(replace gamma with (4 * (L / mu)) by (unfold Rdiv; ring); lra) (Rmax_l _ _)) as d.
  specialize (d ltac:(rewrite pow1; replace ((1 * (1 + 3 / 8 * rho) - 1) * psi) with (3 / 8 * rho * psi) by ring;
    apply Rle_trans with (3 / 8 * rho * (8 * (D + N + 6 * rho * L * Gamma) / (3 * rho * mu^2)));
    [replace (3 / 8 * rho * (8 * (D + N + 6 * rho * L * Gamma) / (3 * rho * mu^2))) with (D / mu^2 + (N + 6 * rho * L * Gamma) / mu^2) by (field; lra);
     assert (1 * ((8 + 4 * (3 / 8) * (1 / 4)) * T1^2 + 4 * (3 / 8) * rho * T1) * G2 / mu^2 <= D / mu^2);
     [apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat, pow_lt; lra | lra] | lra]
    | apply Rmult_le_compat_l; lra]) ordered).
  assert (fr : T1 <= gamma \/ 28 / 3 * 1^2 * INR tau^2 * G2 / (gamma * mu^2) <= psi).
  { destruct hfr as [h | h]; [now left | right]. apply Rle_trans with (2 := hpsi2).
    assert (q : 32 * INR tau^2 * G2 <= D + N + 6 * rho * L * Gamma).
    { assert (0 <= 6 * rho * L * Gamma) by (apply Rmult_le_pos; [apply Rmult_le_pos; lra | easy]). lra. }
    assert (t2 : 0 <= INR tau^2 * G2) by (apply Rmult_le_pos; [apply pow2_ge_0 | easy]).
    apply Rmult_le_reg_r with (3 * rho * mu^2 * gamma); [apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat; [lra | apply pow_lt; lra] | apply Rdiv_lt_0_compat; lra] |].
    replace (28 / 3 * 1^2 * INR tau^2 * G2 / (gamma * mu^2) * (3 * rho * mu^2 * gamma)) with (28 * rho * (INR tau^2 * G2)) by (field; lra).
    replace (8 * (D + N + 6 * rho * L * Gamma) / (3 * rho * mu^2) * (3 * rho * mu^2 * gamma)) with (32 * (L / mu) * (D + N + 6 * rho * L * Gamma)) by (field; lra).
    assert (32 * (L / mu) * (32 * INR tau^2 * G2) <= 32 * (L / mu) * (D + N + 6 * rho * L * Gamma)) by (apply Rmult_le_compat_l; lra).
    assert (28 * rho * (INR tau^2 * G2) <= 32 * (L / mu) * (INR tau^2 * G2)) by (apply Rmult_le_compat_r; lra).
    assert (0 <= 32 * (L / mu) * (INR tau^2 * G2)) by (apply Rmult_le_pos; lra). lra. }
  specialize (d fr r s hs). change (fun t => 1 / (mu * (INR t + gamma))) with decaying_step in d. fold (plain m hm) in d.
  apply Rle_trans with (1 := d). apply Rplus_le_compat.
  - right. unfold psi. rewrite (Rmult_comm (/ _)). unfold Rdiv at 1. f_equal.
    rewrite <- RmaxRmult by lra. f_equal; field; lra.
  - right. field. lra.
Qed.

Theorem power_of_choice_decaying_steps_gap r s : (s <= tau)%nat ->
  (67 * T1^2 + 12 * rho * T1) / 8 <= 32 * INR tau^2 ->
  expected_gap decaying_step (plain m hm) r s
    <= / (INR (tau * r + s) + gamma)
       * Rmax (L * gamma / 2 * Delta0) (4 * L * (32 * INR tau^2 * G2 + sigma2 / INR m) / (3 * mu^2 * rho) + 8 * L^2 * Gamma / mu^2)
      + 8 * L * Gamma * (rho_tilde - rho) / (mu * (8 + 3 * rho)).
Proof.
  intros hs hf. pose proof (G2_nonnegative clients P past m _ u c xi f g low tau _ mu L G2 _ rho rho_tilde xs w0 S) as hG.
  apply theorem_3_1; [easy | | right; lra]. apply Rmult_le_compat_r; lra.
Qed.

Theorem power_of_choice_refined_decaying_steps_gap r s : (s <= tau)%nat -> INR tau <= 4 * L / mu + 1 ->
  expected_gap decaying_step (plain m hm) r s
    <= / (INR (tau * r + s) + gamma)
       * Rmax (L * gamma / 2 * Delta0) (4 * L * ((67 * T1^2 + 12 * rho * T1) / 8 * G2 + sigma2 / INR m) / (3 * mu^2 * rho) + 8 * L^2 * Gamma / mu^2)
      + 8 * L * Gamma * (rho_tilde - rho) / (mu * (8 + 3 * rho)).
Proof. intros hs ht. apply theorem_3_1; [easy | right; field | left; lra]. Qed.
End Theorem_3_1.
End Theorems.
