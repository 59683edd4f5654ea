(** Independent sampling of clients with probabilities that may depend on their updates: unbiased estimates, their
    second moments, and one step of DSGD (Optimal Client Sampling, sections 2 and 3). *)

From FedTheory Require Export Clients Averages.

(** [x o i] is 1 if client i < n is sampled in outcome [o], and 0 if not; pairs of clients are independent. *)
Definition independent_sampling (p : nat -> R) (draw : law) (x : nat -> nat -> R) :=
  (forall i, 0 <= p i) /\ (forall o i, x o i = 0 \/ x o i = 1) /\ (forall i, E draw (fun o => x o i) = p i) /\
  (forall i j, i <> j -> E draw (fun o => x o i * x o j) = p i * p j).

(** A client that is never sampled has nothing to send. *)
Definition proper {V : space} (p : nat -> R) (v : nat -> V) := forall i, p i = 0 -> sq (v i) <= 0.

Section Estimator.
Context {V : space}.
Variables (n : nat) (p : nat -> R) (draw : law) (x : nat -> nat -> R) (v : nat -> V).
Hypothesis sampling : independent_sampling p draw x.
Hypothesis support : proper p v.

Definition estimator o : V := vsum n (fun i => (x o i / p i * v i)%V).

Lemma estimator_unbiased z : E draw (fun o => ip (estimator o) z) = ip (vsum n v) z.
Proof.
  unfold estimator. rewrite ip_vsum. rewrite (E_ext draw _ (fun o => sum n (fun i => ip (v i) z / p i * x o i))).
  - rewrite E_sum. apply sum_ext. intros i _. rewrite E_scal. destruct sampling as (hp & _ & h & _). rewrite h.
    destruct (Req_dec (p i) 0) as [e | e]; [rewrite (sq_zero _ (support i e)); unfold Rdiv; ring | field; easy].
  - intros o _. rewrite ip_vsum. apply sum_ext. intros. rewrite ip_scale. unfold Rdiv. ring.
Qed.

(** Identity (6). *)
Lemma sampling_variance :
  E draw (fun o => sq (estimator o - vsum n v)) = sum n (fun i => (1 / p i - 1) * sq (v i)).
Proof.
  destruct sampling as (hp & h01 & h1 & h2).
  transitivity (E draw (fun o => sum n (fun i => sum n (fun j =>
    (x o i / p i - 1) * (x o j / p j - 1) * ip (v i) (v j))))).
  { apply E_ext. intros o _. replace (sq _) with (sq (vsum n (fun i => ((x o i / p i - 1) * v i)%V))).
    - rewrite sq_vsum. apply sum_ext. intros. apply sum_ext. intros. rewrite ip_scale, ip_scale_r. ring.
    - apply same_sq. intro z. unfold estimator. rewrite ip_sub, !ip_vsum, <- sum_sub. apply sum_ext. intros.
      rewrite !ip_scale. ring. }
  rewrite E_sum. apply sum_ext. intros i hi. rewrite E_sum.
  assert (sq1 : E draw (fun o => x o i * x o i) = p i).
  { rewrite <- (h1 i). apply E_ext. intros o _. destruct (h01 o i) as [e | e]; rewrite e; ring. }
  assert (k : forall j, E draw (fun o => (x o i / p i - 1) * (x o j / p j - 1) * ip (v i) (v j))
    = (E draw (fun o => x o i * x o j) / (p i * p j) - p i / p i - p j / p j + 1) * ip (v i) (v j)).
  { intro j. rewrite E_scal_r. f_equal.
    transitivity (E draw (fun o => / (p i * p j) * (x o i * x o j) - / p i * x o i - / p j * x o j + 1)).
    - apply E_ext. intros o _. rewrite Rinv_mult. unfold Rdiv. ring.
    - Es. rewrite !h1. unfold Rdiv. ring. }
  rewrite (sum_pick n i) by first [easy | intros j _ e; rewrite k, h2 by auto;
    destruct (Req_dec (p i) 0) as [z | z]; [rewrite (sq_zero _ (support i z)); ring |];
    destruct (Req_dec (p j) 0) as [y | y]; [rewrite (sq_zero_r _ (support j y)); ring | field; easy]].
  rewrite k, sq1. fold (sq (v i)). destruct (Req_dec (p i) 0) as [z | z].
  - pose proof (support i z). pose proof (sq_pos (v i)). replace (sq (v i)) with 0 by lra. ring.
  - field. easy.
