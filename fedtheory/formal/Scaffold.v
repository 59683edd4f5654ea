(** A round of SCAFFOLD with all clients and exact gradients. *)

From FedTheory Require Export Rounds.

(** Client [k] starts at [w] and makes steps along its gradient, corrected by [e k]. *)
Fixpoint corrected_steps {V : space} (g : nat -> V -> V) (e : nat -> V) (eta : R) (w : V) (k s : nat) : V :=
  match s with
  | O => w
  | S s => (corrected_steps g e eta w k s - eta * (g k (corrected_steps g e eta w k s) - e k))%V
  end.
Arguments corrected_steps {V} g e eta w%V k%nat s%nat.

Lemma way_powers c tau s : (s <= tau)%nat -> way c tau s = powers c tau - powers c (tau - s).
Proof.
  induction s as [| s IH]; intro h; unfold way in *; cbn [sum].
  - rewrite Nat.sub_0_r. ring.
  - rewrite IH by lia. replace (tau - s)%nat with (S (tau - S s)) by lia. unfold powers. cbn [sum].
    replace (tau - 1 - s)%nat with (tau - S s)%nat by lia. ring.
Qed.

Section Scaffold.
Context {V : space}.
Variables (clients : law) (f : nat -> V -> R) (g : nat -> V -> V) (mu L eta : R) (tau : nat) (xs : V).
Hypothesis curvatures : 0 < mu <= L.
Hypothesis eta_pos : 0 < eta.
Hypothesis tau_pos : (0 < tau)%nat.
Hypothesis stable : eta * (L + mu) < 2.
Hypothesis strongly : forall k, strongly_convex mu (f k) (g k).
Hypothesis smooth_clients : forall k, smooth L (f k) (g k).
Hypothesis best : minimizer (mean_loss clients f) xs.

(** The method: [w] is the server's model and [ctl k] the control variate of client k; that of the server is their
    mean. *)
Definition correction (ctl : nat -> V) k : V := (ctl k - vE clients ctl)%V.
Definition trained_model (w : V) ctl k : V := corrected_steps g (correction ctl) eta w k tau.
Definition next_model (w : V) ctl : V := vE clients (trained_model w ctl).
Definition next_control (w : V) ctl k : V :=
  (correction ctl k + / (INR tau * eta) * (w - trained_model w ctl k))%V.
Definition next_control_one (w : V) (ctl : nat -> V) k : V := g k w.

(** The mean squared error of the control variates. *)
Definition error ctl k : V := (correction ctl k - g k xs)%V.
Definition control_error2 ctl : R := E clients (fun k => sq (error ctl k)).

Let c := 1 - eta * mu.

Lemma correction_mean ctl z : E clients (fun k => ip (correction ctl k) z) = 0.
Proof. apply deviations_sum. Qed.
Lemma error_mean ctl z : E clients (fun k => ip (error ctl k) z) = 0.
Proof.
  unfold error. rewrite (E_ext _ _ (fun k => ip (correction ctl k) z - ip (g k xs) z)) by (intros; apply ip_sub).
  rewrite E_minus, correction_mean, (gradients_at_minimizer clients f g L xs z (fun k => proj1 (smooth_clients k))
    best). ring.
Qed.

(** What the round leaves of the distance, for each beta that the curvatures allow. *)
Lemma scaffold_core w ctl beta : 0 < beta -> eta * (1 + beta) * (L - mu) <= 2 * c ->
  exists (x : nat -> nat -> V), let X k := vsum tau (x k) in
    sq (next_model w ctl - xs) <= (c ^ tau)^2 * sq (w - xs)
      + E clients (fun k => eta^2 * (- sq (X k) + 2 * sum tau (fun r => way c tau r * ip (x k r) (error ctl k))
                                     - beta * sum tau (fun r => sq (x k r))))
    /\ (forall k z, ip (trained_model w ctl k - next_model w ctl) z
         = - eta * (ip (X k) z - way c tau tau * ip (error ctl k) z))
    /\ (forall k z, ip (x k O) z = c ^ (tau - 1) * (ip (g k w) z - ip (g k xs) z - ip (vE clients (fun k => g k w)) z)).
