(** Optimal Client Sampling with local steps, many rounds. *)

From FedTheory Require Export LocalSamplingTheorems.

Section Rounds.
Context {V : space}.
Variables (weights : law) (f : nat -> V -> R) (g : nat -> V -> V).
(** After k rounds the server's model is [x k o] in outcome [o] of the law [before k]; all else belongs to the round
    from there. *)
Variables (before : nat -> law) (x : nat -> nat -> V).
Variables (noise : nat -> nat -> law) (past : nat -> nat -> nat -> nat -> nat -> nat -> Prop)
  (own : nat -> nat -> nat -> nat -> nat -> Prop).
Variables (xi : nat -> nat -> nat -> nat -> nat -> V) (p : nat -> nat -> nat -> nat -> R)
  (draw : nat -> nat -> nat -> law).
Variables (chosen : nat -> nat -> nat -> nat -> nat -> R) (gamma : nat -> nat -> R).
Variables (steps : nat) (eta_l eta_g M sigma2 L W S2 smallest : R).
Local Notation n := (size weights).
Local Notation w := (weight weights).
Local Notation r := (INR steps).
Local Notation F := (mean_loss weights f).
Local Notation gradF := (mean_gradient weights g).
Local Notation eta := (whole_step steps eta_l eta_g).
Definition next_server k o a b : V := server_step weights g (x k o) (xi k o) steps eta_l eta_g (p k o) (chosen k o) a b.
Definition follows_server := forall k (h : V -> R),
  E (before (S k)) (fun o => h (x (S k) o)) = E (before k) (fun o => E2 (noise k o) (draw k o)
    (fun a b => h (next_server k o a b))).

Hypothesis rounds : forall k o, local_round weights (noise k o) g (x k o) (past k o) (own k o) (xi k o) steps eta_l M
  sigma2 (p k o) (draw k o) (chosen k o) (gamma k o).
Hypothesis steps_pos : (0 < steps)%nat.
Hypothesis eta_l_pos : 0 < eta_l.
Hypothesis constants : 0 <= M /\ 0 <= sigma2 /\ 0 < L.
Hypothesis smooth_clients : forall i, smooth L (f i) (g i).
Hypothesis squares : S2 = sum n (fun i => w i ^ 2).
Hypothesis largest : forall i, (i < n)%nat -> w i <= W.
Hypothesis at_most_one : W <= 1.
Hypothesis factors : 0 < smallest /\ forall k o, smallest <= gamma k o <= 1.
Hypothesis server : 1 <= eta_g /\ / S2 <= eta_g^2.
Hypothesis short : eta <= / (8 * L * (2 + M / r)) /\ eta <= smallest / (8 * L * (1 + W * M / r)).

Lemma positive_squares : 0 < S2.
Proof.
  assert (w1 : 0 <= S2) by (rewrite squares; apply sum_pos; intros; apply pow2_ge_0).
  destruct (Req_dec S2 0) as [z | z]; [| lra]. exfalso.
  assert (all : forall i, (i < n)%nat -> w i = 0).
  { intros i hi. pose proof (sum_member n i (fun i => w i ^ 2) hi (fun i => pow2_ge_0 _)) as m. cbv beta in m.
    rewrite <- squares, z in m. pose proof (weight_pos weights i). nra. }
  pose proof (weight_sum weights) as ws. rewrite (sum_zero n w all) in ws. lra.
Qed.
Lemma conditions_hold k o : step_conditions steps eta_l eta_g M L (gamma k o) W S2.
Proof.
  destruct server as [s1 s2]. destruct short as [h1 h2]. destruct factors as [f0 fk]. pose proof (fk k o).
  destruct constants as (hM & hs & hL).
  pose proof positive_squares as hS. pose proof (W_pos weights W largest) as hW.
  pose proof (r_pos steps steps_pos) as hr.
  repeat split; try easy.
  - apply Rle_trans with (2 := s2). rewrite <- (Rmult_1_l (/ S2)).
    apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat | lra].
  - apply Rle_trans with (1 := h2). apply Rmult_le_compat_r; [| lra]. left. apply Rinv_0_lt_compat.
    assert (0 <= W * M / r) by (unfold Rdiv; apply Rmult_le_pos;
      [now apply Rmult_le_pos | left; apply Rinv_0_lt_compat; lra]).
    apply Rmult_lt_0_compat; lra.