Qed.

Lemma estimator_square :
  E draw (fun o => sq (estimator o)) = sum n (fun i => (1 / p i - 1) * sq (v i)) + sq (vsum n v).
Proof.
  rewrite <- sampling_variance.
  transitivity (E draw (fun o => sq (estimator o - vsum n v) + 2 * ip (estimator o) (vsum n v) - sq (vsum n v))).
  - apply E_ext. intros. ips. ring.
  - Es. rewrite estimator_unbiased. unfold sq. ring.
Qed.
End Estimator.
Arguments estimator {V} n p x v o.

(** ** Identity (3): the outcomes of [noise] make the updates, and those of [draw a] the sampling, given outcome [a] *)

Theorem optimal_client_sampling_estimator_error {V : space} (weights noise : law) (draw : nat -> law)
    (U : nat -> nat -> V) (G : nat -> nat -> V) (gradient : V) :
  (forall a z, E (draw a) (fun b => ip (G a b) z) = ip (vE weights (fun i => U i a)) z) ->
  (forall z, E noise (fun a => ip (vE weights (fun i => U i a)) z) = ip gradient z) ->
  E noise (fun a => E (draw a) (fun b => sq (G a b - gradient)))
    = E noise (fun a => E (draw a) (fun b => sq (G a b - vE weights (fun i => U i a))))
      + E noise (fun a => sq (vE weights (fun i => U i a) - gradient)).
Proof.
  intros h1 h2. rewrite <- E_plus. apply E_ext. intros a _. set (m := vE weights (fun i => U i a)).
  transitivity (E (draw a) (fun b => sq (G a b - m) + 2 * (ip (G a b) (m - gradient) - ip m (m - gradient))
    + sq (m - gradient))).
  - apply E_ext. intros b _. ips. ring.
  - Es. rewrite h1. unfold m. ring.
Qed.

(** ** The relative improvement factor, definitions (15) and (16)

    [U i a] is the update of client i in outcome [a] of the noise, and [p a i] its probability of being sampled then. *)

Section SecondMoment.
Context {V : space}.
Variables (weights noise : law) (U : nat -> nat -> V) (p : nat -> nat -> R) (draw : nat -> law)
  (x : nat -> nat -> nat -> R).
Local Notation n := (size weights).
Local Notation w := (weight weights).

Definition sent a i : V := (w i * U i a)%V.
Definition estimate a b : V := estimator n (p a) (x a) (sent a) b.
(** sum w_i^2 E |U_i|^2, and the variance of the sampling. *)
Definition spread2 := sum n (fun i => w i ^ 2 * E noise (fun a => sq (U i a))).
Definition sampling_error := E noise (fun a => sum n (fun i => (1 / p a i - 1) * sq (sent a i))).
Definition alpha (m : R) := sampling_error / ((INR n - m) / m * spread2).
Definition gamma_of (m : R) := m / (alpha m * (INR n - m) + m).

Definition improvement (gamma : R) := (1 / gamma - 1) * spread2 = sampling_error.

Lemma improvement_of m : 0 < m < INR n -> 0 < spread2 -> 0 <= sampling_error -> improvement (gamma_of m).
Proof.
  intros hm hs he. unfold improvement, gamma_of.
  assert (h : alpha m * ((INR n - m) / m * spread2) = sampling_error) by (unfold alpha; field; lra).
  assert (ha : 0 <= alpha m) by (apply Rmult_le_pos; [easy | left; apply Rinv_0_lt_compat; pos]).
  assert (0 <= alpha m * (INR n - m)) by pos.
  replace (1 / (m / (alpha m * (INR n - m) + m)) - 1) with (alpha m * ((INR n - m) / m)) by (field; lra).
  rewrite <- h. ring.
Qed.

Hypothesis sampling : forall a, independent_sampling (p a) (draw a) (x a).
Hypothesis support : forall a, proper (p a) (sent a).

