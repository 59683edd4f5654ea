(** Optimal Client Sampling: many steps of DSGD.

    After k rounds the model is [y k o] in outcome [o] of the law [past k]; the law of the next model is that of the
    step from there ([follows]). The relative improvement factor gamma k o depends on the model. *)

From FedTheory Require Export Sampling Recursions.

Section Rounds.
Context {V : space}.
Variables (weights : law) (f : nat -> V -> R) (g : nat -> V -> V).
Variables (past : nat -> law) (y : nat -> nat -> V).
Variables (noise : nat -> nat -> law) (xi : nat -> nat -> nat -> nat -> V) (p : nat -> nat -> nat -> nat -> R).
Variables (draw : nat -> nat -> nat -> law) (x : nat -> nat -> nat -> nat -> nat -> R) (gamma : nat -> nat -> R).
Variables (smallest M sigma2 W S2 L eta : R).
Local Notation n := (size weights).
Local Notation w := (weight weights).
Local Notation F := (mean_loss weights f).
Local Notation gradF := (mean_gradient weights g).

Definition next k o a b : V := dsgd_step weights g (xi k o) (y k o) (p k o) (x k o) eta a b.
Definition follows := forall k (h : V -> R),
  E (past (S k)) (fun o => h (y (S k) o)) = E (past k) (fun o => E2 (noise k o) (draw k o)
    (fun a b => h (next k o a b))).

Hypothesis rounds :
  forall k o, dsgd_round weights (noise k o) g (xi k o) (y k o) (p k o) (draw k o) (x k o) (gamma k o) M sigma2.
Hypothesis constants : 0 <= M /\ 0 <= sigma2 /\ 0 < L /\ 0 < eta.
Hypothesis factors : forall k o, smallest <= gamma k o <= 1.
Hypothesis smallest_pos : 0 < smallest.
Hypothesis squares : S2 = sum n (fun i => w i ^ 2).
Hypothesis largest : forall i, (i < n)%nat -> w i <= W.
Hypothesis at_most_one : W <= 1.
Hypothesis smooth_clients : forall i, smooth L (f i) (g i).
Hypothesis short_steps : eta <= smallest / ((1 + W * M) * L).

Lemma short k o : eta * (1 + W * M) * L / gamma k o <= 1.
Proof.
  destruct constants as (hM & _ & hL & he). pose proof (W_pos weights W largest) as hW. pose proof (factors k o) as hg.
  assert (hw : 0 < 1 + W * M) by pos. assert (hd : 0 < (1 + W * M) * L) by pos.
  pose proof (Rmult_le_compat_r ((1 + W * M) * L) _ _ (Rlt_le _ _ hd) short_steps) as s.
  replace (smallest / ((1 + W * M) * L) * ((1 + W * M) * L)) with smallest in s by (field; lra).
  apply Rmult_le_reg_r with (gamma k o); [lra |].
  replace (eta * (1 + W * M) * L / gamma k o * gamma k o) with (eta * ((1 + W * M) * L)) by (field; lra). lra.
Qed.

(** Theorem 13, expected over all rounds so far. *)
Theorem optimal_client_sampling_dsgd_contraction mu low xs k :
  strongly_convex mu F gradF -> minimizer F xs -> (forall i, bounded_below (f i) (low i)) ->
  let Z := E weights (fun i => f i xs - low i) in
  let beta1 := 2 * L * (1 + M) * W * Z + sigma2 * S2 in let beta2 := 2 * L * W * Z in
  E (past k) (fun o => E2 (noise k o) (draw k o) (fun a b => sq (next k o a b - xs)))
    <= (1 - mu * eta) * E (past k) (fun o => sq (y k o - xs))
      + eta^2 * (beta1 * E (past k) (fun o => / gamma k o) - beta2).