Proof.
  intros hb hsteep.
  assert (hc : 0 <= c) by (unfold c; nra).
  set (y := corrected_steps g (correction ctl) eta w).
  assert (h1 : forall k s, same (y k (S s)) (y k s - eta * (g k (y k s) - correction ctl k)))
    by (intros k s z; reflexivity).
  assert (h2 : forall z, E clients (fun k => ip (g k xs - correction ctl k) z) = 0).
  { intro z. rewrite (E_ext _ _ (fun k => - ip (error ctl k) z)) by (intros; unfold error; rewrite !ip_sub; ring).
    rewrite E_opp, error_mean. ring. }
  pose proof (core_round clients g (correction ctl) xs w y mu eta tau (fun _ => eq_refl) h1 h2 (eta^2 * (1 + beta))
    ltac:(pose proof (pow2_ge_0 eta); nra)) as core.
  match type of core with ?H -> _ => assert (cv : H) end.
  { intros k s hs. replace (tau - s)%nat with (S (tau - S s)) by lia. cbn [pow].
    apply (curvature_holds (f k) (g k) _ xs mu L eta beta); try easy; try lra;
      [apply strongly | apply smooth_clients]. }
  specialize (core cv). exists (deviation clients g xs y mu eta tau). cbv zeta. repeat split.
  - apply Rle_trans with (1 := core). apply Rplus_le_compat_l. apply E_le. intro k. rewrite deviations_vsum. fold c.
    assert (e : sum tau (fun r => way c tau r * ip (deviation clients g xs y mu eta tau k r)
      (g k xs - correction ctl k))
      = - sum tau (fun r => way c tau r * ip (deviation clients g xs y mu eta tau k r) (error ctl k))).
    { rewrite <- sum_neg. apply sum_ext. intros r _. unfold error. rewrite !ip_sub_r. ring. }
    rewrite e. lra.
  - intros k z. pose proof (client_deviation clients g (correction ctl) xs w y mu eta tau (fun _ => eq_refl) h1 h2 k z)
      as cd.
    unfold next_model, trained_model. fold y. rewrite cd, deviations_vsum. unfold error. rewrite !ip_sub. fold c. ring.
  - intros k z. pose proof (deviation_zero clients g xs w y mu eta tau (fun _ => eq_refl) k tau_pos z) as dz.
    rewrite dz. fold c. rewrite ip_scale, !ip_sub.
    rewrite (ip_vE clients (fun k => g k xs) z), (gradients_at_minimizer clients f g L xs z
      (fun k => proj1 (smooth_clients k)) best). ring.
Qed.

