(** Recursions and their closed forms: geometric ones, and those of step sizes that decay. *)

Require Import Reals Lra Lia.
Open Scope R_scope.

Section Geometric.
Implicit Types (D : nat -> R) (a b c : R).

Lemma geometric_one a n : 0 <= a <= 1 -> 0 <= a ^ n <= 1.
Proof. intro h. split; [now apply pow_le | rewrite <- (pow1 n); now apply pow_incr]. Qed.

(** A floor: what is above it shrinks by the factor a. *)
Theorem geometric_floor D a floor n : 0 <= a ->
  (forall t, (t < n)%nat -> D (S t) <= floor + a * (D t - floor)) -> D n <= floor + a ^ n * (D O - floor).
Proof.
  intros ha. induction n as [| n IH]; intro h; cbn; [lra |].
  pose proof (h n ltac:(lia)) as k. pose proof (IH ltac:(intros; apply h; lia)) as i.
  assert (a * (D n - floor) <= a * (a ^ n * (D O - floor))) by (apply Rmult_le_compat_l; lra). lra.
Qed.

Theorem geometric D a b n : 0 <= a -> a <> 1 -> (forall t, (t < n)%nat -> D (S t) <= a * D t + b) ->
  D n <= a ^ n * D O + (1 - a ^ n) / (1 - a) * b.
Proof.
  intros ha h1 h. replace (a ^ n * D O + (1 - a ^ n) / (1 - a) * b) with (b / (1 - a) + a ^ n * (D O - b / (1 - a)))
    by (field; lra).
  apply geometric_floor; [easy |]. intros t ht. replace (b / (1 - a) + a * (D t - b / (1 - a))) with (a * D t + b)
    by (field; lra). now apply h.
Qed.

(** Without an offset. *)
Theorem geometric_pure D a n : 0 <= a -> (forall t, (t < n)%nat -> D (S t) <= a * D t) -> D n <= a ^ n * D O.
Proof.
  intros ha h. pose proof (geometric_floor D a 0 n ha) as k. rewrite Rplus_0_l, Rminus_0_r in k. apply k.
  intros t ht. rewrite Rminus_0_r, Rplus_0_l. now apply h.
Qed.
End Geometric.
