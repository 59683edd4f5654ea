(** FedALIGN: Theorem 1 and Theorem A.9, with sums from step 0.

    [P r] is the law of round r. The law of the next model is that of the average at the end of the round, over all
    included clients ([follows_included]) or with the drawn priority clients ([follows_priority_draws]). *)

From FedTheory Require Export FedAlignSteps FedAvgTheorems.

(** The exact solution of the recursion with steps 2/(mu (t + gamma)), for sequences in rounds of tau steps. *)
Section Solution.
Variables (D : nat -> nat -> R) (tau : nat) (mu gamma : R) (B G : nat -> R).
Hypothesis mu_pos : 0 < mu.
Hypothesis gamma_large : 2 < gamma.
Let W t := (INR t + gamma - 1) * (INR t + gamma - 2).
(** B i and G i are the offsets of step i. *)
Definition solution (D0 : R) (t : nat) : R :=
  ((gamma - 1) * (gamma - 2) * D0 + 4 / mu^2 * sum t (fun i => (1 - / (INR i + gamma)) * B i)
   + 2 / mu * sum t (fun i => (INR i + gamma - 1) * G i)) / ((INR t + gamma - 1) * (INR t + gamma - 2)).

Lemma solution_step d D0 t : d <= solution D0 t ->
  (1 - 2 / (INR t + gamma)) * d + 4 / (mu^2 * (INR t + gamma)^2) * B t + 2 / (mu * (INR t + gamma)) * G t
    <= solution D0 (S t).
Proof.
  intro h. pose proof (pos_INR t) as pt. set (s := INR t + gamma). assert (hs : 2 < s) by (unfold s; lra).
  assert (c : 0 <= 1 - 2 / s).
  { assert (2 / s <= 1); [| lra]. apply Rmult_le_reg_r with s; [lra |]. replace (2 / s * s) with 2 by (field; lra).
    lra. }
  apply (Rmult_le_compat_l (1 - 2 / s)) in h; [| easy].
  apply Rle_trans with ((1 - 2 / s) * solution D0 t + 4 / (mu^2 * s^2) * B t + 2 / (mu * s) * G t); [lra |].
  right. unfold solution. cbn [sum]. rewrite S_INR. fold s. replace (INR t + 1 + gamma - 1) with s by (unfold s; ring).
  replace (INR t + 1 + gamma - 2) with (s - 1) by (unfold s; ring).
  replace (INR t + gamma - 1) with (s - 1) by (unfold s; ring).
  replace (INR t + gamma - 2) with (s - 2) by (unfold s; ring).
  field. repeat split; lra.
Qed.
Lemma solution_start D0 : solution D0 0 = D0.
Proof. unfold solution. cbn [sum INR]. field. lra. Qed.
End Solution.

Section Theorems.
Context {V : space}.
Variables (P : nat -> law) (priority : law) (past : nat -> nat -> nat -> nat -> Prop) (others : nat) (p : nat -> R)
  (I : nat -> nat -> nat -> R).
Variables (u : nat -> nat -> V) (xi : nat -> nat -> nat -> nat -> V) (f : nat -> V -> R) (g : nat -> V -> V)
  (low : nat -> R).
Variables (tau : nat) (mu L G2 sigma2 : R) (xs w0 : V).
Let own := fun (_ : nat) (i : nat) => i.
Local Notation F := (mean_loss priority f).
Local Notation Gamma := (objective_gap priority f low xs).
Local Notation gamma := (delay tau mu L).
Local Notation eta := (round_steps tau mu L).

Hypothesis shares : forall k, 0 <= p k.
Hypothesis indicators : forall r o k, 0 <= I r o k.
Hypothesis frozen : forall r k, adapted (past r) 0 (fun o => I r o k).
Hypothesis curvatures : 0 < mu <= L.
Hypothesis strongly : forall k, strongly_convex mu (f k) (g k).
Hypothesis smooth_clients : forall k, smooth L (f k) (g k).
Hypothesis minima : forall k, bounded_below (f k) (low k).
Hypothesis best : minimizer F xs.
Hypothesis tau_pos : (0 < tau)%nat.
Hypothesis known : forall r, information (past r) (u r) own (xi r).
Hypothesis unbiased : forall r, unbiased_noise (P r) (past r) (xi r).
Hypothesis unrelated : forall r s i k (phi : nat -> R), i <> k -> adapted (past r) s phi ->
  E (P r) (fun o => phi o * ip (xi r i s o) (xi r k s o)) = 0.
Hypothesis variance : forall r s i (phi : nat -> R), (forall o, 0 <= phi o) -> adapted (past r) s phi ->
  E (P r) (fun o => phi o * sq (xi r i s o)) <= sigma2 * E (P r) phi.
Definition included_weights r : nat -> law := weights_of priority others p (I r) shares (indicators r).
Hypothesis gradients : forall r s, (s < tau)%nat ->
  E (P r) (fun o => E (included_weights r o) (fun i => sq (g i (path (u r) own (xi r) g (eta r) i s o) + xi r i s o)))
    <= G2.
Hypothesis start : forall o, u O o = w0.

(** The average of the included clients after s steps of round r. *)
Definition included_model r s o : V := average_model (included_weights r) (u r) own (xi r) g (eta r) s o.
(** E 1/(1 + s) and the expected gaps of the included others, in the round of step t. *)
Definition weight_of_step t : R := priority_weight (P (t / tau)) others p (I (t / tau)).
Definition gap_of_step t : R := included_gap (P (t / tau)) priority others p (I (t / tau)) f low xs.

Lemma sigma2_nonnegative : 0 <= sigma2.
Proof.
  pose proof (variance 0 0 0 (fun _ => 1) ltac:(intro; lra) ltac:(easy)) as v. rewrite E_const, Rmult_1_r in v.
  apply Rle_trans with (2 := v). apply E_pos. intro. pose proof (sq_pos (xi 0%nat 0%nat 0%nat i)). lra.
Qed.
Lemma G2_nonnegative : 0 <= G2.
Proof. apply Rle_trans with (2 := gradients 0 0 tau_pos). apply E_pos. intro. apply E_pos. intro. apply sq_pos. Qed.

Let Dist r s := E (P r) (fun o => sq (included_model r s o - xs)).

(** What a step owes to the earlier ones of its round, by its number in the round, in units of eta^2. *)
Definition drifts (drift : nat -> R) := forall s, (s < tau)%nat -> 8 * INR s ^ 2 * G2 <= drift s.
Definition own_drift (s : nat) : R := 8 * INR s ^ 2 * G2.
Definition largest_drift (s : nat) : R := 8 * (INR tau - 1)^2 * G2.
Lemma own_drifts : drifts own_drift.
Proof. intros s _. apply Rle_refl. Qed.
Lemma largest_drifts : drifts largest_drift.
Proof.
  intros s hs. apply Rmult_le_compat_r; [apply G2_nonnegative |]. apply Rmult_le_compat_l; [lra |]. apply pow_incr.
  split; [apply pos_INR |]. replace (INR tau - 1) with (INR (tau - 1)) by (rewrite minus_INR by lia; easy).
  apply le_INR. lia.
Qed.

