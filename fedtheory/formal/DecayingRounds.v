(** Power-of-Choice without bounded gradients, with steps 1/(mu (t + gamma)): the theory page Worst cases. *)

From FedTheory Require Export WholeRuns.

(** ** The coefficients of a round of steps 1/(mu (s0 + s)) *)

Section Coefficients.
Variables (mu L s0 : R).
Hypothesis hmu : 0 < mu <= L.
Let kappa := L / mu.
Hypothesis hs0 : 1 <= s0.
Hypothesis late : kappa <= s0.
Definition decaying (s : nat) : R := / (mu * (s0 + INR s)).

Lemma kappa_pos : 1 <= kappa.
Proof. unfold kappa. apply Rmult_le_reg_r with mu; [lra |]. replace (L / mu * mu) with L by (field; lra). lra. Qed.
Lemma place s : 0 < s0 + INR s.
Proof. pose proof (pos_INR s). lra. Qed.
Lemma decaying_pos s : 0 < decaying s.
Proof. unfold decaying. pose proof (place s). pos. Qed.
Lemma decaying_L s : decaying s * L = kappa / (s0 + INR s).
Proof. unfold decaying, kappa. pose proof (place s). field. lra. Qed.
Lemma decaying_mu s : decaying s * mu = / (s0 + INR s).
Proof. unfold decaying. pose proof (place s). field. lra. Qed.
Lemma x_range s : 0 <= kappa / (s0 + INR s) <= kappa / s0.
Proof.
  pose proof (place s). pose proof kappa_pos. pose proof (pos_INR s). split; [pos |].
  apply Rmult_le_compat_l; [lra |]. apply Rinv_le_contravar; lra.
Qed.
Lemma x_small : kappa / s0 <= 1.
Proof. apply Rmult_le_reg_r with s0; [lra |]. replace (kappa / s0 * s0) with kappa by (field; lra). lra. Qed.
Lemma decaying_short s : decaying s * L <= 1.
Proof. rewrite decaying_L. pose proof (x_range s). pose proof x_small. lra. Qed.

