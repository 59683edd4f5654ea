(** A server step that extrapolates the mean of the clients' updates, if all clients have one minimizer. *)

From FedTheory Require Export Rounds.

Section Extrapolation.
Context {V : space}.
Variables (clients : law) (f : nat -> V -> R) (g : nat -> V -> V) (L eta : R) (tau : nat) (xs : V).
Hypothesis smooth_pos : 0 < L.
Hypothesis eta_pos : 0 < eta.
Hypothesis convergent : eta * L < 2.
Hypothesis some_steps : (0 < tau)%nat.
Hypothesis convex_clients : forall k, convex (f k) (g k).
Hypothesis smooth_clients : forall k, smooth L (f k) (g k).
Hypothesis common : forall k, minimizer (f k) xs.
Let a := (2 - eta * L) / (eta * L).

Definition update (k : nat) (w : V) : V := (gradient_steps g eta w k tau - w)%V.

(** The squared lengths of the steps of a client. *)
Definition lengths (k : nat) (w : V) (s : nat) : R :=
  sum s (fun j => sq (eta * g k (gradient_steps g eta w k j))).

Lemma a_pos : 0 < a.
Proof. unfold a. apply Rdiv_lt_0_compat; [lra | now apply Rmult_lt_0_compat]. Qed.

Lemma step_averaged k y : sq (y - eta * g k y - xs) <= sq (y - xs) - a * sq (eta * g k y).
Proof.
  pose proof (cocoercive 0 L (f k) (g k) xs y ltac:(lra) (convex_clients k) (proj1 (smooth_clients k))) as c.
  pose proof (minimizer_gradient L (f k) (g k) xs (proj1 (smooth_clients k)) (common k)) as z.
  assert (e : same (g k y - g k xs - 0 * (y - xs)) (g k y)) by (intro v; rewrite !ip_sub, ip_scale, z; ring).
  rewrite (same_sq _ _ e), (e (y - xs)%V) in c.
  replace (sq (y - eta * g k y - xs)) with (sq (y - xs) - 2 * eta * ip (g k y) (y - xs) + eta^2 * sq (g k y))
    by (ips; ring).
  replace (sq (eta * g k y)) with (eta^2 * sq (g k y)) by (ips; ring).
  replace (a * (eta^2 * sq (g k y))) with (2 * eta * (/ L * sq (g k y)) - eta^2 * sq (g k y))
    by (unfold a; field; split; lra).
  assert (h : / L * sq (g k y) <= ip (g k y) (y - xs)).
  { apply Rmult_le_reg_l with L; [easy |]. rewrite <- Rmult_assoc, Rinv_r by lra. lra. }
  apply (Rmult_le_compat_l (2 * eta)) in h; lra.
Qed.

Lemma steps_averaged k w s :
  sq (gradient_steps g eta w k s - xs) <= sq (w - xs) - a * lengths k w s
  /\ sq (gradient_steps g eta w k s - w) <= INR s * lengths k w s.
Proof.
  induction s as [| s [IH1 IH2]].
  - unfold lengths. cbn [gradient_steps sum INR]. split; [lra |]. ips. lra.
  - unfold lengths in *. cbn [gradient_steps sum]. rewrite S_INR.
    set (y := gradient_steps g eta w k s) in *. set (T := sum s _) in *. split.
    + apply Rle_trans with (1 := step_averaged k y). lra.
    + set (e := (eta * g k y)%V) in *. pose proof (pos_INR s) as hs. destruct s as [| s].
      * replace T with 0 by reflexivity. cbn [INR]. unfold y. cbn [gradient_steps].
        assert (d : same (w - e - w) (-1 * e)) by (intro v; ips; ring). rewrite (same_sq _ _ d). ips. lra.
      * assert (p : 0 < INR (S s)) by (apply lt_0_INR; lia).
        pose proof (young (/ INR (S s)) (y - w)%V (-1 * e)%V ltac:(now apply Rinv_0_lt_compat)) as h.
        rewrite Rinv_inv in h.
        assert (d : same (y - e - w) ((y - w) + -1 * e)) by (intro v; ips; ring). rewrite (same_sq _ _ d).
        replace (sq ((y - w) + -1 * e)) with (sq (y - w) + 2 * ip (y - w) (-1 * e) + sq (-1 * e)) by (ips; ring).
        replace (sq (-1 * e)) with (sq e) in * by (ips; ring).
        apply (Rmult_le_compat_l (/ INR (S s))) in IH2 as IH3; [| left; now apply Rinv_0_lt_compat].
        rewrite <- Rmult_assoc, Rinv_l, Rmult_1_l in IH3 by lra. lra.
Qed.

Theorem fedexp_one_round alpha w : 0 < alpha ->
  let a := (2 - eta * L) / (eta * L) in
  sq (w + alpha * vE clients (fun k => update k w) - xs)
    <= sq (w - xs) - alpha * (1 + a / INR tau) * E clients (fun k => sq (update k w))
       + alpha^2 * sq (vE clients (fun k => update k w)).
Proof.
  intros ha a'. change a' with a. set (u := fun k => update k w).
  change (fun k => sq (update k w)) with (fun k => sq (u k)).
  pose proof (lt_0_INR tau some_steps) as ht. pose proof a_pos as pa.
  assert (h : 2 * ip (vE clients u) (w - xs) <= - (1 + a / INR tau) * E clients (fun k => sq (u k))).
  { rewrite ip_vE, <- !E_scal. apply E_le. intro k. destruct (steps_averaged k w tau) as [h1 h2].
    set (y := gradient_steps g eta w k tau) in *. unfold u, update. fold y.
    replace (2 * ip (y - w) (w - xs)) with (sq (y - xs) - sq (w - xs) - sq (y - w)) by (ips; ring).
    assert (h3 : a / INR tau * sq (y - w) <= a * lengths k w tau).
    { replace (a * lengths k w tau) with (a / INR tau * (INR tau * lengths k w tau)) by (field; lra).
      apply Rmult_le_compat_l; [left; now apply Rdiv_lt_0_compat | easy]. }
    lra. }
  replace (sq (w + alpha * vE clients u - xs))
    with (sq (w - xs) + alpha * (2 * ip (vE clients u) (w - xs)) + alpha^2 * sq (vE clients u)) by (ips; ring).
  apply (Rmult_le_compat_l alpha) in h; [| lra].
  set (M := E clients (fun k => sq (u k))) in *. lra.
Qed.
End Extrapolation.
