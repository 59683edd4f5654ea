(** The drift of active clients with a fixed step size and without noise: Lemma B.2 of Power-of-Choice, exactly. *)

From FedTheory Require Export Rounds.

Section ExactDrift.
Context {V : space}.
Variables (m : nat) (hm : (0 < m)%nat) (f : nat -> V -> R) (g : nat -> V -> V) (mu L eta G2 : R) (u : V) (tau : nat).
(** The client in slot i is [chosen i]. *)
Variable chosen : nat -> nat.
Hypothesis curvatures : 0 < mu <= L.
Hypothesis eta_pos : 0 < eta.
Hypothesis short : eta * L <= 1.
Hypothesis strongly : forall k, strongly_convex mu (f k) (g k).
Hypothesis smooth_clients : forall k, smooth L (f k) (g k).
(** The gradients of the active clients at the round's starting model [u]. *)
Hypothesis start : forall i, (i < m)%nat -> sq (g (chosen i) u) <= G2.
Local Notation y := (fun i s => gradient_steps g eta u (chosen i) s).
Let c := 1 - eta * mu.

Lemma contraction_range : 0 <= c <= 1.
Proof. unfold c. assert (eta * mu <= eta * L) by (apply Rmult_le_compat_l; lra). assert (0 < eta * mu) by pos. lra. Qed.

Lemma gradients_shrink i s : (i < m)%nat -> sq (g (chosen i) (y i s)) <= (c^s)^2 * G2.
Proof.
  intro hi. set (k := chosen i). induction s as [| s IH]; [cbn; pose proof (start i hi); unfold k; lra |].
  pose proof (step_contracts mu L eta (f k) (g k) (y i s) (y i (S s)) ltac:(lra) ltac:(lra) (strongly k)
    (proj1 (smooth_clients k))) as h.
  cbn [gradient_steps] in h |- *. fold k in h, IH |- *. set (x := gradient_steps g eta u k s) in *. set (z := (x - eta * g k x)%V) in *.
  replace (Rmax ((1 - eta * mu)^2) ((1 - eta * L)^2)) with (c^2) in h.
  - replace (sq (z - eta * g k z - z)) with (eta^2 * sq (g k z)) in h by (ips; ring).
    replace (sq (z - x)) with (eta^2 * sq (g k x)) in h by (unfold z; ips; ring).
    assert (h2 : sq (g k z) <= c^2 * sq (g k x)) by (apply Rmult_le_reg_l with (eta^2); [pos | lra]).
    apply Rle_trans with (1 := h2). cbn [pow]. replace ((c * c^s * (c * c^s * 1)) * G2) with (c^2 * ((c^s)^2 * G2))
      by ring.
    apply Rmult_le_compat_l; [apply pow2_ge_0 | easy].
  - symmetry. apply Rmax_left. assert (eta * mu <= eta * L) by (apply Rmult_le_compat_l; lra). fold c. apply pow_incr.
    unfold c. lra.
Qed.

Lemma way_from_start i s : (i < m)%nat -> sq (y i s - u) <= (eta * powers c s * sqrt G2)^2.
Proof.
  intro hi. assert (hG : 0 <= G2) by (apply Rle_trans with (2 := start i hi); apply sq_pos).
  assert (h0 : 0 <= sqrt G2) by apply sqrt_pos. pose proof contraction_range as hc.
  induction s as [| s IH].
  - cbn [gradient_steps]. unfold powers. cbn [sum]. right. ips. ring.
  - cbn [gradient_steps]. set (x := gradient_steps g eta u (chosen i) s) in *.
    replace (sq (x - eta * g (chosen i) x - u)) with (sq (x - u + - eta * g (chosen i) x)) by (ips; ring).
    replace (eta * powers c (S s) * sqrt G2) with (eta * powers c s * sqrt G2 + eta * c^s * sqrt G2)
      by (unfold powers; cbn [sum]; ring).
    apply minkowski.
    + apply Rmult_le_pos; [apply Rmult_le_pos; [lra | apply (powers_pos (eta * mu)); unfold c in *; lra] | easy].
    + apply Rmult_le_pos; [apply Rmult_le_pos; [lra | apply pow_le; lra] | easy].
    + exact IH.
    + replace (sq (- eta * g (chosen i) x)) with (eta^2 * sq (g (chosen i) x)) by (ips; ring).
      replace ((eta * c^s * sqrt G2)^2) with (eta^2 * ((c^s)^2 * (sqrt G2)^2)) by ring. rewrite pow2_sqrt by easy.
      apply Rmult_le_compat_l; [pos | exact (gradients_shrink i s hi)].
Qed.

Theorem power_of_choice_exact_client_drift :
  let w i := gradient_steps g eta u (chosen i) (tau - 1) in
  E (uniform m hm) (fun i => sq (w i - vE (uniform m hm) w)) <= G2 * ((1 - (1 - eta * mu)^(tau - 1)) / mu)^2.
Proof.
  intro w. assert (hG : 0 <= G2) by (apply Rle_trans with (2 := start O hm); apply sq_pos).
  apply Rle_trans with (1 := spread_le (uniform m hm) w u).
  rewrite <- (E_const (uniform m hm) (G2 * _)). apply sum_le. intros i hi. apply Rmult_le_compat_l;
    [apply weight_pos | unfold w].
  apply Rle_trans with (1 := way_from_start i (tau - 1) hi).
  replace ((eta * powers c (tau - 1) * sqrt G2)^2) with ((eta * powers c (tau - 1))^2 * (sqrt G2)^2) by ring.
  rewrite pow2_sqrt by easy.
  right. pose proof (powers_sum (eta * mu) (tau - 1)) as p. fold c in p. fold c.
  replace ((1 - c^(tau - 1)) / mu) with (eta * powers c (tau - 1)); [ring |]. rewrite <- p. field. lra.
Qed.
End ExactDrift.