Theorem optimal_client_sampling_estimator_second_moment gamma : improvement gamma ->
  E noise (fun a => E (draw a) (fun b => sq (estimate a b)))
    = (1 / gamma - 1) * spread2 + E noise (fun a => sq (vE weights (fun i => U i a))).
Proof.
  intro h. rewrite h. unfold sampling_error. rewrite <- E_plus. apply E_ext. intros a _.
  unfold estimate. rewrite (estimator_square n (p a) (draw a) (x a) (sent a) (sampling a) (support a)). reflexivity.
Qed.

Lemma estimate_unbiased z : E noise (fun a => E (draw a) (fun b => ip (estimate a b) z))
  = E noise (fun a => ip (vE weights (fun i => U i a)) z).
Proof. apply E_ext. intros a _. now apply (estimator_unbiased n (p a) (draw a) (x a) (sent a)). Qed.
End SecondMoment.
Arguments estimate {V} weights U p x a b.
Arguments spread2 {V} weights noise U.
Arguments improvement {V} weights noise U p gamma.
Arguments sent {V} weights U a i.

(** ** A step of DSGD

    [f i] are the clients' losses with gradients [g i]; [xi i a] is the noise of client i at the server's model [y]. *)

Section Dsgd.
Context {V : space}.
Variables (weights noise : law) (f : nat -> V -> R) (g : nat -> V -> V) (xi : nat -> nat -> V) (y : V).
Variables (p : nat -> nat -> R) (draw : nat -> law) (x : nat -> nat -> nat -> R).
Variables (gamma M sigma2 W S2 L eta : R).
Local Notation n := (size weights).
Local Notation w := (weight weights).
Local Notation F := (mean_loss weights f).
Local Notation gradF := (mean_gradient weights g).
Definition noisy i a : V := (g i y + xi i a)%V.
Local Notation U := noisy.
Local Notation G := (estimate weights noisy p x).
Local Notation EE := (E2 noise draw).

Definition dsgd_step a b : V := (y - eta * G a b)%V.
Local Notation next := dsgd_step.

(** What is assumed of a step: the noise, the sampling, and the relative improvement factor of the sampling. *)
Definition dsgd_round : Prop :=
  (forall i z, E noise (fun a => ip (xi i a) z) = 0) /\ uncorrelated noise xi /\
  (forall i, E noise (fun a => sq (xi i a)) <= M * sq (g i y) + sigma2) /\
  (forall a, independent_sampling (p a) (draw a) (x a)) /\ (forall a, proper (p a) (sent weights U a)) /\
  improvement weights noise U p gamma.

Hypothesis round : dsgd_round.
Hypothesis constants : 0 <= M /\ 0 <= sigma2 /\ 0 < gamma <= 1.
Hypothesis squares : S2 = sum n (fun i => w i ^ 2).
Hypothesis largest : forall i, (i < n)%nat -> w i <= W.
Hypothesis at_most_one : W <= 1.

Let unbiased : forall i z, E noise (fun a => ip (xi i a) z) = 0 := proj1 round.
Let unrelated : uncorrelated noise xi := proj1 (proj2 round).
Let variance : forall i, E noise (fun a => sq (xi i a)) <= M * sq (g i y) + sigma2 := proj1 (proj2 (proj2 round)).
Let sampling : forall a, independent_sampling (p a) (draw a) (x a) := proj1 (proj2 (proj2 (proj2 round))).
Let support : forall a, proper (p a) (sent weights U a) := proj1 (proj2 (proj2 (proj2 (proj2 round)))).
Let factor : improvement weights noise U p gamma := proj2 (proj2 (proj2 (proj2 (proj2 round)))).

Lemma mean_update : E noise (fun a => sq (vE weights (fun i => U i a)))
  = sq (gradF y) + sum n (fun i => w i ^ 2 * E noise (fun a => sq (xi i a))).
