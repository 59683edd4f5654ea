(** Compressed gradient descent of one client. *)

From FedTheory Require Export Functions Recursions.

Section Cgd.
Context {V : space}.
Variables (f : V -> R) (g : V -> V) (s eta mu L : R) (xs : V).
Hypothesis error_range : 0 < s < 1.
Hypothesis eta_pos : 0 < eta.
Hypothesis curvatures : 0 < mu <= L.
Hypothesis short : eta * ((1 + s) * L) <= 2.
Hypothesis strongly : strongly_convex mu f g.
Hypothesis smooth_f : smooth L f g.
Hypothesis best : minimizer f xs.

Definition cgd_q : R := Rmax (1 - (1 - s) * eta * mu) ((1 + s) * eta * L - 1).
Local Notation q := cgd_q.

Lemma q_range : 0 < q <= 1.
Proof.
  unfold cgd_q. pose proof (Rmax_l (1 - (1 - s) * eta * mu) ((1 + s) * eta * L - 1)) as l.
  pose proof (Rmax_r (1 - (1 - s) * eta * mu) ((1 + s) * eta * L - 1)) as r.
  assert (a : (1 - s) * eta * mu <= (1 - s) * eta * L) by (apply Rmult_le_compat_l; [apply Rmult_le_pos; lra | lra]).
  assert (b : 0 < (1 - s) * eta * mu) by (apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat; lra | lra]).
  assert (p : 0 < eta * L) by pos. assert (0 < s * (eta * L)) by pos.
  split; [| apply Rmax_lub; lra].
  destruct (Rlt_dec ((1 - s) * eta * mu) 1); [lra |]. lra.
Qed.