Proof.
  intros sc best below Z beta1 beta2. destruct constants as (hM & hs & hL & he).
  apply Rle_trans with (E (past k) (fun o => (1 - mu * eta) * sq (y k o - xs)
    + (eta^2 * beta1 * / gamma k o - eta^2 * beta2))); [| right; Es; ring].
  apply E_le. intro o. pose proof (factors k o) as hg.
  pose proof (optimal_client_sampling_dsgd_strongly_convex weights (noise k o) f g (xi k o) (y k o) (p k o) (draw k o)
    (x k o) (gamma k o) M sigma2 W S2 L eta (rounds k o) ltac:(repeat split; lra) squares largest at_most_one mu low xs
    hL he smooth_clients sc best below) as h. cbv zeta in h. fold Z beta1 beta2 in h. fold (next k o) in h.
  pose proof (best (y k o)) as hb. pose proof (short k o) as hs2.
  assert (0 <= 2 * eta * (1 - eta * (1 + W * M) * L / gamma k o) * (F (y k o) - F xs)) by (apply Rmult_le_pos; pos).
  unfold Rdiv in h. unfold next. fold beta1 beta2 in h. lra.
Qed.

(** Theorem 15, summed over rounds. *)
Theorem optimal_client_sampling_dsgd_average_gradient rho inf K :
  follows -> (0 < K)%nat -> (forall k o, E weights (fun i => sq (g i (y k o) - gradF (y k o))) <= rho) ->
  bounded_below F inf ->
  let start := E (past O) (fun o => F (y O o)) in
  let inverse := sum K (fun k => E (past k) (fun o => / gamma k o)) / INR K in
  sum K (fun k => E (past k) (fun o => sq (gradF (y k o)))) / INR K
    <= 2 * (start - inf) / (INR K * eta) + eta * L * (W * ((1 + M) * inverse - 1) * rho + sigma2 * S2 * inverse).
Proof.
  intros hf hK hr below start inverse. destruct constants as (hM & hs & hL & he). pose proof (lt_0_INR K hK) as pK.
  pose proof (W_pos weights W largest) as hW.
  set (v k := E (past k) (fun o => F (y k o))). set (q k := E (past k) (fun o => sq (gradF (y k o)))).
  set (ig k := E (past k) (fun o => / gamma k o)).
  assert (step : forall k, v (S k) <= v k - eta / 2 * q k + eta^2 * L / 2 * (W * ((1 + M) * ig k - 1) * rho
    + sigma2 * S2 * ig k)).
  { intro k. unfold v at 1. rewrite hf.
    apply Rle_trans with (E (past k) (fun o => F (y k o) - eta / 2 * sq (gradF (y k o))
      + eta^2 * L / 2 * (W * (1 + M) * rho + sigma2 * S2) * / gamma k o - eta^2 * L / 2 * (W * rho)));
      [| right; unfold v, q, ig; Es; field].
    apply E_le. intro o. pose proof (factors k o) as hg.
    pose proof (optimal_client_sampling_dsgd_nonconvex weights (noise k o) f g (xi k o) (y k o) (p k o) (draw k o)
      (x k o) (gamma k o) M sigma2 W S2 L eta (rounds k o) ltac:(repeat split; lra) squares largest rho hL he
      smooth_clients (hr k o)) as h. cbv zeta in h. fold (next k o) in h.
    pose proof (short k o) as hs2. set (j := / gamma k o) in *.
    assert (hj : 1 <= j) by (unfold j; rewrite <- Rinv_1; apply Rinv_le_contravar; lra).
    replace ((1 + M) / gamma k o - 1) with ((1 + M) * j - 1) in h by (unfold j; field; lra).
    replace (sigma2 * S2 / gamma k o) with (sigma2 * S2 * j) in h by (unfold j; field; lra).
    replace (eta * (1 + W * M) * L / gamma k o) with (eta * (1 + W * M) * L * j) in hs2 by (unfold j; field; lra).
    assert (hW1 : eta * L * (1 + W * ((1 + M) * j - 1)) <= 1).
    { assert (0 <= eta * L * ((1 - W) * (j - 1))) by (apply Rmult_le_pos; pos). lra. }
    pose proof (sq_pos (gradF (y k o))) as hq.
    assert (0 <= eta * (1 - eta * L * (1 + W * ((1 + M) * j - 1))) / 2 * sq (gradF (y k o))) by pos.
    unfold next. lra. }
  assert (tele : forall m, v m + eta / 2 * sum m q
    <= v O + eta^2 * L / 2 * sum m (fun k => W * ((1 + M) * ig k - 1) * rho + sigma2 * S2 * ig k)).
  { induction m as [| m IH]; cbn; [lra |]. pose proof (step m). lra. }
  pose proof (tele K) as t. assert (b : inf <= v K).
  { unfold v. rewrite <- (E_const (past K) inf). apply E_le. intro. apply below. }
  assert (e : sum K (fun k => W * ((1 + M) * ig k - 1) * rho + sigma2 * S2 * ig k)
    = INR K * (W * ((1 + M) * inverse - 1) * rho + sigma2 * S2 * inverse)).
  { transitivity (sum K (fun k => (W * (1 + M) * rho + sigma2 * S2) * ig k - W * rho)).
    - apply sum_ext. intros. ring.
    - rewrite sum_sub, sum_scal, sum_const. unfold inverse, ig. field. lra. }
  rewrite e in t. change (v O) with start in t. fold q.
  apply Rmult_le_reg_l with (eta * INR K / 2); [pos |].
  replace (eta * INR K / 2 * (sum K q / INR K)) with (eta / 2 * sum K q) by (field; lra).
  match goal with |- _ <= ?r => replace r with (start - inf + eta^2 * L / 2 * (INR K
    * (W * ((1 + M) * inverse - 1) * rho + sigma2 * S2 * inverse))) by (field; lra) end. lra.
