(** Optimal Client Sampling with local steps: Theorems 17 and 18, one round. *)

From FedTheory Require Export LocalSampling.

Section OneRound.
Context {V : space}.
Variables (weights noise : law) (f : nat -> V -> R) (g : nat -> V -> V) (x : V).
Variables (past : nat -> nat -> nat -> nat -> Prop) (own : nat -> nat -> nat -> Prop) (xi : nat -> nat -> nat -> V).
Variables (steps : nat) (eta_l eta_g M sigma2 L : R).
Variables (p : nat -> nat -> R) (draw : nat -> law) (chosen : nat -> nat -> nat -> R) (gamma W S2 : R).
Local Notation n := (size weights).
Local Notation w := (weight weights).
Local Notation r := (INR steps).
Local Notation F := (mean_loss weights f).
Local Notation gradF := (mean_gradient weights g).
Local Notation update := (update g x xi steps eta_l).
Local Notation EE := (E2 noise draw).

(** What is assumed of a round: the clients' noise, the sampling, and its relative improvement factor. *)
Definition local_round : Prop :=
  local_noise noise g x past own xi eta_l M sigma2 /\
  (forall a, independent_sampling (p a) (draw a) (chosen a)) /\ (forall a, proper (p a) (sent weights update a)) /\
  improvement weights noise update p gamma.
(** The step of a whole round is eta = R eta_l eta_g; the server moves by eta_g sum (w_i/p_i) (x - y_i) over the
    sample. *)
Definition whole_step : R := r * eta_l * eta_g.
Local Notation eta := whole_step.
Definition direction a b : V := estimate weights update p chosen a b.
Definition server_step a b : V := (x - eta * direction a b)%V.

Hypothesis round : local_round.
Hypothesis steps_pos : (0 < steps)%nat.
Hypothesis eta_l_pos : 0 < eta_l.
Hypothesis constants : 0 <= M /\ 0 <= sigma2 /\ 0 < L.
Hypothesis smooth_clients : forall i, smooth L (f i) (g i).
Hypothesis gamma_range : 0 < gamma <= 1.
Hypothesis squares : S2 = sum n (fun i => w i ^ 2).
Hypothesis largest : forall i, (i < n)%nat -> w i <= W.
Hypothesis at_most_one : W <= 1.
(** The conditions on the steps. *)
Definition step_conditions := 1 <= eta_g /\ gamma / S2 <= eta_g^2 /\ eta <= / (8 * L * (2 + M / r)) /\ eta
  <= gamma / (8 * L * (1 + W * M / r)).
Hypothesis conditions : step_conditions.

Let N : local_noise noise g x past own xi eta_l M sigma2 := proj1 round.
Local Notation dr := (drift weights noise g x xi steps eta_l).
Let B := 1 + M / r.
Let tau := (1 + W * M / r) / gamma.

Lemma facts : 1 <= r /\ 0 < eta /\ 0 <= W /\ 1 <= B /\ 0 < tau /\ eta * L * tau <= 1 / 8 /\ B * (L * eta)^2
  <= 1 / 256 /\ L * eta <= 1 / 16 /\ / eta_g^2 <= S2 / gamma /\ 1 <= / gamma /\ 1 <= eta_g /\ / eta_g^2 <= 1.
Proof.
  pose proof (r_pos steps steps_pos) as hr. destruct constants as (hM & hs & hL).
  destruct conditions as (c1 & c2 & c3 & c4).
  pose proof (W_pos weights W largest) as hW. assert (hMr : 0 <= M / r)
    by (apply Rmult_le_pos; [easy | left; apply Rinv_0_lt_compat; lra]).
  pose proof (eta_sq steps eta_l M sigma2 L steps_pos eta_l_pos constants eta_g c1 c3) as (_ & e2 & e3).
  fold eta in e2, e3. fold B in e2.
  assert (he : 0 < eta) by (unfold whole_step; apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat; lra | lra]).
  assert (wm : 0 <= W * M / r) by (unfold Rdiv; rewrite Rmult_assoc; apply Rmult_le_pos; [easy | exact hMr]).
  assert (ht : 0 < tau) by (unfold tau; apply Rdiv_lt_0_compat; lra).
  assert (lt8 : eta * L * tau <= 1 / 8).
  { unfold tau. set (q := 1 + W * M / r) in *. apply (Rmult_le_compat_r (L * q)) in c4;
      [| apply Rmult_le_pos; unfold q; lra].
    replace (gamma / (8 * L * q) * (L * q)) with (gamma / 8) in c4 by (field; unfold q; split; lra).
    apply Rmult_le_reg_r with gamma; [lra |]. replace (eta * L * (q / gamma) * gamma) with (eta * (L * q))
      by (field; lra). lra. }
  assert (hS : 0 < S2).
  { assert (w1 : 0 <= S2) by (rewrite squares; apply sum_pos; intros; apply pow2_ge_0).
    destruct (Req_dec S2 0) as [z | z]; [| lra]. exfalso.
    assert (all : forall i, (i < n)%nat -> w i = 0).
    { intros i hi. pose proof (sum_member n i (fun i => w i ^ 2) hi (fun i => pow2_ge_0 _)) as m. cbv beta in m.
      rewrite <- squares, z in m. pose proof (weight_pos weights i). nra. }
    pose proof (weight_sum weights) as ws. rewrite (sum_zero n w all) in ws. lra. }
  assert (g2 : 1 <= eta_g^2) by (rewrite <- (pow1 2); apply pow_incr; lra). assert (b1 : 1 <= B) by (unfold B; lra).
  repeat split; try lra.
  - apply Rmult_le_reg_r with (eta_g^2 * (gamma / S2)); [apply Rmult_lt_0_compat;
      [lra | apply Rdiv_lt_0_compat; lra] |].
    replace (/ eta_g^2 * (eta_g^2 * (gamma / S2))) with (gamma / S2) by (field; lra).
    replace (S2 / gamma * (eta_g^2 * (gamma / S2))) with (eta_g^2) by (field; lra). exact c2.
  - rewrite <- Rinv_1. apply Rinv_le_contravar; lra.
  - rewrite <- Rinv_1. apply Rinv_le_contravar; lra.
Qed.

Lemma drift_nonnegative : 0 <= dr.
Proof. apply (drift_pos weights noise g x xi steps eta_l). exact steps_pos. Qed.

