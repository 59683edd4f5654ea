(** SCAFFOLD with steps up to 1/(tau L): a round is worth tau steps of gradient descent. *)

From FedTheory Require Export Scaffold.

(** sum_{k=1}^n (t - k G)^2. *)
Lemma lag_squares n t G : sum n (fun s => (t - INR (S s) * G)^2)
  = INR n * t^2 - t * G * (INR n * (INR n + 1)) + G^2 * (INR n * (INR n + 1) * (2 * INR n + 1) / 6).
Proof. induction n as [| n IH]; [cbn; field |]. cbn [sum]. rewrite IH, !S_INR. field. Qed.

(** The polynomial inequality, T = tau, u = eta tau mu, G = C/tau: concave in G, and positive at both ends. *)
Lemma horizon_inequality T u G : 2 <= T -> 0 <= u <= 1 -> 1 - u / 2 <= G <= 1 - u / 4 ->
  T - G * (T + 1) + G^2 * ((T + 1) * (2 * T + 1) / (6 * T)) <= G * (2 - G * (1 + u)) * (2 * T - 1 - u).
Proof.
  intros hT hu hG.
  set (al := (1 + u) * (2 * T - 1 - u) + (T + 1) * (2 * T + 1) / (6 * T)).
  set (be := 2 * (2 * T - 1 - u) + (T + 1)).
  assert (hal : 0 <= al) by (unfold al; apply Rplus_le_le_0_compat; pos).
  assert (ha : 0 <= - al * (1 - u / 2)^2 + be * (1 - u / 2) - T).
  { replace T with (T - 2 + 2) by ring. set (t := T - 2). assert (0 <= t) by (unfold t; lra). set (v := 1 - u).
    assert (0 <= v) by (unfold v; lra).
    assert (e : - al * (1 - u / 2)^2 + be * (1 - u / 2) - (t + 2) =
      ((33 * v^4 + 81 * (u * v^3) + 321 / 4 * (u^2 * v^2) + 63 / 2 * (u^3 * v) + 9 / 4 * u^4)
       + t * (37 * v^4 + 96 * (u * v^3) + 403 / 4 * (u^2 * v^2) + 93 / 2 * (u^3 * v) + 25 / 4 * u^4)
       + t^2 * (10 * v^4 + 27 * (u * v^3) + 59 / 2 * (u^2 * v^2) + 15 * (u^3 * v) + 5 / 2 * u^4)) / (6 * (t + 2))).
    { unfold al, be, v, t. field. lra. }
    rewrite e. assert (0 <= u) by lra. pos. }
  assert (hb : 0 <= - al * (1 - u / 4)^2 + be * (1 - u / 4) - T).
  { replace T with (T - 2 + 2) by ring. set (t := T - 2). assert (0 <= t) by (unfold t; lra). set (v := 1 - u).
    assert (0 <= v) by (unfold v; lra).
    assert (e : - al * (1 - u / 4)^2 + be * (1 - u / 4) - (t + 2) =
      ((33 * v^4 + 165 / 2 * (u * v^3) + 1221 / 16 * (u^2 * v^2) + 237 / 8 * (u^3 * v) + 57 / 16 * u^4)
       + t * (37 * v^4 + 98 * (u * v^3) + 1531 / 16 * (u^2 * v^2) + 321 / 8 * (u^3 * v) + 93 / 16 * u^4)
       + t^2 * (10 * v^4 + 55 / 2 * (u * v^3) + 221 / 8 * (u^2 * v^2) + 12 * (u^3 * v) + 15 / 8 * u^4)) /
           (6 * (t + 2))).
    { unfold al, be, v, t. field. lra. }
    rewrite e. assert (0 <= u) by lra. pos. }
  assert (goal : 0 <= - al * G^2 + be * G - T).
  { destruct (Req_dec u 0) as [z | z].
    - replace G with (1 - u / 2) by lra. easy.
    - apply Rmult_le_reg_l with (u / 4); [lra |]. rewrite Rmult_0_r.
      replace (u / 4 * (- al * G^2 + be * G - T)) with
        ((1 - u / 4 - G) * (- al * (1 - u / 2)^2 + be * (1 - u / 2) - T)
         + (G - (1 - u / 2)) * (- al * (1 - u / 4)^2 + be * (1 - u / 4) - T)
         + al * (u / 4) * (1 - u / 4 - G) * (G - (1 - u / 2))) by field.
      pos. }
  replace (G * (2 - G * (1 + u)) * (2 * T - 1 - u) - (T - G * (T + 1) + G^2 * ((T + 1) * (2 * T + 1) / (6 * T))))
    with (- al * G^2 + be * G - T) in * by (unfold al, be; field; lra).
  assert (e : - al * G^2 + be * G - T
    = G * (2 - G * (1 + u)) * (2 * T - 1 - u) - (T - G * (T + 1) + G^2 * ((T + 1) * (2 * T + 1) / (6 * T))))
    by (unfold al, be; field; lra).
  lra.