(** One step along an inexact gradient [c]. *)
Lemma cgd_step x c : sq (c - g x) <= s^2 * sq (g x) -> f (x - eta * c)%V - f xs <= q^2 * (f x - f xs).
Proof.
  intro hc. pose proof q_range as hq. destruct smooth_f as [up _].
  pose proof (minimizer_gradient L f g xs up best) as z. assert (zr : forall v, ip v (g xs) = 0)
    by (intro; rewrite ip_sym; apply z).
  set (y := (x - eta * c)%V).
  destruct (Req_dec mu L) as [e | e].
  - (* a parabola *)
    assert (gx : forall v, ip (g x) v = mu * ip (x - xs) v).
    { intro v. pose proof (interpolation_mult mu L f g xs x ltac:(lra) strongly up) as i.
      replace (2 * (L - mu)) with 0 in i by lra. rewrite Rmult_0_l in i.
      pose proof (sq_zero _ i v) as k. rewrite !ip_sub, ip_scale, z in k. rewrite ip_sub in k |- *. lra. }
    pose proof (above_minimum mu L f g xs x strongly up best) as ax. pose proof (up xs y) as ay. rewrite z in ay.
    set (r := sqrt (sq (x - xs))). assert (er : r^2 = sq (x - xs)) by (apply pow2_sqrt, sq_pos).
    assert (hr : 0 <= r) by apply sqrt_pos.
    assert (gsq : sq (g x) = mu^2 * sq (x - xs)) by (unfold sq; rewrite gx, (ip_sym (x - xs)%V (g x)), gx; ring).
    assert (hy : sq (y - xs) <= (Rabs (1 - eta * mu) * r + s * eta * mu * r)^2).
    { replace (sq (y - xs)) with (sq (x - eta * g x - xs + - eta * (c - g x))) by (unfold y; ips; ring).
      apply minkowski; [apply Rmult_le_pos; [apply Rabs_pos | easy] | pos | |].
      - rewrite Rpow_mult_distr, pow2_abs, er. right.
        transitivity (sq (x - xs) - 2 * eta * ip (g x) (x - xs) + eta^2 * sq (g x)); [ips; ring |]. rewrite gx, gsq.
        unfold sq. ring.
      - replace (sq (- eta * (c - g x))) with (eta^2 * sq (c - g x)) by (ips; ring).
        replace ((s * eta * mu * r)^2) with (eta^2 * (s^2 * (mu^2 * r^2))) by ring. rewrite er, <- gsq.
        apply Rmult_le_compat_l; [pos | easy]. }
    assert (hb : Rabs (1 - eta * mu) * r + s * eta * mu * r <= q * r).
    { rewrite <- Rmult_plus_distr_r. apply Rmult_le_compat_r; [easy |]. unfold cgd_q. rewrite <- e.
      unfold Rabs. destruct (Rcase_abs (1 - eta * mu)).
      - apply Rle_trans with (2 := Rmax_r _ _). lra.
      - apply Rle_trans with (2 := Rmax_l _ _). lra. }
    assert (hy2 : sq (y - xs) <= q^2 * sq (x - xs)).
    { apply Rle_trans with (1 := hy). rewrite <- er, <- Rpow_mult_distr. apply pow_incr. split; [| easy].
      apply Rplus_le_le_0_compat; [apply Rmult_le_pos; [apply Rabs_pos | easy] | pos]. }
    apply Rle_trans with (L / 2 * sq (y - xs)); [lra |].
    apply Rle_trans with (q^2 * (mu / 2 * sq (x - xs))).
    + rewrite e. replace (q^2 * (L / 2 * sq (x - xs))) with (L / 2 * (q^2 * sq (x - xs))) by ring.
      apply Rmult_le_compat_l; lra.
    + apply Rmult_le_compat_l; [pos | lra].
  - assert (h : mu < L) by lra.
    pose proof (interpolation mu L f g y x h strongly up) as s01.
    pose proof (interpolation mu L f g y xs h strongly up) as s1.
    pose proof (interpolation mu L f g x xs h strongly up) as s0.
    set (r := q - eta * L * s). set (X := (x - xs)%V).
    set (u1 := (g y + L * (q - 1) * X - q * g x + L * eta * c)%V).
    set (u2 := (c + / r * ((s - 1) * q * g x - L * s * (q - 1) * X))%V).
    assert (hr : 0 < r).
    { unfold r, cgd_q. assert (s * (eta * mu) < s * (eta * L))
        by (apply Rmult_lt_compat_l; [lra | apply Rmult_lt_compat_l; lra]).
      assert (0 < (1 - s) * (eta * L - eta * mu)) by (apply Rmult_lt_0_compat;
        [lra | assert (eta * mu < eta * L) by (apply Rmult_lt_compat_l; lra); lra]).
      pose proof (Rmax_l (1 - (1 - s) * eta * mu) ((1 + s) * eta * L - 1)).
      pose proof (Rmax_r (1 - (1 - s) * eta * mu) ((1 + s) * eta * L - 1)). lra. }
    assert (id : exists k C, 0 <= C /\ q^2 * (f x - f xs) - (f y - f xs)
      = q * (f x - (f y + ip (g y) (x - y) + mu / 2 * sq (x - y) + sq (g x - g y - mu * (x - y)) / (2 * (L - mu))))
      + (1 - q) * (f xs - (f y + ip (g y) (xs - y) + mu / 2 * sq (xs - y)
          + sq (g xs - g y - mu * (xs - y)) / (2 * (L - mu))))
      + q * (1 - q) * (f xs - (f x + ip (g x) (xs - x) + mu / 2 * sq (xs - x)
          + sq (g xs - g x - mu * (xs - x)) / (2 * (L - mu))))
      + eta * q / (2 * s) * (s^2 * sq (g x) - sq (c - g x))
      + sq u1 / (2 * (L - mu)) + eta * r / (2 * s) * sq u2 + C * sq (g x - k * X)).
    { unfold u1, u2, y, X. unfold r in *. unfold cgd_q in *.
      destruct (Rle_dec ((1 + s) * eta * L - 1) (1 - (1 - s) * eta * mu)) as [b | b].
      - rewrite Rmax_left in * by lra. exists mu.
        exists (L * eta * (1 - s) * (1 - (1 - s) * eta * mu) * (2 - eta * ((1 + s) * L + (1 - s) * mu))
          / (2 * (L - mu) * (1 - (1 - s) * eta * mu - eta * L * s))). split.
        + apply Rmult_le_pos; [| left; apply Rinv_0_lt_compat; apply Rmult_lt_0_compat; lra].
          apply Rmult_le_pos; [apply Rmult_le_pos; [apply Rmult_le_pos; [pos | lra] | lra] | lra].
        + ips. rewrite ?zr, ?z. field. repeat split; lra.
      - rewrite Rmax_right in * by lra. exists L.
        exists ((2 - (1 + s) * eta * L) * ((1 + s) * eta * L - 1) * (eta * ((1 + s) * L + (1 - s) * mu) - 2)
          / (2 * (L - mu) * ((1 + s) * eta * L - 1 - eta * L * s))). split.
        + apply Rmult_le_pos; [| left; apply Rinv_0_lt_compat; apply Rmult_lt_0_compat; lra].
          apply Rmult_le_pos; [apply Rmult_le_pos; lra | lra].
        + ips. rewrite ?zr, ?z. field. repeat split; lra. }
    destruct id as (k & C & hC & id).
    assert (p1 : 0 <= q * (f x - (f y + ip (g y) (x - y) + mu / 2 * sq (x - y)
      + sq (g x - g y - mu * (x - y)) / (2 * (L - mu))))) by (apply Rmult_le_pos; lra).
    assert (p2 : 0 <= (1 - q) * (f xs - (f y + ip (g y) (xs - y) + mu / 2 * sq (xs - y)
      + sq (g xs - g y - mu * (xs - y)) / (2 * (L - mu))))) by (apply Rmult_le_pos; lra).
    assert (p3 : 0 <= q * (1 - q) * (f xs - (f x + ip (g x) (xs - x) + mu / 2 * sq (xs - x)
      + sq (g xs - g x - mu * (xs - x)) / (2 * (L - mu)))))
      by (apply Rmult_le_pos; [apply Rmult_le_pos; lra | lra]).
    assert (p4 : 0 <= eta * q / (2 * s) * (s^2 * sq (g x) - sq (c - g x)))
      by (apply Rmult_le_pos; [apply Rmult_le_pos; [apply Rmult_le_pos; lra | left; apply Rinv_0_lt_compat; lra] |
        lra]).
    assert (p5 : 0 <= sq u1 / (2 * (L - mu))) by (apply Rmult_le_pos;
      [apply sq_pos | left; apply Rinv_0_lt_compat; lra]).
    assert (p6 : 0 <= eta * r / (2 * s) * sq u2) by (apply Rmult_le_pos; [pos | apply sq_pos]).
    assert (p7 : 0 <= C * sq (g x - k * X)) by (apply Rmult_le_pos; [easy | apply sq_pos]).
    lra.
Qed.

(** R steps; the compressor of step r may be any map with relative error at most s. *)
Fixpoint cgd_run (C : nat -> V -> V) (x : V) (r : nat) : V :=
  match r with O => x | S r => (cgd_run C x r - eta * C r (g (cgd_run C x r)))%V end.

Theorem error_feedback_cgd_gap C x r : (forall i v, sq (C i v - v) <= s^2 * sq v) ->
  f (cgd_run C x r) - f xs <= Rmax (1 - (1 - s) * eta * mu) ((1 + s) * eta * L - 1) ^ (2 * r) * (f x - f xs).
Proof.
  intro hC. rewrite pow_mult. apply (geometric_pure (fun r => f (cgd_run C x r) - f xs)); [apply pow2_ge_0 |].
  intros t _. cbn [cgd_run]. apply cgd_step, hC.
Qed.
End Cgd.