Qed.
Lemma gamma_range k o : 0 < gamma k o <= 1.
Proof. destruct factors as [f0 fk]. pose proof (fk k o). lra. Qed.
Lemma eta_positive : 0 < eta.
Proof. pose proof (r_pos steps steps_pos). destruct server. unfold whole_step.
apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat; lra | lra]. Qed.

(** Theorem 17, expected over all rounds so far. *)
Theorem optimal_client_sampling_fedavg_contraction mu low xs k : 0 <= mu -> strongly_convex mu F gradF ->
  (forall i, convex (f i) (g i)) ->
  minimizer F xs -> (forall i, bounded_below (f i) (low i)) ->
  let Z := objective_gap weights f low xs in let inverse := E (before k) (fun o => / gamma k o) in
  E (before k) (fun o => E2 (noise k o) (draw k o) (fun a b => sq (next_server k o a b - xs)))
    <= (1 - mu * eta / 2) * E (before k) (fun o => sq (x k o - xs))
      + eta^2 * (4 * L * ((1 + M / r) * inverse - 1) * W * Z + 3 * sigma2 * S2 / (2 * r) * inverse)
          + 77 / 8 * L^2 * (1 + M / r) * Z * eta^3 / eta_g^2.
Proof.
  intros hm sc cv best minima Z inverse. pose proof eta_positive as he. pose proof (r_pos steps steps_pos) as hr.
  apply Rle_trans with (E (before k) (fun o => (1 - mu * eta / 2) * sq (x k o - xs)
    + eta^2 * (4 * L * (1 + M / r) * W * Z + 3 * sigma2 * S2 / (2 * r)) * / gamma k o
    + (77 / 8 * L^2 * (1 + M / r) * Z * eta^3 / eta_g^2 - eta^2 * (4 * L * W * Z))));
        [| right; unfold inverse; Es; field; destruct server; lra].
  apply E_le. intro o. pose proof (gamma_range k o) as hg.
  pose proof (optimal_client_sampling_fedavg_convex_clients weights (noise k o) f g (x k o) (past k o) (own k o)
    (xi k o) steps eta_l eta_g M sigma2 L
    (p k o) (draw k o) (chosen k o) (gamma k o) W S2 (rounds k o) steps_pos eta_l_pos constants smooth_clients hg
      squares largest at_most_one (conditions_hold k o)
    xs low best minima mu hm sc cv) as h.
  fold (next_server k o) in h. pose proof (best (x k o)) as hb.
  assert (0 <= 7 / 16 * eta * (F (x k o) - F xs)) by (apply Rmult_le_pos; lra).
  change (E2 (noise k o) (draw k o) (fun a b => sq (server_step weights g (x k o) (xi k o) steps eta_l eta_g (p k o)
    (chosen k o) a b - xs)))
    with (E2 (noise k o) (draw k o) (fun a b => sq (next_server k o a b - xs))) in h.
  fold Z in h. replace ((M / r + 1 - gamma k o) / gamma k o) with ((1 + M / r) * / gamma k o - 1) in h by (field; lra).
  replace (3 * sigma2 * S2 / (2 * gamma k o * r)) with (3 * sigma2 * S2 / (2 * r) * / gamma k o) in h by (field; lra).
  lra.
Qed.

