(** Optimal Client Sampling with local steps: the drift of the clients, and the second moment of the server's step.

    The clients' noises are independent of each other: [past i s o o'] says that what client i has seen before its
    step s is the same in outcomes [o] and [o'], and [own i o o'] that all its noise is. *)

From FedTheory Require Export Sampling.

Section Local.
Context {V : space}.
Variables (weights noise : law) (f : nat -> V -> R) (g : nat -> V -> V) (x : V).
Variables (past : nat -> nat -> nat -> nat -> Prop) (own : nat -> nat -> nat -> Prop) (xi : nat -> nat -> nat -> V).
Variables (steps : nat) (eta_l M sigma2 L : R).
Local Notation n := (size weights).
Local Notation w := (weight weights).
Local Notation r := (INR steps).
Local Notation gradF := (mean_gradient weights g).

(** Client i starts at the server's model x and makes local steps. *)
Fixpoint local_path i s a : V :=
  match s with O => x | S s => (local_path i s a - eta_l * (g i (local_path i s a) + xi i s a))%V end.
(** The update of a client, in the units of a gradient. *)
Definition update i a : V := (/ (r * eta_l) * (x - local_path i steps a))%V.

Definition measurable {A : Type} (same_for : nat -> nat -> Prop) (Z : nat -> A) := forall o o', same_for o o' ->
  Z o = Z o'.
Record local_noise : Prop := {
  more_known : forall i s o o', past i (S s) o o' -> past i s o o';
  noise_seen : forall i s, measurable (past i (S s)) (xi i s);
  noise_own : forall i s, measurable (own i) (xi i s);
  local_unbiased : forall i s (Z : nat -> V), measurable (past i s) Z -> E noise (fun a => ip (xi i s a) (Z a)) = 0;
  independent_clients : forall i j s (Z : nat -> V), i <> j -> measurable (own j) Z ->
    E noise (fun a => ip (xi i s a) (Z a)) = 0;
  local_variance : forall i s, E noise (fun a => sq (xi i s a)) <= M * E noise (fun a => sq (g i (local_path i s a)))
    + sigma2
}.
Hypothesis N : local_noise.
Hypothesis steps_pos : (0 < steps)%nat.
Hypothesis eta_l_pos : 0 < eta_l.
Hypothesis constants : 0 <= M /\ 0 <= sigma2 /\ 0 < L.
Hypothesis smooth_clients : forall i, smooth L (f i) (g i).

Lemma r_pos : 1 <= r.
Proof. apply (le_INR 1). lia. Qed.

Lemma past_grows i s t o o' : (s <= t)%nat -> past i t o o' -> past i s o o'.
Proof. intros h. induction h as [| t h IH]; intro k; [easy |]. apply IH. now apply (more_known N). Qed.
Lemma path_seen i s : measurable (past i s) (local_path i s).
Proof.
  induction s as [| s IH]; intros o o' h; cbn [local_path]; [easy |].
  rewrite (IH o o' (more_known N i s o o' h)), (noise_seen N i s o o' h). reflexivity.
Qed.
Lemma path_own i s : measurable (own i) (local_path i s).
Proof. induction s as [| s IH]; intros o o' h; cbn [local_path]; [easy |].
rewrite (IH o o' h), (noise_own N i s o o' h). reflexivity. Qed.

(** *** Averages over the local steps *)
Definition h i a : V := (/ r * vsum steps (fun s => g i (local_path i s a)))%V.
Definition zeta i a : V := (/ r * vsum steps (fun s => xi i s a))%V.

Lemma path_total i s a : same (x - local_path i s a) (eta_l * vsum s (fun t => (g i (local_path i t a) + xi i t a)%V)).
Proof.
  intro v. rewrite ip_sub, ip_scale. induction s as [| s IH]; cbn [local_path vsum]; [ips; ring |].
  rewrite (ip_sub (local_path i s a)), ip_scale, (ip_add (vsum _ _)), Rmult_plus_distr_l, <- IH. ring.
Qed.
Lemma update_split i a : same (update i a) (h i a + zeta i a).
Proof.
  intro v. unfold update, h, zeta. rewrite ip_add, !ip_scale, (path_total i steps a v), ip_scale, !ip_vsum.
  rewrite (sum_ext steps (fun t => ip (g i (local_path i t a) + xi i t a) v)
    (fun t => ip (g i (local_path i t a)) v + ip (xi i t a) v)) by (intros; apply ip_add).
  rewrite sum_add. pose proof r_pos. field. split; lra.
Qed.

(** The drift of a client, and the mean squared gradient on its way. *)
Definition drift_of i : R := / r * sum steps (fun s => E noise (fun a => sq (local_path i s a - x))).
Definition way_gradient2 i : R := / r * sum steps (fun s => E noise (fun a => sq (g i (local_path i s a)))).
Definition drift : R := E weights drift_of.
Lemma drift_of_pos i : 0 <= drift_of i.
Proof. pose proof r_pos. apply Rmult_le_pos; [left; apply Rinv_0_lt_compat; lra | apply sum_pos; intros; apply E_pos;
  intro; apply sq_pos]. Qed.
Lemma drift_pos : 0 <= drift.
Proof. apply E_pos. apply drift_of_pos. Qed.

(** Jensen's inequality for the local steps. *)
Lemma mean_square_le (y : nat -> nat -> V) : E noise (fun a => sq (/ r * vsum steps (fun s => y s a)))
  <= / r * sum steps (fun s => E noise (fun a => sq (y s a))).
Proof.
  pose proof r_pos. rewrite <- E_sum, <- E_scal. apply E_le. intro a.
  pose proof (jensen_zero (uniform steps steps_pos) (fun s => y s a)) as j.
  replace (sq (vE (uniform steps steps_pos) (fun s => y s a))) with (sq (/ r * vsum steps (fun s => y s a))) in j.
  - apply Rle_trans with (1 := j). right. unfold E. cbn [uniform size weight]. now rewrite sum_scal.
  - apply same_sq. intro v. rewrite ip_scale, ip_vsum, ip_vE. unfold E. cbn [uniform size weight]. now rewrite sum_scal.
Qed.

Lemma h_near i : E noise (fun a => sq (h i a - g i x)) <= L^2 * drift_of i.
Proof.
  pose proof r_pos. destruct constants as (_ & _ & hL).
  apply Rle_trans with (E noise (fun a => sq (/ r * vsum steps (fun s => g i (local_path i s a) - g i x)%V))).
  - right. apply E_ext. intros a _. apply same_sq. intro v. unfold h. rewrite ip_sub, !ip_scale, !ip_vsum.
    rewrite (sum_ext steps (fun s => ip (g i (local_path i s a) - g i x) v)
      (fun s => ip (g i (local_path i s a)) v - ip (g i x) v)) by (intros; apply ip_sub).
    rewrite sum_sub, sum_const. field. lra.
  - apply Rle_trans with (1 := mean_square_le (fun s a => (g i (local_path i s a) - g i x)%V)). unfold drift_of.
    replace (L^2 * (/ r * sum steps (fun s => E noise (fun a => sq (local_path i s a - x))))) with
      (/ r * sum steps (fun s => L^2 * E noise (fun a => sq (local_path i s a - x))))
      by (rewrite sum_scal; ring).
    apply Rmult_le_compat_l; [left; apply Rinv_0_lt_compat; lra |]. apply sum_le. intros s _. rewrite <- E_scal.
    apply E_le. intro a.
    apply (smooth_lipschitz L (f i)); [lra | apply smooth_clients].
Qed.

Lemma h_square i : E noise (fun a => sq (h i a)) <= way_gradient2 i.
Proof. apply (mean_square_le (fun s a => g i (local_path i s a))). Qed.

Lemma way_gradient_le d i : 0 < d -> way_gradient2 i <= (1 + d) * sq (g i x) + (1 + / d) * (L^2 * drift_of i).
Proof.
  intro hd. pose proof r_pos. destruct constants as (_ & _ & hL). assert (hd' : 0 < / d) by now apply Rinv_0_lt_compat.
  unfold way_gradient2, drift_of.
  replace ((1 + d) * sq (g i x) + (1 + / d) * (L^2 * (/ r * sum steps
    (fun s => E noise (fun a => sq (local_path i s a - x))))))
    with (/ r * sum steps (fun s => (1 + d) * sq (g i x) + (1 + / d) * L^2 * E noise
      (fun a => sq (local_path i s a - x))))
    by (rewrite sum_add, sum_const, sum_scal; field; lra).
  apply Rmult_le_compat_l; [left; apply Rinv_0_lt_compat; lra |]. apply sum_le. intros s _.
  rewrite <- (E_const noise ((1 + d) * sq (g i x))), <- E_scal, <- E_plus. apply E_le. intro a.
  set (y := local_path i s a). pose proof (smooth_lipschitz L (f i) (g i) x y ltac:(lra) (smooth_clients i)) as sl.
  pose proof (young d (g i x) (g i y - g i x)%V hd) as yg.
  replace (sq (g i y)) with (sq (g i x) + 2 * ip (g i x) (g i y - g i x) + sq (g i y - g i x)) by (ips; ring).
  apply (Rmult_le_compat_l (1 + / d)) in sl; [| lra]. lra.
Qed.

Lemma noises_uncorrelated i s t : s <> t -> E noise (fun a => ip (xi i s a) (xi i t a)) = 0.
Proof.
  assert (q : forall s t, (s < t)%nat -> E noise (fun a => ip (xi i t a) (xi i s a)) = 0).
  { intros s' t' lt. apply (local_unbiased N). intros o o' k. apply (noise_seen N i s').
    now apply (past_grows i (S s') t'). }
  intro e. destruct (Nat.lt_ge_cases s t) as [l | l].
  - rewrite <- (q s t l). apply E_ext. intros. apply ip_sym.
  - apply q. lia.
Qed.

Lemma zeta_square i : E noise (fun a => sq (zeta i a)) <= M / r * way_gradient2 i + sigma2 / r.
Proof.
  pose proof r_pos. unfold zeta.
  assert (e : E noise (fun a => sq (/ r * vsum steps (fun s => xi i s a)))
    = (/ r)^2 * sum steps (fun s => E noise (fun a => sq (xi i s a)))).
  { rewrite <- E_sum, <- E_scal. transitivity ((/ r)^2 * E noise
      (fun a => sum steps (fun s => sum steps (fun t => ip (xi i s a) (xi i t a))))).
    - rewrite <- E_scal. apply E_ext. intros a _. rewrite <- sq_vsum. ips. ring.
    - rewrite E_scal. f_equal. rewrite !E_sum. apply sum_ext. intros s hs. rewrite E_sum, (sum_pick steps s _ hs);
        [reflexivity |].
      intros t ht ne. apply noises_uncorrelated. auto. }
  rewrite e. unfold way_gradient2.
  replace (M / r * (/ r * sum steps (fun s => E noise (fun a => sq (g i (local_path i s a))))) + sigma2 / r)
    with ((/ r)^2 * sum steps (fun s => M * E noise (fun a => sq (g i (local_path i s a))) + sigma2))
      by (rewrite sum_add, sum_const, sum_scal; field; lra).
  apply Rmult_le_compat_l; [apply pow2_ge_0 |]. apply sum_le. intros s _. apply (local_variance N).
Qed.

Lemma zeta_mean i v : E noise (fun a => ip (zeta i a) v) = 0.
Proof.
  unfold zeta. rewrite (E_ext noise _ (fun a => / r * sum steps (fun s => ip (xi i s a) v)))
    by (intros; rewrite ip_scale, ip_vsum; easy).
  rewrite E_scal, E_sum, (sum_zero steps); [ring |]. intros s _. apply (local_unbiased N i s (fun _ => v)). easy.
Qed.

(** Noise and gradients of one client are correlated, those of different clients are not. *)
Lemma own_product e i : 0 < e -> 2 * E noise (fun a => ip (h i a) (zeta i a)) <= / e * (L^2 * drift_of i)
  + e * E noise (fun a => sq (zeta i a)).
Proof.
  intro he. assert (he' : 0 < / e) by now apply Rinv_0_lt_compat.
  assert (c : E noise (fun a => ip (h i a) (zeta i a)) = E noise (fun a => ip (h i a - g i x) (zeta i a))).
  { rewrite (E_ext noise (fun a => ip (h i a - g i x) (zeta i a))
      (fun a => ip (h i a) (zeta i a) - ip (zeta i a) (g i x)))
      by (intros; rewrite ip_sub, (ip_sym (g i x)); ring). rewrite E_minus, zeta_mean. ring. }
  rewrite c. apply Rle_trans with (E noise (fun a => / e * sq (h i a - g i x) + e * sq (zeta i a))).
  - rewrite <- E_scal. apply E_le. intro a. pose proof (young (/ e) (h i a - g i x)%V (zeta i a) he') as yg.
    rewrite Rinv_inv in yg. exact yg.
  - rewrite E_plus, !E_scal. apply Rplus_le_compat_r. apply Rmult_le_compat_l; [lra | apply h_near].
Qed.
Lemma cross_gradient i j : i <> j -> E noise (fun a => ip (h i a) (zeta j a)) = 0.
Proof.
  intro ne. rewrite (E_ext noise _ (fun a => / r * sum steps (fun t => ip (xi j t a) (h i a))))
    by (intros; unfold zeta; rewrite ip_scale_r, ip_vsum_r; f_equal; apply sum_ext; intros; apply ip_sym).
  rewrite E_scal, E_sum, (sum_zero steps); [ring |]. intros t _. apply (independent_clients N j i t); [auto |].
  intros o o' k. unfold h. f_equal. assert (q : forall m, vsum m (fun s => g i (local_path i s o))
    = vsum m (fun s => g i (local_path i s o'))); [| apply q].
  induction m as [| m IH]; [easy |]. cbn [vsum]. rewrite IH, (path_own i m o o' k). reflexivity.
Qed.
Lemma cross_noise i j : i <> j -> E noise (fun a => ip (zeta i a) (zeta j a)) = 0.
Proof.
  intro ne. rewrite (E_ext noise _ (fun a => / r * sum steps (fun t => ip (xi j t a) (zeta i a))))
    by (intros; unfold zeta at 2; rewrite ip_scale_r, ip_vsum_r; f_equal; apply sum_ext; intros; apply ip_sym).
  rewrite E_scal, E_sum, (sum_zero steps); [ring |]. intros t _. apply (independent_clients N j i t); [auto |].
  intros o o' k. unfold zeta. f_equal. assert (q : forall m, vsum m (fun s => xi i s o) = vsum m (fun s => xi i s o'));
    [| apply q].
  induction m as [| m IH]; [easy |]. cbn [vsum]. rewrite IH, (noise_own N i m o o' k). reflexivity.
Qed.

(** The mean update: only the products of each client with itself are left. *)
Lemma mean_update_square : E noise (fun a => sq (vE weights (fun i => update i a)))
  = E noise (fun a => sq (vE weights (fun i => h i a)))
    + sum n (fun i => w i ^ 2 * (2 * E noise (fun a => ip (h i a) (zeta i a)) + E noise (fun a => sq (zeta i a)))).
Proof.
  transitivity (E noise (fun a => sq (vE weights (fun i => h i a))
    + (2 * ip (vE weights (fun i => h i a)) (vE weights (fun i => zeta i a))
    + sq (vE weights (fun i => zeta i a))))).
  - apply E_ext. intros a _. transitivity (sq (vE weights (fun i => h i a) + vE weights (fun i => zeta i a)));
      [| ips; ring].
    apply same_sq. intro v. rewrite ip_add, !ip_vE, <- E_plus. apply E_ext. intros i _.
    now rewrite (update_split i a v), ip_add.
  - rewrite E_plus. f_equal. rewrite (E_ext noise _ (fun a => sum n
      (fun i => sum n (fun j => w i * w j * (2 * ip (h i a) (zeta j a) + ip (zeta i a) (zeta j a)))))).
    + rewrite E_sum. apply sum_ext. intros i hi. rewrite E_sum, (sum_pick n i _ hi).
      * rewrite E_scal, E_plus, E_scal. unfold sq. ring.
      * intros j hj ne. rewrite E_scal, E_plus, E_scal, (cross_gradient i j) by auto. rewrite (cross_noise i j) by auto.
        ring.
    + intros a _. unfold sq. rewrite !ip_vE. unfold E. rewrite <- sum_scal, <- sum_add. apply sum_ext. intros i _.
      rewrite !ip_vE_r. unfold E. rewrite <- !sum_scal, <- sum_add. apply sum_ext. intros j _. ring.
Qed.

Lemma update_square i : E noise (fun a => sq (update i a))
  = E noise (fun a => sq (h i a)) + (2 * E noise (fun a => ip (h i a) (zeta i a)) + E noise (fun a => sq (zeta i a))).
Proof.
  rewrite <- E_scal, <- !E_plus. apply E_ext. intros a _. rewrite (same_sq _ _ (update_split i a)). ips. ring.
Qed.

Lemma mean_h_square d : 0 < d -> E noise (fun a => sq (vE weights (fun i => h i a))) <= (1 + d) * sq (gradF x)
  + (1 + / d) * (L^2 * drift).
Proof.
  intro hd. assert (hd' : 0 < / d) by now apply Rinv_0_lt_compat.
  assert (b : E noise (fun a => sq (vE weights (fun i => (h i a - g i x)%V))) <= L^2 * drift).
  { apply Rle_trans with (E noise (fun a => E weights (fun i => sq (h i a - g i x))));
      [apply E_le; intro; apply jensen_zero |].
    rewrite E_swap. unfold drift. rewrite <- E_scal. apply E_le. apply h_near. }
  apply Rle_trans with (E noise (fun a => (1 + d) * sq (gradF x)
    + (1 + / d) * sq (vE weights (fun i => (h i a - g i x)%V)))).
  - apply E_le. intro a. set (q := vE weights (fun i => (h i a - g i x)%V)).
    assert (e : same (vE weights (fun i => h i a)) (gradF x + q)).
    { intro v. unfold q. rewrite ip_add, (vE_sub weights (fun i => h i a) (fun i => g i x) v), ip_sub.
      unfold mean_gradient. ring. }
    rewrite (same_sq _ _ e). pose proof (young d (gradF x) q hd) as yg.
    replace (sq (gradF x + q)) with (sq (gradF x) + 2 * ip (gradF x) q + sq q) by (ips; ring). lra.
  - Es. apply Rplus_le_compat_l. apply Rmult_le_compat_l; lra.
Qed.

(** ** The second moment of the server's step, with Young's constants [e] and [d] *)
Section SecondMoment.
Variables (p : nat -> nat -> R) (draw : nat -> law) (chosen : nat -> nat -> nat -> R) (gamma W S2 e d : R).
Hypothesis sampling : forall a, independent_sampling (p a) (draw a) (chosen a).
Hypothesis support : forall a, proper (p a) (sent weights update a).
Hypothesis factor : improvement weights noise update p gamma.
Hypothesis gamma_range : 0 < gamma <= 1.
Hypothesis squares : S2 = sum n (fun i => w i ^ 2).
Hypothesis largest : forall i, (i < n)%nat -> w i <= W.
Hypothesis at_most_one : W <= 1.
Hypothesis young_constants : 0 < e /\ 0 < d.
Definition server_direction a b : V := estimate weights update p chosen a b.
Let k := (/ gamma - 1) + (1 + e) * (M / r) / gamma.

Lemma second_moment_with :
  E2 noise draw (fun a b => sq (server_direction a b))
    <= (1 + d) * k * sum n (fun i => w i ^ 2 * sq (g i x)) + (1 + d) * sq (gradF x)
      + L^2 * (W * ((1 + / d) * k + / e / gamma) + (1 + / d)) * drift + (1 + e) * (sigma2 * S2 / (r * gamma)).
Proof.
  pose proof r_pos as hr. destruct constants as (hM & hs & hL). destruct young_constants as (he & hd).
  assert (hg : 1 <= / gamma) by (rewrite <- Rinv_1; apply Rinv_le_contravar; lra).
  assert (he' : 0 < / e) by now apply Rinv_0_lt_compat. assert (hd' : 0 < / d) by now apply Rinv_0_lt_compat.
  assert (hMr : 0 <= M / r) by (apply Rmult_le_pos; [easy | left; apply Rinv_0_lt_compat; lra]).
  assert (hk : 0 <= k) by (unfold k, Rdiv; assert (0 <= (1 + e) * (M * / r) * / gamma)
    by (apply Rmult_le_pos; [apply Rmult_le_pos; [lra | easy] | lra]); lra).
  unfold E2, server_direction. rewrite (optimal_client_sampling_estimator_second_moment weights noise update p draw
    chosen sampling support gamma factor).
  rewrite mean_update_square. unfold spread2.
  set (X i := 2 * E noise (fun a => ip (h i a) (zeta i a)) + E noise (fun b => sq (zeta i b))).
  change (sum n (fun i => w i ^ 2 * (2 * E noise (fun a => ip (h i a) (zeta i a)) + E noise (fun b => sq (zeta i b)))))
    with (sum n (fun i => w i ^ 2 * X i)).
  replace (1 / gamma) with (/ gamma) by (field; lra).
  assert (t1 : (/ gamma - 1) * sum n (fun i => w i ^ 2 * E noise (fun a => sq (update i a)))
    + sum n (fun i => w i ^ 2 * X i)
    = sum n (fun i => w i ^ 2 * ((/ gamma - 1) * E noise (fun a => sq (h i a)) + / gamma * X i))).
  { rewrite <- sum_scal, <- sum_add. apply sum_ext. intros i _. rewrite update_square. fold (X i). ring. }
  assert (t2 : sum n (fun i => w i ^ 2 * ((/ gamma - 1) * E noise (fun a => sq (h i a)) + / gamma * X i))
    <= sum n (fun i => w i ^ 2 * ((1 + d) * k * sq (g i x) + L^2 * ((1 + / d) * k + / e / gamma) * drift_of i
      + (1 + e) * (sigma2 / (r * gamma))))).
  { apply sum_le. intros i _. apply Rmult_le_compat_l; [apply pow2_ge_0 |].
    pose proof (h_square i) as a1. pose proof (zeta_square i) as a2. pose proof (own_product e i he) as a3.
    pose proof (way_gradient_le d i hd) as a4.
    set (Gi := way_gradient2 i) in *. set (Zi := E noise (fun a => sq (zeta i a))) in *.
    assert (b1 : X i <= / e * (L^2 * drift_of i) + (1 + e) * (M / r * Gi + sigma2 / r)).
    { unfold X. fold Zi. assert ((1 + e) * Zi <= (1 + e) * (M / r * Gi + sigma2 / r)) by (apply Rmult_le_compat_l; lra).
      lra. }
    apply (Rmult_le_compat_l (/ gamma)) in b1; [| lra]. apply (Rmult_le_compat_l (/ gamma - 1)) in a1; [| lra].
    apply Rle_trans with (k * Gi + L^2 * (/ e / gamma) * drift_of i + (1 + e) * (sigma2 / (r * gamma))).
    - replace (k * Gi + L^2 * (/ e / gamma) * drift_of i + (1 + e) * (sigma2 / (r * gamma)))
        with ((/ gamma - 1) * Gi + / gamma * (/ e * (L^2 * drift_of i) + (1 + e) * (M / r * Gi + sigma2 / r)))
          by (unfold k; field; repeat split; lra). lra.
    - apply (Rmult_le_compat_l k) in a4; [| easy]. lra. }
  assert (t3 : sum n (fun i => w i ^ 2 * ((1 + d) * k * sq (g i x) + L^2 * ((1 + / d) * k + / e / gamma) * drift_of i
    + (1 + e) * (sigma2 / (r * gamma))))
    = (1 + d) * k * sum n (fun i => w i ^ 2 * sq (g i x)) + L^2 * ((1 + / d) * k + / e / gamma) * sum n
      (fun i => w i ^ 2 * drift_of i) + (1 + e) * (sigma2 * S2 / (r * gamma))).
  { rewrite squares. transitivity (sum n (fun i => (1 + d) * k * (w i ^ 2 * sq (g i x))
      + L^2 * ((1 + / d) * k + / e / gamma) * (w i ^ 2 * drift_of i) + (1 + e) * (sigma2 / (r * gamma)) * w i ^ 2)).
    - apply sum_ext. intros. ring.
    - rewrite !sum_add, !sum_scal. field. split; lra. }
  pose proof (largest_weight weights W largest drift_of drift_of_pos) as t4. fold drift in t4.
  pose proof (mean_h_square d hd) as t5.
  assert (c : 0 <= L^2 * ((1 + / d) * k + / e / gamma)).
  { apply Rmult_le_pos; [apply pow2_ge_0 |]. assert (0 <= (1 + / d) * k) by (apply Rmult_le_pos; lra). unfold Rdiv.
    assert (0 < / e * / gamma) by (apply Rmult_lt_0_compat; lra). lra. }
  apply (Rmult_le_compat_l (L^2 * ((1 + / d) * k + / e / gamma))) in t4; [| easy]. lra.
Qed.

Lemma second_moment_with_constants : e = 1 / 3 -> d = 1 / 2 ->
  E2 noise draw (fun a b => sq (server_direction a b))
    <= 2 * ((1 + M / r) / gamma - 1) * sum n (fun i => w i ^ 2 * sq (g i x)) + 3 / 2 * sq (gradF x)
      + 6 * L^2 * ((1 + W * M / r) / gamma) * drift + 4 * sigma2 / (3 * r * gamma) * S2.
Proof.
  intros ee ed. pose proof second_moment_with as h0. pose proof r_pos as hr. destruct constants as (hM & hs & hL).
  pose proof (W_pos weights W largest) as hW. pose proof drift_pos as hdr.
  assert (hg : 1 <= / gamma) by (rewrite <- Rinv_1; apply Rinv_le_contravar; lra).
  assert (hMr : 0 <= M / r) by (apply Rmult_le_pos; [easy | left; apply Rinv_0_lt_compat; lra]).
  set (ig := / gamma) in *. set (m := M / r) in *.
  assert (hq : 0 <= sum n (fun i => w i ^ 2 * sq (g i x))) by (apply sum_pos; intros; apply Rmult_le_pos;
    [apply pow2_ge_0 | apply sq_pos]).
  assert (k1 : (1 + d) * k <= 2 * ((1 + m) / gamma - 1)).
  { unfold k, Rdiv. fold ig. change (M * / r) with m. rewrite ee, ed. lra. }
  assert (mi : 0 <= m * ig) by (apply Rmult_le_pos; lra). assert (W0 : 0 <= W * (m * ig)) by (apply Rmult_le_pos; lra).
  assert (k2 : W * ((1 + / d) * k + / e / gamma) + (1 + / d) <= 6 * ((1 + W * M / r) / gamma)).
  { replace (W * M / r) with (W * m) by (unfold m; field; lra). unfold k, Rdiv. fold ig. change (M * / r) with m.
    rewrite ee, ed.
    replace (/ (1 / 3)) with 3 by field. replace (/ (1 / 2)) with 2 by field.
    assert (0 <= (1 - W) * (ig - 1)) by (apply Rmult_le_pos; lra). nra. }
  apply Rle_trans with (1 := h0). apply Rplus_le_compat; [apply Rplus_le_compat; [apply Rplus_le_compat |] |].
  - now apply Rmult_le_compat_r.
  - rewrite ed. right. field.
  - apply Rmult_le_compat_r; [easy |]. replace (6 * L^2 * ((1 + W * M / r) / gamma)) with
      (L^2 * (6 * ((1 + W * M / r) / gamma))) by ring.
    apply Rmult_le_compat_l; [apply pow2_ge_0 | exact k2].
  - rewrite ee. right. field. split; lra.
Qed.
End SecondMoment.

Theorem optimal_client_sampling_fedavg_second_moment (p : nat -> nat -> R) (draw : nat -> law)
    (chosen : nat -> nat -> nat -> R) (gamma W S2 : R) :
  (forall a, independent_sampling (p a) (draw a) (chosen a)) -> (forall a, proper (p a) (sent weights update a)) ->
  improvement weights noise update p gamma -> 0 < gamma <= 1 -> S2 = sum n (fun i => w i ^ 2) ->
  (forall i, (i < n)%nat -> w i <= W) -> W <= 1 ->
  E2 noise draw (fun a b => sq (server_direction p chosen a b))
    <= 2 * ((1 + M / r) / gamma - 1) * sum n (fun i => w i ^ 2 * sq (g i x)) + 3 / 2 * sq (gradF x)
      + 6 * L^2 * ((1 + W * M / r) / gamma) * drift + 4 * sigma2 / (3 * r * gamma) * S2.
Proof.
  intros. apply (second_moment_with_constants p draw chosen gamma W S2 (1 / 3) (1 / 2)); try easy. lra.
Qed.

(** ** The drift *)
Section Drift.
Variables (eta_g : R).
Let eta := r * eta_l * eta_g.
Hypothesis server : 1 <= eta_g.
Hypothesis short : eta <= / (8 * L * (2 + M / r)).

Lemma B_quarter B : 0 <= B -> B / (1 + B)^2 <= 1 / 4.
Proof.
  intro hB. apply Rmult_le_reg_r with (4 * (1 + B)^2); [nra |].
  replace (B / (1 + B)^2 * (4 * (1 + B)^2)) with (4 * B) by (field; lra).
  replace (1 / 4 * (4 * (1 + B)^2)) with ((1 + B)^2) by (field; lra). pose proof (pow2_ge_0 (1 - B)). lra.
Qed.

Lemma eta_sq : (r * eta_l)^2 <= eta^2 /\ (1 + M / r) * (L * eta)^2 <= 1 / 256 /\ L * eta <= 1 / 16.
Proof.
  pose proof r_pos as hr. destruct constants as (hM & hs & hL).
  assert (hre : 0 < r * eta_l) by (apply Rmult_lt_0_compat; lra).
  assert (hMr : 0 <= M / r) by (apply Rmult_le_pos; [easy | left; apply Rinv_0_lt_compat; lra]).
  assert (e0 : r * eta_l <= eta) by (unfold eta; rewrite <- (Rmult_1_r (r * eta_l)) at 1; apply Rmult_le_compat_l; lra).
  assert (he : 0 < eta) by lra.
  assert (hLe : L * eta * (2 + M / r) <= 1 / 8).
  { apply (Rmult_le_compat_r (8 * L * (2 + M / r))) in short; [| apply Rmult_le_pos; lra].
    rewrite Rinv_l in short by (apply Rgt_not_eq, Rmult_lt_0_compat; lra). lra. }
  split; [apply pow_incr; lra | split].
  - set (B := 1 + M / r) in *. replace (2 + M / r) with (1 + B) in hLe by (unfold B; ring).
    assert (hB : 1 <= B) by (unfold B; lra).
    assert (q : (L * eta)^2 <= / (64 * (1 + B)^2)).
    { replace (/ (64 * (1 + B)^2)) with ((/ (8 * (1 + B)))^2) by (field; lra). apply pow_incr.
      split; [apply Rmult_le_pos; lra |].
      apply Rmult_le_reg_r with (8 * (1 + B)); [lra |]. rewrite Rinv_l by lra. lra. }
    apply Rle_trans with (B * / (64 * (1 + B)^2)); [apply Rmult_le_compat_l; lra |].
    pose proof (B_quarter B ltac:(lra)) as bq.
    replace (B * / (64 * (1 + B)^2)) with (B / (1 + B)^2 / 64) by (field; lra). lra.
  - assert (0 <= L * eta) by (apply Rmult_le_pos; lra). nra.
Qed.

(** The growth of the distance from x in one local step. *)
Lemma distance_step i s m : 0 < m -> m + 1 <= r ->
  E noise (fun a => sq (local_path i (S s) a - x))
    <= (1 + / m + 2 * L^2 * (r + M) * eta_l^2) * E noise (fun a => sq (local_path i s a - x))
      + (2 * (r + M) * eta_l^2 * sq (g i x) + eta_l^2 * sigma2).
Proof.
  intros hm hmr. destruct constants as (hM & hs & hL). set (y := local_path i s).
  assert (e : E noise (fun a => sq (local_path i (S s) a - x)) = E noise (fun a => sq (y a - x - eta_l * g i (y a)))
    + eta_l^2 * E noise (fun a => sq (xi i s a))).
  { transitivity (E noise (fun a => sq (y a - x - eta_l * g i (y a))
      - 2 * eta_l * ip (xi i s a) (y a - x - eta_l * g i (y a)) + eta_l^2 * sq (xi i s a))).
    - apply E_ext. intros a _. cbn [local_path]. fold (y a). ips. ring.
    - Es. rewrite (local_unbiased N i s (fun a => y a - x - eta_l * g i (y a))%V); [ring |]. intros o o' k. unfold y.
      now rewrite (path_seen i s o o' k). }
  rewrite e. pose proof (local_variance N i s) as v. fold y in v. apply (Rmult_le_compat_l (eta_l^2)) in v;
    [| apply pow2_ge_0].
  assert (b : E noise (fun a => sq (y a - x - eta_l * g i (y a)))
    <= E noise (fun a => (1 + / m) * sq (y a - x) + (r) * eta_l^2 * sq (g i (y a)))).
  { apply E_le. intro a. pose proof (young (/ m) (y a - x)%V (-1 * (eta_l * g i (y a)))%V
      ltac:(now apply Rinv_0_lt_compat)) as yg. rewrite Rinv_inv in yg.
    replace (sq (-1 * (eta_l * g i (y a)))) with (eta_l^2 * sq (g i (y a))) in yg by (ips; ring).
    replace (sq (y a - x - eta_l * g i (y a))) with (sq (y a - x) + 2 * ip (y a - x) (-1 * (eta_l * g i (y a)))
      + eta_l^2 * sq (g i (y a))) by (ips; ring).
    assert (0 <= eta_l^2 * sq (g i (y a))) by (apply Rmult_le_pos; [apply pow2_ge_0 | apply sq_pos]).
    assert (m * (eta_l^2 * sq (g i (y a))) <= (r - 1) * (eta_l^2 * sq (g i (y a)))) by (apply Rmult_le_compat_r; lra).
    lra. }
  rewrite E_plus, !E_scal in b.
  assert (gr : E noise (fun a => sq (g i (y a))) <= 2 * L^2 * E noise (fun a => sq (y a - x)) + 2 * sq (g i x)).
  { rewrite <- E_scal, <- (E_const noise (2 * sq (g i x))), <- E_plus. apply E_le. intro a.
    pose proof (smooth_lipschitz L (f i) (g i) x (y a) ltac:(lra) (smooth_clients i)) as sl.
    pose proof (sq_add_le (g i (y a) - g i x)%V (g i x)) as sa.
    replace (sq (g i (y a) - g i x + g i x)) with (sq (g i (y a))) in sa by (ips; ring). lra. }
  apply (Rmult_le_compat_l ((r + M) * eta_l^2)) in gr; [| apply Rmult_le_pos; [lra | apply pow2_ge_0]]. lra.
Qed.

Lemma drift_of_le i : drift_of i <= 7 / 8 * (r - 1) * (2 * (r + M) * eta_l^2 * sq (g i x) + eta_l^2 * sigma2).
Proof.
  pose proof r_pos as hr. destruct constants as (hM & hs & hL). pose proof eta_sq as (es1 & es2 & _).
  set (D := 2 * (r + M) * eta_l^2 * sq (g i x) + eta_l^2 * sigma2).
  assert (hD : 0 <= D).
  { unfold D. apply Rplus_le_le_0_compat; [apply Rmult_le_pos;
      [apply Rmult_le_pos; [lra | apply pow2_ge_0] | apply sq_pos] | apply Rmult_le_pos; [apply pow2_ge_0 | easy]]. }
  destruct (Nat.eq_dec steps 1) as [e1 | ne].
  - unfold drift_of. rewrite e1. cbn [sum INR]. cbn [local_path].
    rewrite (E_ext noise _ (fun _ => 0)) by (intros; ips; ring). rewrite E_const. lra.
  - assert (hr2 : 2 <= r) by (apply (le_INR 2); lia). set (m := r - 1). assert (hm : 1 <= m) by (unfold m; lra).
    assert (al : 1 + / m + 2 * L^2 * (r + M) * eta_l^2 <= 1 + 129 / 128 / m).
    { assert (q : 2 * L^2 * (r + M) * eta_l^2 * m <= 1 / 128).
      { assert (k1 : (1 + M / r) * (L * (r * eta_l))^2 <= 1 / 256).
        { apply Rle_trans with (2 := es2). apply Rmult_le_compat_l;
            [assert (0 <= M / r) by (apply Rmult_le_pos; [easy | left; apply Rinv_0_lt_compat; lra]); lra |].
          rewrite !Rpow_mult_distr. rewrite Rpow_mult_distr in es1. apply Rmult_le_compat_l; [apply pow2_ge_0 | lra]. }
        replace ((1 + M / r) * (L * (r * eta_l))^2) with (L^2 * (r + M) * eta_l^2 * r) in k1 by (field; lra).
        assert (0 <= L^2 * (r + M) * eta_l^2) by (apply Rmult_le_pos;
          [apply Rmult_le_pos; [apply pow2_ge_0 | lra] | apply pow2_ge_0]).
        assert (L^2 * (r + M) * eta_l^2 * m <= L^2 * (r + M) * eta_l^2 * r)
          by (apply Rmult_le_compat_l; [easy | unfold m; lra]). lra. }
      apply Rmult_le_reg_r with m; [lra |]. replace ((1 + / m + 2 * L^2 * (r + M) * eta_l^2) * m) with
        (m + 1 + 2 * L^2 * (r + M) * eta_l^2 * m) by (field; lra).
      replace ((1 + 129 / 128 / m) * m) with (m + 129 / 128) by (field; lra). lra. }
    (* by induction, the distance is at most D (s + alpha s (s - 1)/m) with alpha = 129/127 *)
    set (phi s := INR s + 129 / 127 * (INR s * (INR s - 1)) / m).
    assert (ind : forall s, (s < steps)%nat -> E noise (fun a => sq (local_path i s a - x)) <= D * phi s).
    { induction s as [| s IH]; intro hs'.
      - cbn [local_path]. rewrite (E_ext noise _ (fun _ => 0)) by (intros; ips; ring). rewrite E_const. unfold phi.
        cbn [INR]. right. field. lra.
      - pose proof (distance_step i s m ltac:(lra) ltac:(unfold m; lra)) as ds. fold D in ds.
        specialize (IH ltac:(lia)).
        assert (e0 : 0 <= E noise (fun a => sq (local_path i s a - x))) by (apply E_pos; intro; apply sq_pos).
        assert (hs1 : INR s + 1 <= m) by (assert (h2 : INR (S (S s)) <= r) by (apply le_INR; lia); rewrite !S_INR in h2;
          unfold m; lra).
        pose proof (pos_INR s) as ps.
        apply Rle_trans with ((1 + 129 / 128 / m) * (D * phi s) + D).
        + apply Rle_trans with (1 := ds). apply Rplus_le_compat_r. apply Rmult_le_compat; try easy.
          assert (0 < / m) by (apply Rinv_0_lt_compat; lra).
          assert (0 <= 2 * L^2 * (r + M) * eta_l^2) by (apply Rmult_le_pos;
            [apply Rmult_le_pos; [pose proof (pow2_ge_0 L); lra | lra] | apply pow2_ge_0]). lra.
        + replace ((1 + 129 / 128 / m) * (D * phi s) + D) with (D * ((1 + 129 / 128 / m) * phi s + 1)) by ring.
          apply Rmult_le_compat_l; [easy |].
          unfold phi. rewrite S_INR. apply Rmult_le_reg_r with (m * m); [nra |].
          replace (((1 + 129 / 128 / m) * (INR s + 129 / 127 * (INR s * (INR s - 1)) / m) + 1) * (m * m))
            with ((m + 129 / 128) * (m * INR s + 129 / 127 * (INR s * (INR s - 1))) + m * m) by (field; lra).
          replace ((INR s + 1 + 129 / 127 * ((INR s + 1) * (INR s + 1 - 1)) / m) * (m * m)) with
            (m * m * (INR s + 1) + 129 / 127 * m * ((INR s + 1) * INR s)) by (field; lra).
          assert (0 <= INR s * (m - INR s + 1)) by (apply Rmult_le_pos; lra). nra. }
    (* sum over the steps *)
    assert (sums : forall k, sum k phi = INR k * (INR k - 1) / 2
      + 129 / 127 * (INR k * (INR k - 1) * (INR k - 2) / 3) / m).
    { induction k as [| k IH]; [cbn; field; lra |]. cbn [sum]. rewrite IH. unfold phi. rewrite S_INR. field. lra. }
    unfold drift_of. apply Rle_trans with (/ r * (D * sum steps phi)).
    + apply Rmult_le_compat_l; [left; apply Rinv_0_lt_compat; lra |]. rewrite <- sum_scal. apply sum_le. exact ind.
    + rewrite sums. fold m. replace (/ r * (D * (r * m / 2 + 129 / 127 * (r * m * (r - 2) / 3) / m))) with
        (D * (m / 2 + 129 / 127 * (r - 2) / 3)) by (field; lra).
      replace (7 / 8 * m * D) with (D * (7 / 8 * m)) by ring. apply Rmult_le_compat_l; [easy |]. unfold m. lra.
Qed.

Theorem optimal_client_sampling_client_drift :
  drift <= 7 / 8 * (1 - / r) * (eta^2 / eta_g^2) * (2 * (1 + M / r) * E weights (fun i => sq (g i x)) + sigma2 / r).
Proof.
  pose proof r_pos as hr. unfold drift.
  apply Rle_trans with (E weights (fun i => 7 / 8 * (r - 1) * (2 * (r + M) * eta_l^2 * sq (g i x) + eta_l^2 * sigma2)));
    [apply E_le; apply drift_of_le |].
  rewrite E_scal, E_plus, E_scal, E_const. right. unfold eta. field. split; lra.
Qed.
End Drift.
End Local.
