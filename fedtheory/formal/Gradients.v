(** Lemmas about one function: gradients, and the loss that a gradient step leaves. *)

From FedTheory Require Export Functions.

Section Gradients.
Context {V : space}.
Implicit Types (f : V -> R) (g : V -> V) (x y z w : V).

(** ** Power-of-Choice, Lemma B.1, and FedALIGN, Lemma A.2 *)

Theorem power_of_choice_gradient_norm L f g low w : 0 < L -> smooth L f g -> bounded_below f low ->
  sq (g w) <= 2 * L * (f w - low).
Proof. intros h [up _] b. now apply gradient_le. Qed.
Theorem fedalign_gradient_norm L f g low w : 0 < L -> smooth L f g -> bounded_below f low ->
  sq (g w) <= 2 * L * (f w - low).
Proof. apply power_of_choice_gradient_norm. Qed.

(** ** The loss after a step is at least (1 - eta L)^2 of what it was *)

Theorem power_of_choice_loss_after_step L eta f g low y :
  0 < L -> 0 < eta -> eta * L <= 1 -> convex f g -> smooth L f g -> bounded_below f low ->
  (1 - eta * L)^2 * (f y - low) <= f (y - eta * g y)%V - low.
Proof.
  intros hL he hx cv [up _] b. set (z := (y - eta * g y)%V).
  pose proof (interpolation_smooth_convex L f g y z hL cv up) as i.
  pose proof (gradient_le L f g low z hL up b) as j. pose proof (gradient_le L f g low y hL up b) as k.
  pose proof (sq_pos (g z - (1 - eta * L) * g y)%V) as s.
  assert (e : f y + ip (g y) (z - y) + sq (g z - g y) / (2 * L)
    = f y - eta * sq (g y) + sq (g z - g y) / (2 * L)) by (unfold z at 1; ips; ring). rewrite e in i.
  assert (a : (1 - eta * L) * (f y - eta * sq (g y) + sq (g z - g y) / (2 * L)) <= (1 - eta * L) * f z)
    by (apply Rmult_le_compat_l; lra).
  assert (c : eta * L * (sq (g z) / (2 * L)) <= eta * L * (f z - low)).
  { apply Rmult_le_compat_l; [pos |]. apply Rmult_le_reg_l with (2 * L); [lra |].
    replace (2 * L * (sq (g z) / (2 * L))) with (sq (g z)) by (field; lra). lra. }
  assert (d : eta * L * (1 - eta * L) * sq (g y) / (2 * L) <= eta * L * (1 - eta * L) * (f y - low)).
  { replace (eta * L * (1 - eta * L) * sq (g y) / (2 * L)) with (eta * L * (1 - eta * L) * (sq (g y) / (2 * L)))
      by (field; lra).
    apply Rmult_le_compat_l; [pos |]. apply Rmult_le_reg_l with (2 * L); [lra |].
    replace (2 * L * (sq (g y) / (2 * L))) with (sq (g y)) by (field; lra). lra. }
  assert (id : (1 - eta * L) * (f y - eta * sq (g y) + sq (g z - g y) / (2 * L)) + eta * L * (sq (g z) / (2 * L))
    = (1 - eta * L) * f y - eta * L * (1 - eta * L) * sq (g y) / (2 * L) + sq (g z - (1 - eta * L) * g y) / (2 * L))
    by (ips; field; lra).
  assert (0 <= sq (g z - (1 - eta * L) * g y) / (2 * L)) by (apply Rmult_le_pos;
    [easy | left; apply Rinv_0_lt_compat; lra]).
  nra.
Qed.

(** ** Optimal Client Sampling, Lemma 21 *)

Theorem optimal_client_sampling_perturbed_inner_product mu L h g x y z :
  0 <= mu <= L -> strongly_convex mu h g -> smooth L h g ->
  h z - h y + mu / 4 * sq (y - z) - L * sq (z - x) <= ip (g x) (z - y).
Proof.
  intros hm sc [up _]. pose proof (up x z) as a. pose proof (sc x y) as b.
  assert (c : ip (g x) (z - y) = ip (g x) (z - x) - ip (g x) (y - x)) by (ips; ring).
  assert (d : sq (y - z) <= 2 * sq (y - x) + 2 * sq (z - x)).
  { pose proof (sq_pos (y - x + (z - x))%V) as p. clear a b c. ipa. lra. }
  pose proof (sq_pos (z - x)%V). nra.
Qed.