Section Selection.
Variables (drift : nat -> R) (selection : R).
Hypothesis drift_le : drifts drift.
Hypothesis selection_pos : 0 <= selection.
Definition offset t : R := drift (t mod tau)%nat + sigma2 + selection + 6 * L * Gamma * weight_of_step t.

Lemma round_of r s : (s < tau)%nat -> ((tau * r + s) / tau = r)%nat.
Proof. intro hs. symmetry. apply (Nat.div_unique _ tau r s); lia. Qed.

Lemma place_of r s : (s < tau)%nat -> ((tau * r + s) mod tau = s)%nat.
Proof. intro hs. symmetry. apply (Nat.mod_unique _ tau r s); lia. Qed.

Lemma included_step r s : (s < tau)%nat ->
  Dist r (S s) + selection * eta r s ^ 2 <= (1 - eta r s * mu) * Dist r s + eta r s ^ 2 * offset (tau * r + s)
    + eta r s * (2 * gap_of_step (tau * r + s)).
Proof.
  intro hs. unfold offset, weight_of_step, gap_of_step. rewrite round_of, place_of by easy. pose proof (drift_le s hs)
    as dl.
  pose proof (fedalign_one_step (P r) priority (past r) others p (I r) (u r) (xi r) f g low (eta r) s mu L G2 sigma2 xs
    shares (indicators r)
    (frozen r) (known r) (unbiased r) (unrelated r s) (variance r s) sigma2_nonnegative G2_nonnegative
    (fun t => step_pos tau mu L curvatures _) (step_short tau mu L curvatures _) curvatures strongly smooth_clients
      minima best
    (fun t ht => gradients r t ltac:(lia)) (S s) ltac:(lia) (fun t ht => step_halving tau mu L curvatures tau_pos r t s
      ht ltac:(lia))) as h.
  rewrite S_INR in h. replace (INR s + 1 - 1) with (INR s) in h by ring.
  change (E (P r) (fun o => sq (average_model (weights_of priority others p (I r) shares (indicators r)) (u r)
    (fun _ i => i) (xi r) g (eta r) (S s) o - xs)))
    with (Dist r (S s)) in h.
  change (E (P r) (fun o => sq (average_model (weights_of priority others p (I r) shares (indicators r)) (u r)
    (fun _ i => i) (xi r) g (eta r) s o - xs)))
    with (Dist r s) in h. pose proof (pow2_ge_0 (eta r s)).
  apply (Rmult_le_compat_l (eta r s ^ 2)) in dl; [| easy]. lra.
Qed.

(** The step that closes a round obeys the same inequality. *)
Definition bounded_by d r s := d <= (1 - eta r s * mu) * Dist r s + eta r s ^ 2 * offset (tau * r + s)
  + eta r s * (2 * gap_of_step (tau * r + s)).
Hypothesis closing : forall r, bounded_by (Dist (S r) O) r (tau - 1).
Let sol := solution mu gamma offset (fun t => 2 * gap_of_step t) (sq (w0 - xs)).

Lemma start_included r o : same (included_model r 0 o) (u r o).
Proof. intro v. exact (vE_const (included_weights r o) (u r o) v). Qed.

Lemma solved_step d r s : bounded_by d r s -> Dist r s <= sol (tau * r + s)%nat -> d <= sol (S (tau * r + s)).
Proof.
  intros hd h. pose proof (delay_range tau mu L curvatures) as (_ & _ & d8).
  pose proof (place_pos tau mu L curvatures (tau * r + s)) as pp.
  pose proof (solution_step mu gamma offset (fun t => 2 * gap_of_step t) ltac:(lra) ltac:(lra) _ _ _ h) as st.
  fold (sol (S (tau * r + s))) in st.
  apply Rle_trans with (2 := st). apply Rle_trans with (1 := hd).
  right. unfold round_steps, step_size. field. lra.
Qed.

Lemma included_bounded r s : (s < tau)%nat -> bounded_by (Dist r (S s)) r s.
Proof.
  intro hs. pose proof (included_step r s hs). assert (0 <= selection * eta r s ^ 2)
    by (apply Rmult_le_pos; [easy | apply pow2_ge_0]).
  unfold bounded_by. lra.
Qed.

Lemma solved r s : (s <= tau)%nat -> Dist r s <= sol (tau * r + s)%nat.
Proof.
  pose proof (delay_range tau mu L curvatures) as (_ & _ & d8).
  assert (z : forall r, Dist r O <= sol (tau * r)%nat -> forall s, (s <= tau)%nat -> Dist r s <= sol (tau * r + s)%nat).
  { intros q h i. induction i as [| t IH]; intro hs; [now rewrite Nat.add_0_r |]. rewrite Nat.add_succ_r.
    apply solved_step; [apply included_bounded; lia | apply IH; lia]. }
  revert s. induction r as [| r IH]; intros s hs.
  - apply z; [| easy]. rewrite Nat.mul_0_r. unfold sol. rewrite solution_start by lra. unfold Dist.
    rewrite (E_ext (P O) _ (fun _ => sq (w0 - xs))); [rewrite E_const; lra |].
    intros o _. apply same_sq. intro v. now rewrite !ip_sub, (start_included 0 o v), start.
  - apply z; [| easy]. replace (tau * S r)%nat with (S (tau * r + (tau - 1))) by lia.
    apply solved_step; [apply closing | apply IH; lia].
Qed.

Lemma gap_le_distance (x : V) : F x - F xs <= L / 2 * sq (x - xs).
Proof. apply (gap_of_distance priority f g mu L xs strongly smooth_clients best). Qed.

End Selection.

Section Bound.
Variable selection : R.
Hypothesis selection_pos : 0 <= selection.
Local Notation offset := (offset largest_drift selection).
Let sol := solution mu gamma offset (fun t => 2 * gap_of_step t) (sq (w0 - xs)).

(** From the exact solution to theta_T and rho_T, or anything larger. *)
Lemma solution_bound T theta rho : 0 <= Gamma -> (forall t, 0 <= weight_of_step t) -> (forall t, 0 <= gap_of_step t) ->
  / (INR T + gamma - 2) * sum T weight_of_step <= theta ->
  2 * L / (mu * (INR T + gamma - 2)) * sum T gap_of_step <= rho ->
  L / 2 * sol T <= / (INR T + gamma) * (2 * L / mu^2 * (sigma2 + 8 * (INR tau - 1)^2 * G2 + selection)
    + L * gamma / 2 * sq (w0 - xs) + 12 * L^2 / mu^2 * theta * Gamma) + rho.
