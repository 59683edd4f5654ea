(** Power-of-Choice without bounded gradients: many rounds, with a fixed step size and with steps that decay. *)

From FedTheory Require Export WholeRounds.

(** ** The coefficients of a round of equal steps *)

Section Equal.
Variables (mu L eta : R).
Let c := 1 - eta * mu.
Let x := eta * L.

(** theta is what local steps and their length cost of the skew; A is the sum of the first tau powers of c. *)
Definition kept_sum (tau : nat) : R := sum tau (fun s => c ^ (tau - 1 - s) * (1 - x) ^ (2 * s)).
Definition theta (tau : nat) : R := (1 - x) / powers c tau * kept_sum tau.

Lemma powers_step s : powers c (S s) = c * powers c s + 1.
Proof. unfold powers. rewrite sum_shift, <- sum_scal. cbn [pow]. rewrite Rplus_comm. f_equal. Qed.

Lemma contraction_equal s : contraction mu (fun _ => eta) s = c ^ s.
Proof. induction s as [| s IH]; cbn [contraction pow]; [easy | now rewrite IH]. Qed.
Lemma moved_equal s : moved mu (fun _ => eta) s = eta * powers c s.
Proof.
  induction s as [| s IH]; [unfold powers; cbn; ring |]. cbn [moved]. rewrite IH, powers_step. unfold c. ring.
Qed.
Lemma loss_equal s : loss_left L (fun _ => eta) s = (1 - x) ^ (2 * s).
Proof.
  induction s as [| s IH]; [easy |]. cbn [loss_left]. rewrite IH. replace (2 * S s)%nat with (2 * s + 2)%nat by lia.
  rewrite pow_add. reflexivity.
Qed.
Lemma kept_equal s : kept mu L (fun _ => eta) s = eta * (1 - x) * kept_sum s.
Proof.
  induction s as [| s IH]; [unfold kept_sum; cbn; ring |]. cbn [kept]. rewrite IH, loss_equal. unfold kept_sum.
  cbn [sum].
  replace (S s - 1 - s)%nat with 0%nat by lia. rewrite (sum_ext s (fun i => c ^ (S s - 1 - i) * (1 - x) ^ (2 * i))
    (fun i => c * (c ^ (s - 1 - i) * (1 - x) ^ (2 * i)))).
  - rewrite sum_scal. cbn [pow]. unfold c, x. ring.
  - intros i hi. replace (S s - 1 - i)%nat with (S (s - 1 - i)) by lia. cbn [pow]. ring.
Qed.
Lemma noise_equal s : noise_kept mu (fun _ => eta) s = eta ^ 2 * powers c s.
Proof. induction s as [| s IH]; [unfold powers; cbn; ring |]. cbn [noise_kept]. rewrite IH, powers_step. unfold c. ring.
Qed.
Lemma noise_round_equal m tau : m <> 0 -> (0 < tau)%nat ->
  noise_of_round mu (fun _ => eta) m tau = eta ^ 2 * (powers c tau - 1 + 1 / m).
Proof. intros hm ht. destruct tau as [| s]; [lia |]. cbn [noise_of_round]. rewrite noise_equal, powers_step. unfold c.
field. easy. Qed.

Hypothesis hmu : 0 < mu <= L.
Hypothesis heta : 0 < eta.
Hypothesis hx : eta * L <= 1.

Lemma rest_range : 0 <= c <= 1 /\ 0 <= 1 - x <= c.
Proof. unfold c, x. assert (eta * mu <= eta * L) by (apply Rmult_le_compat_l; lra). assert (0 < eta * mu) by pos. lra.
Qed.

Lemma powers_at_least_one tau : (0 < tau)%nat -> 1 <= powers c tau.
Proof.
  intro ht. destruct tau as [| s]; [lia |]. rewrite powers_step.
  pose proof (powers_pos (eta * mu) ltac:(pose proof rest_range; unfold c in *; lra) s) as p.
  fold c in p. pose proof rest_range. assert (0 <= c * powers c s) by (apply Rmult_le_pos; lra). lra.
Qed.

