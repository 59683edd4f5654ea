(** Optimal client sampling: the optimal probabilities, their conditions, and the range of the improvement factor. *)

From FedTheory Require Export Sampling.

(** The norms t i of the weighted updates of n clients, and a budget m for the expected number of sampled clients. *)
Definition sampling_cost (n : nat) (t p : nat -> R) : R := sum n (fun i => t i ^ 2 / p i).
Definition sampling_variance_of (n : nat) (t p : nat -> R) : R := sum n (fun i => (1 / p i - 1) * t i ^ 2).
(** Probabilities that may be used: positive where there is something to send. *)
Definition admissible_probabilities (n : nat) (t q : nat -> R) := forall i, (i < n)%nat ->
  0 <= q i <= 1 /\ (t i <> 0 -> 0 < q i).

Lemma variance_and_cost n t p : (forall i, (i < n)%nat -> t i <> 0 -> p i <> 0) ->
  sampling_variance_of n t p = sampling_cost n t p - sum n (fun i => t i ^ 2).
Proof.
  intro h. unfold sampling_variance_of, sampling_cost. rewrite <- sum_sub. apply sum_ext. intros i hi. unfold Rdiv.
  destruct (Req_dec (t i) 0) as [z | z]; [rewrite z; ring | field; now apply h].
Qed.

(** ** The conditions of Karush, Kuhn and Tucker are sufficient: p_i = min(1, c t_i) has the least cost for its
    budget *)
Theorem optimal_probabilities n (t p q : nat -> R) c : 0 < c -> (forall i, (i < n)%nat -> 0 <= t i) ->
  (forall i, (i < n)%nat -> p i = Rmin 1 (c * t i)) -> admissible_probabilities n t q -> sum n q <= sum n p ->
  sampling_cost n t p <= sampling_cost n t q.
Proof.
  intros hc ht hp hq budget. unfold sampling_cost.
  assert (b : sum n (fun i => t i ^ 2 / p i) - / c^2 * (sum n q - sum n p) <= sum n (fun i => t i ^ 2 / q i)).
  { rewrite <- sum_sub, <- sum_scal, <- sum_sub. apply sum_le. intros i hi. destruct (hq i hi) as [[q0 q1] qp].
    pose proof (ht i hi) as h0.
    assert (ic : 0 < / c^2) by (apply Rinv_0_lt_compat, pow_lt; lra).
    destruct (Req_dec (t i) 0) as [z | z].
    - rewrite (hp i hi), z, Rmult_0_r, Rmin_right by lra. unfold Rdiv. replace (0^2) with 0 by ring. rewrite !Rmult_0_l.
      assert (0 <= / c^2 * (q i - 0)) by (apply Rmult_le_pos; lra). lra.
    - specialize (qp z). assert (tp : 0 < t i) by lra.
      (* t^2/q is above its tangent at p *)
      assert (tangent : forall r, 0 < r -> t i ^ 2 / r - t i ^ 2 / r^2 * (q i - r) <= t i ^ 2 / q i).
      { intros r hr. apply Rmult_le_reg_r with (q i * r^2); [apply Rmult_lt_0_compat; [lra | now apply pow_lt] |].
        replace ((t i ^ 2 / r - t i ^ 2 / r^2 * (q i - r)) * (q i * r^2)) with (t i ^ 2 * (2 * r * q i - q i ^ 2))
          by (field; lra).
        replace (t i ^ 2 / q i * (q i * r^2)) with (t i ^ 2 * r^2) by (field; lra).
        apply Rmult_le_compat_l; [apply pow2_ge_0 |]. pose proof (pow2_ge_0 (r - q i)). lra. }
      destruct (Rle_dec (c * t i) 1) as [s | s].
      + (* p = c t, and t^2/p^2 = 1/c^2 *)
        assert (ep : p i = c * t i) by (rewrite (hp i hi); now apply Rmin_right).
        assert (pp : 0 < p i) by (rewrite ep; now apply Rmult_lt_0_compat).
        apply Rle_trans with (2 := tangent (p i) pp). right. rewrite ep. field. split; lra.
      + (* p = 1, and t^2 >= 1/c^2 *)
        assert (ep : p i = 1) by (rewrite (hp i hi); apply Rmin_left; lra).
        apply Rle_trans with (2 := tangent 1 ltac:(lra)). rewrite ep.
        assert (e : / c^2 <= t i ^ 2 / 1^2).
        { replace (t i ^ 2 / 1^2) with (t i ^ 2) by field. apply Rmult_le_reg_l with (c^2); [now apply pow_lt |].
          rewrite Rinv_r by (apply Rgt_not_eq, pow_lt; lra).
          replace (c^2 * t i ^ 2) with ((c * t i)^2) by ring. rewrite <- (pow1 2). apply pow_incr. lra. }
        assert (/ c^2 * (1 - q i) <= t i ^ 2 / 1^2 * (1 - q i)) by (apply Rmult_le_compat_r; lra). lra. }
  assert (0 <= / c^2 * (sum n p - sum n q)) by (apply Rmult_le_pos; [left; apply Rinv_0_lt_compat, pow_lt; lra | lra]).
  lra.