(** The mean update along a vector. *)
Definition along (v : V) : R := E noise (fun a => ip (vE weights (fun i => update i a)) v).
Lemma along_h v : along v = E weights (fun i => E noise (fun a => ip (h g x xi steps eta_l i a) v)).
Proof.
  unfold along. rewrite (E_ext noise _ (fun a => E weights (fun i => ip (update i a) v))) by (intros; apply ip_vE).
  rewrite E_swap.
  apply E_ext. intros i _. rewrite (E_ext noise _ (fun a => ip (h g x xi steps eta_l i a) v
    + ip (zeta xi steps i a) v)).
  - rewrite E_plus, (zeta_mean noise g x past own xi steps eta_l M sigma2 L N constants). ring.
  - intros a _. now rewrite (update_split g x xi steps eta_l steps_pos eta_l_pos i a v), ip_add.
Qed.

Lemma distance_expand (xs : V) : EE (fun a b => sq (server_step a b - xs)) = sq (x - xs) - 2 * eta * along (x - xs)
  + eta^2 * EE (fun a b => sq (direction a b)).
Proof.
  pose proof round as rd0; destruct rd0 as (_ & sampling & support & _).
  transitivity (EE (fun a b => sq (x - xs) - 2 * eta * ip (direction a b) (x - xs) + eta^2 * sq (direction a b))).
  - apply E2_ext. intros a b. unfold server_step. ips. ring.
  - Es. f_equal. f_equal. f_equal. apply (estimate_unbiased weights noise update p draw chosen sampling support).
Qed.

Lemma second_moment e d : 0 < e -> 0 < d -> let k := (/ gamma - 1) + (1 + e) * (M / r) / gamma in
  EE (fun a b => sq (direction a b))
    <= (1 + d) * k * sum n (fun i => w i ^ 2 * sq (g i x)) + (1 + d) * sq (gradF x)
      + L^2 * (W * ((1 + / d) * k + / e / gamma) + (1 + / d)) * dr + (1 + e) * (sigma2 * S2 / (r * gamma)).
Proof.
  intros he hd. pose proof round as rd0; destruct rd0 as (_ & sampling & support & factor).
  exact (second_moment_with weights noise f g x past own xi steps eta_l M sigma2 L N steps_pos eta_l_pos constants
    smooth_clients p draw chosen gamma W S2 e d
    sampling support factor gamma_range squares largest (conj he hd)).
Qed.
Lemma second_moment_third : EE (fun a b => sq (direction a b))
  <= 2 * (B / gamma - 1) * sum n (fun i => w i ^ 2 * sq (g i x)) + 3 / 2 * sq (gradF x) + 6 * L^2 * tau * dr
    + 4 * sigma2 / (3 * r * gamma) * S2.
Proof.
  pose proof round as rd0; destruct rd0 as (_ & sampling & support & factor).
  exact (optimal_client_sampling_fedavg_second_moment weights noise f g x past own xi steps eta_l M sigma2 L N steps_pos
    eta_l_pos constants smooth_clients
    p draw chosen gamma W S2 sampling support factor gamma_range squares largest at_most_one).
Qed.

(** The drift, with squared gradients at x. *)
Lemma drift_bound : dr <= 7 / 8 * (eta^2 / eta_g^2) * (2 * B * E weights (fun i => sq (g i x)) + sigma2 / r).
Proof.
  pose proof facts as (hr & he & hW & hB & _ & _ & _ & _ & _ & _ & hg & _). destruct constants as (hM & hs & hL).
  destruct conditions as (c1 & c2 & c3 & c4).
  pose proof (optimal_client_sampling_client_drift weights noise f g x past own xi steps eta_l M sigma2 L N steps_pos
    eta_l_pos constants smooth_clients eta_g c1 c3) as d.
  fold eta B in d. apply Rle_trans with (1 := d).
  assert (0 <= E weights (fun i => sq (g i x))) by (apply E_pos; intro; apply sq_pos).
  assert (0 <= sigma2 / r) by (apply Rmult_le_pos; [easy | left; apply Rinv_0_lt_compat; lra]).
  apply Rmult_le_compat_r; [apply Rplus_le_le_0_compat; [apply Rmult_le_pos; lra | easy] |].
  apply Rmult_le_compat_r; [apply Rmult_le_pos; [apply pow2_ge_0 | left; apply Rinv_0_lt_compat, pow_lt; lra] |].
  assert (0 < / r) by (apply Rinv_0_lt_compat; lra). lra.
Qed.

(** *** Strongly convex and convex losses *)
Section Convex.
Variables (xs : V) (low : nat -> R).
Hypothesis best : minimizer F xs.
Hypothesis minima : forall i, bounded_below (f i) (low i).
Let gap := F x - F xs.
Let Z := objective_gap weights f low xs.

Lemma gap_pos : 0 <= gap.
Proof. pose proof (best x). unfold gap. lra. Qed.
Lemma Z_pos : 0 <= Z.
Proof. apply E_pos. intro k. pose proof (minima k xs). lra. Qed.
Lemma mean_gradient2_le : E weights (fun i => sq (g i x)) <= 2 * L * (gap + Z).
Proof.
  destruct constants as (hM & hs & hL). apply Rle_trans with (2 * L * E weights (fun i => f i x - low i)).
  - rewrite <- E_scal. apply E_le. intro i. apply (gradient_le L (f i) (g i));
      [easy | apply smooth_clients | apply minima].
  - right. f_equal. unfold gap, Z, objective_gap, mean_loss. Es. ring.
Qed.
Lemma weighted_gradient2_le : sum n (fun i => w i ^ 2 * sq (g i x)) <= W * (2 * L * (gap + Z)).
Proof.
  apply Rle_trans with (W * E weights (fun i => sq (g i x))).
  - apply (largest_weight weights W largest). intro. apply sq_pos.
  - apply Rmult_le_compat_l; [apply (W_pos weights W largest) | apply mean_gradient2_le].
Qed.
Lemma full_gradient2_le : sq (gradF x) <= 2 * L * gap.
Proof. destruct constants as (hM & hs & hL). apply (gradient_le L F gradF (F xs));
  [easy | apply mean_loss_upper; intro; apply smooth_clients | exact best]. Qed.

(** The first-order part, from Lemma 21 along the way of every client: [q] = mu/4 or 0, and [l] = L or L/2. *)
Lemma first_order_part q l : 0 <= l ->
  (forall i y, f i x - f i xs + q * sq (x - xs) - l * sq (y - x) <= ip (g i y) (x - xs)) ->
  gap + q * sq (x - xs) - l * dr <= along (x - xs).
