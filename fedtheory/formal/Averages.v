(** Averages of models: Jensen's inequality, the variance of noise and of draws, and how far local steps lead. *)

From FedTheory Require Export Laws.

(** ** Sums of vectors *)

Section Sums.
Context {V : space}.
Implicit Types x y : nat -> V.

Lemma sq_vsum n x : sq (vsum n x) = sum n (fun i => sum n (fun j => ip (x i) (x j))).
Proof. unfold sq. rewrite ip_vsum. apply sum_ext. intros. apply ip_vsum_r. Qed.

(** |sum a_i x_i|^2 <= (sum a_i) sum a_i |x_i|^2. *)
Lemma sq_vsum_le n (a : nat -> R) x : (forall i, 0 <= a i) ->
  sq (vsum n (fun i => (a i * x i)%V)) <= sum n a * sum n (fun i => a i * sq (x i)).
Proof.
  intro h. rewrite sq_vsum.
  assert (s : sum n a * sum n (fun i => a i * sq (x i))
    = sum n (fun i => sum n (fun j => a i * a j * ((sq (x i) + sq (x j)) / 2)))).
  { transitivity ((sum n a * sum n (fun i => a i * sq (x i)) + sum n a * sum n (fun i => a i * sq (x i))) / 2);
      [field |].
    rewrite <- (sum_scal_r n (sum n (fun i => a i * sq (x i))) a) at 1. rewrite (Rmult_comm (sum n a)).
    rewrite <- (sum_scal_r n (sum n a) (fun i => a i * sq (x i))). rewrite <- sum_add.
    unfold Rdiv. rewrite <- sum_scal_r. apply sum_ext. intros i _.
    rewrite <- !sum_scal. rewrite <- sum_add, <- sum_scal_r. apply sum_ext. intros j _. field. }
  rewrite s. apply sum_le. intros i _. apply sum_le. intros j _.
  pose proof (sq_pos (x i - x j)%V) as k. pose proof (h i). pose proof (h j).
  rewrite ip_scale, ip_scale_r, <- Rmult_assoc. apply Rmult_le_compat_l; [pos |]. revert k. ips. lra.
Qed.

(** The steps of a round lead no farther than the sum of their lengths. *)
Lemma path_le n (eta : nat -> R) x (u : V) G2 : (forall i, 0 <= eta i) -> (forall i, (i < n)%nat -> sq (x i) <= G2) ->
  sq (u - vsum n (fun i => (eta i * x i)%V) - u) <= (sum n eta)^2 * G2.
Proof.
  intros h hg. replace (sq _) with (sq (vsum n (fun i => (eta i * x i)%V))) by (ips; ring).
  apply Rle_trans with (1 := sq_vsum_le n eta x h).
  replace ((sum n eta)^2 * G2) with (sum n eta * (sum n (fun i => eta i * G2))) by (rewrite sum_scal_r; ring).
  apply Rmult_le_compat_l; [apply sum_pos; auto |]. apply sum_le. intros i hi. apply Rmult_le_compat_l; auto.
Qed.
End Sums.

(** ** Jensen's inequality: Power-of-Choice, Lemma B.3, and FedALIGN, Lemma A.3 *)

Section Jensen.
Context {V : space}.

Theorem power_of_choice_averaged_distance m (hm : (0 < m)%nat) (w : nat -> V) (ws : V) :
  sq (vE (uniform m hm) w - ws) <= E (uniform m hm) (fun k => sq (w k - ws)).
Proof. apply jensen. Qed.

Theorem fedalign_aggregated_distance (weights : law) (w : nat -> V) (ws : V) :
  sq (vE weights w - ws) <= E weights (fun k => sq (w k - ws)).
Proof. apply jensen. Qed.
End Jensen.

(** ** Noise that is uncorrelated across clients *)

Section Noise.
Context {V : space}.
Variables (a r : law) (x : nat -> nat -> V).

(** [x k o] is the noise of client [k] in outcome [o] of the law [r]. *)
Definition uncorrelated := forall i j, i <> j -> E r (fun o => ip (x i o) (x j o)) = 0.

Lemma uncorrelated_mean : uncorrelated ->
  E r (fun o => sq (vE a (fun k => x k o))) = sum (size a) (fun k => weight a k ^ 2 * E r (fun o => sq (x k o))).
Proof.
  intro h. transitivity (E r (fun o => sum (size a) (fun i => sum (size a) (fun j =>
    weight a i * weight a j * ip (x i o) (x j o))))).
  { apply E_ext. intros o _. unfold vE. rewrite sq_vsum. apply sum_ext. intros i _. apply sum_ext. intros j _.
    rewrite ip_scale, ip_scale_r. ring. }
  rewrite E_sum. apply sum_ext. intros i hi. rewrite E_sum.
  rewrite (sum_pick _ i) by (try easy; intros j _ hj; rewrite E_scal, h by auto; ring).
  rewrite E_scal. unfold sq. ring.
Qed.

Lemma uncorrelated_mean_le sigma2 : uncorrelated -> (forall k, E r (fun o => sq (x k o)) <= sigma2) ->
  E r (fun o => sq (vE a (fun k => x k o))) <= sigma2 * sum (size a) (fun k => weight a k ^ 2).
Proof.
  intros h hs. rewrite uncorrelated_mean, <- sum_scal by easy. apply sum_le. intros k _. rewrite Rmult_comm.
  apply Rmult_le_compat_r; [pos | easy].
Qed.
End Noise.

Lemma squares_le_one (a : law) : sum (size a) (fun k => weight a k ^ 2) <= 1.
Proof.
  rewrite <- (weight_sum a). apply sum_le. intros k hk. pose proof (weight_pos a k). pose proof (weight_le_one a k hk).
  nra.
Qed.

(** ** FedALIGN, Lemma A.5: [past] fixes the weights [a o] of the included clients, [r o] is the law of the noise
    then *)

Section GradientVariance.
Context {V : space}.
Variables (past : law) (a r : nat -> law) (noise : nat -> nat -> nat -> V) (sigma2 : R).
Hypothesis unrelated : forall o, uncorrelated (r o) (noise o).
Hypothesis variance : forall o k, E (r o) (fun b => sq (noise o k b)) <= sigma2.

Theorem fedalign_gradient_variance :
  E past (fun o => E (r o) (fun b => sq (vE (a o) (fun k => noise o k b))))
    <= sigma2 * E past (fun o => sum (size (a o)) (fun k => weight (a o) k ^ 2)).
Proof. rewrite <- E_scal. apply E_le. intro o. now apply uncorrelated_mean_le. Qed.

Theorem fedalign_gradient_variance_printed :
  E past (fun o => E (r o) (fun b => sq (vE (a o) (fun k => noise o k b)))) <= sigma2.
Proof.
  rewrite <- (E_const past sigma2). apply E_le. intro o.
  apply Rle_trans with (1 := uncorrelated_mean_le (a o) (r o) (noise o) sigma2 (unrelated o) (variance o)).
  pose proof (squares_le_one (a o)) as h.
  assert (0 <= sigma2) by (apply Rle_trans with (2 := variance o O); apply E_pos; intro; apply sq_pos). nra.
Qed.
End GradientVariance.

(** ** Client drift

    In outcome [o] the active clients have the weights [a o], and their models start at [u o] and make the steps
    eta 0, ..., eta (j - 1) along [g k 0 o], ..., [g k (j - 1) o]. *)

Section Drift.
Context {V : space}.
Variables (past : law) (a : nat -> law) (u : nat -> V) (g : nat -> nat -> nat -> V) (eta : nat -> R) (j : nat) (G2 : R).
Hypothesis steps : forall s, 0 <= eta s.
Hypothesis gradients : forall s, (s < j)%nat -> E past (fun o => E (a o) (fun k => sq (g k s o))) <= G2.

Definition model k o : V := (u o - vsum j (fun s => (eta s * g k s o)%V))%V.
Definition average o : V := vE (a o) (fun k => model k o).

(** The mean squared distance from the round's start. *)
Lemma way_le : E past (fun o => E (a o) (fun k => sq (model k o - u o))) <= (sum j eta)^2 * G2.
Proof.
  apply Rle_trans with (sum j eta * sum j (fun s => eta s * E past (fun o => E (a o) (fun k => sq (g k s o))))).
  - apply Rle_trans with
      (E past (fun o => E (a o) (fun k => sum j eta * sum j (fun s => eta s * sq (g k s o))))).
    + apply E_le. intro o. apply E_le. intro k. unfold model.
      replace (sq _) with (sq (vsum j (fun s => (eta s * g k s o)%V))) by (ips; ring). now apply sq_vsum_le.
    + right. transitivity (E past (fun o => sum j eta * sum j (fun s => eta s * E (a o) (fun k => sq (g k s o))))).
      * apply E_ext. intros o _. rewrite E_scal, E_sum. f_equal. apply sum_ext. intros. apply E_scal.
      * rewrite E_scal, E_sum. f_equal. apply sum_ext. intros. apply E_scal.
  - replace ((sum j eta)^2 * G2) with (sum j eta * sum j (fun s => eta s * G2)) by (rewrite sum_scal_r; ring).
    apply Rmult_le_compat_l; [apply sum_pos; auto |]. apply sum_le. intros s hs. apply Rmult_le_compat_l; auto.
Qed.

Lemma drift_le : E past (fun o => E (a o) (fun k => sq (model k o - average o))) <= (sum j eta)^2 * G2.
Proof. apply Rle_trans with (2 := way_le). apply E_le. intro o. apply spread_le. Qed.

Lemma average_le : E past (fun o => sq (average o - u o)) <= (sum j eta)^2 * G2.
Proof. apply Rle_trans with (2 := way_le). apply E_le. intro o. apply jensen. Qed.

(** Steps that at most halve within the round. *)
Lemma halving_le (last : R) (tau : nat) : 0 <= G2 -> 0 <= last -> (j <= tau - 1)%nat -> (1 <= tau)%nat ->
  (forall s, (s < j)%nat -> eta s <= 2 * last) -> (sum j eta)^2 * G2 <= 4 * last^2 * (INR tau - 1)^2 * G2.
Proof.
  intros hG hl hj ht h. apply Rmult_le_compat_r; [easy |].
  assert (0 <= sum j eta) by (apply sum_pos; auto).
  assert (b : sum j eta <= INR j * (2 * last)) by (rewrite <- sum_const; now apply sum_le).
  assert (INR j <= INR tau - 1) by (apply le_INR in hj; now rewrite minus_INR in hj by lia).
  pose proof (pos_INR j).
  replace (4 * last^2 * (INR tau - 1)^2) with (((INR tau - 1) * (2 * last))^2) by ring.
  apply pow_incr. split; [easy |]. nra.
Qed.
End Drift.
Arguments model {V} u g eta j k o.
Arguments average {V} a u g eta j o.

Section DriftTheorems.
Context {V : space}.
Variables (past : law) (u : nat -> V) (g : nat -> nat -> nat -> V) (eta : nat -> R) (last : R) (j tau : nat) (G2 : R).
Hypothesis steps : forall s, 0 <= eta s.
Hypothesis halving : forall s, (s < j)%nat -> eta s <= 2 * last.
Hypothesis in_round : (j <= tau - 1)%nat /\ (1 <= tau)%nat.
Hypothesis positive : 0 <= last /\ 0 <= G2.

(** Lemma B.2 of Power-of-Choice: m active clients, any selection. *)
Theorem power_of_choice_client_drift m (hm : (0 < m)%nat) :
  (forall s, (s < j)%nat -> E past (fun o => E (uniform m hm) (fun k => sq (g k s o))) <= G2) ->
  E past (fun o => E (uniform m hm) (fun k =>
    sq (average (fun _ => uniform m hm) u g eta j o - model u g eta j k o))) <= 4 * last^2 * (INR tau - 1)^2 * G2.
Proof.
  intro h. apply Rle_trans with (2 := halving_le eta j G2 steps last tau (proj2 positive) (proj1 positive)
    (proj1 in_round) (proj2 in_round) halving).
  apply Rle_trans with (2 := drift_le past (fun _ => uniform m hm) u g eta j G2 steps h).
  right. apply E_ext. intros o _. apply E_ext. intros k _. ips. ring.
Qed.

Theorem power_of_choice_client_drift_printed m (hm : (0 < m)%nat) :
  (forall s, (s < j)%nat -> E past (fun o => E (uniform m hm) (fun k => sq (g k s o))) <= G2) ->
  E past (fun o => E (uniform m hm) (fun k =>
    sq (average (fun _ => uniform m hm) u g eta j o - model u g eta j k o))) <= 16 * last^2 * INR tau^2 * G2.
Proof.
  intro h. apply Rle_trans with (1 := power_of_choice_client_drift m hm h).
  apply Rmult_le_compat_r; [easy |]. destruct in_round as [_ ht]. apply le_INR in ht. cbn in ht. nra.
Qed.

(** Lemma A.4 of FedALIGN: the indicators of the round, and with them the weights, are known in outcome [o]. *)
Theorem fedalign_client_drift (a : nat -> law) :
  (forall s, (s < j)%nat -> E past (fun o => E (a o) (fun k => sq (g k s o))) <= G2) ->
  E past (fun o => E (a o) (fun k => sq (model u g eta j k o - average a u g eta j o)))
    <= 4 * last^2 * (INR tau - 1)^2 * G2.
Proof.
  intro h. apply Rle_trans with (2 := halving_le eta j G2 steps last tau (proj2 positive) (proj1 positive)
    (proj1 in_round) (proj2 in_round) halving).
  now apply drift_le.
Qed.
End DriftTheorems.