Lemma theta_eq tau : (0 < tau)%nat -> kept mu L (fun _ => eta) tau = eta * powers c tau * theta tau.
Proof. intro ht. rewrite kept_equal. unfold theta. pose proof (powers_at_least_one tau ht). field. lra. Qed.

Lemma kept_sum_pos tau : 0 <= kept_sum tau.
Proof. pose proof rest_range. apply sum_pos. intros. apply Rmult_le_pos; apply pow_le; lra. Qed.
Lemma theta_pos tau : (0 < tau)%nat -> 0 <= theta tau.
Proof.
  intro ht. pose proof (powers_at_least_one tau ht). pose proof rest_range. unfold theta.
  apply Rmult_le_pos; [apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; lra] | apply kept_sum_pos].
Qed.

(** The slope of the recursion is not negative, since the skew is at most L/mu. *)
Lemma kept_le tau : L * kept mu L (fun _ => eta) tau <= c ^ tau - (1 - x) ^ (2 * tau).
Proof.
  pose proof rest_range as [h1 h2]. induction tau as [| s IH]; [cbn; lra |]. cbn [kept]. rewrite loss_equal.
  apply (Rmult_le_compat_l c) in IH; [| lra]. replace (2 * S s)%nat with (2 * s + 2)%nat by lia. rewrite pow_add.
  cbn [pow]. assert (p : 0 <= (1 - x) ^ (2 * s)) by (apply pow_le; lra).
  assert (q : 0 <= (c - (1 - x)) * (1 - x) ^ (2 * s)) by (apply Rmult_le_pos; lra). fold c. fold x.
  replace (L * (c * kept mu L (fun _ => eta) s + eta * (1 - x) * (1 - x) ^ (2 * s)))
    with (c * (L * kept mu L (fun _ => eta) s) + x * (1 - x) * (1 - x) ^ (2 * s)) by (unfold x; ring). lra.
Qed.
End Equal.

(** ** A run on one probability space: round r starts at [u r] *)

Section Runs.
Context {V : space}.
Variables (P clients : law) (past : nat -> nat -> nat -> nat -> Prop) (m : nat) (hm : (0 < m)%nat).
Variables (f : nat -> V -> R) (g : nat -> V -> V) (low : nat -> R) (mu L sigma2 rho rho_tilde : R) (xs w0 : V).
Variables (u : nat -> nat -> V) (c : nat -> nat -> nat -> nat) (xi : nat -> nat -> nat -> nat -> V).
Variables (steps : nat -> nat -> R) (tau : nat).
Local Notation F := (mean_loss clients f).
Local Notation Gamma := (objective_gap clients f low xs).
Local Notation Delta r := (E P (fun o => sq (u r o - xs))).