Qed.

(** kappa <= c^(2 tau). *)
Theorem lag_le mu L eta tau : 0 < mu <= L -> 0 < eta -> (0 < tau)%nat -> eta * INR tau * L <= 1 -> eta * (L + mu) < 2 ->
  let c := 1 - eta * mu in
  (INR tau - powers c tau)^2 + steepness mu L eta * sum tau (fun s => (INR tau - powers c (S s))^2)
    <= INR tau^2 * c^(2 * tau).
Proof.
  intros hm he ht hx hs c. set (T := INR tau). set (x := eta * mu). set (u := x * T).
  assert (hT1 : 1 <= T) by (apply (le_INR 1); lia).
  assert (hxp : 0 < x) by (unfold x; pos).
  assert (hu : 0 < u <= 1).
  { unfold u, x. split; [pos |]. apply Rle_trans with (2 := hx). fold T.
    assert (eta * T * mu <= eta * T * L) by (apply Rmult_le_compat_l; pos). lra. }
  assert (hx1 : 0 <= x <= 1) by (unfold u in hu; nra).
  assert (hc : 0 <= c <= 1) by (unfold c; fold x; lra).
  destruct (Nat.eq_dec tau 1) as [e1 | ne].
  - subst tau. unfold T, powers. apply Rle_trans with 0; [right; cbn; ring |].
    apply Rmult_le_pos; [apply pow2_ge_0 | apply pow_le; lra].
  - assert (hT : 2 <= T) by (apply (le_INR 2); lia).
    set (C := powers c tau). set (G := C / T).
    assert (eC : x * C = 1 - c ^ tau) by (apply (powers_sum x)).
    assert (hGu : 1 - u / 2 <= G <= 1 - u / 4).
    { pose proof (powers_lower x hx1 tau) as l. pose proof (powers_upper x hx1 tau) as r.
      change (1 - x) with c in l, r. fold C T in l, r.
      assert (l2 : T * (1 - u / 2) <= C) by (unfold u; nra).
      assert (r2 : C <= T * (1 - u / 4)).
      { apply Rle_trans with (1 := r). unfold u.
        assert (k : x^2 * (T * (T - 1) * (T - 2) / 6) <= x * ((T - 1) * (T - 2) / 6)).
        { replace (x^2 * (T * (T - 1) * (T - 2) / 6)) with (x * (x * T) * ((T - 1) * (T - 2) / 6)) by field.
          fold u. apply Rmult_le_compat_r; [pos | nra]. }
        assert (0 <= x * ((T * T - 4) / 12)) by (apply Rmult_le_pos; [lra | nra]). lra. }
      unfold G. split; apply Rmult_le_reg_l with T; try lra; replace (T * (C / T)) with C by (field; lra); easy. }
    assert (sums : sum tau (fun s => (T - powers c (S s))^2) <= sum tau (fun s => (T - INR (S s) * G)^2)).
    { apply sum_le. intros s hs'. pose proof (powers_average x hx1 (S s) (tau - S s)) as a.
      replace (S s + (tau - S s))%nat with tau in a by lia. change (1 - x) with c in a. fold C T in a.
      pose proof (powers_le x hx1 (S s)) as b. change (1 - x) with c in b.
      assert (INR (S s) <= T) by (apply le_INR; lia).
      assert (INR (S s) * G <= powers c (S s)).
      { unfold G. apply Rmult_le_reg_l with T; [lra |]. replace (T * (INR (S s) * (C / T))) with (INR (S s) * C)
          by (field; lra). easy. }
      apply pow_incr. lra. }
    rewrite lag_squares in sums. fold T in sums.
    assert (st : steepness mu L eta <= (1 - u) / (2 * T - 1 - u)).
    { unfold steepness. change (eta * mu) with x.
      assert (hl : eta * (L - mu) <= (1 - u) / T).
      { apply Rmult_le_reg_r with T; [lra |]. replace ((1 - u) / T * T) with (1 - u) by (field; lra). unfold u, x.
        fold T in hx. lra. }
      assert (h0 : 0 <= eta * (L - mu)) by pos.
      assert (p1 : 0 < 2 * (1 - x) - eta * (L - mu)) by (unfold x; lra).
      apply Rmult_le_reg_r with ((2 * (1 - x) - eta * (L - mu)) * (2 * T - 1 - u)); [pos |].
      replace (eta * (L - mu) / (2 * (1 - x) - eta * (L - mu)) * ((2 * (1 - x) - eta * (L - mu)) * (2 * T - 1 - u)))
        with (eta * (L - mu) * (2 * T - 1 - u)) by (field; lra).
      replace ((1 - u) / (2 * T - 1 - u) * ((2 * (1 - x) - eta * (L - mu)) * (2 * T - 1 - u)))
        with ((1 - u) * (2 * (1 - x) - eta * (L - mu))) by (field; lra).
      assert (eta * (L - mu) * T <= 1 - u) by (apply Rmult_le_reg_r with (/ T); [pos |];
        replace (eta * (L - mu) * T * / T) with (eta * (L - mu)) by (field; lra); easy).
      assert (2 * (eta * (L - mu) * T) * (1 - x) <= 2 * (1 - u) * (1 - x)) by (apply Rmult_le_compat_r; lra).
      unfold u in *. nra. }
    assert (s0 : 0 <= sum tau (fun s => (T - powers c (S s))^2)) by (apply sum_pos; intros; apply pow2_ge_0).
    set (P := T - G * (T + 1) + G^2 * ((T + 1) * (2 * T + 1) / (6 * T))).
    assert (eP : T * T^2 - T * G * (T * (T + 1)) + G^2 * (T * (T + 1) * (2 * T + 1) / 6) = T^2 * P)
      by (unfold P; field; lra).
    rewrite eP in sums.
    assert (a1 : steepness mu L eta * sum tau (fun s => (T - powers c (S s))^2)
      <= (1 - u) / (2 * T - 1 - u) * (T^2 * P)).
    { apply Rle_trans with ((1 - u) / (2 * T - 1 - u) * sum tau (fun s => (T - powers c (S s))^2)).
      - now apply Rmult_le_compat_r.
      - apply Rmult_le_compat_l; [pos | easy]. }
    pose proof (horizon_inequality T u G hT ltac:(lra) hGu) as hi. fold P in hi.
    assert (a2 : (1 - u) / (2 * T - 1 - u) * P <= (1 - u) * (G * (2 - G * (1 + u)))).
    { apply Rmult_le_reg_r with (2 * T - 1 - u); [lra |].
      replace ((1 - u) / (2 * T - 1 - u) * P * (2 * T - 1 - u)) with ((1 - u) * P) by (field; lra).
      rewrite Rmult_assoc. apply Rmult_le_compat_l; lra. }
    assert (q : c ^ tau = 1 - u * G) by (unfold u, G; replace (x * T * (C / T)) with (x * C) by (field; lra); lra).
    rewrite pow_mult. replace ((c^2)^tau) with ((c^tau)^2) by (rewrite <- !pow_mult; f_equal; lia). rewrite q.
    replace (T - C) with (T * (1 - G)) by (unfold G; field; lra).
    apply (Rmult_le_compat_l (T^2)) in a2; [| apply pow2_ge_0]. nra.