Proof.
  pose proof (uncorrelated_mean weights noise xi unrelated) as um. rewrite <- um.
  transitivity (E noise (fun a => sq (gradF y) + 2 * ip (vE weights (fun i => xi i a)) (gradF y)
    + sq (vE weights (fun i => xi i a)))).
  - apply E_ext. intros a _. transitivity (sq (gradF y + vE weights (fun i => xi i a))); [| ips; ring].
    apply same_sq. apply vE_add.
  - Es. rewrite (E_ext noise _ (fun a => E weights (fun i => ip (xi i a) (gradF y)))) by (intros; apply ip_vE).
    rewrite E_swap, (E_ext weights _ (fun _ => 0)) by auto. Es. ring.
Qed.

Lemma client_update i : E noise (fun a => sq (U i a)) = sq (g i y) + E noise (fun a => sq (xi i a)).
Proof.
  transitivity (E noise (fun a => sq (g i y) + 2 * ip (xi i a) (g i y) + sq (xi i a))).
  - apply E_ext. intros a _. unfold noisy. ips. ring.
  - Es. rewrite unbiased. ring.
Qed.

Theorem optimal_client_sampling_dsgd_second_moment :
  EE (fun a b => sq (G a b))
    <= ((1 + M) / gamma - 1) * sum n (fun i => w i ^ 2 * sq (g i y)) + sq (gradF y) + sigma2 / gamma * S2.
Proof.
  destruct constants as (hM & hs & hg).
  unfold E2. rewrite (optimal_client_sampling_estimator_second_moment weights noise U p draw x sampling support gamma
    factor).
  rewrite mean_update. unfold spread2. set (Q := sum n (fun i => w i ^ 2 * sq (g i y))).
  assert (e1 : sum n (fun i => w i ^ 2 * E noise (fun a => sq (U i a)))
    = Q + sum n (fun i => w i ^ 2 * E noise (fun a => sq (xi i a)))).
  { unfold Q. rewrite <- sum_add. apply sum_ext. intros. rewrite client_update. ring. }
  assert (e2 : sum n (fun i => w i ^ 2 * E noise (fun a => sq (xi i a))) <= M * Q + sigma2 * S2).
  { unfold Q. rewrite squares, <- !sum_scal, <- sum_add. apply sum_le. intros i _. pose proof (variance i).
    pose proof (pow2_ge_0 (w i)). nra. }
  rewrite e1. set (N := sum n (fun i => w i ^ 2 * E noise (fun a => sq (xi i a)))) in *.
  assert (h : 1 <= / gamma) by (rewrite <- Rinv_1; apply Rinv_le_contravar; lra).
  replace ((1 + M) / gamma - 1) with ((1 + M) * / gamma - 1) by (field; lra).
  replace (1 / gamma) with (/ gamma) by (field; lra).
  replace (sigma2 / gamma * S2) with (/ gamma * (sigma2 * S2)) by (field; lra).
  assert (/ gamma * N <= / gamma * (M * Q + sigma2 * S2)) by (apply Rmult_le_compat_l; lra). lra.
Qed.

(** sum w_i^2 |grad f_i|^2 is at most the largest weight times the weighted mean. *)
Lemma largest_weight (h : nat -> R) : (forall i, 0 <= h i) -> sum n (fun i => w i ^ 2 * h i) <= W * E weights h.
Proof.
  intro hh. unfold E. rewrite <- sum_scal. apply sum_le. intros i hi. rewrite <- Rmult_assoc.
  apply Rmult_le_compat_r; [easy |]. replace (w i ^ 2) with (w i * w i) by ring.
  apply Rmult_le_compat_r; [apply weight_pos | now apply largest].
Qed.

Lemma W_pos : 0 <= W.
Proof.
  destruct (Nat.eq_dec n 0) as [e | e].
  - pose proof (weight_sum weights) as s. fold n in s. rewrite e in s. cbn in s. lra.
  - apply Rle_trans with (w O); [apply weight_pos | apply largest; lia].
Qed.


Lemma step_expand (z : V) : EE (fun a b => sq (next a b - z))
  = sq (y - z) - 2 * eta * ip (gradF y) (y - z) + eta^2 * EE (fun a b => sq (G a b)).
