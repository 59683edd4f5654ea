(** A variant of Theorem 13 of Optimal Client Sampling that is false for unequal weights: a counterexample with two
    clients. *)

From FedTheory Require Import Sampling Parabolas.

(** Weights 2/3 and 1/3, losses x^2/2 and (x - 1)^2/2; the noise of each client is its gradient, or the opposite. *)
Definition two_weights (i : nat) : R := match i with O => 2 / 3 | 1%nat => 1 / 3 | _ => 0 end.
Lemma two_weights_pos i : 0 <= two_weights i.
Proof. destruct i as [| [| i]]; cbn; lra. Qed.
Lemma two_weights_sum : sum 2 two_weights = 1.
Proof. cbn. lra. Qed.
Definition clients : law := {| size := 2; weight := two_weights; weight_pos := two_weights_pos;
  weight_sum := two_weights_sum |}.
Definition losses (i : nat) (x : line) : R := match i with O => (x O)^2 / 2 | _ => (x O - 1)^2 / 2 end.
Definition gradients (i : nat) (x : line) : line := match i with O => x | _ => (x - at_ 1)%V end.
Definition coins : law := uniform 4 ltac:(lia).
Definition sign (i a : nat) : R :=
  match i with
  | O => match a with O | 1%nat => 1 | _ => -1 end
  | 1%nat => match a with O | 2%nat => 1 | _ => -1 end
  | _ => 0
  end.
Definition x0 : line := at_ (1 / 2).
Definition noise (i a : nat) : line := (sign i a * gradients i x0)%V.
Definition everybody : law := uniform 1 ltac:(lia).

Ltac numbers := unfold E, E2, vE, mean_loss, mean_gradient, sq; cbn; unfold x0, at_; try lra.

Lemma gradients_smooth i : smooth 1 (losses i) (gradients i) /\ strongly_convex 1 (losses i) (gradients i).
Proof. destruct i; repeat split; intros x y; unfold sq; cbn; unfold at_; pose proof (pow2_ge_0 (y O - x O)) as h;
  cbn in h; lra. Qed.

Theorem optimal_client_sampling_dsgd_per_client_variant_false :
  ~ forall (V : space) (weights noise : law) (f : nat -> V -> R) (g : nat -> V -> V) (xi : nat -> nat -> V) (y : V)
      (p : nat -> nat -> R) (draw : nat -> law) (x : nat -> nat -> nat -> R) (gamma M sigma2 W S2 L eta mu : R)
        (low : nat -> R) (xs : V),
    dsgd_round weights noise g xi y p draw x gamma M sigma2 ->
    0 <= M /\ 0 <= sigma2 /\ 0 < gamma <= 1 -> S2 = sum (size weights) (fun i => weight weights i ^ 2) ->
    (forall i, (i < size weights)%nat -> weight weights i <= W) -> W <= 1 -> 0 < mu <= L -> 0 < eta ->
    (forall i, smooth L (f i) (g i)) -> strongly_convex mu (mean_loss weights f) (mean_gradient weights g) ->
    minimizer (mean_loss weights f) xs -> (forall i, bounded_below (f i) (low i)) ->
    let per_client := sum (size weights) (fun i => weight weights i ^ 2 * (f i xs - low i)) in
    E2 noise draw (fun a b => sq (dsgd_step weights g xi y p x eta a b - xs))
      <= (1 - mu * eta) * sq (y - xs) - 2 * eta * (1 - eta * (1 + W * M) * L / gamma) * (mean_loss weights f y
        - mean_loss weights f xs)
        + eta^2 * ((2 * L * (M + 1 - gamma) * per_client + sigma2 * S2) / gamma).
Proof.
  intro claim.
  assert (round : dsgd_round clients coins gradients noise x0 (fun _ _ => 1) (fun _ => everybody) (fun _ _ _ => 1) 1 1
    0).
  { repeat split.
    - intros [| [| i]] z; numbers.
    - intros [| [| i]] [| [| j]] ne; try easy; numbers.
    - intros [| [| i]]; numbers.
    - intro. lra.
    - intros. now right.
    - intros. numbers.
    - intros. numbers.
    - intros a i h. lra.
    - unfold improvement, spread2, sampling_error. cbn. unfold E, sq. cbn. unfold x0, at_. field. }
  assert (sm : forall i, smooth 1 (losses i) (gradients i)) by (intro; apply gradients_smooth).
  assert (sc : strongly_convex 1 (mean_loss clients losses) (mean_gradient clients gradients))
    by (apply mean_loss_lower; intro; apply gradients_smooth).
  assert (mi : minimizer (mean_loss clients losses) (at_ (1 / 3)))
    by (intro x; numbers; pose proof (pow2_ge_0 (x O - 1 / 3)) as q; cbn in q; lra).
  pose proof (claim line clients coins losses gradients noise x0 (fun _ _ => 1) (fun _ => everybody) (fun _ _ _ => 1) 1
    1 0 (2 / 3) (5 / 9) 1 (1 / 10) 1 (fun _ => 0) (at_ (1 / 3))
    round ltac:(repeat split; lra) ltac:(cbn; lra) ltac:(intros [| [| i]] hi; cbn in *; try lra; lia) ltac:(lra)
      ltac:(lra) ltac:(lra) sm sc mi) as h.
  assert (bb : forall i, bounded_below (losses i) 0) by (intros [| i] x; cbn;
    [pose proof (pow2_ge_0 (x O)) | pose proof (pow2_ge_0 (x O - 1))]; cbn in *; lra).
  specialize (h bb). revert h. unfold E2, E, mean_loss, dsgd_step, estimate, estimator, sent, noisy, noise, x0, at_, sq,
    coins, everybody. cbn.
  unfold at_. intro h. field_simplify in h. lra.
Qed.