Proof.
  intros hl lem. pose proof facts as (hr & _). rewrite along_h. unfold gap, mean_loss, drift.
  rewrite <- E_minus, <- (E_const weights (q * sq (x - xs))), <- E_plus, <- E_scal, <- E_minus. apply E_le. intro i.
  unfold h, drift_of. rewrite (E_ext noise _ (fun a => / r * sum steps
    (fun s => ip (g i (local_path g x xi eta_l i s a)) (x - xs))))
    by (intros; rewrite ip_scale, ip_vsum; easy).
  rewrite E_scal, E_sum.
  replace (f i x - f i xs + q * sq (x - xs) - l * (/ r * sum steps
    (fun s => E noise (fun a => sq (local_path g x xi eta_l i s a - x)))))
    with (/ r * sum steps (fun s => f i x - f i xs + q * sq (x - xs)
      - l * E noise (fun a => sq (local_path g x xi eta_l i s a - x))))
    by (rewrite sum_sub, sum_const, sum_scal; field; lra).
  apply Rmult_le_compat_l; [left; apply Rinv_0_lt_compat; lra |]. apply sum_le. intros s _.
  rewrite <- E_scal, <- (E_const noise (f i x - f i xs + q * sq (x - xs))), <- E_minus. apply E_le. intro a. apply lem.
Qed.

(** From a second moment 'A gap + C + 6 L^2 D tau drift' and a first-order part to the bound of a round. *)
Lemma finish q l A C D cR cZ cD : 0 <= l -> gap + q * sq (x - xs) - l * dr <= along (x - xs) ->
  EE (fun a b => sq (direction a b)) <= A * (L * tau * gap) + C + D * (L^2 * tau) * dr ->
  0 <= A -> 0 <= D -> cD = 2 * l + D / 8 * L -> 0 <= cD ->
  cR <= 2 - A / 8 - cD / L * (7 / 8 * (4 * (1 / 256))) -> cZ = cD / L * (7 / 8 * 4) ->
  EE (fun a b => sq (server_step a b - xs))
    <= sq (x - xs) - 2 * eta * q * sq (x - xs) - cR * eta * gap
      + eta^2 * (C + cD / L * (7 / 128) * (sigma2 * S2 / (gamma * r))) + cZ * L^2 * B * Z * eta^3 / eta_g^2.
Proof.
  intros hl fo sm hA hD eD hcD hR eZ. pose proof facts as (hr & he & hW & hB & ht & t8 & e2 & e3 & g1 & ig & hg & g2).
  destruct constants as (hM & hs & hL). pose proof gap_pos as hgap. pose proof Z_pos as hZ.
  pose proof drift_nonnegative as hd.
  rewrite distance_expand.
  assert (a1 : eta^2 * (A * (L * tau * gap)) <= A / 8 * (eta * gap)).
  { replace (eta^2 * (A * (L * tau * gap))) with (A * (eta * gap) * (eta * L * tau)) by ring.
    replace (A / 8 * (eta * gap)) with (A * (eta * gap) * (1 / 8)) by field.
    apply Rmult_le_compat_l; [apply Rmult_le_pos; [easy | apply Rmult_le_pos; lra] | easy]. }
  assert (a2 : eta^2 * (D * (L^2 * tau) * dr) <= D / 8 * L * (eta * dr)).
  { replace (eta^2 * (D * (L^2 * tau) * dr)) with (D * L * (eta * dr) * (eta * L * tau)) by ring.
    replace (D / 8 * L * (eta * dr)) with (D * L * (eta * dr) * (1 / 8)) by field.
    apply Rmult_le_compat_l; [apply Rmult_le_pos; [apply Rmult_le_pos; lra | apply Rmult_le_pos; lra] | easy]. }
  apply (Rmult_le_compat_l (eta^2)) in sm; [| apply pow2_ge_0]. apply (Rmult_le_compat_l (2 * eta)) in fo; [| lra].
  (* the drift *)
  pose proof drift_bound as db. pose proof mean_gradient2_le as mg.
  set (y := / eta_g^2) in *. assert (hy : 0 < y) by (unfold y; apply Rinv_0_lt_compat, pow_lt; lra).
  assert (db2 : dr <= 7 / 8 * (eta^2 * y) * (2 * B * (2 * L * (gap + Z)) + sigma2 / r)).
  { apply Rle_trans with (1 := db). replace (eta^2 / eta_g^2) with (eta^2 * y) by (unfold y; field; lra).
    apply Rmult_le_compat_l.
    - apply Rmult_le_pos; [lra |]. apply Rmult_le_pos; [apply pow2_ge_0 | lra].
    - apply Rplus_le_compat_r. apply Rmult_le_compat_l; lra. }
  assert (sr : 0 <= sigma2 / r) by (apply Rmult_le_pos; [easy | left; apply Rinv_0_lt_compat; lra]).
  assert (d1 : cD * (eta * dr) <= cD * eta * (7 / 8 * (eta^2 * y) * (2 * B * (2 * L * (gap + Z)) + sigma2 / r))).
  { rewrite <- Rmult_assoc. apply Rmult_le_compat_l; [apply Rmult_le_pos; lra | easy]. }
  assert (cL : 0 <= cD / L) by (apply Rmult_le_pos; [easy | left; now apply Rinv_0_lt_compat]).
  assert (p1 : cD * eta * (7 / 8 * (eta^2 * y) * (2 * B * (2 * L * gap)))
    <= cD / L * (7 / 8 * (4 * (1 / 256))) * (eta * gap)).
  { replace (cD * eta * (7 / 8 * (eta^2 * y) * (2 * B * (2 * L * gap)))) with
      (cD / L * (7 / 8 * 4) * (eta * gap) * (B * (L * eta)^2 * y)) by (field; lra).
    replace (cD / L * (7 / 8 * (4 * (1 / 256))) * (eta * gap)) with (cD / L * (7 / 8 * 4) * (eta * gap) * (1 / 256 * 1))
      by (field; lra).
    apply Rmult_le_compat_l; [apply Rmult_le_pos; [apply Rmult_le_pos; lra | apply Rmult_le_pos; lra] |].
    apply Rmult_le_compat; try lra. apply Rmult_le_pos; [lra | apply pow2_ge_0]. }
  assert (p2 : cD * eta * (7 / 8 * (eta^2 * y) * (sigma2 / r))
    <= eta^2 * (cD / L * (7 / 128) * (sigma2 * S2 / (gamma * r)))).
  { replace (cD * eta * (7 / 8 * (eta^2 * y) * (sigma2 / r))) with
      (eta^2 * (cD / L) * (7 / 8) * (sigma2 / r) * (L * eta * y)) by (field; lra).
    replace (eta^2 * (cD / L * (7 / 128) * (sigma2 * S2 / (gamma * r)))) with
      (eta^2 * (cD / L) * (7 / 8) * (sigma2 / r) * (1 / 16 * (S2 / gamma))) by (field; repeat split; lra).
    apply Rmult_le_compat_l; [apply Rmult_le_pos; [apply Rmult_le_pos;
      [apply Rmult_le_pos; [apply pow2_ge_0 | easy] | lra] | easy] |].
    apply Rmult_le_compat; try lra. apply Rmult_le_pos; lra. }
  assert (p3 : cD * eta * (7 / 8 * (eta^2 * y) * (2 * B * (2 * L * Z))) = cZ * L^2 * B * Z * eta^3 / eta_g^2).
  { rewrite eZ. unfold y. field. lra. }
  assert (hRg : cR * (eta * gap) <= (2 - A / 8 - cD / L * (7 / 8 * (4 * (1 / 256)))) * (eta * gap))
    by (apply Rmult_le_compat_r; [apply Rmult_le_pos; lra | easy]).
  assert (ecD : cD * (eta * dr) = 2 * eta * (l * dr) + D / 8 * L * (eta * dr)) by (rewrite eD; ring).
  rewrite <- p3. lra.
