(** Averaging in terms of the average drift at a point: a round is a contraction, and moves the point by the drift. *)

From FedTheory Require Export Stationary.

Section Drift.
Context {V : space}.
Variables (clients : law) (f : nat -> V -> R) (g : nat -> V -> V) (mu L eta : R) (tau : nat) (xs : V).
Hypothesis curvatures : 0 < mu <= L.
Hypothesis eta_pos : 0 < eta.
Hypothesis stable : eta * (L + mu) < 2.
Hypothesis some_steps : (0 < tau)%nat.
Hypothesis strongly : forall k, strongly_convex mu (f k) (g k).
Hypothesis smooth_clients : forall k, smooth L (f k) (g k).
Let c := 1 - eta * mu.

Definition average_drift : V := (/ (eta * INR tau) * (xs - averaged_round clients g eta tau xs))%V.

Lemma drift_rate : 0 <= c < 1.
Proof. unfold c. nra. Qed.

Lemma round_contracts w v :
  sq (averaged_round clients g eta tau w - averaged_round clients g eta tau v) <= (c^tau)^2 * sq (w - v).
Proof.
  set (d := fun k => (gradient_steps g eta w k tau - gradient_steps g eta v k tau)%V).
  assert (e : same (averaged_round clients g eta tau w - averaged_round clients g eta tau v) (vE clients d)).
  { apply same_sym. unfold d, averaged_round.
    exact (vE_sub clients (fun k => gradient_steps g eta w k tau) (fun k => gradient_steps g eta v k tau)). }
  rewrite (same_sq _ _ e). apply Rle_trans with (1 := jensen_zero clients d).
  rewrite <- (E_const clients ((c^tau)^2 * sq (w - v))). apply E_le. intro k. unfold d.
  apply Rle_trans with (1 := steps_contract (f k) g k mu L eta w v tau ltac:(lra) ltac:(lra) (strongly k)
    (proj1 (smooth_clients k))).
  apply Rmult_le_compat_r; [apply sq_pos |].
  rewrite <- pow_mult, Nat.mul_comm, pow_mult. right. f_equal. fold c. apply Rmax_left.
  rewrite <- (pow2_abs (1 - eta * L)). apply pow_incr. split; [apply Rabs_pos |]. unfold c. apply Rabs_le. nra.
Qed.

Theorem average_drift_fixed_step_distance w r :
  sq (rounds clients g eta tau w r - xs)
    <= ((1 - eta * mu)^(tau * r) * sqrt (sq (w - xs))
        + (1 - (1 - eta * mu)^(tau * r)) * (eta * INR tau * sqrt (sq average_drift) / (1 - (1 - eta * mu)^tau)))^2.
Proof.
  fold c. pose proof drift_rate as hc. set (q := c^tau).
  assert (hq : 0 <= q < 1).
  { unfold q. destruct tau as [| m]; [lia |]. cbn [pow]. pose proof (geometric_one c m ltac:(lra)). nra. }
  pose proof (lt_0_INR tau some_steps) as ht. assert (hs : 0 < eta * INR tau) by pos.
  set (rho := sqrt (sq average_drift)). assert (hr : 0 <= rho) by apply sqrt_pos.
  assert (moved : sq (averaged_round clients g eta tau xs - xs) <= (eta * INR tau * rho)^2).
  { unfold rho. rewrite Rpow_mult_distr, pow2_sqrt by apply sq_pos. right. unfold average_drift. ips. field. lra. }
  set (floor := eta * INR tau * rho / (1 - q)).
  assert (hf : 0 <= floor) by (unfold floor; apply Rmult_le_pos; [pos | left; apply Rinv_0_lt_compat; lra]).
  assert (ef : eta * INR tau * rho = (1 - q) * floor) by (unfold floor; field; lra). rewrite ef in moved.
  rewrite pow_mult. fold q. set (d := sqrt (sq (w - xs))). assert (hd : 0 <= d) by apply sqrt_pos.
  induction r as [| r IH]; cbn [rounds].
  - right. replace (q^0 * d + (1 - q^0) * floor) with d by (cbn [pow]; ring).
    unfold d. now rewrite pow2_sqrt by apply sq_pos.
  - replace (q^(S r)) with (q * q^r) by reflexivity.
    set (x := rounds clients g eta tau w r) in *. pose proof (geometric_one q r ltac:(lra)) as hp.
    assert (e : same (averaged_round clients g eta tau x - xs)
      ((averaged_round clients g eta tau x - averaged_round clients g eta tau xs)
        + (averaged_round clients g eta tau xs - xs))) by (intro z; ips; ring).
    rewrite (same_sq _ _ e).
    replace (q * q^r * d + (1 - q * q^r) * floor) with (q * (q^r * d + (1 - q^r) * floor) + (1 - q) * floor) by ring.
    apply minkowski.
    + assert (0 <= q^r * d) by pos. assert (0 <= (1 - q^r) * floor) by (apply Rmult_le_pos; lra).
      apply Rmult_le_pos; lra.
    + apply Rmult_le_pos; lra.
    + apply Rle_trans with (1 := round_contracts x xs). fold q. rewrite Rpow_mult_distr.
      apply Rmult_le_compat_l; [apply pow2_ge_0 | exact IH].
    + exact moved.
Qed.
End Drift.