Qed.

Section Horizon.
Context {V : space}.
Variables (clients : law) (f : nat -> V -> R) (g : nat -> V -> V) (mu L eta : R) (tau : nat) (xs : V).
Hypothesis curvatures : 0 < mu <= L.
Hypothesis eta_pos : 0 < eta.
Hypothesis tau_pos : (0 < tau)%nat.
Hypothesis short_rounds : eta * INR tau * L <= 1.
Hypothesis strongly : forall k, strongly_convex mu (f k) (g k).
Hypothesis smooth_clients : forall k, smooth L (f k) (g k).
Hypothesis best : minimizer (mean_loss clients f) xs.

(** The state of SCAFFOLD with Option II after r rounds: the server's model, and the control variates. *)
Fixpoint scaffold (w : V) (ctl : nat -> V) (r : nat) : V * (nat -> V) :=
  match r with
  | O => (w, ctl)
  | S r => let s := scaffold w ctl r in
      (next_model clients g eta tau (fst s) (snd s), next_control clients g eta tau (fst s) (snd s))
  end.
Definition potential (s : V * (nat -> V)) : R :=
  sq (fst s - xs) + eta^2 * INR tau^2 * control_error2 clients g xs (snd s).

(** With one local step the potential is the mean of |w - eta (grad F_k(w) - h_k) - w* |^2. *)
Lemma one_local_step w ctl : tau = 1%nat ->
  potential (scaffold w ctl 1) <= (1 - eta * mu)^2 * sq (w - xs).
Proof.
  intro e1. assert (hx : eta * L <= 1) by (rewrite e1 in short_rounds; cbn in short_rounds; lra).
  unfold potential. cbn [scaffold fst snd]. set (wp := next_model clients g eta tau w ctl).
  set (z k := (w - eta * g k w - (xs - eta * g k xs))%V).
  assert (hm : forall v, ip (wp - xs) v = E clients (fun k => ip (z k) v)).
  { intro v. unfold wp, next_model, trained_model. rewrite e1, ip_sub, ip_vE, <- (E_const clients (ip xs v)),
      <- E_minus.
    transitivity (E clients (fun k => ip (z k) v - eta * ip (g k xs) v + eta * ip (correction clients ctl k) v)).
    - apply E_ext. intros k _. cbn [corrected_steps]. unfold z. rewrite !ip_sub, !ip_scale, !ip_sub. ring.
    - Es. rewrite (correction_mean clients ctl v).
      rewrite (gradients_at_minimizer clients f g L xs v (fun k => proj1 (smooth_clients k)) best). ring. }
  assert (hd : forall k v, eta * ip (error clients g xs (next_control clients g eta tau w ctl) k) v
    = ip (wp - xs) v - ip (z k) v).
  { intros k v. unfold error, correction. rewrite !ip_sub, ip_vE.
    assert (nc : forall i, ip (next_control clients g eta tau w ctl i) v = ip (g i w) v).
    { intro i. unfold next_control, trained_model. rewrite e1. cbn [corrected_steps INR].
      rewrite ip_add, ip_scale, !ip_sub, ip_scale, ip_sub. field. lra. }
    rewrite nc, (E_ext clients _ (fun i => ip (g i w) v)) by (intros; apply nc).
    specialize (hm v). unfold z in *. rewrite (E_ext clients _
      (fun k => ip w v - eta * ip (g k w) v - (ip xs v - eta * ip (g k xs) v))) in hm
      by (intros; rewrite !ip_sub, !ip_scale; ring). autorewrite with E in hm.
    rewrite (gradients_at_minimizer clients f g L xs v (fun k => proj1 (smooth_clients k)) best) in hm.
    rewrite ip_sub in hm. rewrite !ip_sub, !ip_scale. lra. }
  assert (he : forall k, eta^2 * sq (error clients g xs (next_control clients g eta tau w ctl) k)
    = sq (z k - (wp - xs))).
  { intro k. assert (s1 : same (eta * error clients g xs (next_control clients g eta tau w ctl) k)
      (-1 * (z k - (wp - xs)))).
    { intro v. rewrite !ip_scale, hd, (ip_sub (z k)). ring. }
    pose proof (same_sq _ _ s1) as s2. revert s2. set (er := error _ _ _ _ k). set (dz := (z k - (wp - xs))%V).
    replace (sq (eta * er)) with (eta^2 * sq er) by (ips; ring). replace (sq (-1 * dz)) with (sq dz) by (ips; ring).
    easy. }
  assert (total : sq (wp - xs) + eta^2 * INR tau^2 * control_error2 clients g xs (next_control clients g eta tau w ctl)
    = E clients (fun k => sq (z k))).
  { rewrite (spread_zero clients z). assert (sm : same (vE clients z) (wp - xs)) by (intro v; now rewrite ip_vE, hm).
    rewrite (same_sq _ _ sm), Rplus_comm. f_equal. replace (INR tau) with 1 by now rewrite e1. unfold control_error2.
    rewrite (Rmult_comm _ (E _ _)), <- E_scal_r. apply E_ext. intros k _.
    transitivity (sq (z k - (wp - xs))); [rewrite <- he; ring |].
    apply same_sq. intro v. now rewrite !(ip_sub (z k)), (sm v). }
  rewrite total, <- (E_const clients ((1 - eta * mu)^2 * sq (w - xs))). apply E_le. intro k.
  apply Rle_trans with (1 := step_contracts mu L eta (f k) (g k) xs w ltac:(lra) ltac:(lra) (strongly k)
    (proj1 (smooth_clients k))).
  apply Rmult_le_compat_r; [apply sq_pos |]. apply Rmax_lub; [lra |].
  assert (eta * mu <= eta * L) by (apply Rmult_le_compat_l; lra). apply pow_incr. lra.
Qed.

Theorem scaffold_fixed_step_potential w ctl r :
  potential (scaffold w ctl r) <= (1 - eta * mu)^(2 * tau * r) * potential (w, ctl).
Proof.
  pose proof (le_INR 1 tau ltac:(lia)) as t1. cbn [INR] in t1.
  assert (hxl : eta * L <= 1).
  { apply Rle_trans with (2 := short_rounds). assert (0 <= eta * L * (INR tau - 1)) by (apply Rmult_le_pos; pos). lra. }
  assert (hc : 0 <= 1 - eta * mu) by nra. rewrite pow_mult.
  apply (geometric_pure (fun r => potential (scaffold w ctl r))); [now apply pow_le |]. intros t _. cbn [scaffold].
  set (s := scaffold w ctl t). destruct (Nat.eq_dec tau 1) as [e1 | ne].
  { pose proof (one_local_step (fst s) (snd s) e1) as h. cbn [scaffold] in h. apply Rle_trans with (1 := h).
    replace (2 * tau)%nat with 2%nat by lia. apply Rmult_le_compat_l; [apply pow2_ge_0 |].
    unfold potential. assert (0 <= eta^2 * INR tau^2 * control_error2 clients g xs (snd s)); [| lra].
    apply Rmult_le_pos; [pos | apply E_pos; intro; apply sq_pos]. }
  assert (stable : eta * (L + mu) < 2).
  { assert (2 <= INR tau) by (apply (le_INR 2); lia). assert (0 <= eta * L * (INR tau - 2))
      by (apply Rmult_le_pos; pos).
    assert (eta * mu <= eta * L) by (apply Rmult_le_compat_l; lra). lra. }
  unfold potential. cbn [fst snd].
  pose proof (scaffold_one_round clients f g mu L eta tau xs curvatures eta_pos tau_pos stable strongly smooth_clients
    best (fst s) (snd s)) as h. cbv zeta in h. apply Rle_trans with (1 := h).
  pose proof (lag_le mu L eta tau curvatures eta_pos tau_pos short_rounds stable) as k. cbv zeta in k.
  set (E0 := control_error2 clients g xs (snd s)). assert (hE : 0 <= E0) by (apply E_pos; intro; apply sq_pos).
  apply (Rmult_le_compat_r (eta^2 * E0)) in k; [| pos]. lra.
Qed.
End Horizon.