Qed.

Lemma lemma_21 mu i y : 0 <= mu <= L -> strongly_convex mu (f i) (g i) -> f i x - f i xs + mu / 4 * sq (x - xs)
  - L * sq (y - x) <= ip (g i y) (x - xs).
Proof.
  intros hm sc. pose proof (smooth_clients i) as [up _]. pose proof (up y x) as a. pose proof (sc y xs) as b.
  assert (c : ip (g i y) (x - xs) = ip (g i y) (x - y) - ip (g i y) (xs - y)) by (ips; ring).
  assert (d : sq (x - xs) <= 2 * sq (xs - y) + 2 * sq (x - y)).
  { pose proof (sq_pos (xs - y + (x - y))%V) as q. replace (sq (xs - y + (x - y))) with
      (2 * sq (xs - y) + 2 * sq (x - y) - sq (x - xs)) in q by (ips; ring). lra. }
  replace (sq (y - x)) with (sq (x - y)) by (ips; ring). pose proof (sq_pos (x - y)%V). nra.
Qed.
Lemma lemma_21_convex i y : convex (f i) (g i) -> f i x - f i xs + 0 * sq (x - xs) - L / 2 * sq (y - x)
  <= ip (g i y) (x - xs).
Proof.
  intros cv. pose proof (smooth_clients i) as [up _]. pose proof (up y x) as a. pose proof (cv y xs) as b.
  assert (c : ip (g i y) (x - xs) = ip (g i y) (x - y) - ip (g i y) (xs - y)) by (ips; ring).
  replace (sq (y - x)) with (sq (x - y)) by (ips; ring). lra.
Qed.

(** The second moment of the proof of Theorem 17. *)
Lemma moment_17 : EE (fun a b => sq (direction a b))
  <= 4 * (L * tau * gap) + (4 * L * W * (B / gamma - 1) * Z + 4 * sigma2 / (3 * r * gamma) * S2) + 6 * (L^2 * tau) * dr.
Proof.
  pose proof facts as (hr & he & hW & hB & ht & _ & _ & _ & _ & ig & _). destruct constants as (hM & hs & hL).
  pose proof gap_pos as hgap. pose proof Z_pos as hZ. pose proof weighted_gradient2_le as wg.
  pose proof full_gradient2_le as fg.
  apply Rle_trans with (1 := second_moment_third).
  assert (hBg : 0 <= B / gamma - 1) by (unfold Rdiv; nra).
  apply (Rmult_le_compat_l (2 * (B / gamma - 1))) in wg; [| lra].
  assert (c : 4 * L * W * (B / gamma - 1) * gap + 3 * L * gap <= 4 * (L * tau * gap)).
  { replace (4 * L * W * (B / gamma - 1) * gap + 3 * L * gap) with (L * gap * (4 * W * (B / gamma - 1) + 3)) by ring.
    replace (4 * (L * tau * gap)) with (L * gap * (4 * tau)) by ring.
    apply Rmult_le_compat_l; [apply Rmult_le_pos; lra |].
    assert (tau = / gamma + W * (M / r / gamma)) by (unfold tau; field; lra).
    assert (B / gamma = / gamma + M / r / gamma) by (unfold B; field; lra).
    assert (0 <= (1 - W) * (/ gamma - 1)) by (apply Rmult_le_pos; lra). nra. }
  lra.
Qed.

Theorem optimal_client_sampling_fedavg_strongly_convex mu : 0 <= mu <= L ->
  (forall i, strongly_convex mu (f i) (g i)) ->
  EE (fun a b => sq (server_step a b - xs))
    <= (1 - mu * eta / 2) * sq (x - xs) - 23 / 16 * eta * gap
      + eta^2 * (4 * L * ((M / r + 1 - gamma) / gamma) * W * Z + 3 * sigma2 * S2 / (2 * gamma * r))
          + 77 / 8 * L^2 * (1 + M / r) * Z * eta^3 / eta_g^2.
Proof.
  intros hm sc. destruct constants as (hM & hs & hL). pose proof facts as (hr & he & hW & hB & ht & _).
  pose proof (finish (mu / 4) L 4 (4 * L * W * (B / gamma - 1) * Z + 4 * sigma2 / (3 * r * gamma) * S2) 6 (23 / 16)
    (77 / 8) (11 / 4 * L) ltac:(lra)
    (first_order_part (mu / 4) L ltac:(lra) (fun i y => lemma_21 mu i y hm (sc i))) moment_17 ltac:(lra) ltac:(lra)
      ltac:(lra) ltac:(lra)
    ltac:(replace (11 / 4 * L / L) with (11 / 4) by (field; lra); lra) ltac:(field; lra)) as h.
  apply Rle_trans with (1 := h). fold B. replace (11 / 4 * L / L) with (11 / 4) by (field; lra).
  replace ((M / r + 1 - gamma) / gamma) with (B / gamma - 1) by (unfold B; field; lra).
  assert (0 <= sigma2 * S2 / (gamma * r)).
  { apply Rmult_le_pos; [apply Rmult_le_pos; [easy | rewrite squares; apply sum_pos; intros; apply pow2_ge_0] | left;
      apply Rinv_0_lt_compat, Rmult_lt_0_compat; lra]. }
  assert (c : 4 * sigma2 / (3 * r * gamma) * S2 + 11 / 4 * (7 / 128) * (sigma2 * S2 / (gamma * r))
    <= 3 * sigma2 * S2 / (2 * gamma * r)).
  { replace (4 * sigma2 / (3 * r * gamma) * S2) with (4 / 3 * (sigma2 * S2 / (gamma * r))) by (field; split; lra).
    replace (3 * sigma2 * S2 / (2 * gamma * r)) with (3 / 2 * (sigma2 * S2 / (gamma * r))) by (field; split; lra).
    lra. }
  apply (Rmult_le_compat_l (eta^2)) in c; [| apply pow2_ge_0]. lra.
