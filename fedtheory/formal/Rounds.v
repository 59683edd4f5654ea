(** A round of local gradient steps of all clients: federated averaging, for any number and weights of clients. *)

From FedTheory Require Export Clients LocalSteps.

(** Client [k] starts at [w] and makes gradient steps. *)
Fixpoint gradient_steps {V : space} (g : nat -> V -> V) (eta : R) (w : V) (k s : nat) : V :=
  match s with
  | O => w
  | S s => (gradient_steps g eta w k s - eta * g k (gradient_steps g eta w k s))%V
  end.
Arguments gradient_steps {V} g eta w%V k%nat s%nat.
Definition averaged_round {V : space} (clients : law) (g : nat -> V -> V) (eta : R) (tau : nat) (w : V) : V :=
  vE clients (fun k => gradient_steps g eta w k tau).
Arguments averaged_round {V} clients g eta tau w%V.

(** What a round adds for each unit of sum p_k |grad F_k(w* )|^2. *)
Definition drift_of_a_round (mu L eta : R) (tau : nat) : R :=
  let d := way (1 - eta * mu) tau in let b := steepness mu L eta in
  eta^2 * b * (sum tau (fun s => d s ^ 2) - b * (sum tau d)^2 / (1 + b * INR tau)).

Lemma way_pos c tau s : 0 <= c -> 0 <= way c tau s.
Proof. intro h. apply sum_pos. intros. now apply pow_le. Qed.

Lemma square_of_sum n (d : nat -> R) b : 0 <= b ->
  0 <= sum n (fun s => d s ^ 2) - b * (sum n d)^2 / (1 + b * INR n).
Proof.
  intro hb. pose proof (pos_INR n) as pn. assert (hp : 0 <= b * INR n) by pos.
  assert (h : (sum n d)^2 <= INR n * sum n (fun s => d s ^ 2)).
  { pose proof (@sq_vsum_le (euclid 1) n (fun _ => 1) (fun s _ => d s) ltac:(intro; lra)) as k.
    assert (e : forall m, @vsum (euclid 1) m (fun i => @scale (euclid 1) 1 (fun _ => d i)) O = sum m d).
    { induction m as [| m IH]; [easy |]. cbn in *. rewrite IH. ring. }
    cbv beta in k. match type of k with _ <= _ * ?q => assert (e2 : q = sum n (fun s => d s ^ 2))
      by (apply sum_ext; intros; unfold sq; cbn; ring) end.
    rewrite e2, sum_const in k. unfold sq in k. cbn [ip euclid sum] in k. rewrite !e in k. lra. }
  apply Rmult_le_reg_l with (1 + b * INR n); [lra |].
  replace ((1 + b * INR n) * (sum n (fun s => d s ^ 2) - b * (sum n d)^2 / (1 + b * INR n)))
    with (sum n (fun s => d s ^ 2) + b * (INR n * sum n (fun s => d s ^ 2) - (sum n d)^2)) by (field; lra).
  assert (0 <= sum n (fun s => d s ^ 2)) by (apply sum_pos; intros; apply pow2_ge_0). nra.
Qed.

Lemma steepness_pos mu L eta : 0 < eta -> mu <= L -> eta * (L + mu) < 2 -> 0 <= steepness mu L eta.
Proof. intros. apply Rmult_le_pos; [pos | left; apply Rinv_0_lt_compat; lra]. Qed.

Lemma drift_pos mu L eta tau : 0 < eta -> mu <= L -> eta * (L + mu) < 2 -> 0 <= drift_of_a_round mu L eta tau.
Proof.
  intros he hm hs. pose proof (steepness_pos mu L eta he hm hs). unfold drift_of_a_round.
  apply Rmult_le_pos; [apply Rmult_le_pos; [pos | easy] | now apply square_of_sum].
Qed.

Section Rounds.
Context {V : space}.
Variables (clients : law) (f : nat -> V -> R) (g : nat -> V -> V) (mu L eta : R) (tau : nat) (xs : V).
Hypothesis curvatures : 0 < mu <= L.
Hypothesis eta_pos : 0 < eta.
Hypothesis stable : eta * (L + mu) < 2.
Hypothesis strongly : forall k, strongly_convex mu (f k) (g k).
Hypothesis smooth_clients : forall k, smooth L (f k) (g k).
Hypothesis best : minimizer (mean_loss clients f) xs.
Let c := 1 - eta * mu.

Lemma c_pos : 0 <= c.
Proof. unfold c. nra. Qed.

Theorem sgd_local_steps_round w :
  let zeta2 := E clients (fun k => sq (g k xs)) in
  sq (averaged_round clients g eta tau w - xs)
    <= (1 - eta * mu)^(2 * tau) * sq (w - xs) + drift_of_a_round mu L eta tau * zeta2.