(** tau theta, the part of the start's loss that the steps keep. *)
Fixpoint kept_part (s : nat) : R :=
  match s with O => 0 | S s => kept_part s + (1 - kappa / (s0 + INR s)) * loss_left L decaying s end.

Lemma rest s : 1 - decaying s * mu = (s0 + INR s - 1) / (s0 + INR s).
Proof. rewrite decaying_mu. pose proof (place s). field. lra. Qed.

Lemma before s : (0 < s)%nat -> 0 < s0 + INR s - 1.
Proof. intro h. apply (le_INR 1) in h. cbn in h. lra. Qed.

Lemma contraction_decaying s : (0 < s)%nat -> contraction mu decaying s = (s0 - 1) / (s0 + INR s - 1).
Proof.
  intro h. induction s as [| s IH]; [lia |]. cbn [contraction]. rewrite rest. destruct s as [| s].
  - cbn [contraction INR]. field. lra.
  - rewrite IH by lia. pose proof (before (S s) ltac:(lia)). pose proof (place (S s)). rewrite (S_INR (S s)). field.
    lra.
Qed.
Lemma moved_decaying s : (0 < s)%nat -> moved mu decaying s = INR s / (mu * (s0 + INR s - 1)).
Proof.
  intro h. induction s as [| s IH]; [lia |]. cbn [moved]. rewrite rest. unfold decaying at 2. destruct s as [| s].
  - cbn [moved INR]. field. lra.
  - rewrite IH by lia. pose proof (before (S s) ltac:(lia)). pose proof (place (S s)). rewrite (S_INR (S s)). field.
    lra.
Qed.
Lemma kept_decaying s : (0 < s)%nat -> kept mu L decaying s = kept_part s / (mu * (s0 + INR s - 1)).
Proof.
  intro h. induction s as [| s IH]; [lia |]. cbn [kept kept_part]. rewrite rest, decaying_L. unfold decaying at 2.
  destruct s as [| s].
  - cbn [kept kept_part INR]. field. lra.
  - rewrite IH by lia. pose proof (before (S s) ltac:(lia)). pose proof (place (S s)). rewrite (S_INR (S s)). field.
    lra.
Qed.
Lemma noise_decaying s : noise_kept mu decaying s * (mu^2 * s0 * (s0 + INR s - 1)) <= INR s.
Proof.
  induction s as [| s IH]; [cbn; lra |]. cbn [noise_kept]. rewrite rest. pose proof (place s) as p.
  pose proof (pos_INR s).
  rewrite S_INR. replace (s0 + (INR s + 1) - 1) with (s0 + INR s) by ring.
  replace (((s0 + INR s - 1) / (s0 + INR s) * noise_kept mu decaying s + decaying s ^ 2) * (mu^2 * s0 * (s0 + INR s)))
    with (noise_kept mu decaying s * (mu^2 * s0 * (s0 + INR s - 1)) + s0 / (s0 + INR s))
      by (unfold decaying; field; lra).
  assert (s0 / (s0 + INR s) <= 1); [| lra]. apply Rmult_le_reg_r with (s0 + INR s); [easy |].
  replace (s0 / (s0 + INR s) * (s0 + INR s)) with s0 by (field; lra). lra.
Qed.
Lemma noise_round_decaying m tau : 0 < m -> (0 < tau)%nat ->
  noise_of_round mu decaying m tau <= (INR tau - 1 + 1 / m) / (mu^2 * (s0 + INR tau - 1) * s0).
Proof.
  intros hm ht. destruct tau as [| s]; [lia |]. cbn [noise_of_round]. rewrite rest. pose proof (place s) as p.
  pose proof (pos_INR s).
  rewrite S_INR. replace (s0 + (INR s + 1) - 1) with (s0 + INR s) by ring.
  replace (INR s + 1 - 1 + 1 / m) with (INR s + 1 / m) by ring.
  apply Rmult_le_reg_r with (mu^2 * (s0 + INR s) * s0); [pos |].
  replace ((INR s + 1 / m) / (mu^2 * (s0 + INR s) * s0) * (mu^2 * (s0 + INR s) * s0)) with (INR s + 1 / m)
    by (field; repeat split; lra).
  replace (((s0 + INR s - 1) / (s0 + INR s) * noise_kept mu decaying s
    + decaying s ^ 2 / m) * (mu^2 * (s0 + INR s) * s0))
    with (noise_kept mu decaying s * (mu^2 * s0 * (s0 + INR s - 1)) + s0 / (s0 + INR s) * (1 / m))
      by (unfold decaying; field; repeat split; lra).
  pose proof (noise_decaying s). assert (s0 / (s0 + INR s) <= 1).
  { apply Rmult_le_reg_r with (s0 + INR s); [easy |]. replace (s0 / (s0 + INR s) * (s0 + INR s)) with s0
      by (field; lra). lra. }
  assert (0 < 1 / m) by (apply Rdiv_lt_0_compat; lra). nra.
Qed.

Lemma loss_range s : 1 - 2 * INR s * (kappa / s0) <= loss_left L decaying s <= 1.
Proof.
  induction s as [| s IH]; cbn [loss_left]; [cbn; lra |]. rewrite S_INR, decaying_L. pose proof (x_range s) as x.
  pose proof x_small.
  set (k := kappa / (s0 + INR s)) in *. pose proof (loss_pos L decaying s) as lp.
  set (l := loss_left L decaying s) in *.
  split; [| nra]. assert (l * (1 - k)^2 >= l - 2 * k * l) by nra.
  assert (k * l <= kappa / s0 * 1) by (apply Rmult_le_compat; lra). lra.
Qed.
Lemma kept_part_range s : INR s - INR s^2 * (kappa / s0) <= kept_part s <= INR s.
Proof.
  induction s as [| s IH]; cbn [kept_part]; [cbn; lra |]. rewrite S_INR. pose proof (loss_range s) as l.
  pose proof (x_range s) as x. pose proof x_small.
  pose proof (loss_pos L decaying s) as lp. set (k := kappa / (s0 + INR s)) in *.
  set (ll := loss_left L decaying s) in *.
  assert (b1 : (1 - k) * ll <= 1) by nra. assert (b2 : k * ll <= kappa / s0 * 1) by (apply Rmult_le_compat; lra).
  split; [| lra]. lra.
Qed.
End Coefficients.

Section Theorem_P.
Context {V : space}.
Variables (P clients : law) (past : nat -> nat -> nat -> nat -> Prop) (m : nat) (hm : (0 < m)%nat).
Variables (f : nat -> V -> R) (g : nat -> V -> V) (low : nat -> R) (mu L sigma2 rho rho_tilde gamma : R) (xs w0 : V).
Variables (u : nat -> nat -> V) (c : nat -> nat -> nat -> nat) (xi : nat -> nat -> nat -> nat -> V) (tau : nat).
Local Notation F := (mean_loss clients f).
Local Notation Gamma := (objective_gap clients f low xs).
Local Notation Delta r := (E P (fun o => sq (u r o - xs))).
(** Step s of round r has the length 1/(mu (t + gamma)) with t = tau r + s. *)
Definition delayed_step (r s : nat) : R := / (mu * (INR (tau * r + s) + gamma)).

Hypothesis curvatures : 0 < mu <= L.
Hypothesis strongly : forall k, strongly_convex mu (f k) (g k).
Hypothesis smooth_clients : forall k, smooth L (f k) (g k).
Hypothesis minima : forall k, bounded_below (f k) (low k).
Hypothesis best : minimizer F xs.
Hypothesis known : forall r, information (past r) (u r) (c r) (xi r).
Hypothesis unbiased : forall r, unbiased_noise P (past r) (xi r).
Hypothesis unrelated : forall r, uncorrelated_noise P (xi r).
Hypothesis variance : forall r s, E (uniform m hm) (fun i => E P (fun o => sq (xi r i s o))) <= sigma2.
Hypothesis skews : forall r, skewed P clients m hm f low rho rho_tilde xs (u r) (c r).
Hypothesis tau_pos : (0 < tau)%nat.
Hypothesis start : forall o, u O o = w0.
Hypothesis next : forall r o, u (S r) o = round_mean m hm g (u r) (c r) (xi r) (delayed_step r) tau o.
Hypothesis positive : 0 < rho.
Hypothesis feasible : rho <= L / mu.
Hypothesis ordered : 0 <= rho_tilde.
Hypothesis late : 2 * INR tau * (L / mu) <= gamma.

Theorem power_of_choice_decaying_steps_distance r :
  let delta := 2 * Gamma * (rho_tilde - rho) / (mu * (1 + rho)) in
  Delta r <= / (INR (tau * r) + gamma) * Rmax (gamma * (sq (w0 - xs) - delta))
      (4 * INR tau * L * Gamma / mu^2 * ((1 + rho_tilde) / (1 + rho))
       + 2 * sigma2 * (INR tau - 1 + 1 / INR m) / (INR tau * rho * mu^2)) + delta.
Proof.
  intro delta. set (T := INR tau). set (kappa := L / mu) in *. pose proof (lt_0_INR m hm) as pm.
  assert (hT : 1 <= T) by (apply (le_INR 1); lia).
  assert (hk : 1 <= kappa) by (apply (kappa_pos mu L curvatures)).
  assert (hG : 0 <= Gamma) by (apply E_pos; intro k; pose proof (minima k xs); lra).
  assert (hs : 0 <= sigma2) by (apply Rle_trans with (2 := variance O O); apply E_pos; intro; apply E_pos; intro;
    apply sq_pos).
  assert (hm1 : 0 < 1 / INR m) by (apply Rdiv_lt_0_compat; lra).
  assert (hgamma : 2 <= gamma) by (apply Rle_trans with (2 := late); fold T; nra).
  set (n2 := sigma2 * (T - 1 + 1 / INR m)). assert (hn2 : 0 <= n2) by (unfold n2; pos).
  set (K := 2 * T * kappa * rho * Gamma * (1 + rho_tilde) / (mu * (1 + rho)) + n2 / (T * mu^2)).
  set (psi := Rmax _ _). assert (hK : 2 * K <= rho * psi).
  { apply Rle_trans with (rho * (4 * T * L * Gamma / mu^2 * ((1 + rho_tilde) / (1 + rho))
      + 2 * sigma2 * (T - 1 + 1 / INR m) / (T * rho * mu^2))).
    - right. unfold K, n2, kappa. field. repeat split; lra.
    - apply Rmult_le_compat_l; [lra | apply Rmax_r]. }
  assert (hK0 : 0 <= K) by (unfold K; apply Rplus_le_le_0_compat;
    [pos | apply Rmult_le_pos; [easy | left; apply Rinv_0_lt_compat; pos]]).
  assert (hpsi : 0 <= psi) by (apply Rmult_le_reg_l with rho; lra).
  assert (goal : Delta r - delta <= psi / (INR (tau * r) + gamma)).
  { induction r as [| r IH].
    - rewrite Nat.mul_0_r. cbn [INR]. rewrite Rplus_0_l.
      rewrite (E_ext P _ (fun _ => sq (w0 - xs))) by (intros; now rewrite start). rewrite E_const.
      apply Rmult_le_reg_l with gamma; [lra |]. replace (gamma * (psi / gamma)) with psi by (field; lra). apply Rmax_l.
    - set (s0 := INR (tau * r) + gamma) in *. pose proof (pos_INR (tau * r)) as pr.
      assert (hs0 : 2 * T * kappa <= s0) by (unfold s0, T; lra).
      assert (hs1 : 1 <= s0) by (unfold s0; lra). assert (hks : kappa <= s0) by nra.
      assert (es : forall s, delayed_step r s = decaying mu s0 s).
      { intro s. unfold delayed_step, decaying, s0. rewrite plus_INR. f_equal. f_equal. ring. }
      assert (q0 : 0 < s0 + T - 1) by lra. set (q := s0 + T - 1) in *.
      pose proof (any_round P clients past m hm f g low mu L sigma2 rho rho_tilde xs u c xi delayed_step tau curvatures
        strongly smooth_clients
        minima best known unbiased unrelated variance skews next r) as step.
      specialize (step ltac:(intro s; rewrite es; apply (decaying_pos mu L s0 curvatures hs1))
        ltac:(intro s; rewrite es; now apply (decaying_short mu L s0))).
      assert (c1 : forall s, contraction mu (delayed_step r) s = contraction mu (decaying mu s0) s)
        by (induction s as [| s i]; cbn; rewrite ?es; congruence).
      assert (c2 : forall s, loss_left L (delayed_step r) s = loss_left L (decaying mu s0) s)
        by (induction s as [| s i]; cbn; rewrite ?es; congruence).
      assert (c3 : forall s, kept mu L (delayed_step r) s = kept mu L (decaying mu s0) s)
        by (induction s as [| s i]; cbn; rewrite ?es, ?c2; congruence).
      assert (c4 : forall s, moved mu (delayed_step r) s = moved mu (decaying mu s0) s)
        by (induction s as [| s i]; cbn; rewrite ?es; congruence).
      assert (c5 : forall s, noise_kept mu (delayed_step r) s = noise_kept mu (decaying mu s0) s)
        by (induction s as [| s i]; cbn; rewrite ?es; congruence).
      assert (c6 : noise_of_round mu (delayed_step r) (INR m) tau = noise_of_round mu (decaying mu s0) (INR m) tau)
        by (destruct tau; cbn; rewrite ?es, ?c5; reflexivity).
      rewrite c1, c3, c4, c6 in step.
      rewrite (contraction_decaying mu L s0 curvatures hs1 tau tau_pos),
        (moved_decaying mu L s0 curvatures hs1 tau tau_pos),
        (kept_decaying mu L s0 curvatures hs1 tau tau_pos) in step. fold T q in step.
      pose proof (noise_round_decaying mu L s0 curvatures hs1 (INR m) tau pm tau_pos) as nr. fold T q in nr.
      pose proof (kept_part_range mu L s0 curvatures hs1 hks tau) as kr. fold T kappa in kr.
      set (th := kept_part mu L s0 tau) in *.
      assert (n3 : noise_of_round mu (decaying mu s0) (INR m) tau * sigma2 <= n2 / (mu^2 * q * s0)).
      { apply (Rmult_le_compat_r sigma2) in nr; [| easy]. apply Rle_trans with (1 := nr). right. unfold n2. field.
        repeat split; lra. }
      (* e+ <= (1 - (tau + rho th)/q) e + tau K/(q s0) *)
      set (e := Delta r - delta) in *.
      assert (rec : Delta (S r) - delta <= (1 - (T + rho * th) / q) * e + T * K / (q * s0)).
      { assert (id : ((s0 - 1) / q - rho * mu * (th / (mu * q))) * Delta r
          + 2 * (rho_tilde * (T / (mu * q)) - rho * (th / (mu * q))) * Gamma - delta
          = (1 - (T + rho * th) / q) * e + 2 * rho * Gamma * (1 + rho_tilde) / (mu * (1 + rho) * q) * (T - th)).
        { unfold e, delta, q. field. repeat split; lra. }
        assert (2 * rho * Gamma * (1 + rho_tilde) / (mu * (1 + rho) * q) * (T - th)
          <= 2 * rho * Gamma * (1 + rho_tilde) / (mu * (1 + rho) * q) * (T^2 * (kappa / s0))).
        { apply Rmult_le_compat_l; [| lra]. apply Rmult_le_pos; [pos | left; apply Rinv_0_lt_compat; pos]. }
        assert (idK : 2 * rho * Gamma * (1 + rho_tilde) / (mu * (1 + rho) * q) * (T^2 * (kappa / s0))
          + n2 / (mu^2 * q * s0) = T * K / (q * s0)).
        { unfold K. field. repeat split; lra. }
        lra. }
      assert (hth2 : T / 2 <= th).
      { assert (T^2 * (kappa / s0) <= T / 2); [| lra]. apply Rmult_le_reg_r with s0; [lra |].
        replace (T^2 * (kappa / s0) * s0) with (T * (T * kappa)) by (field; lra).
        replace (T / 2 * s0) with (T * (s0 / 2)) by field. apply Rmult_le_compat_l; lra. }
      assert (slope : 0 <= 1 - (T + rho * th) / q).
      { assert (T + rho * th <= q).
        { unfold q. assert (rho * th <= kappa * T) by (apply Rmult_le_compat; lra). nra. }
        assert ((T + rho * th) / q <= 1); [| lra]. apply Rmult_le_reg_r with q; [easy |].
          replace ((T + rho * th) / q * q) with (T + rho * th) by (field; lra). lra. }
      apply Rle_trans with (1 := rec).
      apply (Rmult_le_compat_l (1 - (T + rho * th) / q)) in IH; [| easy].
      replace (INR (tau * S r) + gamma) with (s0 + T) by (unfold s0, T; rewrite Nat.mul_succ_r, plus_INR; ring).
      apply Rle_trans with (psi / s0 * (1 - T / q)).
      + assert (T * K / (q * s0) <= psi / s0 * (rho * (T / 2) / q)).
        { apply Rmult_le_reg_r with (q * s0); [pos |]. replace (T * K / (q * s0) * (q * s0)) with (T * K)
            by (field; lra).
          replace (psi / s0 * (rho * (T / 2) / q) * (q * s0)) with (T * (rho * psi / 2)) by (field; lra).
          apply Rmult_le_compat_l; lra. }
        assert (0 <= psi / s0) by (apply Rmult_le_pos; [easy | left; apply Rinv_0_lt_compat; lra]).
        assert (psi / s0 * (rho * (T / 2) / q) <= psi / s0 * (rho * th / q)).
        { apply Rmult_le_compat_l; [easy |]. apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra |].
          apply Rmult_le_compat_l; lra. }
        replace ((T + rho * th) / q) with (T / q + rho * th / q) in * by (field; lra). lra.
      + replace (1 - T / q) with ((s0 - 1) / q) by (unfold q; field; lra).
        apply Rmult_le_reg_r with (s0 * q * (s0 + T)); [pos |].
        replace (psi / s0 * ((s0 - 1) / q) * (s0 * q * (s0 + T))) with (psi * ((s0 - 1) * (s0 + T))) by (field; lra).
        replace (psi / (s0 + T) * (s0 * q * (s0 + T))) with (psi * (s0 * q)) by (field; lra).
        apply Rmult_le_compat_l; [easy |]. unfold q. lra. }
  unfold Rdiv in goal. lra.
Qed.
End Theorem_P.