Qed.

(** Only f is strongly convex, and every client is convex. *)
Theorem optimal_client_sampling_fedavg_convex_clients mu : 0 <= mu -> strongly_convex mu F gradF ->
  (forall i, convex (f i) (g i)) ->
  EE (fun a b => sq (server_step a b - xs))
    <= (1 - mu * eta / 2) * sq (x - xs) - 7 / 16 * eta * gap
      + eta^2 * (4 * L * ((M / r + 1 - gamma) / gamma) * W * Z + 3 * sigma2 * S2 / (2 * gamma * r))
          + 77 / 8 * L^2 * (1 + M / r) * Z * eta^3 / eta_g^2.
Proof.
  intros hm sc cv. destruct constants as (hM & hs & hL). pose proof facts as
    (hr & he & hW & hB & ht & _ & _ & _ & _ & _ & hg & _).
  pose proof (finish 0 (L / 2) 4 (4 * L * W * (B / gamma - 1) * Z + 4 * sigma2 / (3 * r * gamma) * S2) 6 (23 / 16)
    (49 / 8) (7 / 4 * L) ltac:(lra)
    (first_order_part 0 (L / 2) ltac:(lra) (fun i y => lemma_21_convex i y (cv i))) moment_17 ltac:(lra) ltac:(lra)
      ltac:(lra) ltac:(lra)
    ltac:(replace (7 / 4 * L / L) with (7 / 4) by (field; lra); lra) ltac:(field; lra)) as h.
  apply Rle_trans with (1 := h). fold B. replace (7 / 4 * L / L) with (7 / 4) by (field; lra).
  replace ((M / r + 1 - gamma) / gamma) with (B / gamma - 1) by (unfold B; field; lra).
  assert (0 <= sigma2 * S2 / (gamma * r)).
  { apply Rmult_le_pos; [apply Rmult_le_pos; [easy | rewrite squares; apply sum_pos; intros; apply pow2_ge_0] | left;
      apply Rinv_0_lt_compat, Rmult_lt_0_compat; lra]. }
  assert (c : 4 * sigma2 / (3 * r * gamma) * S2 + 7 / 4 * (7 / 128) * (sigma2 * S2 / (gamma * r))
    <= 3 * sigma2 * S2 / (2 * gamma * r)).
  { replace (4 * sigma2 / (3 * r * gamma) * S2) with (4 / 3 * (sigma2 * S2 / (gamma * r))) by (field; split; lra).
    replace (3 * sigma2 * S2 / (2 * gamma * r)) with (3 / 2 * (sigma2 * S2 / (gamma * r))) by (field; split; lra).
    lra. }
  apply (Rmult_le_compat_l (eta^2)) in c; [| apply pow2_ge_0].
  (* eta gap pays for mu eta/2 |x - xs|^2 *)
  assert (sg : mu / 2 * sq (x - xs) <= gap).
  { apply (above_minimum mu L F gradF xs x sc); [apply mean_loss_upper; intro; apply smooth_clients | exact best]. }
  apply (Rmult_le_compat_l eta) in sg; [| lra]. pose proof Z_pos as hZ.
  assert (0 <= L^2 * B * Z * eta^3 / eta_g^2).
  { apply Rmult_le_pos; [apply Rmult_le_pos; [apply Rmult_le_pos; [apply Rmult_le_pos; [apply pow2_ge_0 | lra] | easy] |
      apply pow_le; lra] | left; apply Rinv_0_lt_compat, pow_lt; lra]. }
  replace (49 / 8 * L^2 * B * Z * eta^3 / eta_g^2) with (49 / 8 * (L^2 * B * Z * eta^3 / eta_g^2)) in * by (field; lra).
  replace (77 / 8 * L^2 * B * Z * eta^3 / eta_g^2) with (77 / 8 * (L^2 * B * Z * eta^3 / eta_g^2)) by (field; lra). lra.
Qed.

(** With the squared weights at the minimizer; the clients are strongly convex. *)
Theorem optimal_client_sampling_fedavg_strongly_convex_per_client mu : 0 <= mu <= L ->
  (forall i, strongly_convex mu (f i) (g i)) ->
  let per_client := sum n (fun i => w i ^ 2 * (f i xs - low i)) in
  EE (fun a b => sq (server_step a b - xs))
    <= (1 - mu * eta / 2) * sq (x - xs) - 5 / 8 * eta * gap
      + eta^2 * (4 * L * ((M / r + 1 - gamma) / gamma) * per_client + 3 * sigma2 * S2 / (2 * gamma * r))
          + 12 * L^2 * (1 + M / r) * Z * eta^3 / eta_g^2.