Proof.
  unfold E2. transitivity (E noise (fun a => sq (y - z) - 2 * eta * E (draw a) (fun b => ip (G a b) (y - z))
    + eta^2 * E (draw a) (fun b => sq (G a b)))).
  - apply E_ext. intros a _. rewrite <- !E_scal, <- (E_const (draw a) (sq (y - z))), <- E_minus, <- E_plus.
    apply E_ext. intros b _. unfold dsgd_step. ips. ring.
  - Es. rewrite (estimate_unbiased weights noise U p draw x sampling support).
    f_equal. f_equal. f_equal.
    rewrite (E_ext noise _ (fun a => ip (gradF y) (y - z) + E weights (fun i => ip (xi i a) (y - z)))).
    + Es. rewrite E_swap, (E_ext weights _ (fun _ => 0)) by auto. Es. ring.
    + intros a _. rewrite (vE_add weights (fun i => g i y) (fun i => xi i a)), ip_add. f_equal. apply ip_vE.
Qed.

Section StronglyConvex.
Variables (mu : R) (low : nat -> R) (xs : V).
Hypothesis L_pos : 0 < L.
Hypothesis eta_pos : 0 < eta.
Hypothesis smooth_clients : forall i, smooth L (f i) (g i).
Hypothesis strongly : strongly_convex mu F gradF.
Hypothesis best : minimizer F xs.

Lemma gradF_le : sq (gradF y) <= 2 * L * (F y - F xs).
Proof. apply (gradient_le L F gradF (F xs) y L_pos); [apply mean_loss_upper; intro; apply smooth_clients | exact best].
Qed.

Lemma first_order : F y - F xs + mu / 2 * sq (y - xs) <= ip (gradF y) (y - xs).
Proof. pose proof (strongly y xs) as h. clear - h. ipa. lra. Qed.

Local Notation gap := (F y - F xs).

Theorem optimal_client_sampling_dsgd_strongly_convex :
  (forall i, bounded_below (f i) (low i)) ->
  let Z := E weights (fun i => f i xs - low i) in
  let beta1 := 2 * L * (1 + M) * W * Z + sigma2 * S2 in let beta2 := 2 * L * W * Z in
  EE (fun a b => sq (next a b - xs))
    <= (1 - mu * eta) * sq (y - xs) - 2 * eta * (1 - eta * (1 + W * M) * L / gamma) * gap
      + eta^2 * (beta1 / gamma - beta2).
Proof.
  intros below Z beta1 beta2. destruct constants as (hM & hs & hg). rewrite step_expand.
  pose proof optimal_client_sampling_dsgd_second_moment as m. pose proof first_order as fo. pose proof gradF_le as gl.
  pose proof W_pos as hW. 
  assert (hgap : 0 <= gap) by (pose proof (best y); lra).
  assert (q : sum n (fun i => w i ^ 2 * sq (g i y)) <= 2 * L * W * (gap + Z)).
  { apply Rle_trans with (W * E weights (fun i => sq (g i y))); [apply largest_weight; intro; apply sq_pos |].
    replace (2 * L * W * (gap + Z)) with (W * (2 * L * E weights (fun i => f i y - low i))).
    - apply Rmult_le_compat_l; [easy |]. rewrite <- E_scal. apply E_le. intro i.
      apply gradient_le; try easy. apply smooth_clients.
    - unfold Z, mean_loss. Es. ring. }
  assert (h : 1 <= / gamma) by (rewrite <- Rinv_1; apply Rinv_le_contravar; lra).
  set (q0 := sum n (fun i => w i ^ 2 * sq (g i y))) in *. set (ig := / gamma) in *.
  assert (s : EE (fun a b => sq (G a b)) <= 2 * L * gap * (1 + W * M) * ig + (beta1 * ig - beta2)).
  { apply Rle_trans with (1 := m). replace ((1 + M) / gamma - 1) with ((1 + M) * ig - 1) by (unfold ig; field; lra).
    replace (sigma2 / gamma * S2) with (sigma2 * S2 * ig) by (unfold ig; field; lra).
    assert (c : 0 <= (1 + M) * ig - 1) by nra.
    assert (((1 + M) * ig - 1) * q0 <= ((1 + M) * ig - 1) * (2 * L * W * (gap + Z))) by (apply Rmult_le_compat_l; easy).
    assert (0 <= 2 * L * gap * ((1 - W) * (ig - 1))) by (apply Rmult_le_pos; pos).
    unfold beta1, beta2. nra. }
  apply (Rmult_le_compat_l (eta^2)) in s; [| apply pow2_ge_0].
  replace (eta * (1 + W * M) * L / gamma) with (eta * (1 + W * M) * L * ig) by (unfold ig; field; lra).
  replace (beta1 / gamma) with (beta1 * ig) by (unfold ig; field; lra).
  apply (Rmult_le_compat_l (2 * eta)) in fo; [| lra]. nra.
