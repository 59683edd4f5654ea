(** Averaging if the clients and weights of each round are arbitrary, in terms of their imbalance at a point. *)

From FedTheory Require Export Rounds.

Section Participation.
Context {V : space}.
(** The clients of each round with their weights. *)
Variables (clients : nat -> law) (f : nat -> V -> R) (g : nat -> V -> V) (mu L eta delta2 : R) (tau : nat) (xs : V).
Hypothesis curvatures : 0 < mu <= L.
Hypothesis eta_pos : 0 < eta.
Hypothesis short : eta * L <= 1.
Hypothesis some_steps : (0 < tau)%nat.
Hypothesis strongly : forall k, strongly_convex mu (f k) (g k).
Hypothesis smooth_clients : forall k, smooth L (f k) (g k).
Let c := 1 - eta * mu.

(** The sum of the gradients at [xs] over the rounds before [r]. *)
Fixpoint imbalance (r : nat) : V :=
  match r with O => zero | S r => (imbalance r + vE (clients r) (fun k => g k xs))%V end.
Hypothesis bounded : forall r s, (s < tau)%nat ->
  E (clients r) (fun k => sq (INR tau * imbalance r + INR s * g k xs)) <= delta2.

Fixpoint rounds_of (w : V) (r : nat) : V :=
  match r with O => w | S r => averaged_round (clients r) g eta tau (rounds_of w r) end.

(** Where steps with the gradients at [xs] lead from [xs]. *)
Definition shifted (r : nat) : V := (xs - eta * INR tau * imbalance r)%V.

Lemma step_to_shifted k y z :
  sq (y - eta * g k y - (z - eta * g k xs)) <= c * sq (y - z) + eta * L * sq (z - xs).
Proof.
  destruct (smooth_clients k) as [up _]. pose proof (strongly k y z) as h1. pose proof (up xs z) as h2.
  pose proof (interpolation_mult 0 L (f k) (g k) xs y ltac:(lra) (lower_le mu 0 _ _ ltac:(lra) (strongly k)) up) as h3.
  assert (h4 : eta * (eta * sq (g k y - g k xs)) <= eta * (2 * (f k y - f k xs - ip (g k xs) (y - xs)))).
  { apply Rmult_le_compat_l; [lra |].
    assert (e : sq (g k y - g k xs - 0 * (y - xs)) = sq (g k y - g k xs)) by (ips; ring). rewrite e in h3.
    assert (h5 : eta * sq (g k y - g k xs)
      <= eta * (2 * (L - 0) * (f k y - f k xs - ip (g k xs) (y - xs) - 0 / 2 * sq (y - xs))))
      by (apply Rmult_le_compat_l; [lra | exact h3]).
    set (d := f k y - f k xs - ip (g k xs) (y - xs)) in *.
    assert (hd : 0 <= d) by (pose proof (strongly k xs y); pose proof (sq_pos (y - xs)%V); unfold d; nra).
    assert (eta * L * d <= 1 * d) by (apply Rmult_le_compat_r; lra). lra. }
  assert (h6 : eta * (f k y + ip (g k y) (z - y) + mu / 2 * sq (z - y)) <= eta * (f k xs + ip (g k xs) (z - xs)
    + L / 2 * sq (z - xs))) by (apply Rmult_le_compat_l; lra).
  unfold c. ipa. lra.
Qed.

Lemma clients_to_shifted r w s : (s <= tau)%nat ->
  E (clients r) (fun k => sq (gradient_steps g eta w k s - (shifted r - eta * INR s * g k xs)))
    <= eta^2 * (L / mu) * delta2 + c^s * (sq (w - shifted r) - eta^2 * (L / mu) * delta2).
Proof.
  set (D := fun s => E (clients r) (fun k => sq (gradient_steps g eta w k s - (shifted r - eta * INR s * g k xs)))).
  set (floor := eta^2 * (L / mu) * delta2).
  assert (hc : 0 <= c) by (unfold c; assert (eta * mu <= eta * L) by (apply Rmult_le_compat_l; lra); lra).
  intro hs. assert (e0 : D O = sq (w - shifted r)).
  { unfold D. rewrite <- (E_const (clients r) (sq (w - shifted r))). apply E_ext. intros k _. cbn. ips. ring. }
  rewrite <- e0. apply (geometric_floor D c floor s hc). intros t ht. unfold D.
  apply Rle_trans with (E (clients r) (fun k => c * sq (gradient_steps g eta w k t - (shifted r - eta * INR t * g k xs))
    + eta^3 * L * sq (INR tau * imbalance r + INR t * g k xs))).
  - apply E_le. intro k. set (y := gradient_steps g eta w k t). set (z := (shifted r - eta * INR t * g k xs)%V).
    pose proof (step_to_shifted k y z) as h. cbn [gradient_steps]. fold y.
    assert (e1 : sq (y - eta * g k y - (shifted r - eta * INR (S t) * g k xs))
      = sq (y - eta * g k y - (z - eta * g k xs))) by (unfold z; rewrite S_INR; ips; ring).
    assert (e2 : eta^3 * L * sq (INR tau * imbalance r + INR t * g k xs) = eta * L * sq (z - xs))
      by (unfold z, shifted; ips; ring).
    rewrite e1, e2. exact h.
  - rewrite E_plus, !E_scal. fold (D t).
    assert (eta^3 * L * E (clients r) (fun k => sq (INR tau * imbalance r + INR t * g k xs)) <= eta^3 * L * delta2)
      by (apply Rmult_le_compat_l; [pos | apply bounded; lia]).
    replace (floor + c * (D t - floor)) with (c * D t + eta^3 * L * delta2) by (unfold floor, c; field; lra). lra.
