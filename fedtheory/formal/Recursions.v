(** Recursions and their closed forms, and sums of powers. *)

From FedTheory Require Export Laws.

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

(** The sum of the first k powers of c. *)
Definition powers (c : R) (k : nat) : R := sum k (fun i => c ^ i).

(** ** Sums of powers of c = 1 - x *)

Section Powers.
Variables (x : R) (tau : nat).
Let c := 1 - x.
Hypothesis hx : 0 <= x <= 1.

Lemma c_range : 0 <= c <= 1.
Proof. unfold c. lra. Qed.

Lemma powers_sum n : x * powers c n = 1 - c ^ n.
Proof. induction n as [| n IH]; unfold powers in *; cbn [sum pow]; [ring |]. rewrite Rmult_plus_distr_l, IH. unfold c.
ring. Qed.

Lemma pow_decr i j : (i <= j)%nat -> c ^ j <= c ^ i.
Proof.
  intro h. replace j with (i + (j - i))%nat by lia. rewrite pow_add. pose proof c_range.
  pose proof (geometric_one c (j - i) c_range). pose proof (pow_le c i ltac:(lra)). nra.
Qed.

Lemma powers_pos k : 0 <= powers c k.
Proof. apply sum_pos. intros. apply pow_le, c_range. Qed.

Lemma powers_le k : powers c k <= INR k.
Proof.
  rewrite <- (Rmult_1_r (INR k)), <- sum_const. apply sum_le. intros. apply geometric_one, c_range.
Qed.

(** Averages of the first powers fall. *)
Lemma powers_average k n : INR k * powers c (k + n) <= INR (k + n) * powers c k.
Proof.
  induction n as [| n IH]; [now rewrite Nat.add_0_r; right |].
  replace (k + S n)%nat with (S (k + n)) by lia. rewrite S_INR. unfold powers in *. cbn [sum].
  assert (h : INR k * c ^ (k + n) <= sum k (fun i => c ^ i)).
  { rewrite <- sum_const. apply sum_le. intros. apply pow_decr. lia. }
  lra.
Qed.

Lemma powers_lower n : INR n - x * (INR n * (INR n - 1) / 2) <= powers c n.
Proof.
  assert (b : forall i, 1 - INR i * x <= c ^ i).
  { induction i as [| i IH]; [cbn; lra |]. rewrite S_INR. cbn [pow].
    pose proof (geometric_one c i c_range). pose proof (pos_INR i).
    assert (x * c ^ i <= x) by nra. unfold c at 1. lra. }
  induction n as [| n IH]; unfold powers in *; cbn [sum]; [cbn; lra |]. rewrite S_INR. pose proof (b n). lra.
Qed.

Lemma powers_upper n :
  powers c n <= INR n - x * (INR n * (INR n - 1) / 2) + x^2 * (INR n * (INR n - 1) * (INR n - 2) / 6).
Proof.
  assert (e : x * powers c n = 1 - c ^ n) by apply powers_sum.
  induction n as [| n IH]; [unfold powers; cbn; lra |]. rewrite S_INR. unfold powers in *. cbn [sum].
  pose proof (powers_lower n) as l. pose proof (powers_sum n) as s. unfold powers in *. specialize (IH s).
  assert (x * (INR n - x * (INR n * (INR n - 1) / 2)) <= x * sum n (fun i => c ^ i)) by (apply Rmult_le_compat_l; lra).
  lra.
Qed.
End Powers.