Qed.

(** With the squares of the weights; the clients are convex and need no minima. *)
Theorem optimal_client_sampling_dsgd_convex_clients :
  (forall i, convex (f i) (g i)) -> let c := (1 + M) / gamma - 1 in
  EE (fun a b => sq (next a b - xs))
    <= (1 - mu * eta) * sq (y - xs) - 2 * eta * (1 - eta * L * (1 + 2 * W * c)) * gap
      + eta^2 * (2 * c * sum n (fun i => w i ^ 2 * sq (g i xs)) + sigma2 * S2 / gamma).
Proof.
  intros cv c. destruct constants as (hM & hs & hg). rewrite step_expand.
  pose proof optimal_client_sampling_dsgd_second_moment as m. pose proof first_order as fo. pose proof gradF_le as gl.
  pose proof W_pos as hW.  fold c in m.
  assert (hc : 0 <= c).
  { unfold c. assert (h : 1 <= / gamma) by (rewrite <- Rinv_1; apply Rinv_le_contravar; lra).
    replace ((1 + M) / gamma - 1) with ((1 + M) * / gamma - 1) by (field; lra). nra. }
  set (q1 := sum n (fun i => w i ^ 2 * sq (g i xs))) in *.
  assert (q : sum n (fun i => w i ^ 2 * sq (g i y)) <= 4 * L * W * gap + 2 * q1).
  { apply Rle_trans with (2 * sum n (fun i => w i ^ 2 * sq (g i y - g i xs)) + 2 * q1).
    - unfold q1. rewrite <- !sum_scal, <- sum_add. apply sum_le. intros i _.
      assert (e : sq (g i y) <= 2 * sq (g i y - g i xs) + 2 * sq (g i xs)).
      { pose proof (sq_add_le (g i y - g i xs)%V (g i xs)) as k. revert k. ips. lra. }
      pose proof (pow2_ge_0 (w i)). nra.
    - apply Rplus_le_compat_r. replace (4 * L * W * gap) with (2 * (W * (2 * L * gap))) by ring.
      apply Rmult_le_compat_l; [lra |]. apply Rle_trans with (W * E weights (fun i => sq (g i y - g i xs))).
      + apply largest_weight. intro. apply sq_pos.
      + apply Rmult_le_compat_l; [easy |].
        assert (z : ip (gradF xs) (y - xs) = 0).
        { apply (minimizer_gradient L F gradF xs); [apply mean_loss_upper; intro; apply smooth_clients | exact best]. }
        replace (2 * L * gap) with (E weights (fun i => 2 * L * (f i y - f i xs - ip (g i xs) (y - xs)))).
        * apply E_le. intro i. pose proof (interpolation_mult 0 L (f i) (g i) xs y ltac:(lra) (cv i)
            (proj1 (smooth_clients i))) as k.
          replace (sq (g i y - g i xs - 0 * (y - xs))) with (sq (g i y - g i xs)) in k by (ips; ring). lra.
        * unfold mean_gradient in z. rewrite ip_vE in z. unfold mean_loss. Es. rewrite z. ring. }
  set (q0 := sum n (fun i => w i ^ 2 * sq (g i y))) in *.
  replace (sigma2 / gamma * S2) with (sigma2 * S2 / gamma) in m by (field; lra).
  assert (c * q0 <= c * (4 * L * W * gap + 2 * q1)) by now apply Rmult_le_compat_l.
  assert (s : EE (fun a b => sq (G a b)) <= c * (4 * L * W * gap + 2 * q1) + 2 * L * gap + sigma2 * S2 / gamma) by lra.
  apply (Rmult_le_compat_l (eta^2)) in s; [| apply pow2_ge_0].
  apply (Rmult_le_compat_l (2 * eta)) in fo; [| lra]. nra.