(** Option II: the next error is the old one less the deviation of the client's model over eta tau. *)
Theorem scaffold_one_round w ctl :
  let Delta := sq (w - xs) in let E0 := control_error2 ctl in
  sq (next_model w ctl - xs) + eta^2 * INR tau^2 * control_error2 (next_control w ctl)
    <= (1 - eta * mu)^(2 * tau) * Delta
      + eta^2 * (INR tau - powers (1 - eta * mu) tau)^2 * E0
      + eta^2 * steepness mu L eta * sum tau (fun s => (INR tau - powers (1 - eta * mu) (S s))^2) * E0.
Proof.
  intros Delta E0. fold c. pose proof (lt_0_INR tau tau_pos) as pt.
  assert (hE : 0 <= E0) by (apply E_pos; intro; apply sq_pos).
  set (S2 := sum tau (fun s => (INR tau - powers c (S s))^2)).
  assert (hS : 0 <= S2) by (apply sum_pos; intros; apply pow2_ge_0).
  apply (steep _ _ (fun b => eta^2 * b * S2 * E0) (eta^2 * S2 * E0) mu L eta); try lra; [| intros; lra].
  intros beta hb hsteep. destruct (scaffold_core w ctl beta hb hsteep) as (x & h & hd & _). cbv zeta in h, hd.
  set (b := error ctl) in *.
  assert (ne : forall k z, INR tau * ip (error (next_control w ctl) k) z = ip (vsum tau (x k)) z
    + (INR tau - way c tau tau) * ip (b k) z).
  { intros k z. unfold error at 1. unfold correction at 1. rewrite !ip_sub, ip_vE.
    rewrite (E_ext clients _ (fun i => ip (correction ctl i) z
      + / (INR tau * eta) * (ip w z - ip (trained_model w ctl i) z))).
    - Es. rewrite correction_mean, <- ip_vE. fold (next_model w ctl). unfold next_control.
      rewrite ip_add, ip_scale, ip_sub.
      specialize (hd k z). rewrite ip_sub in hd. unfold b, error. rewrite ip_sub. unfold b, error in hd.
      rewrite ip_sub in hd.
      replace (ip (trained_model w ctl k) z) with (ip (next_model w ctl) z
        + - eta * (ip (vsum tau (x k)) z - way c tau tau * (ip (correction ctl k) z - ip (g k xs) z))) by lra.
      field. lra.
    - intros i _. unfold next_control. now rewrite ip_add, ip_scale, ip_sub. }
  assert (ns : forall k, INR tau^2 * sq (error (next_control w ctl) k)
    = sq (vsum tau (x k) + (INR tau - way c tau tau) * b k)).
  { intro k. unfold sq at 2. rewrite ip_add, ip_scale.
    rewrite <- (ne k (vsum tau (x k) + (INR tau - way c tau tau) * b k)%V). rewrite (ip_sym (error _ k)).
    rewrite ip_add, ip_scale, <- (ne k (error (next_control w ctl) k)). unfold sq. ring. }
  assert (e : eta^2 * INR tau^2 * control_error2 (next_control w ctl)
    = E clients (fun k => eta^2 * sq (vsum tau (x k) + (INR tau - way c tau tau) * b k))).
  { unfold control_error2. rewrite <- E_scal. apply E_ext. intros k _. rewrite <- ns. ring. }
  rewrite e. rewrite pow_mult. replace ((c^2)^tau) with ((c^tau)^2) by (rewrite <- !pow_mult; f_equal; lia).
  fold Delta in h.
  set (B1 k := eta^2 * (- sq (vsum tau (x k)) + 2 * sum tau (fun r => way c tau r * ip (x k r) (b k))
    - beta * sum tau (fun r => sq (x k r)))) in *.
  apply Rle_trans with ((c^tau)^2 * Delta + E clients (fun k => B1 k
    + eta^2 * sq (vsum tau (x k) + (INR tau - way c tau tau) * b k)));
    [rewrite E_plus; lra |].
  assert (wp : powers c tau = way c tau tau).
  { rewrite way_powers by lia. rewrite Nat.sub_diag. unfold powers. cbn. ring. }
  assert (k1 : E clients (fun k => B1 k + eta^2 * sq (vsum tau (x k) + (INR tau - way c tau tau) * b k))
    <= E clients (fun k => (eta^2 * (INR tau - powers c tau)^2 + eta^2 * / beta * S2) * sq (b k))).
  { apply E_le. intro k.
    pose proof (deviations_without tau (x k) (b k) (fun r => INR tau - way c tau tau + way c tau r) beta hb) as dw.
    cbv beta in dw. assert (hs2 : sum tau (fun r => (INR tau - way c tau tau + way c tau r)^2) = S2).
    { rewrite <- sum_rev. unfold S2. apply sum_ext. intros i hi. rewrite (way_powers c tau (tau - 1 - i)) by lia.
      rewrite <- wp.
      replace (tau - (tau - 1 - i))%nat with (S i) by lia. ring. }
    rewrite hs2 in dw.
    assert (s1 : sum tau (fun r => (INR tau - way c tau tau + way c tau r) * ip (x k r) (b k))
      = (INR tau - way c tau tau) * ip (vsum tau (x k)) (b k) + sum tau (fun r => way c tau r * ip (x k r) (b k))).
    { rewrite ip_vsum, <- sum_scal, <- sum_add. apply sum_ext. intros. ring. }
    rewrite s1 in dw. unfold B1. rewrite wp.
    replace (sq (vsum tau (x k) + (INR tau - way c tau tau) * b k)) with
      (sq (vsum tau (x k)) + 2 * (INR tau - way c tau tau) * ip (vsum tau (x k)) (b k)
        + (INR tau - way c tau tau)^2 * sq (b k)) by (ips; ring).
    apply (Rmult_le_compat_l (eta^2)) in dw; [| apply pow2_ge_0]. lra. }
  rewrite E_scal in k1. fold E0 in k1. unfold control_error2, b in *. fold E0 in k1. lra.
Qed.

(** Option I: control variates are gradients at the server's model. *)
Theorem scaffold_option_one_round w ctl : mu < L ->
  let Delta := sq (w - xs) in let E0 := control_error2 ctl in
  let beta := / steepness mu L eta in let omega := eta^2 * beta * (1 - eta * mu)^(2 * tau - 2) in
  sq (next_model w ctl - xs) + omega * control_error2 (next_control_one w ctl)
    <= (1 - eta * mu)^(2 * tau) * Delta
      + eta^2 * steepness mu L eta * sum tau (fun s => way (1 - eta * mu) tau s ^ 2) * E0.
Proof.
  intros hmL Delta E0 beta omega. fold c.
  assert (hl : 0 < eta * (L - mu)) by pos.
  assert (hst : 0 < steepness mu L eta) by (apply Rdiv_lt_0_compat; lra).
  assert (hb : 0 < beta) by now apply Rinv_0_lt_compat.
  assert (hsteep : eta * (1 + beta) * (L - mu) <= 2 * c).
  { right. unfold beta, steepness, c. field. lra. }
  destruct (scaffold_core w ctl beta hb hsteep) as (x & h & _ & h0). cbv zeta in h.
  set (b := error ctl) in *. set (D2 := sum tau (fun s => way c tau s ^ 2)).
  assert (ne : forall k, c^(2 * tau - 2) * sq (error (next_control_one w ctl) k) = sq (x k O)).
  { intro k. assert (s0 : same (c^(tau - 1) * error (next_control_one w ctl) k) (x k O)).
    { intro z. rewrite (h0 k z). unfold error, correction, next_control_one. rewrite ip_scale, !ip_sub. ring. }
    rewrite <- (same_sq _ _ s0). replace (2 * tau - 2)%nat with ((tau - 1) * 2)%nat by lia. rewrite pow_mult. ips.
    ring. }
  assert (e : omega * control_error2 (next_control_one w ctl) = E clients (fun k => eta^2 * beta * sq (x k O))).
  { unfold control_error2, omega. rewrite <- E_scal. apply E_ext. intros k _. rewrite <- ne. unfold c. ring. }
  rewrite e. rewrite pow_mult. replace ((c^2)^tau) with ((c^tau)^2) by (rewrite <- !pow_mult; f_equal; lia).
  fold Delta in h.
  match type of h with _ <= _ + E clients ?B => set (B1 := B) in * end.
  apply Rle_trans with ((c^tau)^2 * Delta + E clients (fun k => B1 k + eta^2 * beta * sq (x k O)));
    [rewrite E_plus; lra |].
  assert (k1 : E clients (fun k => B1 k + eta^2 * beta * sq (x k O))
    <= E clients (fun k => eta^2 * steepness mu L eta * D2 * sq (b k))).
  { apply E_le. intro k. unfold B1. destruct tau as [| n] eqn:et; [lia |].
    set (d r := way c (S n) r) in *. assert (d0 : d O = 0) by easy.
    pose proof (deviations_without n (fun r => x k (S r)) (b k) (fun r => d (S r)) beta hb) as dw.
    assert (hD : D2 = sum n (fun r => d (S r) ^ 2)) by (unfold D2; rewrite sum_shift; fold (d O); rewrite d0; ring).
    unfold beta in dw at 2. rewrite Rinv_inv, <- hD in dw.
    rewrite !(sum_shift n). rewrite d0. pose proof (sq_pos (vsum (S n) (x k))) as p.
    apply (Rmult_le_compat_l (eta^2)) in dw; [| apply pow2_ge_0].
    assert (0 <= eta^2 * sq (vsum (S n) (x k))) by pos. lra. }
  rewrite E_scal in k1. unfold control_error2, b in *. fold E0 in k1. lra.
Qed.
End Scaffold.