Qed.

(** ** The closed form: with norms in increasing order, the first l clients share what the others, which are certain,
    leave *)
Section ClosedForm.
Variables (n l : nat) (t : nat -> R) (m : R).
Hypothesis nonnegative : forall i, 0 <= t i.
Hypothesis increasing : forall i j, (i <= j)%nat -> t i <= t j.
Hypothesis l_range : (0 < l <= n)%nat.
Let s := sum l t.
Let rest := m - INR n + INR l.
Hypothesis rest_pos : 0 < rest.
Hypothesis s_pos : 0 < s.
(** The condition (C_l), and that it fails for l + 1. *)
Hypothesis holds_l : rest * t (l - 1)%nat <= s.
Hypothesis fails_next : (l < n)%nat -> s + t l < (rest + 1) * t l.
Definition closed_form i : R := if lt_dec i l then rest * t i / s else 1.

Theorem optimal_probabilities_closed_form :
  (forall i, (i < n)%nat -> closed_form i = Rmin 1 (rest / s * t i)) /\ sum n closed_form = m.
Proof.
  split.
  - intros i hi. unfold closed_form. destruct (lt_dec i l) as [h | h].
    + rewrite Rmin_right; [field; lra |]. assert (t i <= t (l - 1)%nat) by (apply increasing; lia).
      apply Rmult_le_reg_r with s; [easy |]. replace (rest / s * t i * s) with (rest * t i) by (field; lra).
      assert (rest * t i <= rest * t (l - 1)%nat) by (apply Rmult_le_compat_l; lra). lra.
    + rewrite Rmin_left; [easy |]. assert (t l <= t i) by (apply increasing; lia).
      pose proof (fails_next ltac:(lia)) as f.
      apply Rmult_le_reg_r with s; [easy |]. replace (rest / s * t i * s) with (rest * t i) by (field; lra).
      assert (rest * t l <= rest * t i) by (apply Rmult_le_compat_l; lra). lra.
  - assert (q : forall k, sum (l + k) closed_form = rest + INR k).
    { induction k as [| k IH].
      - rewrite Nat.add_0_r. cbn [INR]. rewrite (sum_ext l closed_form (fun i => rest / s * t i)).
        + rewrite sum_scal. fold s. field. lra.
        + intros i hi. unfold closed_form. destruct (lt_dec i l); [field; lra | lia].
      - rewrite Nat.add_succ_r, S_INR. cbn [sum]. rewrite IH. unfold closed_form.
        destruct (lt_dec (l + k) l); [lia | ring]. }
    replace n with (l + (n - l))%nat at 1 by lia. rewrite q, minus_INR by lia. unfold rest. ring.
Qed.

(** So it is optimal among all probabilities whose expected number of sampled clients is at most m. *)
Theorem optimal_probabilities_closed_form_optimal q : admissible_probabilities n t q -> sum n q <= m ->
  sampling_cost n t closed_form <= sampling_cost n t q.
Proof.
  intros hq budget. destruct optimal_probabilities_closed_form as [h1 h2].
  apply (optimal_probabilities n t closed_form q (rest / s)); try easy; [now apply Rdiv_lt_0_compat | lra].
Qed.
End ClosedForm.

(** ** The improvement factor of optimal probabilities lies in [0, 1], and gamma in [m/n, 1] *)
Section Range.
Context {V : space}.
Variables (weights noise : law) (U : nat -> nat -> V) (p : nat -> nat -> R) (m : R) (c : nat -> R).
Local Notation n := (size weights).
Let t a i := sqrt (sq (sent weights U a i)).
Hypothesis m_range : 0 < m < INR n.
Hypothesis something : 0 < spread2 weights noise U.
(** In every outcome the probabilities are optimal for the budget m. *)
Hypothesis optimal : forall a i, (i < n)%nat -> p a i = Rmin 1 (c a * t a i).
Hypothesis scale_pos : forall a, 0 < c a.
Hypothesis budget : forall a, sum n (p a) = m.