Qed.

(** If all clients have taken part in proportion to their weights, [shifted r] is [xs]. *)
Theorem distance_from_shifted w r : sq (rounds_of w r - shifted r)
  <= c^(tau * r) * sq (w - xs) + (1 - c^(tau * r)) * (eta^2 * (L / mu) * delta2).
Proof.
  set (floor := eta^2 * (L / mu) * delta2).
  assert (hc : 0 <= c) by (unfold c; assert (eta * mu <= eta * L) by (apply Rmult_le_compat_l; lra); lra).
  assert (e0 : sq (rounds_of w 0 - shifted 0) = sq (w - xs)) by (unfold shifted; cbn; ips; ring).
  rewrite pow_mult.
  pose proof (geometric_floor (fun r => sq (rounds_of w r - shifted r)) (c^tau) floor r (pow_le c tau hc)) as h.
  cbv beta in h. rewrite e0 in h. apply Rle_trans with (floor + (c^tau)^r * (sq (w - xs) - floor)); [| lra].
  apply h. intros t _. cbn [rounds_of].
  apply Rle_trans with (2 := clients_to_shifted t (rounds_of w t) tau (le_n tau)).
  assert (e : same (averaged_round (clients t) g eta tau (rounds_of w t) - shifted (S t))
    (vE (clients t) (fun k => gradient_steps g eta (rounds_of w t) k tau - (shifted t - eta * INR tau * g k xs))%V)).
  { intro v. unfold averaged_round, shifted. cbn [imbalance]. rewrite ip_vE, ip_sub, ip_vE.
    assert (e1 : forall k, ip (gradient_steps g eta (rounds_of w t) k tau
        - (xs - eta * INR tau * imbalance t - eta * INR tau * g k xs)) v
      = ip (gradient_steps g eta (rounds_of w t) k tau) v + eta * INR tau * ip (g k xs) v
        + (- ip xs v + eta * INR tau * ip (imbalance t) v)) by (intro k; ips; lra).
    rewrite (E_ext _ _ _ (fun k _ => e1 k)). set (rest := - ip xs v + _). rewrite !E_plus, E_scal, E_const. unfold rest.
    ips. rewrite ip_vE. ring. }
  rewrite (same_sq _ _ e). apply jensen_zero.
Qed.

Theorem participation_fixed_step_distance w r :
  sq (rounds_of w r - xs)
    <= (sqrt ((1 - eta * mu)^(tau * r) * sq (w - xs) + (1 - (1 - eta * mu)^(tau * r)) * (eta^2 * (L / mu) * delta2))
        + eta * sqrt delta2)^2.
Proof.
  fold c. assert (hd : sq (INR tau * imbalance r) <= delta2).
  { apply Rle_trans with (2 := bounded r O some_steps). rewrite <- (E_const (clients r) (sq (INR tau * imbalance r))).
    apply E_le. intro k. cbn [INR]. right. ips. ring. }
  assert (h0 : 0 <= delta2) by (apply Rle_trans with (2 := hd); apply sq_pos).
  pose proof (distance_from_shifted w r) as h. pose proof (sq_pos (rounds_of w r - shifted r)%V) as hp.
  assert (e : same (rounds_of w r - xs) (rounds_of w r - shifted r + - eta * (INR tau * imbalance r)))
    by (unfold shifted; intro v; ips; ring).
  rewrite (same_sq _ _ e). apply minkowski.
  - apply sqrt_pos.
  - apply Rmult_le_pos; [lra | apply sqrt_pos].
  - rewrite pow2_sqrt; lra.
  - replace (sq (- eta * (INR tau * imbalance r))) with (eta^2 * sq (INR tau * imbalance r)) by (ips; ring).
    rewrite Rpow_mult_distr, pow2_sqrt by easy. apply Rmult_le_compat_l; [pos | easy].
Qed.
End Participation.