Hypothesis curvatures : 0 < mu <= L.
Hypothesis strongly : forall k, strongly_convex mu (f k) (g k).
Hypothesis smooth_clients : forall k, smooth L (f k) (g k).
Hypothesis minima : forall k, bounded_below (f k) (low k).
Hypothesis best : minimizer F xs.
Hypothesis known : forall r, information (past r) (u r) (c r) (xi r).
Hypothesis unbiased : forall r, unbiased_noise P (past r) (xi r).
Hypothesis unrelated : forall r, uncorrelated_noise P (xi r).
Hypothesis variance : forall r s, E (uniform m hm) (fun i => E P (fun o => sq (xi r i s o))) <= sigma2.
Hypothesis skews : forall r, skewed P clients m hm f low rho rho_tilde xs (u r) (c r).
Hypothesis tau_pos : (0 < tau)%nat.
(** The server takes the mean of the active clients' models; steps r s is the length of step s in round r. *)
Hypothesis start : forall o, u O o = w0.
Hypothesis next : forall r o, u (S r) o = round_mean m hm g (u r) (c r) (xi r) (steps r) tau o.

Lemma Gamma_pos : 0 <= Gamma.
Proof. apply E_pos. intro k. pose proof (minima k xs). lra. Qed.
Lemma start_distance : Delta O = sq (w0 - xs).
Proof. rewrite (E_ext P _ (fun _ => sq (w0 - xs))) by (intros; now rewrite start). apply E_const. Qed.
Lemma sigma_pos : 0 <= sigma2.
Proof. apply Rle_trans with (2 := variance O O). apply E_pos. intro. apply E_pos. intro. apply sq_pos. Qed.

Lemma any_round r : (forall s, 0 < steps r s) -> (forall s, steps r s * L <= 1) ->
  Delta (S r) <= (contraction mu (steps r) tau - rho * mu * kept mu L (steps r) tau) * Delta r
    + 2 * (rho_tilde * moved mu (steps r) tau - rho * kept mu L (steps r) tau) * Gamma
    + noise_of_round mu (steps r) (INR m) tau * sigma2.
Proof.
  intros hp hs. rewrite (E_ext P (fun o => sq (u (S r) o - xs))
    (fun o => sq (round_mean m hm g (u r) (c r) (xi r) (steps r) tau o - xs)))
    by (intros; now rewrite next).
  now apply (power_of_choice_round_coefficients P clients (past r) m hm f g low mu L sigma2 rho rho_tilde xs (u r) (c r)
    (xi r) (steps r)).
Qed.

(** *** A fixed step size *)
Section Fixed.
Variable eta : R.
Hypothesis fixed : forall r s, steps r s = eta.
Hypothesis eta_pos : 0 < eta.
Hypothesis short : eta * L <= 1.
Hypothesis feasible : rho <= L / mu.
Let cc := 1 - eta * mu.
Let A := powers cc tau.
Let th := theta mu L eta tau.

Lemma same_coefficients r : contraction mu (steps r) tau = contraction mu (fun _ => eta) tau
  /\ kept mu L (steps r) tau = kept mu L (fun _ => eta) tau /\ moved mu (steps r) tau = moved mu (fun _ => eta) tau
  /\ noise_of_round mu (steps r) (INR m) tau = noise_of_round mu (fun _ => eta) (INR m) tau.
Proof.
  assert (a : forall s, contraction mu (steps r) s = contraction mu (fun _ => eta) s)
    by (induction s; cbn; rewrite ?fixed; congruence).
  assert (b : forall s, loss_left L (steps r) s = loss_left L (fun _ => eta) s)
    by (induction s; cbn; rewrite ?fixed; congruence).
  assert (d : forall s, kept mu L (steps r) s = kept mu L (fun _ => eta) s)
    by (induction s; cbn; rewrite ?fixed, ?b; congruence).
  assert (e : forall s, moved mu (steps r) s = moved mu (fun _ => eta) s)
    by (induction s; cbn; rewrite ?fixed; congruence).
  assert (h : forall s, noise_kept mu (steps r) s = noise_kept mu (fun _ => eta) s)
    by (induction s; cbn; rewrite ?fixed; congruence).
  repeat split; auto. destruct tau; cbn; rewrite ?fixed, ?h; reflexivity.
Qed.

Lemma power_sum : 1 - cc ^ tau = eta * mu * A.
Proof. symmetry. apply (powers_sum (eta * mu) tau). Qed.

Theorem power_of_choice_one_round r :
  Delta (S r) <= (1 - (1 - cc ^ tau) * (1 + rho * th)) * Delta r + 2 * eta * A * Gamma * (rho_tilde - rho * th)
    + eta ^ 2 * sigma2 * (A - 1 + 1 / INR m).
Proof.
  pose proof (lt_0_INR m hm). apply Rle_trans with (1 := any_round r ltac:(intro; rewrite fixed; lra)
    ltac:(intro; rewrite fixed; lra)).
  destruct (same_coefficients r) as (-> & -> & -> & ->).
  rewrite contraction_equal, moved_equal, (theta_eq mu L eta curvatures eta_pos short tau tau_pos), noise_round_equal
    by (try lra; easy).
  fold cc A th. rewrite power_sum. pose proof power_sum. right. nra.
Qed.

Lemma slope : 0 <= 1 - (1 - cc ^ tau) * (1 + rho * th).
Proof.
  pose proof (kept_le mu L eta curvatures eta_pos short tau) as k. fold cc in k.
  pose proof (theta_eq mu L eta curvatures eta_pos short tau tau_pos) as t. fold cc A th in t.
  pose proof (rest_range mu L eta curvatures eta_pos short) as [h1 h2].
  pose proof (kept_pos mu L (fun _ => eta) (fun _ => eta_pos) (fun _ => short) curvatures tau) as kp.
  assert (rm : rho * mu <= L) by (apply (Rmult_le_compat_r mu) in feasible; [| lra];
    replace (L / mu * mu) with L in feasible by (field; lra); lra).
  assert (0 <= (1 - eta * L) ^ (2 * tau)) by (apply pow_le; lra).
  assert (rho * mu * kept mu L (fun _ => eta) tau <= L * kept mu L (fun _ => eta) tau) by now apply Rmult_le_compat_r.
  rewrite power_sum in *. rewrite t in *. pose proof power_sum. nra.
Qed.

Theorem power_of_choice_fixed_step_distance r :
  let a := 1 - (1 - cc ^ tau) * (1 + rho * th) in
  Delta r <= a ^ r * sq (w0 - xs)
    + (1 - a ^ r) * (2 * Gamma / mu * ((rho_tilde - rho * th) / (1 + rho * th))
                     + eta * sigma2 * (A - 1 + 1 / INR m) / (mu * A * (1 + rho * th))).
Proof.
  intro a. pose proof (lt_0_INR m hm) as pm. destruct (skews O) as (hr & _ & _).
  pose proof (theta_pos mu L eta curvatures eta_pos short tau tau_pos) as ht. fold th in ht.
  pose proof (powers_at_least_one mu L eta curvatures eta_pos short tau tau_pos) as hA. fold cc in hA. fold A in hA.
  assert (hrt : 0 <= rho * th) by pos. assert (hem : 0 < eta * mu * A) by pos.
  assert (ha : 1 - a = eta * mu * A * (1 + rho * th)) by (unfold a; rewrite power_sum; ring).
  rewrite <- start_distance.
  apply Rle_trans with (a ^ r * Delta O + (1 - a ^ r) / (1 - a) * (2 * eta * A * Gamma * (rho_tilde - rho * th)
    + eta ^ 2 * sigma2 * (A - 1 + 1 / INR m))).
  - apply (geometric (fun r => Delta r)).
    + apply slope.
    + assert (0 < eta * mu * A * (1 + rho * th)) by pos. lra.
    + intros t _. pose proof (power_of_choice_one_round t) as o. fold a in o. lra.
  - right. f_equal. rewrite ha. field. repeat split; lra.
Qed.

(** The weighted mean of the rounds' starting models, with weights c^(- tau r). *)
Definition average (n : nat) o : V :=
  (/ sum n (fun r => / cc ^ (tau * r)) * vsum n (fun r => / cc ^ (tau * r) * u r o))%V.

Theorem power_of_choice_averaged_rounds_gap n : (0 < n)%nat -> 0 < rho -> eta * L < 1 ->
  E P (fun o => F (average n o) - F xs)
    <= mu * sq (w0 - xs) / (2 * rho * th) * (cc ^ (tau * n) / (1 - cc ^ (tau * n)))
      + Gamma * (rho_tilde / (rho * th) - 1)
      + eta * sigma2 * (1 - (1 - 1 / INR m) / A) / (2 * rho * th).
Proof.
  intros hn hrho hlt. pose proof (lt_0_INR m hm) as pm.
  pose proof (rest_range mu L eta curvatures eta_pos short) as [h1 h2]. fold cc in h1, h2.
  assert (hcc : 0 < cc < 1) by (assert (0 < eta * mu) by pos; unfold cc in *; lra).
  pose proof (powers_at_least_one mu L eta curvatures eta_pos short tau tau_pos) as hA. fold cc in hA. fold A in hA.
  pose proof Gamma_pos as hG. pose proof sigma_pos as hs.
  assert (hth : 0 < th).
  { unfold th, theta. apply Rmult_lt_0_compat; [apply Rdiv_lt_0_compat; [lra | fold cc; fold A; lra] |].
    unfold kept_sum. destruct tau as [| t]; [lia |]. rewrite sum_shift.
    apply Rplus_lt_le_0_compat; [apply Rmult_lt_0_compat; apply pow_lt; fold cc; lra |].
    apply sum_pos. intros. apply Rmult_le_pos; apply pow_le; fold cc; lra. }
  set (q := cc ^ tau). assert (hq : 0 < q < 1).
  { unfold q. split; [now apply pow_lt |]. destruct tau as [| t]; [lia |]. cbn [pow].
    pose proof (geometric_one cc t ltac:(lra)). nra. }
  assert (qr : forall r, cc ^ (tau * r) = q ^ r) by (intro; apply pow_mult).
  (* the round, with the loss at its start kept *)
  set (gap r := E P (fun o => F (u r o) - F xs)).
  set (B := 2 * eta * A * (rho_tilde * Gamma - rho * th * Gamma) + eta ^ 2 * sigma2 * (A - 1 + 1 / INR m)).
  assert (round : forall r, Delta (S r) <= q * Delta r - 2 * eta * A * th * rho * gap r + B).
  { intro r. rewrite (E_ext P (fun o => sq (u (S r) o - xs))
      (fun o => sq (round_mean m hm g (u r) (c r) (xi r) (steps r) tau o - xs)))
      by (intros; now rewrite next).
    apply Rle_trans with (1 := round_dist P (past r) m hm f g low mu L sigma2 xs (u r) (c r) (xi r) (steps r) curvatures
      strongly smooth_clients
      minima ltac:(intro; rewrite fixed; lra) ltac:(intro; rewrite fixed; lra) (known r) (unbiased r) (unrelated r)
        (variance r) tau).
    destruct (same_coefficients r) as (-> & -> & -> & ->).
    rewrite contraction_equal, moved_equal, (theta_eq mu L eta curvatures eta_pos short tau tau_pos), noise_round_equal
      by (try lra; easy).
    fold cc A th. fold q. destruct (skews r) as (hr & s1 & s2).
    assert (e : E P (fun o => F (u r o) - F xs + Gamma) = gap r + Gamma)
      by (unfold gap; rewrite E_plus; now rewrite E_const).
    rewrite e in s1. apply (Rmult_le_compat_l (2 * (eta * A * th))) in s1; [| assert (0 < eta * A * th) by pos; lra].
    apply (Rmult_le_compat_l (2 * (eta * A))) in s2; [| assert (0 < eta * A) by pos; lra]. unfold B. lra. }
  (* telescope *)
  set (K := 2 * eta * A * th * rho). assert (hK : 0 < K) by (unfold K; pos).
  assert (tele : forall k, / q ^ k * Delta k + K / q * sum k (fun r => / q ^ r * gap r)
    <= Delta O + B / q * sum k (fun r => / q ^ r)).
  { induction k as [| k IH]; [cbn; rewrite Rinv_1; lra |]. cbn [sum pow]. pose proof (round k) as rd.
    pose proof (pow_lt q k (proj1 hq)) as pk. apply (Rmult_le_compat_l (/ (q * q ^ k))) in rd;
      [| left; apply Rinv_0_lt_compat; pos].
    fold K in rd. replace (/ (q * q ^ k) * (q * Delta k - K * gap k + B)) with
      (/ q ^ k * Delta k - K / q * (/ q ^ k * gap k) + B / q * / q ^ k) in rd by (field; split; lra). lra. }
  pose proof (tele n) as t. set (Om := sum n (fun r => / q ^ r)) in *.
  assert (hOm : 0 < Om).
  { unfold Om. destruct n as [| k]; [lia |]. rewrite sum_shift. cbn [pow]. rewrite Rinv_1.
    assert (0 <= sum k (fun i => / q ^ S i)) by (apply sum_pos; intros; left; apply Rinv_0_lt_compat, pow_lt; lra).
    cbn [pow] in *. lra. }
  assert (eOm : Om * (1 - q) = q * (/ q ^ n - 1)).
  { unfold Om. clear - hq. induction n as [| k IH]; [cbn; rewrite Rinv_1; ring |]. cbn [sum pow].
    rewrite Rmult_plus_distr_r, IH.
    pose proof (pow_lt q k (proj1 hq)). field. split; lra. }
  (* convexity of F *)
  assert (conv : E P (fun o => F (average n o) - F xs) <= / Om * sum n (fun r => / q ^ r * gap r)).
  { unfold gap. rewrite <- (sum_ext n (fun r => E P (fun o => / q ^ r * (F (u r o) - F xs)))) by (intros; apply E_scal).
    rewrite <- E_sum, <- E_scal. apply E_le. intro o. set (a := average n o).
    assert (ea : forall v, ip a v = / Om * sum n (fun r => / q ^ r * ip (u r o) v)).
    { intro v. unfold a, average. rewrite ip_scale, ip_vsum. unfold Om.
      rewrite (sum_ext n (fun r => / cc ^ (tau * r)) (fun r => / q ^ r)) by (intros; now rewrite qr).
      f_equal. apply sum_ext. intros r _. now rewrite ip_scale, qr. }
    apply Rmult_le_reg_l with Om; [easy |]. rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by lra.
    assert (low1 : forall r, F a + ip (mean_gradient clients g a) (u r o - a) <= F (u r o)).
    { intro r. pose proof (mean_loss_lower clients f g mu strongly a (u r o)) as l. pose proof (sq_pos (u r o - a)%V).
      assert (0 <= mu / 2 * sq (u r o - a)) by pos. lra. }
    apply Rle_trans with (sum n (fun r => / q ^ r * (F a + ip (mean_gradient clients g a) (u r o - a) - F xs))).
    - right. set (G := mean_gradient clients g a).
      rewrite (sum_ext n (fun r => / q ^ r * (F a + ip G (u r o - a) - F xs))
        (fun r => / q ^ r * (F a - F xs - ip G a) + / q ^ r * ip (u r o) G))
        by (intros; rewrite ip_sub_r, (ip_sym G (u _ o)); ring).
      rewrite sum_add, sum_scal_r. fold Om. pose proof (ea G) as h. rewrite (ip_sym G a), h. field. lra.
    - apply sum_le. intros r _. apply Rmult_le_compat_l; [left; apply Rinv_0_lt_compat, pow_lt; lra |
        pose proof (low1 r); lra]. }
  apply Rle_trans with (1 := conv).
  set (S := sum n (fun r => / q ^ r * gap r)) in *.
  assert (hD : 0 <= / q ^ n * Delta n) by (apply Rmult_le_pos;
    [left; apply Rinv_0_lt_compat, pow_lt; lra | apply E_pos; intro; apply sq_pos]).
  assert (hSb : S <= (q * Delta O + B * Om) / K).
  { apply Rmult_le_reg_r with (K / q); [apply Rdiv_lt_0_compat; lra |].
    replace ((q * Delta O + B * Om) / K * (K / q)) with (Delta O + B / q * Om) by (field; split; lra). lra. }
  apply Rle_trans with (/ Om * ((q * Delta O + B * Om) / K));
    [apply Rmult_le_compat_l; [left; now apply Rinv_0_lt_compat | easy] |].
  right. rewrite start_distance, qr.
  assert (hqn : q ^ n < 1).
  { destruct n as [| k]; [lia |]. cbn [pow]. pose proof (geometric_one q k ltac:(lra)). nra. }
  pose proof (pow_lt q n (proj1 hq)) as hqn0.
  assert (eq1 : q * / Om = (1 - q) * (q ^ n / (1 - q ^ n))).
  { replace (/ Om) with ((1 - q) / (Om * (1 - q))) by (field; lra). rewrite eOm. field. repeat split; lra. }
  assert (ps : 1 - q = eta * mu * A) by apply power_sum.
  replace (/ Om * ((q * sq (w0 - xs) + B * Om) / K)) with (q * / Om * sq (w0 - xs) / K + B / K) by (field; split; lra).
  rewrite eq1, ps. unfold K, B. field. repeat split; lra.
Qed.
End Fixed.
End Runs.