Lemma t_square a i : t a i ^ 2 = sq (sent weights U a i).
Proof. apply pow2_sqrt, sq_pos. Qed.
Lemma t_pos a i : 0 <= t a i.
Proof. apply sqrt_pos. Qed.

Lemma sampling_error_pos : 0 <= sampling_error weights noise U p.
Proof.
  apply E_pos. intro a. apply sum_pos. intros i hi. rewrite <- t_square. pose proof (t_pos a i) as h0.
  destruct (Req_dec (t a i) 0) as [z | z]; [rewrite z; right; ring |].
  assert (pp : 0 < p a i <= 1).
  { rewrite (optimal a i hi). pose proof (scale_pos a). split;
      [apply Rmin_pos; [lra | apply Rmult_lt_0_compat; lra] | apply Rmin_l]. }
  apply Rmult_le_pos; [| apply pow2_ge_0]. assert (1 <= 1 / p a i); [| lra]. apply Rmult_le_reg_r with (p a i); [lra |].
  replace (1 / p a i * p a i) with 1 by (field; lra). lra.
Qed.

Lemma sampling_error_le : sampling_error weights noise U p <= (INR n - m) / m * spread2 weights noise U.
Proof.
  assert (pn : 0 < INR n) by lra.
  unfold sampling_error, spread2. rewrite <- sum_scal.
  rewrite (sum_ext n _ (fun i => E noise (fun a => (INR n - m) / m * sq (sent weights U a i)))).
  - rewrite <- E_sum. apply E_le. intro a. set (q := fun _ : nat => m / INR n).
    assert (q01 : 0 < m / INR n <= 1).
    { split; [apply Rdiv_lt_0_compat; lra |]. apply Rmult_le_reg_r with (INR n); [easy |].
      replace (m / INR n * INR n) with m by (field; lra). lra. }
    pose proof (optimal_probabilities n (t a) (p a) q (c a) (scale_pos a) (fun i _ => t_pos a i) (optimal a)) as o.
    specialize (o ltac:(intros i _; unfold q; split; [lra | intro; lra]) ltac:(unfold q; rewrite sum_const, budget;
      right; field; lra)).
    assert (vp : sum n (fun i => (1 / p a i - 1) * sq (sent weights U a i)) = sampling_variance_of n (t a) (p a)).
    { apply sum_ext. intros i _. now rewrite t_square. }
    rewrite vp, variance_and_cost.
    + apply Rle_trans with (sampling_cost n (t a) q - sum n (fun i => t a i ^ 2)); [lra |]. right. unfold sampling_cost.
      rewrite <- sum_sub. apply sum_ext.
      intros i _. unfold q. rewrite <- t_square. field. lra.
    + intros i hi z. rewrite (optimal a i hi). pose proof (t_pos a i). pose proof (scale_pos a).
      apply Rgt_not_eq, Rmin_pos; [lra | apply Rmult_lt_0_compat; lra].
  - intros i _. rewrite E_scal. f_equal. rewrite <- E_scal. apply E_ext. intros a _. unfold sent. ips. ring.
Qed.

Theorem improvement_factor_range : 0 <= alpha weights noise U p m <= 1.
Proof.
  pose proof sampling_error_pos. pose proof sampling_error_le.
  assert (d : 0 < (INR n - m) / m * spread2 weights noise U)
    by (apply Rmult_lt_0_compat; [apply Rdiv_lt_0_compat; lra | easy]).
  unfold alpha. split.
  - apply Rmult_le_pos; [easy | left; now apply Rinv_0_lt_compat].
  - apply Rmult_le_reg_r with ((INR n - m) / m * spread2 weights noise U); [easy |]. unfold Rdiv at 1.
    rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.

Theorem relative_improvement_factor_range : m / INR n <= gamma_of weights noise U p m <= 1.
Proof.
  pose proof improvement_factor_range as [a0 a1]. unfold gamma_of. set (al := alpha weights noise U p m) in *.
  assert (e : 0 <= al * (INR n - m)) by (apply Rmult_le_pos; lra).
  assert (e2 : al * (INR n - m) <= 1 * (INR n - m)) by (apply Rmult_le_compat_r; lra).
  split.
  - apply Rmult_le_compat_l; [lra |]. apply Rinv_le_contravar; lra.
  - apply Rmult_le_reg_r with (al * (INR n - m) + m); [lra |]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.
End Range.