Qed.
End Rounds.

(** ** All clients, and noise of variance at most sigma2 *)

Section AllClients.
Context {V : space}.
Variables (weights : law) (f : nat -> V -> R) (g : nat -> V -> V) (sigma2 S2 mu L eta : R) (xs : V).
Local Notation F := (mean_loss weights f).
Local Notation gradF := (mean_gradient weights g).
Hypothesis squares : S2 = sum (size weights) (fun i => weight weights i ^ 2).
Hypothesis constants : 0 < mu /\ 0 < L /\ 0 < eta /\ eta * L <= 1.
Hypothesis smooth_clients : forall i, smooth L (f i) (g i).
Hypothesis strongly : strongly_convex mu F gradF.
Hypothesis best : minimizer F xs.

Definition full_step (xi : nat -> nat -> V) (y : V) a : V := (y - eta * vE weights (fun i => noisy g xi y i a))%V.
Definition plain_noise (noise : law) (xi : nat -> nat -> V) :=
  (forall i z, E noise (fun a => ip (xi i a) z) = 0) /\ uncorrelated noise xi /\
  (forall i, E noise (fun a => sq (xi i a)) <= sigma2).

Lemma full_one noise xi y : plain_noise noise xi ->
  E noise (fun a => sq (full_step xi y a - xs)) <= (1 - mu * eta) * sq (y - xs) + eta^2 * sigma2 * S2.
Proof.
  intros (hu & hc & hv). destruct constants as (hm & hL & he & hx).
  assert (e : E noise (fun a => sq (full_step xi y a - xs))
    = sq (y - xs) - 2 * eta * ip (gradF y) (y - xs) + eta^2 * sq (gradF y)
      + eta^2 * E noise (fun a => sq (vE weights (fun i => xi i a)))).
  { transitivity (E noise (fun a => sq (y - xs) - 2 * eta * ip (gradF y) (y - xs) + eta^2 * sq (gradF y)
      - 2 * eta * ip (vE weights (fun i => xi i a)) (y - xs - eta * gradF y)
      + eta^2 * sq (vE weights (fun i => xi i a)))).
    - apply E_ext. intros a _. transitivity (sq (y - eta * (gradF y + vE weights (fun i => xi i a)) - xs));
        [| ips; ring].
      apply same_sq. intro v. unfold full_step, noisy. rewrite !ip_sub, !ip_scale.
      now rewrite (vE_add weights (fun i => g i y) (fun i => xi i a) v).
    - Es. rewrite (E_ext noise (fun a => ip (vE weights (fun i => xi i a)) _)
        (fun a => E weights (fun i => ip (xi i a) (y - xs - eta * gradF y)))) by (intros; apply ip_vE).
      rewrite E_swap, (E_ext weights _ (fun _ => 0)) by auto. Es. ring. }
  rewrite e. pose proof (uncorrelated_mean_le weights noise xi sigma2 hc hv) as v. rewrite <- squares in v.
  pose proof (first_order weights f g y mu xs strongly) as fo.
  pose proof (gradF_le weights f g y L xs hL smooth_clients best) as gl.
  assert (eta^2 * sq (gradF y) <= eta^2 * (2 * L * (F y - F xs))) by (apply Rmult_le_compat_l; pos).
  assert (eta^2 * E noise (fun a => sq (vE weights (fun i => xi i a))) <= eta^2 * (sigma2 * S2))
    by (apply Rmult_le_compat_l; pos).
  assert (0 <= 2 * eta * (1 - eta * L) * (F y - F xs)) by (pose proof (best y); apply Rmult_le_pos; pos).
  apply (Rmult_le_compat_l (2 * eta)) in fo; [| lra]. lra.