(** ** The loss after one step of gradient descent *)

Theorem fedavg_gap_after_step mu L eta f g xs w :
  let c := 1 - eta * mu in
  0 < mu <= L -> 0 < eta -> eta * L <= 1 -> strongly_convex mu f g -> smooth L f g -> minimizer f xs ->
  f (w - eta * g w)%V - f xs <= L / 2 * (c^2 / (c^2 + eta * L * (1 + c))) * sq (w - xs).
Proof.
  intros c hm he hx sc [up _] hmin. pose proof (minimizer_gradient L f g xs up hmin) as z.
  assert (zr : forall v, ip v (g xs) = 0) by (intro; rewrite ip_sym; apply z).
  assert (hc : 0 <= c) by (unfold c; nra).
  assert (hp : 0 < c^2 + eta * L * (1 + c)) by (pose proof (Rmult_lt_0_compat eta L ltac:(lra) ltac:(lra)); nra).
  set (P := c^2 + eta * L * (1 + c)) in *. set (y := (w - eta * g w)%V).
  destruct (Req_dec mu L) as [e | e].
  - (* the function is a parabola *)
    pose proof (interpolation_mult mu L f g xs w ltac:(lra) sc up) as i.
    replace (2 * (L - mu)) with 0 in i by lra. rewrite Rmult_0_l in i.
    assert (s : forall v, ip (g w) v = mu * ip (w - xs) v).
    { intro v. pose proof (sq_zero _ i v) as k. rewrite !ip_sub, ip_scale, z in k. lra. }
    pose proof (up xs y) as j. rewrite z in j.
    assert (d : sq (y - xs) = c^2 * sq (w - xs)).
    { transitivity (sq (w - xs) - 2 * eta * ip (g w) (w - xs) + eta^2 * ip (g w) (g w)); [unfold y; ips; ring |].
      rewrite (s (g w)), (ip_sym (w - xs)%V (g w)), !s. unfold c, sq. ring. }
    replace (L / 2 * (c^2 / P) * sq (w - xs)) with (L / 2 * sq (y - xs)); [lra |].
    rewrite d. replace P with 1 by (unfold P, c; rewrite <- e; ring). field.
  - assert (h : mu < L) by lra.
    pose proof (interpolation mu L f g w xs h sc up) as a. pose proof (interpolation mu L f g y xs h sc up) as b.
    pose proof (interpolation mu L f g y w h sc up) as k.
    set (q1 := (w - xs - P / (L * (1 + c)) * (g w + g y))%V). set (q2 := (c * g w - g y)%V).
    pose proof (sq_pos q1) as s1. pose proof (sq_pos q2) as s2.
    assert (id : L / 2 * (c^2 / P) * sq (w - xs) - (f y - f xs)
      = c / (1 + c) * (f xs - (f w + ip (g w) (xs - w) + mu / 2 * sq (xs - w)
        + sq (g xs - g w - mu * (xs - w)) / (2 * (L - mu))))
      + 1 / (1 + c) * (f xs - (f y + ip (g y) (xs - y) + mu / 2 * sq (xs - y)
          + sq (g xs - g y - mu * (xs - y)) / (2 * (L - mu))))
      + c / (1 + c) * (f w - (f y + ip (g y) (w - y) + mu / 2 * sq (w - y)
          + sq (g w - g y - mu * (w - y)) / (2 * (L - mu))))
      + L^2 / (2 * (L - mu) * P) * sq q1 + (1 + 2 * c - eta * L * (1 + c)) / (2 * (L - mu) * (1 + c)^2) * sq q2).
    { unfold q1, q2, y. ips. rewrite ?zr, ?z. unfold P, c in *. field. repeat split; nra. }
    assert (m : forall r s, 0 <= r -> 0 < s -> 0 <= r / s) by
      (intros; apply Rmult_le_pos; [easy | left; now apply Rinv_0_lt_compat]).
    assert (0 <= c / (1 + c)) by (apply m; lra). assert (0 <= 1 / (1 + c)) by (apply m; lra).
    assert (0 <= L^2 / (2 * (L - mu) * P)) by (apply m; [nra | apply Rmult_lt_0_compat; lra]).
    assert (0 <= (1 + 2 * c - eta * L * (1 + c)) / (2 * (L - mu) * (1 + c)^2))
      by (apply m; [nra | apply Rmult_lt_0_compat; nra]).
    apply Rminus_le. nra.
Qed.
End Gradients.