Proof.
  intro zeta2. assert (hz : 0 <= zeta2) by (apply E_pos; intro; apply sq_pos).
  set (D2 := sum tau (fun s => way c tau s ^ 2)). set (D1 := sum tau (way c tau)). pose proof (pos_INR tau) as pt.
  assert (hD2 : 0 <= D2) by (apply sum_pos; intros; apply pow2_ge_0).
  apply (steep _ _ (fun b => eta^2 * b * (D2 - b * D1^2 / (1 + b * INR tau)) * zeta2) (eta^2 * D2 * zeta2) mu L eta);
    try easy.
  - (* one beta *)
    intros beta hb hsteep.
    pose proof (core_round clients g (fun _ => zero) xs w (gradient_steps g eta w) mu eta tau (fun _ => eq_refl)) as
      core.
    specialize (core ltac:(intros k s z; cbn [gradient_steps]; ips; ring)).
    specialize (core ltac:(intro z; rewrite (E_ext _ _ (fun k => ip (g k xs) z)) by (intros; ips; ring);
      apply (gradients_at_minimizer clients f g L); [intro; apply smooth_clients | exact best])).
    specialize (core (eta^2 * (1 + beta)) ltac:(pose proof (pow2_ge_0 eta); nra)).
    match type of core with ?H -> _ => assert (cv : H) end.
    { intros k s hs. replace (tau - s)%nat with (S (tau - S s)) by lia. cbn [pow].
      apply (curvature_holds (f k) (g k) _ xs mu L eta beta); try easy; try lra;
        [apply c_pos | apply strongly | apply smooth_clients]. }
    specialize (core cv). apply Rle_trans with (1 := core). rewrite pow_mult.
    replace (((1 - eta * mu)^2)^tau) with (((1 - eta * mu)^tau)^2) by (rewrite <- !pow_mult; f_equal; lia).
    apply Rplus_le_compat_l. unfold zeta2. rewrite <- E_scal. apply E_le. intro k. rewrite deviations_vsum.
    match goal with |- context [vsum tau ?x] =>
      pose proof (deviations_with_sum tau x (g k xs - zero)%V (way c tau) beta hb) as dv end.
    fold D1 D2 in dv. replace (sq (g k xs - zero)) with (sq (g k xs)) in dv by (ips; ring).
    replace (/ beta * D1^2 / (1 + / beta * INR tau)) with (D1^2 / (beta + INR tau)) by (field; split; lra).
    apply (Rmult_le_compat_l (eta^2)) in dv; [| apply pow2_ge_0]. unfold c in dv. lra.
  - intros t ht. replace (t * (eta^2 * D2 * zeta2)) with (eta^2 * t * D2 * zeta2) by ring.
    apply Rmult_le_compat_r; [easy |]. apply Rmult_le_compat_l; [pos |].
    assert (0 <= t * D1^2 / (1 + t * INR tau)); [| lra].
    apply Rmult_le_pos; [pos | left; apply Rinv_0_lt_compat]. assert (0 <= t * INR tau) by pos. lra.
  - right. ring.
Qed.

(** The objective gap in the place of the heterogeneity. *)
Theorem fedavg_one_round low w : (forall k, bounded_below (f k) (low k)) ->
  let Gamma := objective_gap clients f low xs in
  sq (averaged_round clients g eta tau w - xs)
    <= (1 - eta * mu)^(2 * tau) * sq (w - xs) + 2 * L * drift_of_a_round mu L eta tau * Gamma.
Proof.
  intros hl Gamma. apply Rle_trans with (1 := sgd_local_steps_round w).
  pose proof (heterogeneity_le clients f g L low xs ltac:(lra) (fun k => proj1 (smooth_clients k)) hl) as h.
  fold Gamma in h.
  pose proof (drift_pos mu L eta tau eta_pos ltac:(lra) stable). cbv zeta. nra.
Qed.

Fixpoint rounds (w : V) (r : nat) : V := match r with O => w | S r => averaged_round clients g eta tau (rounds w r) end.

Theorem fedavg_fixed_step_distance low w r : (0 < tau)%nat -> (forall k, bounded_below (f k) (low k)) ->
  let Gamma := objective_gap clients f low xs in let q := (1 - eta * mu)^(2 * tau) in
  sq (rounds w r - xs)
    <= q ^ r * sq (w - xs) + (1 - q ^ r) / (1 - q) * (2 * L * drift_of_a_round mu L eta tau * Gamma).
Proof.
  intros ht hl Gamma q. assert (hc := c_pos). unfold c in hc.
  apply (geometric (fun r => sq (rounds w r - xs)) q).
  - now apply pow_le.
  - unfold q. assert (1 - eta * mu < 1) by nra.
    destruct (2 * tau)%nat as [| m] eqn:em; [lia |].
    assert ((1 - eta * mu) ^ (S m) < 1); [| lra]. cbn [pow].
    pose proof (geometric_one (1 - eta * mu) m ltac:(lra)). nra.
  - intros t _. cbn [rounds]. now apply fedavg_one_round.
Qed.

End Rounds.