Qed.

Variables (past noise : nat -> law) (y : nat -> nat -> V) (xi : nat -> nat -> nat -> nat -> V).

Theorem optimal_client_sampling_full_participation k :
  (forall o, plain_noise (noise o) (xi k o)) ->
  E (past k) (fun o => E (noise o) (fun a => sq (full_step (xi k o) (y k o) a - xs)))
    <= (1 - mu * eta) * E (past k) (fun o => sq (y k o - xs)) + eta^2 * sigma2 * S2.
Proof.
  intro h. apply Rle_trans with (E (past k) (fun o => (1 - mu * eta) * sq (y k o - xs) + eta^2 * sigma2 * S2));
    [| right; now Es].
  apply E_le. intro o. now apply full_one.
Qed.

Theorem optimal_client_sampling_full_participation_distance K (y0 : V) :
  (forall k o, plain_noise (noise o) (xi k o)) ->
  (forall k (h : V -> R), E (past (S k)) (fun o => h (y (S k) o))
    = E (past k) (fun o => E (noise o) (fun a => h (full_step (xi k o) (y k o) a)))) ->
  (forall o, y O o = y0) -> mu <= L -> 0 <= sigma2 ->
  E (past K) (fun o => sq (y K o - xs)) <= (1 - mu * eta)^K * sq (y0 - xs) + eta * sigma2 / mu * S2.
Proof.
  intros hn hf h0 hl hs. destruct constants as (hm & hL & he & hv).
  assert (hx : eta * mu <= 1) by (apply (Rmult_le_compat_l eta) in hl; lra).
  assert (hS : 0 <= S2) by (rewrite squares; apply sum_pos; intros; apply pow2_ge_0).
  pose proof (geometric (fun k => E (past k) (fun o => sq (y k o - xs))) (1 - mu * eta) (eta^2 * sigma2 * S2) K) as G.
  cbv beta in G.
  assert (e0 : E (past O) (fun o => sq (y O o - xs)) = sq (y0 - xs)).
  { rewrite (E_ext _ _ (fun _ => sq (y0 - xs))) by (intros; now rewrite h0). apply E_const. }
  rewrite e0 in G. assert (pe : 0 < mu * eta) by pos.
  assert (hp : 0 <= (1 - mu * eta)^K) by (apply pow_le; lra).
  apply Rle_trans with ((1 - mu * eta)^K * sq (y0 - xs) + (1 - (1 - mu * eta)^K) / (1
    - (1 - mu * eta)) * (eta^2 * sigma2 * S2)).
  - apply G; [lra | lra |]. intros t _. rewrite (hf t (fun z => sq (z - xs))).
    now apply optimal_client_sampling_full_participation.
  - apply Rplus_le_compat_l.
    replace ((1 - (1 - mu * eta)^K) / (1 - (1 - mu * eta)) * (eta^2 * sigma2 * S2))
      with ((1 - (1 - mu * eta)^K) * (eta * sigma2 / mu * S2)) by (field; lra).
    assert (0 <= eta * sigma2 / mu * S2) by pos. nra.
Qed.
End AllClients.