Proof.
  intros hm sc per_client. destruct constants as (hM & hs & hL).
  pose proof facts as (hr & he & hW & hB & ht & _ & _ & _ & _ & ig & hg & _).
  pose proof gap_pos as hgap. pose proof Z_pos as hZ. pose proof full_gradient2_le as fg.
  pose proof drift_nonnegative as hd.
  assert (hMr : 0 <= M / r) by (apply Rmult_le_pos; [easy | left; apply Rinv_0_lt_compat; lra]).
  assert (hmg : 0 <= M / r / gamma) by (apply Rmult_le_pos; [easy | lra]).
  set (k := / gamma - 1 + (1 + 1 / 5) * (M / r) / gamma).
  assert (hk : 0 <= k) by (unfold k; replace ((1 + 1 / 5) * (M / r) / gamma) with (6 / 5 * (M / r / gamma))
    by (field; split; lra); lra).
  assert (bg : B / gamma - 1 = / gamma - 1 + M / r / gamma) by (unfold B; field; lra).
  assert (tg : tau = / gamma + W * (M / r / gamma)) by (unfold tau; field; lra).
  assert (kk : (1 + 1 / 5) * k <= 36 / 25 * (B / gamma - 1)).
  { rewrite bg. unfold k. replace ((1 + 1 / 5) * (M / r) / gamma) with (6 / 5 * (M / r / gamma)) by (field; split; lra).
    lra. }
  (* gradients at x against those at the minimizer *)
  assert (split : sum n (fun i => w i ^ 2 * sq (g i x)) <= 25 / 18 * (2 * L * per_client)
    + 25 / 7 * (W * (2 * L * gap))).
  { apply Rle_trans with (25 / 18 * sum n (fun i => w i ^ 2 * sq (g i xs))
      + 25 / 7 * sum n (fun i => w i ^ 2 * sq (g i x - g i xs))).
    - rewrite <- !sum_scal, <- sum_add. apply sum_le. intros i _.
      assert (y1 : sq (g i x) <= 25 / 18 * sq (g i xs) + 25 / 7 * sq (g i x - g i xs)).
      { pose proof (young (7 / 18) (g i xs) (g i x - g i xs)%V ltac:(lra)) as yg.
        replace (/ (7 / 18)) with (18 / 7) in yg by field.
        replace (sq (g i x)) with (sq (g i xs) + 2 * ip (g i xs) (g i x - g i xs) + sq (g i x - g i xs)) by (ips; ring).
        lra. }
      pose proof (pow2_ge_0 (w i)). apply (Rmult_le_compat_l (w i ^ 2)) in y1; [| easy]. lra.
    - apply Rplus_le_compat; apply Rmult_le_compat_l; try lra.
      + unfold per_client. rewrite <- sum_scal. apply sum_le. intros i _.
        pose proof (gradient_le L (f i) (g i) (low i) xs hL (proj1 (smooth_clients i)) (minima i)) as gl.
        pose proof (pow2_ge_0 (w i)).
        apply (Rmult_le_compat_l (w i ^ 2)) in gl; [| easy]. lra.
      + apply Rle_trans with (W * E weights (fun i => sq (g i x - g i xs)));
          [apply (largest_weight weights W largest); intro; apply sq_pos |].
        apply Rmult_le_compat_l; [easy |].
        assert (z : ip (gradF xs) (x - xs) = 0).
        { apply (minimizer_gradient L F gradF xs); [apply mean_loss_upper; intro; apply smooth_clients | exact best]. }
        replace (2 * L * gap) with (E weights (fun i => 2 * L * (f i x - f i xs - ip (g i xs) (x - xs)))).
        * apply E_le. intro i. pose proof (interpolation_mult 0 L (f i) (g i) xs x ltac:(lra)
            (lower_le mu 0 _ _ (proj1 hm) (sc i)) (proj1 (smooth_clients i))) as im.
          replace (sq (g i x - g i xs - 0 * (x - xs))) with (sq (g i x - g i xs)) in im by (ips; ring). lra.
        * unfold mean_gradient in z. rewrite ip_vE in z. unfold gap, mean_loss. Es. rewrite z. ring. }
  assert (hp0 : 0 <= per_client) by (apply sum_pos; intros i _; apply Rmult_le_pos;
    [apply pow2_ge_0 | pose proof (minima i xs); lra]).
  pose proof (second_moment (1 / 5) (1 / 5) ltac:(lra) ltac:(lra)) as sm. cbv zeta in sm. fold k in sm.
  replace (/ (1 / 5)) with 5 in sm by field.
  assert (moment : EE (fun a b => sq (direction a b))
    <= 72 / 7 * (L * tau * gap) + (4 * L * (B / gamma - 1) * per_client + 6 / 5 * (sigma2 * S2 / (r * gamma)))
      + 11 * (L^2 * tau) * dr).
  { apply Rle_trans with (1 := sm).
    assert (b0 : 0 <= B / gamma - 1) by (rewrite bg; lra).
    assert (q0 : 0 <= sum n (fun i => w i ^ 2 * sq (g i x)))
      by (apply sum_pos; intros; apply Rmult_le_pos; [apply pow2_ge_0 | apply sq_pos]).
    assert (s1 : (1 + 1 / 5) * k * sum n (fun i => w i ^ 2 * sq (g i x))
      <= 36 / 25 * (B / gamma - 1) * (25 / 18 * (2 * L * per_client) + 25 / 7 * (W * (2 * L * gap)))).
    { apply Rle_trans with (36 / 25 * (B / gamma - 1) * sum n (fun i => w i ^ 2 * sq (g i x)));
        [now apply Rmult_le_compat_r | apply Rmult_le_compat_l; lra]. }
    assert (w1 : 0 <= (1 - W) * (/ gamma - 1)) by (apply Rmult_le_pos; lra).
    assert (s2 : 36 / 25 * (B / gamma - 1) * (25 / 7 * (W * (2 * L * gap))) + (1 + 1 / 5) * (2 * L * gap)
      <= 72 / 7 * (L * tau * gap)).
    { replace (36 / 25 * (B / gamma - 1) * (25 / 7 * (W * (2 * L * gap))) + (1 + 1 / 5) * (2 * L * gap)) with
        (L * gap * (72 / 7 * (W * (B / gamma - 1)) + 12 / 5)) by (field; lra).
      replace (72 / 7 * (L * tau * gap)) with (L * gap * (72 / 7 * tau)) by ring.
      apply Rmult_le_compat_l; [apply Rmult_le_pos; lra |]. rewrite bg, tg. nra. }
    assert (s3 : L^2 * (W * ((1 + 5) * k + 5 / gamma) + (1 + 5)) * dr <= 11 * (L^2 * tau) * dr).
    { apply Rmult_le_compat_r; [easy |]. replace (11 * (L^2 * tau)) with (L^2 * (11 * tau)) by ring.
      apply Rmult_le_compat_l; [apply pow2_ge_0 |].
      rewrite tg. unfold k. replace ((1 + 1 / 5) * (M / r) / gamma) with (6 / 5 * (M / r / gamma))
        by (field; split; lra). replace (5 / gamma) with (5 * / gamma) by (field; lra).
      assert (0 <= W * (M / r / gamma)) by (apply Rmult_le_pos; lra). nra. }
    lra. }
  pose proof (finish (mu / 4) L (72 / 7) (4 * L * (B / gamma - 1) * per_client + 6 / 5 * (sigma2 * S2 / (r * gamma))) 11
    (5 / 8) (27 / 8 * (7 / 8 * 4)) (27 / 8 * L) ltac:(lra)
    (first_order_part (mu / 4) L ltac:(lra) (fun i y => lemma_21 mu i y hm (sc i))) moment ltac:(lra) ltac:(lra)
      ltac:(lra) ltac:(lra)
    ltac:(replace (27 / 8 * L / L) with (27 / 8) by (field; lra); lra) ltac:(field; lra)) as h.
  apply Rle_trans with (1 := h). fold B. replace (27 / 8 * L / L) with (27 / 8) by (field; lra).
  replace ((M / r + 1 - gamma) / gamma) with (B / gamma - 1) by (unfold B; field; lra).
  assert (sn : 0 <= sigma2 * S2 / (gamma * r)).
  { apply Rmult_le_pos; [apply Rmult_le_pos; [easy | rewrite squares; apply sum_pos; intros; apply pow2_ge_0] | left;
      apply Rinv_0_lt_compat, Rmult_lt_0_compat; lra]. }
  assert (c : 6 / 5 * (sigma2 * S2 / (r * gamma)) + 27 / 8 * (7 / 128) * (sigma2 * S2 / (gamma * r))
    <= 3 * sigma2 * S2 / (2 * gamma * r)).
  { replace (sigma2 * S2 / (r * gamma)) with (sigma2 * S2 / (gamma * r)) by (field; split; lra).
    replace (3 * sigma2 * S2 / (2 * gamma * r)) with (3 / 2 * (sigma2 * S2 / (gamma * r))) by (field; split; lra).
    lra. }
  apply (Rmult_le_compat_l (eta^2)) in c; [| apply pow2_ge_0].
  assert (0 <= L^2 * B * Z * eta^3 / eta_g^2).
  { apply Rmult_le_pos; [apply Rmult_le_pos; [apply Rmult_le_pos; [apply Rmult_le_pos; [apply pow2_ge_0 | lra] | easy] |
      apply pow_le; lra] | left; apply Rinv_0_lt_compat, pow_lt; lra]. }
  replace (27 / 8 * (7 / 8 * 4) * L^2 * B * Z * eta^3 / eta_g^2) with
    (27 / 8 * (7 / 8 * 4) * (L^2 * B * Z * eta^3 / eta_g^2)) in * by (field; lra).
  replace (12 * L^2 * B * Z * eta^3 / eta_g^2) with (12 * (L^2 * B * Z * eta^3 / eta_g^2)) by (field; lra). lra.