Proof.
  intros hG hw hg ht hr. pose proof (delay_range tau mu L curvatures) as (_ & _ & d8). pose proof (pos_INR T) as pT.
  set (D0 := sq (w0 - xs)). assert (hD0 : 0 <= D0) by apply sq_pos.
  set (b0 := sigma2 + 8 * (INR tau - 1)^2 * G2 + selection).
  assert (hb0 : 0 <= b0).
  { unfold b0. pose proof sigma2_nonnegative. assert (0 <= 8 * (INR tau - 1)^2 * G2)
      by (apply Rmult_le_pos; [pose proof (pow2_ge_0 (INR tau - 1)); lra | apply G2_nonnegative]). lra. }
  set (s := INR T + gamma). assert (hs : 8 <= s) by (unfold s; lra).
  set (Sw := sum T weight_of_step). set (Sg := sum T gap_of_step).
  assert (hSw : 0 <= Sw) by (apply sum_pos; intros; apply hw).
  assert (hSg : 0 <= Sg) by (apply sum_pos; intros; apply hg).
  assert (o1 : sum T (fun i => (1 - / (INR i + gamma)) * offset i) <= (1 - / s) * (INR T * b0 + 6 * L * Gamma * Sw)).
  { rewrite <- (sum_const T b0). unfold Sw. rewrite <- (sum_scal T (6 * L * Gamma)), <- sum_add, <- sum_scal.
    apply sum_le. intros i hi.
    replace (offset i) with (b0 + 6 * L * Gamma * weight_of_step i) by (unfold offset, largest_drift, b0; ring).
    apply Rmult_le_compat_r.
    - apply Rplus_le_le_0_compat; [easy |]. apply Rmult_le_pos; [apply Rmult_le_pos; lra | apply hw].
    - assert (INR i <= INR T) by (apply le_INR; lia). pose proof (pos_INR i).
      assert (/ s <= / (INR i + gamma)) by (apply Rinv_le_contravar; unfold s; lra). lra. }
  assert (o2 : sum T (fun i => (INR i + gamma - 1) * (2 * gap_of_step i)) <= (s - 1) * (2 * Sg)).
  { unfold Sg. rewrite <- (sum_scal T 2), <- sum_scal. apply sum_le. intros i hi.
    apply Rmult_le_compat_r; [pose proof (hg i); lra |].
    assert (INR i <= INR T) by (apply le_INR; lia). unfold s. lra. }
  assert (w : 0 < (s - 1) * (s - 2)) by (apply Rmult_lt_0_compat; lra).
  assert (m2 : 0 < 4 / mu^2) by (apply Rdiv_lt_0_compat; [lra | apply pow_lt; lra]).
  assert (m1 : 0 < 2 / mu) by (apply Rdiv_lt_0_compat; lra).
  assert (up : sol T <= ((gamma - 1) * (gamma - 2) * D0 + 4 / mu^2 * ((1 - / s) * (INR T * b0 + 6 * L * Gamma * Sw))
    + 2 / mu * ((s - 1) * (2 * Sg))) / ((s - 1) * (s - 2))).
  { unfold sol, solution. fold D0. fold s. apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; exact w |].
    apply (Rmult_le_compat_l (4 / mu^2)) in o1; [| lra]. apply (Rmult_le_compat_l (2 / mu)) in o2; [| lra]. lra. }
  assert (p1 : (gamma - 1) * (gamma - 2) * D0 / ((s - 1) * (s - 2)) <= gamma * D0 / s).
  { apply Rmult_le_reg_r with ((s - 1) * (s - 2) * s); [apply Rmult_lt_0_compat; lra |].
    replace ((gamma - 1) * (gamma - 2) * D0 / ((s - 1) * (s - 2)) * ((s - 1) * (s - 2) * s)) with
      ((gamma - 1) * (gamma - 2) * s * D0) by (field; lra).
    replace (gamma * D0 / s * ((s - 1) * (s - 2) * s)) with (gamma * ((s - 1) * (s - 2)) * D0) by (field; lra).
    apply Rmult_le_compat_r; [easy |]. assert (e : s = INR T + gamma) by easy. rewrite e.
    assert (0 <= INR T * (gamma * (INR T + 2 * gamma - 3) - (gamma - 1) * (gamma - 2))) by (apply Rmult_le_pos; nra).
    lra. }
  assert (p2 : 4 / mu^2 * ((1 - / s) * (INR T * b0 + 6 * L * Gamma * Sw)) / ((s - 1) * (s - 2))
    <= 4 / mu^2 * (b0 + 6 * L * Gamma * theta) / s).
  { replace (4 / mu^2 * ((1 - / s) * (INR T * b0 + 6 * L * Gamma * Sw)) / ((s - 1) * (s - 2))) with
      (4 / mu^2 / s * (INR T / (s - 2) * b0 + 6 * L * Gamma * (/ (s - 2) * Sw))) by (field; repeat split; lra).
    replace (4 / mu^2 * (b0 + 6 * L * Gamma * theta) / s) with (4 / mu^2 / s * (b0 + 6 * L * Gamma * theta))
      by (field; lra).
    apply Rmult_le_compat_l; [left; apply Rdiv_lt_0_compat; lra |]. apply Rplus_le_compat.
    - rewrite <- (Rmult_1_l b0) at 2. apply Rmult_le_compat_r; [easy |]. apply Rmult_le_reg_r with (s - 2); [lra |].
      replace (INR T / (s - 2) * (s - 2)) with (INR T) by (field; lra). unfold s. lra.
    - apply Rmult_le_compat_l; [apply Rmult_le_pos; lra | exact ht]. }
  assert (p3 : 2 / mu * ((s - 1) * (2 * Sg)) / ((s - 1) * (s - 2)) = 2 / L * (2 * L / (mu * (s - 2)) * Sg))
    by (field; repeat split; lra).
  apply (Rmult_le_compat_l (L / 2)) in up; [| lra].
  apply (Rmult_le_compat_l (2 / L)) in hr; [| left; apply Rdiv_lt_0_compat; lra]. fold s Sg in hr. rewrite <- p3 in hr.
  apply Rle_trans with (1 := up). apply Rle_trans with (L / 2 * (gamma * D0 / s
    + 4 / mu^2 * (b0 + 6 * L * Gamma * theta) / s + 2 / L * rho)).
  - apply Rmult_le_compat_l; [lra |]. unfold Rdiv in *. lra.
  - right. unfold b0. field. repeat split; lra.
Qed.
End Bound.

Lemma Gamma_nonnegative : 0 <= Gamma.
Proof. apply E_pos. intro k. pose proof (minima k xs). lra. Qed.
Lemma weight_nonnegative t : 0 <= weight_of_step t.
Proof. apply E_pos. intro o. left. apply Rinv_0_lt_compat. pose proof
  (extra_pos others p (I (t / tau)%nat o) shares (indicators _ o)). lra. Qed.
Lemma gap_nonnegative t : 0 <= gap_of_step t.
Proof.
  apply E_pos. intro o. apply Rmult_le_pos.
  - left. apply Rinv_0_lt_compat. pose proof (extra_pos others p (I (t / tau)%nat o) shares (indicators _ o)). lra.
  - apply sum_pos. intros k _. apply Rmult_le_pos; [now apply Rmult_le_pos |].
    pose proof (minima (size priority + k)%nat xs). lra.
Qed.

(** ** As printed, with sums from step 1, for two or more local steps

    Step 0 is missing in the sums. What it contributes is less than what the drift 8 (tau - 1)^2 G2, which only the last
    step of a round can have, is too large for the others. This needs gradients that are bounded at the optimum, too. *)
Section Printed.
Variable selection : R.
Hypothesis selection_pos : 0 <= selection.
Hypothesis attained : forall k, exists y, f k y = low k.
Hypothesis optimum_gradients : forall k, sq (g k xs) <= G2.
Hypothesis first_gradients : forall k, sq (g k w0) <= G2.
Hypothesis several_steps : (2 <= tau)%nat.
Local Notation offsets := (offset own_drift selection).