(** Theorem 18, summed over rounds. *)
Theorem optimal_client_sampling_fedavg_average_gradient rho inf K : follows_server -> (0 < K)%nat ->
  (forall k o, E weights (fun i => sq (g i (x k o) - gradF (x k o))) <= rho) -> bounded_below F inf ->
  let start := E (before O) (fun o => F (x O o)) in let inverse
    := sum K (fun k => E (before k) (fun o => / gamma k o)) / INR K in
  sum K (fun k => E (before k) (fun o => sq (gradF (x k o)))) / INR K
    <= 64 / 23 * ((start - inf) / (INR K * eta) + L * eta * (((1 + M / r) * inverse - 1) * W * rho
      + 3 * sigma2 * S2 / (4 * r) * inverse)
                  + 49 / 32 * L^2 * (1 + M / r) * rho * eta^2 / eta_g^2).
Proof.
  intros hf hK hrho below start inverse. pose proof eta_positive as he. pose proof (r_pos steps steps_pos) as hr.
  pose proof (lt_0_INR K hK) as pK.
  destruct server as [s1 s2].
  set (v k := E (before k) (fun o => F (x k o))). set (q k := E (before k) (fun o => sq (gradF (x k o)))).
  set (ig k := E (before k) (fun o => / gamma k o)).
  set (c0 := 49 / 32 * L^2 * (1 + M / r) * rho * eta^3 / eta_g^2).
  set (A := (1 + M / r) * W * rho + 3 * sigma2 * S2 / (4 * r)).
  assert (step : forall k, v (S k) <= v k - 23 / 64 * eta * q k + L * eta^2 * (A * ig k - W * rho) + c0).
  { intro k. unfold v at 1. rewrite hf.
    apply Rle_trans with (E (before k) (fun o => F (x k o) - 23 / 64 * eta * sq (gradF (x k o))
      + L * eta^2 * A * / gamma k o + (c0 - L * eta^2 * (W * rho))));
      [| right; unfold v, q, ig; Es; ring].
    apply E_le. intro o. pose proof (gamma_range k o) as hg.
    pose proof (optimal_client_sampling_fedavg_nonconvex weights (noise k o) f g (x k o) (past k o) (own k o) (xi k o)
      steps eta_l eta_g M sigma2 L
      (p k o) (draw k o) (chosen k o) (gamma k o) W S2 (rounds k o) steps_pos eta_l_pos constants smooth_clients hg
        squares largest at_most_one (conditions_hold k o)
      rho (hrho k o)) as h.
    change (E2 (noise k o) (draw k o) (fun a b => F (server_step weights g (x k o) (xi k o) steps eta_l eta_g (p k o)
      (chosen k o) a b)))
      with (E2 (noise k o) (draw k o) (fun a b => F (next_server k o a b))) in h.
    replace ((M / r + 1 - gamma k o) / gamma k o) with ((1 + M / r) * / gamma k o - 1) in h by (field; lra).
    replace (3 * sigma2 * S2 / (4 * gamma k o * r)) with (3 * sigma2 * S2 / (4 * r) * / gamma k o) in h by (field; lra).
    fold c0 in h. unfold A. lra. }
  assert (tele : forall m, v m + 23 / 64 * eta * sum m q <= v O + L * eta^2 * sum m (fun k => A * ig k - W * rho)
    + INR m * c0).
  { induction m as [| m IH]; [cbn; lra |]. rewrite S_INR. cbn [sum]. pose proof (step m). lra. }
  pose proof (tele K) as t. assert (b : inf <= v K) by (unfold v; rewrite <- (E_const (before K) inf); apply E_le;
    intro; apply below).
  assert (e : sum K (fun k => A * ig k - W * rho) = INR K * (A * inverse - W * rho)).
  { rewrite sum_sub, sum_scal, sum_const. unfold inverse, ig. field. lra. }
  rewrite e in t. change (v O) with start in t. fold q.
  apply Rmult_le_reg_l with (23 / 64 * eta * INR K); [apply Rmult_lt_0_compat; lra |].
  replace (23 / 64 * eta * INR K * (sum K q / INR K)) with (23 / 64 * eta * sum K q) by (field; lra).
  match goal with |- _ <= ?z => replace z with (start - inf + L * eta^2 * (INR K * (A * inverse - W * rho))
    + INR K * c0) by (unfold A, c0; field; repeat split; lra) end.
  lra.
Qed.
End Rounds.
