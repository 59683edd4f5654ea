(** Closed forms of one-step recursions with steps that decay, for sequences of numbers. *)

From FedTheory Require Export Recursions.

(** ** Rounds of tau steps: [D r s] is the distance after s steps of round r, and bounded by [B (tau r + s)] *)

Lemma rounds_induction (D : nat -> nat -> R) (B : nat -> R) tau :
  D O O <= B O -> (forall r, D (S r) O <= D r tau) ->
  (forall r s, (s < tau)%nat -> D r s <= B (tau * r + s)%nat -> D r (S s) <= B (S (tau * r + s))) ->
  forall r s, (s <= tau)%nat -> D r s <= B (tau * r + s)%nat.
Proof.
  intros h0 hn hs. induction r as [| r IH].
  - induction s as [| s IHs]; intro h; [now rewrite Nat.mul_0_r |]. rewrite Nat.add_succ_r.
    apply hs; [lia | apply IHs; lia].
  - assert (hz : D (S r) O <= B (tau * S r + 0)%nat).
    { apply Rle_trans with (1 := hn r). replace (tau * S r + 0)%nat with (tau * r + tau)%nat by lia. apply IH. lia. }
    induction s as [| s IHs]; intro h; [easy |]. rewrite Nat.add_succ_r. apply hs; [lia | apply IHs; lia].
Qed.

(** ** Steps 2/(mu (t + gamma)): (1 - 2/s) v/s + 4 B/(mu^2 s^2) <= v/(s + 1) *)

Lemma decay_two s v b : 2 <= s -> b <= v -> 0 <= v -> (1 - 2 / s) * (v / s) + b / s^2 <= v / (s + 1).
Proof.
  intros hs hb hv. apply Rle_trans with ((s - 1) * v / s^2).
  - replace ((1 - 2 / s) * (v / s) + b / s^2) with (((s - 2) * v + b) / s^2) by (field; lra).
    apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; nra | lra].
  - apply Rmult_le_reg_r with (s^2 * (s + 1)); [pos |].
    replace ((s - 1) * v / s^2 * (s^2 * (s + 1))) with (v * (s^2 - 1)) by (field; lra).
    replace (v / (s + 1) * (s^2 * (s + 1))) with (v * s^2) by (field; lra). nra.
Qed.

(** ** Steps m/(mu (t + gamma)) and a floor delta: m B >= 1 and (m B - 1) psi >= m^2 C/mu^2 *)

Lemma decay_floor s psi delta mB c : 1 <= s -> 0 <= psi -> mB <= s -> c <= (mB - 1) * psi ->
  (1 - mB / s) * (psi / s + delta) + c / s^2 + mB * delta / s <= psi / (s + 1) + delta.
Proof.
  intros hs hp hb hc. replace ((1 - mB / s) * (psi / s + delta) + c / s^2 + mB * delta / s)
    with (delta + ((s - mB) * psi + c) / s^2) by (field; lra).
  rewrite Rplus_comm. apply Rplus_le_compat_r.
  apply Rmult_le_reg_r with (s^2 * (s + 1)); [pos |].
  replace (((s - mB) * psi + c) / s^2 * (s^2 * (s + 1))) with (((s - mB) * psi + c) * (s + 1)) by (field; lra).
  replace (psi / (s + 1) * (s^2 * (s + 1))) with (psi * s^2) by (field; lra). nra.
Qed.

(** ** Sums of decaying steps: (sum_{i < t} 1/(i + gamma))^2 <= t/(gamma - 1) *)

Lemma harmonic_squares gamma t : 1 < gamma -> sum t (fun i => / (INR i + gamma)^2)
  <= / (gamma - 1) - / (INR t + gamma - 1).
Proof.
  intro h. induction t as [| t IH]; [cbn; right; field; lra |]. cbn [sum]. rewrite S_INR. pose proof (pos_INR t).
  assert (/ (INR t + gamma)^2 <= / (INR t + gamma - 1) - / (INR t + 1 + gamma - 1)).
  { replace (INR t + 1 + gamma - 1) with (INR t + gamma) by ring.
    replace (/ (INR t + gamma - 1) - / (INR t + gamma)) with (/ ((INR t + gamma - 1) * (INR t + gamma)))
      by (field; lra).
    apply Rinv_le_contravar; nra. }
  lra.
Qed.
Lemma harmonic gamma t : 1 < gamma -> (sum t (fun i => / (INR i + gamma)))^2 <= INR t / (gamma - 1).
Proof.
  intro h. pose proof (pos_INR t) as pt.
  assert (cs : forall n (x : nat -> R), (sum n x)^2 <= INR n * sum n (fun i => x i ^ 2)).
  { intros n x. pose proof (pos_INR n). induction n as [| n IH]; [cbn; lra |]. rewrite S_INR in *. cbn [sum].
    specialize (IH (pos_INR n)).
    pose proof (pos_INR n). set (X := sum n x) in *. set (Y := sum n (fun i => x i ^ 2)) in *.
    (* 2 X x <= n x^2 + X^2/n, and X^2 <= n Y *)
    destruct (Req_dec (INR n) 0) as [z | z].
    - rewrite z in *. assert (X = 0) by nra. assert (0 <= Y) by (apply sum_pos; intros; apply pow2_ge_0). nra.
    - assert (2 * X * x n <= Y + INR n * x n ^ 2); [| nra].
      assert (X^2 / INR n <= Y) by (apply Rmult_le_reg_r with (INR n); [lra |]; replace (X^2 / INR n * INR n) with (X^2)
        by (field; lra); lra).
      assert (0 <= (X / INR n - x n)^2 * INR n) by (apply Rmult_le_pos; [apply pow2_ge_0 | lra]).
      replace ((X / INR n - x n)^2 * INR n) with (X^2 / INR n - 2 * X * x n + INR n * x n ^ 2) in * by (field; lra).
      lra. }
  apply Rle_trans with (1 := cs t _). unfold Rdiv. apply Rmult_le_compat_l; [easy |].
  rewrite (sum_ext t _ (fun i => / (INR i + gamma)^2)).
  - pose proof (harmonic_squares gamma t h). assert (0 < / (INR t + gamma - 1)) by (apply Rinv_0_lt_compat; lra). lra.
  - intros i _. pose proof (pos_INR i). field. lra.
Qed.