Lemma excess_le k : f k xs - low k <= G2 / (2 * mu).
Proof.
  destruct (attained k) as [y <-]. pose proof (polyak mu (f k) (g k) xs y (proj1 curvatures) (strongly k)) as h.
  pose proof (optimum_gradients k). apply Rmult_le_reg_l with (2 * mu); [lra |].
  replace (2 * mu * (G2 / (2 * mu))) with G2 by (field; lra). lra.
Qed.
Lemma Gamma_le : Gamma <= G2 / (2 * mu).
Proof. unfold objective_gap. rewrite <- (E_const priority (G2 / (2 * mu))). apply E_le. exact excess_le. Qed.
Lemma weight_le t : weight_of_step t <= 1.
Proof.
  apply Rle_trans with (E (P (t / tau)) (fun _ => 1)); [| rewrite E_const; lra]. apply E_le. intro o. cbv beta.
  pose proof (extra_pos others p (I (t / tau)%nat o) shares (indicators _ o)).
  apply Rmult_le_reg_r with (1 + extra others p (I (t / tau)%nat o)); [lra |]. rewrite Rinv_l by lra. lra.
Qed.
Lemma gap_le t : gap_of_step t <= G2 / (2 * mu).
Proof.
  unfold gap_of_step, included_gap. rewrite <- (E_const (P (t / tau)) (G2 / (2 * mu))). apply E_le. intro o. cbv beta.
  pose proof (extra_pos others p (I (t / tau)%nat o) shares (indicators _ o)) as ep.
  assert (hG : 0 <= G2 / (2 * mu)) by (apply Rmult_le_pos; [apply G2_nonnegative | left; apply Rinv_0_lt_compat; lra]).
  apply Rmult_le_reg_l with (1 + extra others p (I (t / tau) o)); [lra |]. rewrite <- Rmult_assoc, Rinv_r by lra.
  apply Rle_trans with (extra others p (I (t / tau) o) * (G2 / (2 * mu))); [| apply Rmult_le_compat_r; lra].
  unfold extra. rewrite Rmult_1_l, <- sum_scal_r. apply sum_le. intros k _.
  apply Rmult_le_compat_l; [now apply Rmult_le_pos | apply excess_le].
Qed.
Lemma start_le : mu^2 * sq (w0 - xs) <= G2.
Proof.
  apply Rle_trans with (E priority (fun k => sq (g k w0))).
  - apply Rle_trans with (2 := jensen_zero priority (fun k => g k w0)).
    apply (strong_gradient mu F (mean_gradient priority g)); [lra | now apply mean_loss_lower |].
    apply (minimizer_gradient L F (mean_gradient priority g)); [apply mean_loss_upper; intro; apply smooth_clients |
      easy].
  - rewrite <- (E_const priority G2). apply E_le. exact first_gradients.
Qed.

(** The numbers of the steps in their rounds, squared, are at most half of (tau - 1)^2 on average. *)
Lemma squares_of_places n : sum n (fun i => INR i ^ 2) = INR n * (INR n - 1) * (2 * INR n - 1) / 6.
Proof. induction n as [| n IH]; [cbn; field |]. rewrite S_INR. cbn [sum]. rewrite IH. field. Qed.
Lemma squares_in_round s : (s <= tau)%nat -> sum s (fun i => INR i ^ 2) <= INR s * ((INR tau - 1)^2 / 2).
Proof.
  intro hs. rewrite squares_of_places. pose proof (pos_INR s) as ps. pose proof (le_INR _ _ hs) as h.
  pose proof (le_INR _ _ several_steps) as h2. cbn in h2. destruct s as [| s]; [cbn; lra |].
  assert (1 <= INR (S s)) by (apply (le_INR 1); lia). set (x := INR (S s)) in *. set (t := INR tau) in *.
  replace (x * (x - 1) * (2 * x - 1) / 6) with (x * ((x - 1) * (2 * x - 1) / 6)) by field.
  apply Rmult_le_compat_l; [lra |].
  assert ((x - 1) * (2 * x - 1) <= (t - 1) * (2 * t - 1)) by (apply Rmult_le_compat; lra).
  assert ((t - 1) * (2 * t - 1) <= (t - 1) * (3 * (t - 1))) by (apply Rmult_le_compat_l; lra). lra.
Qed.
Lemma squares_in_rounds r s : (s <= tau)%nat ->
  sum (tau * r + s) (fun i => INR (i mod tau) ^ 2) <= INR (tau * r + s) * ((INR tau - 1)^2 / 2).
Proof.
  assert (split : forall n m h, sum (n + m) h = sum n h + sum m (fun i => h (n + i)%nat)).
  { intros n m h. induction m as [| m IH]; [rewrite Nat.add_0_r; cbn; ring |]. rewrite Nat.add_succ_r. cbn [sum].
    rewrite IH. ring. }
  assert (last : forall q i, (i <= tau)%nat -> sum i (fun j => INR ((tau * q + j) mod tau) ^ 2)
    <= INR i * ((INR tau - 1)^2 / 2)).
  { intros q i hi. rewrite (sum_ext i _ (fun j => INR j ^ 2)); [now apply squares_in_round |].
    intros j hj. rewrite place_of by lia. reflexivity. }
  revert s. induction r as [| r IH]; intros s hs.
  - pose proof (last O s hs) as l. rewrite Nat.mul_0_r in *. exact l.
  - rewrite split, plus_INR. pose proof (last (S r) s hs) as l. pose proof (IH tau ltac:(lia)) as h.
    replace (tau * r + tau)%nat with (tau * S r)%nat in h by lia. lra.
Qed.

Lemma printed_bound r s theta rho : (s <= tau)%nat -> let T := (tau * r + s)%nat in
  / (INR T + gamma - 2) * sum (T - 1) (fun i => weight_of_step (S i)) <= theta ->
  2 * L / (mu * (INR T + gamma - 2)) * sum (T - 1) (fun i => gap_of_step (S i)) <= rho ->
  L / 2 * solution mu gamma offsets (fun t => 2 * gap_of_step t) (sq (w0 - xs)) T
    <= / (INR T + gamma) * (2 * L / mu^2 * (sigma2 + 8 * (INR tau - 1)^2 * G2 + selection)
      + 4 * L^2 / mu * sq (w0 - xs) + 12 * L^2 / mu^2 * theta * Gamma) + rho.