Qed.
End StronglyConvex.

(** Losses that need not be convex. *)
Theorem optimal_client_sampling_dsgd_nonconvex rho :
  0 < L -> 0 < eta -> (forall i, smooth L (f i) (g i)) -> E weights (fun i => sq (g i y - gradF y)) <= rho ->
  let c := (1 + M) / gamma - 1 in
  EE (fun a b => F (next a b))
    <= F y - eta * (1 - eta * L * (1 + W * c) / 2) * sq (gradF y)
      + eta^2 * L / 2 * (W * c * rho + sigma2 * S2 / gamma).
Proof.
  intros hL he hsm hr c. destruct constants as (hM & hs & hg).
  pose proof optimal_client_sampling_dsgd_second_moment as m. fold c in m. pose proof W_pos as hW.
  assert (hc : 0 <= c).
  { unfold c. assert (h : 1 <= / gamma) by (rewrite <- Rinv_1; apply Rinv_le_contravar; lra).
    replace ((1 + M) / gamma - 1) with ((1 + M) * / gamma - 1) by (field; lra). nra. }
  assert (d : EE (fun a b => F (next a b)) <= F y - eta * sq (gradF y) + eta^2 * L / 2 * EE (fun a b => sq (G a b))).
  { pose proof (step_expand y) as e.
    assert (e1 : EE (fun a b => ip (gradF y) (next a b - y)) = - eta * sq (gradF y)).
    { unfold E2. rewrite (E_ext noise _ (fun a => - eta * E (draw a) (fun b => ip (G a b) (gradF y)))).
      - rewrite E_scal. f_equal. rewrite (estimate_unbiased weights noise U p draw x sampling support).
        rewrite (E_ext noise _ (fun a => sq (gradF y) + E weights (fun i => ip (xi i a) (gradF y)))).
        + Es. rewrite E_swap, (E_ext weights _ (fun _ => 0)) by auto. Es. ring.
        + intros a _. rewrite (vE_add weights (fun i => g i y) (fun i => xi i a)), ip_add. f_equal. apply ip_vE.
      - intros a _. rewrite <- E_scal. apply E_ext. intros b _. unfold dsgd_step. ips. ring. }
    apply Rle_trans with (EE (fun a b => F y + ip (gradF y) (next a b - y) + L / 2 * sq (next a b - y))).
    - apply E_le. intro a. apply E_le. intro b. apply mean_loss_upper. intro. apply hsm.
    - right. transitivity (F y + EE (fun a b => ip (gradF y) (next a b - y))
        + L / 2 * EE (fun a b => sq (next a b - y))).
      + now Es.
      + rewrite e1, e. replace (sq (y - y)) with 0 by (ips; ring). replace (ip (gradF y) (y - y)) with 0 by (ips; ring).
        field. }
  assert (q : sum n (fun i => w i ^ 2 * sq (g i y)) <= W * (sq (gradF y) + rho)).
  { apply Rle_trans with (W * E weights (fun i => sq (g i y))); [apply largest_weight; intro; apply sq_pos |].
    apply Rmult_le_compat_l; [easy |]. pose proof (spread_zero weights (fun i => g i y)) as k.
    change (vE weights (fun i => g i y)) with (gradF y) in k. lra. }
  set (q0 := sum n (fun i => w i ^ 2 * sq (g i y))) in *.
  replace (sigma2 / gamma * S2) with (sigma2 * S2 / gamma) in m by (field; lra).
  assert (c * q0 <= c * (W * (sq (gradF y) + rho))) by now apply Rmult_le_compat_l.
  assert (s : EE (fun a b => sq (G a b)) <= c * (W * (sq (gradF y) + rho)) + sq (gradF y) + sigma2 * S2 / gamma) by lra.
  apply (Rmult_le_compat_l (eta^2 * L / 2)) in s; [| pos]. nra.
Qed.
End Dsgd.