Qed.
End Convex.

(** *** Losses that need not be convex *)
Theorem optimal_client_sampling_fedavg_nonconvex rho : E weights (fun i => sq (g i x - gradF x)) <= rho ->
  EE (fun a b => F (server_step a b))
    <= F x - 23 / 64 * eta * sq (gradF x) + L * eta^2 * ((M / r + 1 - gamma) / gamma * W * rho
      + 3 * sigma2 * S2 / (4 * gamma * r))
      + 49 / 32 * L^2 * (1 + M / r) * rho * eta^3 / eta_g^2.
Proof.
  intro hrho. destruct constants as (hM & hs & hL). pose proof facts as
    (hr & he & hW & hB & ht & t8 & e2 & e3 & g1 & ig & hg & g2).
  pose proof drift_nonnegative as hd. pose proof (sq_pos (gradF x)) as hG. set (G2 := sq (gradF x)) in *.
  assert (mg : E weights (fun i => sq (g i x)) <= G2 + rho).
  { pose proof (spread_zero weights (fun i => g i x)) as sp. change (vE weights (fun i => g i x)) with (gradF x) in sp.
    unfold G2. lra. }
  assert (hr0 : 0 <= rho) by (apply Rle_trans with (2 := hrho); apply E_pos; intro; apply sq_pos).
  assert (wg : sum n (fun i => w i ^ 2 * sq (g i x)) <= W * (G2 + rho)).
  { apply Rle_trans with (W * E weights (fun i => sq (g i x)));
      [apply (largest_weight weights W largest); intro; apply sq_pos | now apply Rmult_le_compat_l]. }
  (* descent *)
  assert (de : EE (fun a b => F (server_step a b)) <= F x - eta * along (gradF x)
    + L / 2 * eta^2 * EE (fun a b => sq (direction a b))).
  { pose proof round as rd0; destruct rd0 as (_ & sampling & support & _).
    apply Rle_trans with (EE (fun a b => F x - eta * ip (direction a b) (gradF x)
      + L / 2 * eta^2 * sq (direction a b))).
    - apply E2_le. intros a b. pose proof (mean_loss_upper weights f g L (fun i => proj1 (smooth_clients i)) x
        (server_step a b)) as up.
      replace (sq (server_step a b - x)) with (eta^2 * sq (direction a b)) in up by (unfold server_step; ips; ring).
      replace (ip (gradF x) (server_step a b - x)) with (- eta * ip (direction a b) (gradF x)) in up
        by (unfold server_step; ips; ring). lra.
    - Es. apply Rplus_le_compat_r. right. f_equal. f_equal. apply
        (estimate_unbiased weights noise update p draw chosen sampling support). }
  assert (al : 1 / 2 * G2 - L^2 / 2 * dr <= along (gradF x)).
  { rewrite along_h. set (hb := fun i => vE noise (fun a => h g x xi steps eta_l i a)). set (q := vE weights hb).
    assert (e : E weights (fun i => E noise (fun a => ip (h g x xi steps eta_l i a) (gradF x))) = ip q (gradF x)).
    { unfold q. rewrite ip_vE. apply E_ext. intros i _. unfold hb. now rewrite ip_vE. }
    rewrite e. assert (near : sq (q - gradF x) <= L^2 * dr).
    { apply Rle_trans with (E weights (fun i => sq (hb i - g i x))).
      - assert (sm : same (q - gradF x) (vE weights (fun i => (hb i - g i x)%V)))
          by (apply same_sym; apply (vE_sub weights hb (fun i => g i x))).
        rewrite (same_sq _ _ sm). apply jensen_zero.
      - unfold drift. rewrite <- E_scal. apply E_le. intro i. unfold hb.
        apply Rle_trans with (1 := jensen noise (fun a => h g x xi steps eta_l i a) (g i x)).
        apply (h_near noise f g x xi steps eta_l M sigma2 L steps_pos constants smooth_clients). }
    assert (id : ip q (gradF x) = 1 / 2 * G2 + 1 / 2 * sq q - 1 / 2 * sq (q - gradF x)) by (unfold G2; ips; field).
    pose proof (sq_pos q). rewrite id. lra. }
  pose proof second_moment_third as sm.
  assert (hBg : 0 <= B / gamma - 1) by (unfold Rdiv; nra).
  apply (Rmult_le_compat_l (2 * (B / gamma - 1))) in wg; [| lra].
  assert (c1 : 2 * (B / gamma - 1) * (W * G2) + 3 / 2 * G2 <= 2 * tau * G2).
  { replace (2 * (B / gamma - 1) * (W * G2) + 3 / 2 * G2) with ((2 * W * (B / gamma - 1) + 3 / 2) * G2) by ring.
    apply Rmult_le_compat_r; [easy |].
    assert (tau = / gamma + W * (M / r / gamma)) by (unfold tau; field; lra).
    assert (B / gamma = / gamma + M / r / gamma) by (unfold B; field; lra).
    assert (0 <= (1 - W) * (/ gamma - 1)) by (apply Rmult_le_pos; lra). nra. }
  assert (sm2 : EE (fun a b => sq (direction a b)) <= 2 * tau * G2 + 2 * W * (B / gamma - 1) * rho + 6 * L^2 * tau * dr
    + 4 * sigma2 / (3 * r * gamma) * S2) by (unfold G2 in *; lra).
  apply (Rmult_le_compat_l (L / 2 * eta^2)) in sm2; [| apply Rmult_le_pos; [lra | apply pow2_ge_0]].
  apply (Rmult_le_compat_l eta) in al; [| lra].
  assert (a1 : L / 2 * eta^2 * (2 * tau * G2) <= 1 / 8 * (eta * G2)).
  { replace (L / 2 * eta^2 * (2 * tau * G2)) with (eta * G2 * (eta * L * tau)) by field.
    replace (1 / 8 * (eta * G2)) with (eta * G2 * (1 / 8)) by ring.
    apply Rmult_le_compat_l; [apply Rmult_le_pos; lra | easy]. }
  assert (a2 : L / 2 * eta^2 * (6 * L^2 * tau * dr) <= 3 / 8 * (eta * L^2 * dr)).
  { replace (L / 2 * eta^2 * (6 * L^2 * tau * dr)) with (3 * (eta * L^2 * dr) * (eta * L * tau)) by field.
    replace (3 / 8 * (eta * L^2 * dr)) with (3 * (eta * L^2 * dr) * (1 / 8)) by field.
    apply Rmult_le_compat_l; [apply Rmult_le_pos; [lra |]; apply Rmult_le_pos;
      [apply Rmult_le_pos; [lra | apply pow2_ge_0] | easy] | easy]. }
  (* the drift *)
  pose proof drift_bound as db. set (y := / eta_g^2) in *. assert (hy : 0 < y)
    by (unfold y; apply Rinv_0_lt_compat, pow_lt; lra).
  assert (sr : 0 <= sigma2 / r) by (apply Rmult_le_pos; [easy | left; apply Rinv_0_lt_compat; lra]).
  assert (db2 : dr <= 7 / 8 * (eta^2 * y) * (2 * B * (G2 + rho) + sigma2 / r)).
  { apply Rle_trans with (1 := db). replace (eta^2 / eta_g^2) with (eta^2 * y) by (unfold y; field; lra).
    apply Rmult_le_compat_l.
    - apply Rmult_le_pos; [lra |]. apply Rmult_le_pos; [apply pow2_ge_0 | lra].
    - apply Rplus_le_compat_r. apply Rmult_le_compat_l; lra. }
  assert (eL : 0 <= 7 / 8 * (eta * L^2)) by (apply Rmult_le_pos; [lra | apply Rmult_le_pos; [lra | apply pow2_ge_0]]).
  apply (Rmult_le_compat_l (7 / 8 * (eta * L^2))) in db2; [| easy].
  assert (p1 : 7 / 8 * (eta * L^2) * (7 / 8 * (eta^2 * y) * (2 * B * G2)) <= 49 / 32 * (1 / 256) * (eta * G2)).
  { replace (7 / 8 * (eta * L^2) * (7 / 8 * (eta^2 * y) * (2 * B * G2))) with
      (49 / 32 * (eta * G2) * (B * (L * eta)^2 * y)) by (field; lra).
    replace (49 / 32 * (1 / 256) * (eta * G2)) with (49 / 32 * (eta * G2) * (1 / 256 * 1)) by field.
    apply Rmult_le_compat_l; [apply Rmult_le_pos; [lra | apply Rmult_le_pos; lra] |]. apply Rmult_le_compat; try lra.
    apply Rmult_le_pos; [lra | apply pow2_ge_0]. }
  assert (p2 : 7 / 8 * (eta * L^2) * (7 / 8 * (eta^2 * y) * (sigma2 / r))
    <= L * eta^2 * (49 / 1024 * (sigma2 * S2 / (gamma * r)))).
  { replace (7 / 8 * (eta * L^2) * (7 / 8 * (eta^2 * y) * (sigma2 / r))) with
      (L * eta^2 * (49 / 64) * (sigma2 / r) * (L * eta * y)) by (field; lra).
    replace (L * eta^2 * (49 / 1024 * (sigma2 * S2 / (gamma * r)))) with
      (L * eta^2 * (49 / 64) * (sigma2 / r) * (1 / 16 * (S2 / gamma))) by (field; split; lra).
    apply Rmult_le_compat_l; [apply Rmult_le_pos; [apply Rmult_le_pos;
      [apply Rmult_le_pos; [lra | apply pow2_ge_0] | lra] | easy] |].
    apply Rmult_le_compat; try lra. apply Rmult_le_pos; lra. }
  assert (p3 : 7 / 8 * (eta * L^2) * (7 / 8 * (eta^2 * y) * (2 * B * rho))
    = 49 / 32 * L^2 * (1 + M / r) * rho * eta^3 / eta_g^2) by (unfold y, B; field; split; lra).
  assert (sn : 0 <= sigma2 * S2 / (gamma * r)).
  { apply Rmult_le_pos; [apply Rmult_le_pos; [easy | rewrite squares; apply sum_pos; intros; apply pow2_ge_0] | left;
      apply Rinv_0_lt_compat, Rmult_lt_0_compat; lra]. }
  assert (c2 : 0 <= L * eta^2 * (sigma2 * S2 / (gamma * r)))
    by (apply Rmult_le_pos; [apply Rmult_le_pos; [lra | apply pow2_ge_0] | easy]).
  replace ((M / r + 1 - gamma) / gamma) with (B / gamma - 1) by (unfold B; field; lra).
  replace (3 * sigma2 * S2 / (4 * gamma * r)) with (3 / 4 * (sigma2 * S2 / (gamma * r))) by (field; split; lra).
  replace (L / 2 * eta^2 * (2 * tau * G2 + 2 * W * (B / gamma - 1) * rho + 6 * L^2 * tau * dr
    + 4 * sigma2 / (3 * r * gamma) * S2))
    with (L / 2 * eta^2 * (2 * tau * G2) + L * eta^2 * (W * (B / gamma - 1) * rho)
      + L / 2 * eta^2 * (6 * L^2 * tau * dr) + 2 / 3 * (L * eta^2 * (sigma2 * S2 / (gamma * r)))) in sm2
    by (field; split; lra).
  rewrite <- p3. assert (0 <= eta * G2) by (apply Rmult_le_pos; lra). lra.
Qed.
End OneRound.