Proof.
  intros hs T ht hr. pose proof (delay_range tau mu L curvatures) as (_ & _ & d8).
  pose proof G2_nonnegative as hG. pose proof sigma2_nonnegative as hs2. pose proof Gamma_nonnegative as hGam.
  pose proof (le_INR _ _ several_steps) as h2. cbn in h2. pose proof start_le as sl. pose proof (sq_pos (w0 - xs)%V) as
    a0.
  pose proof (pos_INR T) as pT. pose proof (squares_in_rounds r s hs) as sr. fold T in sr. clearbody T.
  set (D0 := sq (w0 - xs)) in *. set (n := INR T + gamma) in *. set (b := sigma2 + selection).
  assert (en : INR T + gamma = n) by easy. clearbody n. set (q := INR tau - 1) in *. assert (q1 : 1 <= q) by (unfold q;
    lra). assert (m2 : 0 < mu^2) by (apply pow_lt; lra).
  set (e := G2 / mu^2). assert (he : 0 <= e) by (unfold e; apply Rmult_le_pos; [easy | left; now apply
    Rinv_0_lt_compat]).
  assert (sl' : D0 <= e) by (unfold e; apply Rmult_le_reg_l with (mu^2); [easy |];
    replace (mu^2 * (G2 / mu^2)) with G2 by (field; lra); easy).
  (* the initial distance *)
  assert (hstart : gamma * D0 <= 8 * (L / mu) * D0 + (q + 1) * e).
  { unfold delay. replace (8 * L / mu) with (8 * (L / mu)) by (unfold Rdiv; ring).
    assert (0 <= 8 * (L / mu)) by (apply Rmult_le_pos; [lra | left; apply Rdiv_lt_0_compat; lra]).
    replace (q + 1) with (INR tau) by (unfold q; ring). apply (Rmax_case (8 * (L / mu)) (INR tau)).
    - assert (0 <= INR tau * e) by (apply Rmult_le_pos; lra). lra.
    - assert (INR tau * D0 <= INR tau * e) by (apply Rmult_le_compat_l; lra).
      assert (0 <= 8 * (L / mu) * D0) by (apply Rmult_le_pos; lra). lra. }
  assert (n8 : 8 <= n) by lra.
  (* it suffices to bound n times the solution *)
  cut (n * solution mu gamma offsets (fun t => 2 * gap_of_step t) D0 T
    <= 4 / mu^2 * b + 8 * (L / mu) * D0 + 24 * L / mu^2 * theta * Gamma + 32 * q^2 * e + n * (2 / L * rho)).
  { intro h. apply Rmult_le_reg_l with n; [lra |]. apply (Rmult_le_compat_l (L / 2)) in h; [| lra].
    apply Rle_trans with (L / 2 * (n * solution mu gamma offsets (fun t => 2 * gap_of_step t) D0 T)); [right; ring |].
    apply Rle_trans with (1 := h). right. unfold b, e, q. field. repeat split; lra. }
  destruct T as [| T'].
  { rewrite solution_start by lra. cbn [Nat.sub sum] in ht, hr. rewrite Rmult_0_r in ht, hr.
    assert (0 <= 24 * L / mu^2 * theta * Gamma) by (apply Rmult_le_pos; [apply Rmult_le_pos; [| lra] | easy];
      apply Rmult_le_pos; [lra | left; now apply Rinv_0_lt_compat]).
    assert (0 <= 4 / mu^2 * b) by (apply Rmult_le_pos; [left; apply Rdiv_lt_0_compat; lra | unfold b; lra]).
    assert (0 <= n * (2 / L * rho)) by (apply Rmult_le_pos; [lra | apply Rmult_le_pos; [left; apply Rdiv_lt_0_compat;
      lra |
      lra]]).
    cbn [INR] in en. replace n with gamma in * by lra.
    assert ((q + 1) * e <= 32 * q^2 * e) by (apply Rmult_le_compat_r; nra). lra. }
  assert (T1 : 1 <= INR (S T')) by (apply (le_INR 1); lia). rewrite Nat.sub_succ, Nat.sub_0_r in ht, hr.
  set (Sw := sum T' (fun i => weight_of_step (S i))) in *. set (Sg := sum T' (fun i => gap_of_step (S i))) in *.
  assert (hn : 9 <= n) by lra. assert (W : 0 < (n - 1) * (n - 2)) by nra.
  assert (x2 : sum (S T') (fun i => (1 - / (INR i + gamma)) * offsets i)
    <= (1 - / n) * (INR (S T') * (4 * q^2 * G2) + INR (S T') * b + 6 * L * Gamma * Sw) + 6 * L * Gamma).
  { apply Rle_trans with (sum (S T') (fun i => (1 - / n) * offsets i)).
    - apply sum_le. intros i hi. pose proof (pos_INR i). assert (INR i <= INR (S T')) by (apply le_INR; lia).
      apply Rmult_le_compat_r.
      + unfold offset, own_drift. pose proof (weight_nonnegative i).
        assert (0 <= 8 * INR (i mod tau) ^ 2 * G2) by (apply Rmult_le_pos; [pose proof (pow2_ge_0 (INR (i mod tau)));
          lra |
          easy]).
        assert (0 <= 6 * L * Gamma * weight_of_step i) by (apply Rmult_le_pos; [apply Rmult_le_pos; lra | easy]). lra.
      + assert (/ n <= / (INR i + gamma)) by (apply Rinv_le_contravar; lra). lra.
    - rewrite sum_scal. assert (hi : 0 <= / n <= 1) by (split; [left; apply Rinv_0_lt_compat; lra |
        rewrite <- Rinv_1; apply Rinv_le_contravar; lra]).
      assert (ss : sum (S T') offsets <= INR (S T') * (4 * q^2 * G2) + INR (S T') * b + 6 * L * Gamma * Sw
        + 6 * L * Gamma * 1).
      { rewrite (sum_ext _ offsets (fun i => 8 * G2 * INR (i mod tau) ^ 2 + b + 6 * L * Gamma * weight_of_step i))
          by (intros; unfold offset, own_drift, b; ring).
        rewrite !sum_add, !sum_scal, sum_const.
        rewrite (sum_shift T' weight_of_step). fold Sw. pose proof (weight_le 0) as w0l.
        apply (Rmult_le_compat_l (8 * G2)) in sr; [| lra].
        assert (6 * L * Gamma * weight_of_step 0 <= 6 * L * Gamma * 1) by (apply Rmult_le_compat_l; [|easy];
          apply Rmult_le_pos; lra). lra. }
      apply (Rmult_le_compat_l (1 - / n)) in ss; [| lra].
      assert (0 <= / n * (6 * L * Gamma)) by (apply Rmult_le_pos; [easy | apply Rmult_le_pos; lra]). lra. }
  assert (x3 : sum (S T') (fun i => (INR i + gamma - 1) * (2 * gap_of_step i)) <= (gamma - 1) * (G2 / mu) + (n - 1) *
    (2 * Sg)).
  { rewrite sum_shift. apply Rplus_le_compat.
    - cbn [INR]. rewrite Rplus_0_l. apply Rmult_le_compat_l; [lra |]. pose proof (gap_le 0).
      replace (G2 / mu) with (2 * (G2 / (2 * mu))) by (field; lra). lra.
    - unfold Sg. rewrite <- (sum_scal T' 2), <- sum_scal. apply sum_le. intros i hi. pose proof (gap_nonnegative (S i)).
      apply Rmult_le_compat_r; [lra |]. assert (INR (S i) <= INR (S T')) by (apply le_INR; lia). lra. }
  assert (up : n * solution mu gamma offsets (fun t => 2 * gap_of_step t) D0 (S T')
    <= n * (((gamma - 1) * (gamma - 2) * D0
      + 4 / mu^2 * ((1 - / n) * (INR (S T') * (4 * q^2 * G2) + INR (S T') * b + 6 * L * Gamma * Sw) + 6 * L * Gamma)
      + 2 / mu * ((gamma - 1) * (G2 / mu) + (n - 1) * (2 * Sg))) / ((n - 1) * (n - 2)))).
  { apply Rmult_le_compat_l; [lra |]. unfold solution. rewrite en. apply Rmult_le_compat_r; [left; now apply
    Rinv_0_lt_compat |].
    assert (0 < 4 / mu^2) by (apply Rdiv_lt_0_compat; lra). assert (0 < 2 / mu) by (apply Rdiv_lt_0_compat; lra).
    apply (Rmult_le_compat_l (4 / mu^2)) in x2; [| lra]. apply (Rmult_le_compat_l (2 / mu)) in x3; [| lra]. lra. }
  apply Rle_trans with (1 := up). clear up x2 x3.
  assert (Tn : INR (S T') <= n - 2) by lra.
  (* term by term *)
  assert (p1 : n * ((gamma - 1) * (gamma - 2) * D0 / ((n - 1) * (n - 2))) <= gamma * D0).
  { apply Rmult_le_reg_r with ((n - 1) * (n - 2)); [easy |].
    replace (n * ((gamma - 1) * (gamma - 2) * D0 / ((n - 1) * (n - 2))) * ((n - 1) * (n - 2))) with
      (n * ((gamma - 1) * (gamma - 2)) * D0) by (field; lra).
    replace (gamma * D0 * ((n - 1) * (n - 2))) with (gamma * ((n - 1) * (n - 2)) * D0) by ring.
    apply Rmult_le_compat_r; [easy |]. rewrite <- en.
    assert (0 <= INR (S T') * (gamma * (INR (S T') + 2 * gamma - 3) - (gamma - 1) * (gamma - 2)))
      by (apply Rmult_le_pos; nra). lra. }
  assert (ratio : 0 <= INR (S T') / (n - 2) <= 1).
  { split; [apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; lra] |]. apply Rmult_le_reg_r with (n - 2); [lra
    |].
    replace (INR (S T') / (n - 2) * (n - 2)) with (INR (S T')) by (field; lra). lra. }
  assert (p2 : n * (4 / mu^2 * ((1 - / n) * (INR (S T') * (4 * q^2 * G2) + INR (S T') * b + 6 * L * Gamma * Sw))
      / ((n - 1) * (n - 2))) <= 16 * q^2 * e + 4 / mu^2 * b + 24 * L / mu^2 * theta * Gamma).
  { replace (n * (4 / mu^2 * ((1 - / n) * (INR (S T') * (4 * q^2 * G2) + INR (S T') * b + 6 * L * Gamma * Sw))
      / ((n - 1) * (n - 2)))) with (INR (S T') / (n - 2) * (16 * q^2 * e) + INR (S T') / (n - 2) * (4 / mu^2 * b)
        + 24 * L / mu^2 * (/ (n - 2) * Sw) * Gamma) by (unfold e; field; repeat split; lra).
    assert (0 <= 16 * q^2 * e) by (apply Rmult_le_pos; [pose proof (pow2_ge_0 q); lra | easy]).
    assert (0 <= 4 / mu^2 * b) by (apply Rmult_le_pos; [left; apply Rdiv_lt_0_compat; lra | unfold b; lra]).
    assert (24 * L / mu^2 * (/ (n - 2) * Sw) * Gamma <= 24 * L / mu^2 * theta * Gamma).
    { apply Rmult_le_compat_r; [easy |]. apply Rmult_le_compat_l; [left; apply Rdiv_lt_0_compat; lra | exact ht]. }
    assert (forall z, 0 <= z -> INR (S T') / (n - 2) * z <= z) by (intros z hz; nra).
    pose proof (H2 _ H). pose proof (H2 _ H0). lra. }
  assert (p3 : n * (4 / mu^2 * (6 * L * Gamma) / ((n - 1) * (n - 2))) <= 2 * e).
  { pose proof Gamma_le as gl. assert (lk : 8 * (L / mu) <= gamma) by (apply (delay_range tau mu L curvatures)).
    assert (g3 : 4 / mu^2 * (6 * L * Gamma) <= 12 * (L / mu) * e).
    { apply (Rmult_le_compat_l (24 * L / mu^2)) in gl; [| left; apply Rdiv_lt_0_compat; lra].
      apply Rle_trans with (24 * L / mu^2 * Gamma); [right; field; lra |]. apply Rle_trans with (1 := gl). right.
      unfold e. field. lra. }
    apply Rmult_le_reg_r with ((n - 1) * (n - 2)); [easy |].
    replace (n * (4 / mu^2 * (6 * L * Gamma) / ((n - 1) * (n - 2))) * ((n - 1) * (n - 2))) with
      (n * (4 / mu^2 * (6 * L * Gamma))) by (field; repeat split; lra).
    apply Rle_trans with (n * (12 * (L / mu) * e)); [apply Rmult_le_compat_l; lra |].
    replace (n * (12 * (L / mu) * e)) with (12 * (L / mu) * n * e) by ring.
    replace (2 * e * ((n - 1) * (n - 2))) with (2 * ((n - 1) * (n - 2)) * e) by ring.
    apply Rmult_le_compat_r; [easy |]. assert (12 * (L / mu) * n <= 3 / 2 * (n - 1) * n) by nra. nra. }
  assert (p4 : n * (2 / mu * ((gamma - 1) * (G2 / mu)) / ((n - 1) * (n - 2))) <= 3 * e).
  { apply Rmult_le_reg_r with ((n - 1) * (n - 2)); [easy |].
    replace (n * (2 / mu * ((gamma - 1) * (G2 / mu)) / ((n - 1) * (n - 2))) * ((n - 1) * (n - 2))) with
      (2 * (gamma - 1) * n * e) by (unfold e; field; repeat split; lra).
    replace (3 * e * ((n - 1) * (n - 2))) with (3 * ((n - 1) * (n - 2)) * e) by ring.
    apply Rmult_le_compat_r; [easy |]. nra. }
  assert (p5 : n * (2 / mu * ((n - 1) * (2 * Sg)) / ((n - 1) * (n - 2))) <= n * (2 / L * rho)).
  { apply Rmult_le_compat_l; [lra |]. apply (Rmult_le_compat_l (2 / L)) in hr; [| left; apply Rdiv_lt_0_compat; lra].
    apply Rle_trans with (2 := hr). right. field. repeat split; lra. }
  assert (last : (q + 1 + 16 * q^2 + 5) * e <= 32 * q^2 * e) by (apply Rmult_le_compat_r; [easy | nra]).
  set (R1 := (gamma - 1) * (gamma - 2) * D0) in *. set (R2 := (1 - / n) * _) in *. set (R3 := 6 * L * Gamma) in *.
  set (R4 := (gamma - 1) * (G2 / mu)) in *. set (R5 := (n - 1) * (2 * Sg)) in *. set (W0 := (n - 1) * (n - 2)) in *.
  replace (n * ((R1 + 4 / mu^2 * (R2 + R3) + 2 / mu * (R4 + R5)) / W0)) with (n * (R1 / W0) + n * (4 / mu^2 * R2 / W0)
    + n * (4 / mu^2 * R3 / W0) + n * (2 / mu * R4 / W0) + n * (2 / mu * R5 / W0)) by (field; repeat split; lra).
  lra.
Qed.
End Printed.

(** ** All priority clients take part *)
Definition follows_included := forall r (h : V -> R),
  E (P (S r)) (fun o => h (u (S r) o)) = E (P r) (fun o => h (included_model r tau o)).

Lemma closing_included drift : drifts drift -> follows_included -> forall r, bounded_by drift 0 (Dist (S r) O) r (tau -
  1).
Proof.
  intros hd hf r. assert (e : Dist (S r) O = Dist r tau).
  { unfold Dist. rewrite <- (hf r (fun z => sq (z - xs))). apply E_ext. intros o _. apply same_sq. intro v.
    now rewrite !ip_sub, (start_included (S r) o v). }
  rewrite e. pose proof (included_bounded drift 0 hd ltac:(lra) r (tau - 1) ltac:(lia)) as h.
  now replace (S (tau - 1)) with tau in h by lia.
Qed.
Lemma gap_included r s : E (P r) (fun o => F (included_model r s o)) - F xs <= L / 2 * Dist r s.
Proof. unfold Dist. rewrite <- E_scal, <- (E_const (P r) (F xs)), <- E_minus. apply E_le. intro. apply gap_le_distance.
Qed.

Theorem fedalign_recursion_gap r s : follows_included -> (s <= tau)%nat ->
  let T := (tau * r + s)%nat in
  let B i := 8 * (INR tau - 1)^2 * G2 + sigma2 + 6 * L * Gamma * weight_of_step i in
  E (P r) (fun o => F (included_model r s o)) - F xs
    <= L / 2 * (((gamma - 1) * (gamma - 2) * sq (w0 - xs) + 4 / mu^2 * sum T (fun i => (1 - / (INR i + gamma)) * B i)
         + 2 / mu * sum T (fun i => (INR i + gamma - 1) * (2 * gap_of_step i)))
        / ((INR T + gamma - 1) * (INR T + gamma - 2))).
Proof.
  intros hf hs T B. apply Rle_trans with (1 := gap_included r s). apply Rmult_le_compat_l; [lra |].
  apply Rle_trans with (1 := solved largest_drift 0 largest_drifts ltac:(lra) (closing_included _ largest_drifts hf) r
    s hs). right. unfold solution. fold T.
  rewrite (sum_ext T (fun i => (1 - / (INR i + gamma)) * offset largest_drift 0 i) (fun i => (1 - / (INR i + gamma)) *
    B i))
    by (intros; unfold B, offset, largest_drift; ring).
  reflexivity.
Qed.

(** [theta] and [rho] are theta_T and rho_T with sums from step 0, or anything larger. *)
Theorem fedalign_full_participation_gap theta rho r s : follows_included -> (s <= tau)%nat ->
  let T := (tau * r + s)%nat in
  / (INR T + gamma - 2) * sum T weight_of_step <= theta -> 2 * L / (mu * (INR T + gamma - 2)) * sum T gap_of_step
    <= rho ->
  E (P r) (fun o => F (included_model r s o)) - F xs
    <= / (INR T + gamma) * (2 * L / mu^2 * (sigma2 + 8 * (INR tau - 1)^2 * G2) + L * gamma / 2 * sq (w0 - xs)
      + 12 * L^2 / mu^2 * theta * Gamma) + rho.
Proof.
  intros hf hs T ht hr. apply Rle_trans with (1 := gap_included r s).
  pose proof (solved largest_drift 0 largest_drifts ltac:(lra) (closing_included _ largest_drifts hf) r s hs) as d.
  fold T in d.
  apply (Rmult_le_compat_l (L / 2)) in d; [| lra].
  apply Rle_trans with (1 := d).
  pose proof (solution_bound 0 ltac:(lra) T theta rho Gamma_nonnegative weight_nonnegative gap_nonnegative ht hr) as b.
  rewrite Rplus_0_r in b. exact b.
Qed.

(** As printed: the sums begin with step 1. *)
Theorem fedalign_full_participation_gap_printed theta rho r s : follows_included -> (s <= tau)%nat ->
  (2 <= tau)%nat -> (forall k, exists y, f k y = low k) -> (forall k, sq (g k xs) <= G2) -> (forall k, sq (g k w0) <=
    G2) ->
  let T := (tau * r + s)%nat in
  / (INR T + gamma - 2) * sum (T - 1) (fun i => weight_of_step (S i)) <= theta ->
  2 * L / (mu * (INR T + gamma - 2)) * sum (T - 1) (fun i => gap_of_step (S i)) <= rho ->
  E (P r) (fun o => F (included_model r s o)) - F xs
    <= / (INR T + gamma) * (2 * L / mu^2 * (sigma2 + 8 * (INR tau - 1)^2 * G2) + 4 * L^2 / mu * sq (w0 - xs)
      + 12 * L^2 / mu^2 * theta * Gamma) + rho.
Proof.
  intros hf hs h2 hl ho h0 T ht hr. apply Rle_trans with (1 := gap_included r s).
  pose proof (solved own_drift 0 own_drifts ltac:(lra) (closing_included _ own_drifts hf) r s hs) as d. fold T in d.
  apply (Rmult_le_compat_l (L / 2)) in d; [| lra]. apply Rle_trans with (1 := d).
  pose proof (printed_bound 0 ltac:(lra) hl ho h0 h2 r s theta rho hs ht hr) as b. fold T in b. rewrite Rplus_0_r in b.
  exact b.
Qed.

(** ** K priority clients are drawn in each round *)
Section Draws.
Variables (draw : nat -> law) (K : nat) (hK : (0 < K)%nat) (c : nat -> nat -> nat -> nat).
Hypothesis draws : forall r, draws_with_replacement priority (draw r) K (c r).
Hypothesis gradients_given : forall r k s, (s < tau)%nat -> E (P r)
  (fun o => sq (g k (path (u r) own (xi r) g (eta r) k s o) + xi r k s o)) <= G2.
(** The average with the drawn priority clients, after s steps of round r. *)
Definition partial_model r s o b : V :=
  match s with O => u r o | S j => drawn_average priority others p (I r) (u r) (xi r) g (eta r) j K hK (c r) o b end.
Definition follows_priority_draws := forall r (h : V -> R),
  E (P (S r)) (fun o => h (u (S r) o)) = E (P r) (fun o => E (draw r) (fun b => h (partial_model r tau o b))).
Let C := 4 * INR tau^2 * G2 / INR K.

Lemma C_pos : 0 <= C.
Proof.
  pose proof (lt_0_INR K hK). unfold C. apply Rmult_le_pos; [| left; now apply Rinv_0_lt_compat].
  apply Rmult_le_pos; [pose proof (pow2_ge_0 (INR tau)); lra | apply G2_nonnegative].
Qed.

Lemma partial_step drift : drifts drift -> forall r s, (s < tau)%nat -> bounded_by drift C (E (P r)
  (fun o => E (draw r) (fun b => sq (partial_model r (S s) o b - xs)))) r s.
Proof.
  intros hd r s hs. unfold bounded_by, offset, weight_of_step, gap_of_step. rewrite (round_of r s hs), (place_of r s
    hs).
  pose proof (fedalign_partial_one_step (P r) priority (past r) others p (I r) (u r) (xi r) f g low (eta r) s mu L G2
    sigma2 xs shares (indicators r)
    (frozen r) (known r) (unbiased r) (unrelated r s) (variance r s) sigma2_nonnegative G2_nonnegative
    (fun t => step_pos tau mu L curvatures _) (step_short tau mu L curvatures _) curvatures strongly smooth_clients
      minima best
    (fun t ht => gradients r t ltac:(lia)) (S s) ltac:(lia) (fun t ht => step_halving tau mu L curvatures tau_pos r t s
      ht ltac:(lia))
    (draw r) K hK (c r) (draws r) (fun k t ht => gradients_given r k t ltac:(lia))) as h.
  change (E (P r) (fun o => sq (average_model (weights_of priority others p (I r) shares (indicators r)) (u r)
    (fun _ i => i) (xi r) g (eta r) s o - xs)))
    with (Dist r s) in h.
  apply Rle_trans with (1 := h). pose proof (lt_0_INR K hK) as pK. pose proof G2_nonnegative. pose proof (hd s hs) as
    dl.
  assert (c1 : 4 * INR (S s) ^ 2 * G2 / INR K <= C).
  { unfold C. apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat |]. apply Rmult_le_compat_r; [easy |].
    apply Rmult_le_compat_l; [lra |]. apply pow_incr. split; [apply pos_INR | apply le_INR; lia]. }
  replace (INR (S s) - 1) with (INR s) by (rewrite S_INR; ring). pose proof (pow2_ge_0 (eta r s)).
  assert (eta r s ^ 2 * (8 * INR s ^ 2 * G2 + 4 * INR (S s) ^ 2 * G2 / INR K) <= eta r s ^ 2 * (drift s + C))
    by (apply Rmult_le_compat_l; lra).
  lra.
Qed.

Lemma closing_drawn drift : drifts drift -> follows_priority_draws -> forall r, bounded_by drift C (Dist (S r) O) r
  (tau - 1).
Proof.
  intros hd hf r. assert (e : Dist (S r) O = E (P r) (fun o => E (draw r) (fun b => sq (partial_model r tau o b -
    xs)))).
  { unfold Dist. rewrite <- (hf r (fun z => sq (z - xs))). apply E_ext. intros o _. apply same_sq. intro v.
    now rewrite !ip_sub, (start_included (S r) o v). }
  rewrite e. pose proof (partial_step drift hd r (tau - 1) ltac:(lia)) as h. now replace (S (tau - 1)) with tau in h by
    lia.
Qed.

Lemma partial_distance drift : drifts drift -> follows_priority_draws -> forall r s, (s <= tau)%nat ->
  E (P r) (fun o => E (draw r) (fun b => sq (partial_model r s o b - xs)))
    <= solution mu gamma (offset drift C) (fun t => 2 * gap_of_step t) (sq (w0 - xs)) (tau * r + s).
Proof.
  intros hd hf r s hs. pose proof C_pos as hC. destruct s as [| s].
  - apply Rle_trans with (2 := solved drift C hd hC (closing_drawn drift hd hf) r 0 ltac:(lia)). right. unfold Dist.
    apply E_ext. intros o _. cbn [partial_model].
    rewrite E_const. apply same_sq. intro v. now rewrite !ip_sub, (start_included r o v).
  - rewrite Nat.add_succ_r. apply (solved_step drift C); [apply (partial_step drift hd); lia |
      apply (solved drift C hd hC (closing_drawn drift hd hf)); lia].
Qed.

Theorem fedalign_partial_participation_gap theta rho r s : follows_priority_draws -> (s <= tau)%nat ->
  let T := (tau * r + s)%nat in
  / (INR T + gamma - 2) * sum T weight_of_step <= theta -> 2 * L / (mu * (INR T + gamma - 2)) * sum T gap_of_step
    <= rho ->
  E (P r) (fun o => E (draw r) (fun b => F (partial_model r s o b))) - F xs
    <= / (INR T + gamma) * (2 * L / mu^2 * (sigma2 + 8 * (INR tau - 1)^2 * G2 + 4 * INR tau^2 * G2 / INR K)
      + L * gamma / 2 * sq (w0 - xs)
                            + 12 * L^2 / mu^2 * theta * Gamma) + rho.
Proof.
  intros hf hs T ht hr. pose proof C_pos as hC. pose proof (partial_distance _ largest_drifts hf r s hs) as d. fold T
    in d.
  apply (Rmult_le_compat_l (L / 2)) in d; [| lra].
  apply Rle_trans with (2 := solution_bound C hC T theta rho Gamma_nonnegative weight_nonnegative gap_nonnegative ht
    hr).
  apply Rle_trans with (2 := d). rewrite <- E_scal, <- (E_const (P r) (F xs)), <- E_minus. apply E_le. intro o.
  rewrite <- E_scal, <- (E_const (draw r) (F xs)), <- E_minus. apply E_le. intro b. apply gap_le_distance.
Qed.

(** As printed, where rounds are not longer than gamma = 8 L/mu, which in print does not depend on tau. *)
Theorem fedalign_partial_participation_gap_printed theta rho r s : follows_priority_draws -> (s <= tau)%nat ->
  (2 <= tau)%nat -> (forall k, exists y, f k y = low k) -> (forall k, sq (g k xs) <= G2) -> (forall k, sq (g k w0) <=
    G2) ->
  INR tau <= 8 * L / mu -> let T := (tau * r + s)%nat in let gamma := 8 * L / mu in
  / (INR T + gamma - 2) * sum (T - 1) (fun i => weight_of_step (S i)) <= theta ->
  2 * L / (mu * (INR T + gamma - 2)) * sum (T - 1) (fun i => gap_of_step (S i)) <= rho ->
  E (P r) (fun o => E (draw r) (fun b => F (partial_model r s o b))) - F xs
    <= / (INR T + gamma) * (2 * L / mu^2 * (sigma2 + 8 * (INR tau - 1)^2 * G2 + 8 * INR tau^2 * G2 / INR K)
      + 4 * L^2 / mu * sq (w0 - xs) + 12 * L^2 / mu^2 * theta * Gamma) + rho.
Proof.
  intros hf hs h2 hl ho h0 short T gamma ht hr.
  assert (eg : gamma = delay tau mu L) by (unfold delay; symmetry; now apply Rmax_left). rewrite eg in *.
  pose proof (partial_distance own_drift own_drifts hf r s hs) as d. fold T in d.
  apply (Rmult_le_compat_l (L / 2)) in d; [| lra]. pose proof C_pos as hC.
  pose proof (printed_bound C hC hl ho h0 h2 r s theta rho hs ht hr) as b. fold T in b.
  pose proof (delay_range tau mu L curvatures) as (_ & _ & d8). pose proof (pos_INR T).
  apply Rle_trans with (L / 2 * E (P r) (fun o => E (draw r) (fun b => sq (partial_model r s o b - xs)))).
  - rewrite <- E_scal, <- (E_const (P r) (F xs)), <- E_minus. apply E_le. intro o.
    rewrite <- E_scal, <- (E_const (draw r) (F xs)), <- E_minus. apply E_le. intro z. apply gap_le_distance.
  - apply Rle_trans with (1 := d). apply Rle_trans with (1 := b). apply Rplus_le_compat_r.
    apply Rmult_le_compat_l; [left; apply Rinv_0_lt_compat; lra |]. do 2 apply Rplus_le_compat_r.
    apply Rmult_le_compat_l; [left; apply Rdiv_lt_0_compat; [lra | apply pow_lt; lra] |]. apply Rplus_le_compat_l.
    unfold C in *. unfold Rdiv in *. lra.
Qed.
End Draws.
End Theorems.
