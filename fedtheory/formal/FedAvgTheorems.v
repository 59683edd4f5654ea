(** Li et al., Theorems 1 to 3: step sizes 2/(mu (t + gamma)), for three ways to select.

    [P r] is the law of round r: its outcomes decide the server's model [u r o] and the noise of every client in the
    round. The law of the next model is that of the average at the end of the round ([follows_all], [follows_drawn]). *)

From FedTheory Require Export OneStepBounds Draws ClosedForms.

Section Rounds.
Context {V : space}.
Variables (clients : law) (P : nat -> law) (past : nat -> nat -> nat -> nat -> Prop) (u : nat -> nat -> V).
Variables (xi : nat -> nat -> nat -> nat -> V) (f : nat -> V -> R) (g : nat -> V -> V) (low : nat -> R).
Variables (tau : nat) (mu L G2 : R) (sigma2 : nat -> R) (xs w0 : V).
Let own := fun (_ : nat) (i : nat) => i.
Local Notation F := (mean_loss clients f).
Local Notation Gamma := (objective_gap clients f low xs).
Local Notation weighted_sigma2 := (sum (size clients) (fun k => weight clients k ^ 2 * sigma2 k)).

Definition delay : R := Rmax (8 * L / mu) (INR tau).
Definition step_size (t : nat) : R := 2 / (mu * (INR t + delay)).
Definition round_steps r s : R := step_size (tau * r + s).
(** The model of client k after s steps of round r, and the mean of all. *)
Definition client_model r k s o : V := path (u r) own (xi r) g (round_steps r) k s o.
Definition mean_model r s o : V := average_model (fun _ => clients) (u r) own (xi r) g (round_steps r) s o.

Hypothesis curvatures : 0 < mu <= L.
Hypothesis strongly : forall k, strongly_convex mu (f k) (g k).
Hypothesis smooth_clients : forall k, smooth L (f k) (g k).
Hypothesis minima : forall k, bounded_below (f k) (low k).
Hypothesis best : minimizer F xs.
Hypothesis tau_pos : (0 < tau)%nat.
Hypothesis known : forall r, information (past r) (u r) own (xi r).
Hypothesis unbiased : forall r, unbiased_noise (P r) (past r) (xi r).
Hypothesis unrelated : forall r, uncorrelated_noise (P r) (xi r).
Hypothesis variance : forall r i s, E (P r) (fun o => sq (xi r i s o)) <= sigma2 i.
Hypothesis gradients : forall r k s, (s < tau)%nat -> E (P r) (fun o => sq (g k (client_model r k s o) + xi r k s o))
  <= G2.
Hypothesis start : forall o, u O o = w0.

Lemma delay_range : 8 * (L / mu) <= delay /\ INR tau <= delay /\ 8 <= delay.
Proof.
  unfold delay. pose proof (Rmax_l (8 * L / mu) (INR tau)) as l. pose proof (Rmax_r (8 * L / mu) (INR tau)).
  assert (1 <= L / mu) by (apply Rmult_le_reg_r with mu; [lra |]; replace (L / mu * mu) with L by (field; lra); lra).
  replace (8 * L / mu) with (8 * (L / mu)) in * by (unfold Rdiv; ring). repeat split; lra.
Qed.
Lemma place_pos t : 8 <= INR t + delay.
Proof. pose proof delay_range. pose proof (pos_INR t). lra. Qed.
Lemma step_pos t : 0 < step_size t.
Proof. unfold step_size. pose proof (place_pos t). pos. Qed.
Lemma step_short t : step_size t * L <= 1 / 4.
Proof.
  unfold step_size. pose proof (place_pos t) as p. pose proof delay_range as (d & _ & _). pose proof (pos_INR t).
  apply Rmult_le_reg_r with (4 * (INR t + delay)); [lra |].
  replace (2 / (mu * (INR t + delay)) * L * (4 * (INR t + delay))) with (8 * (L / mu)) by (field; lra). lra.
Qed.
Lemma step_halving r s j : (s < j)%nat -> (j <= tau - 1)%nat -> round_steps r s <= 2 * round_steps r j.
Proof.
  intros hs hj. unfold round_steps, step_size. pose proof (place_pos (tau * r + s)) as p1.
  pose proof (place_pos (tau * r + j)) as p2.
  pose proof delay_range as (_ & d & _). assert (INR j <= INR tau) by (apply le_INR; lia).
  rewrite !plus_INR in *. pose proof (pos_INR (tau * r)). pose proof (pos_INR s). set (A := INR (tau * r)) in *.
  apply Rmult_le_reg_r with (mu * (A + INR s + delay) * (A + INR j + delay)); [pos |].
  replace (2 / (mu * (A + INR s + delay)) * (mu * (A + INR s + delay) * (A + INR j + delay))) with
    (2 * (A + INR j + delay)) by (field; lra).
  replace (2 * (2 / (mu * (A + INR j + delay))) * (mu * (A + INR s + delay) * (A + INR j + delay))) with
    (4 * (A + INR s + delay)) by (field; lra).
  lra.
Qed.
Lemma G2_pos' : 0 <= G2.
Proof. apply Rle_trans with (2 := gradients 0 0 0 tau_pos). apply E_pos. intro. apply sq_pos. Qed.
Lemma Gamma_pos : 0 <= Gamma.
Proof. apply E_pos. intro k. pose proof (minima k xs). lra. Qed.
Lemma sigma_pos : 0 <= weighted_sigma2.
Proof.
  apply sum_pos. intros k _. apply Rmult_le_pos; [apply pow2_ge_0 |]. apply Rle_trans with (2 := variance 0 k 0).
  apply E_pos. intro. apply sq_pos.
Qed.

Definition variances : R := weighted_sigma2 + 6 * L * Gamma + 8 * (INR tau - 1)^2 * G2.
Lemma variances_pos : 0 <= variances.
Proof.
  pose proof Gamma_pos. pose proof sigma_pos. pose proof G2_pos'. unfold variances.
  assert (0 <= 8 * (INR tau - 1)^2 * G2) by (apply Rmult_le_pos; [pose proof (pow2_ge_0 (INR tau - 1)); lra | easy]).
  assert (0 <= 6 * L * Gamma) by pos. lra.
Qed.

(** The distance of the mean of all models. *)
Definition mean_distance r s : R := E (P r) (fun o => sq (mean_model r s o - xs)).

Lemma local_step r s : (s < tau)%nat ->
  mean_distance r (S s) <= (1 - round_steps r s * mu) * mean_distance r s + round_steps r s ^ 2 * variances.
Proof.
  intro hs. pose proof (fedavg_one_step (P r) clients (past r) (u r) (xi r) f g low (round_steps r) s tau mu L G2 sigma2
    xs) as h.
  apply h; try easy.
  - intro t. apply step_pos.
  - apply step_short.
  - lia.
  - intros t ht. apply step_halving; lia.
  - apply G2_pos'.
  - intros k t ht. apply gradients. lia.
Qed.

(** What the selection at the end of a round adds is at most [extra] times the square of the last step size. *)
Variable selection : R.
Hypothesis selection_pos : 0 <= selection.
Hypothesis closing : forall r, mean_distance (S r) O <= mean_distance r tau + selection * round_steps r (tau - 1) ^ 2.

Definition numerator : R := 4 * (variances + selection) / mu^2 + delay * sq (w0 - xs).
Lemma numerator_range : 0 <= numerator /\ 4 * (variances + selection) / mu^2 <= numerator /\ delay * sq (w0 - xs)
  <= numerator.
Proof.
  pose proof variances_pos. pose proof delay_range. pose proof (sq_pos (w0 - xs)%V).
  assert (0 <= 4 * (variances + selection) / mu^2) by pos. assert (0 <= delay * sq (w0 - xs)) by pos. unfold numerator.
  lra.
Qed.

Lemma step_mu t : step_size t * mu = 2 / (INR t + delay).
Proof. unfold step_size. pose proof (place_pos t). field. lra. Qed.
Lemma step_square t b : step_size t ^ 2 * b = 4 * b / mu^2 / (INR t + delay)^2.
Proof. unfold step_size. pose proof (place_pos t). field. lra. Qed.

(** With the selection's variance added after the step. *)
Lemma step_with_selection r s : (s < tau)%nat -> mean_distance r s <= numerator / (INR (tau * r + s) + delay) ->
  mean_distance r (S s) + selection * round_steps r s ^ 2 <= numerator / (INR (S (tau * r + s)) + delay).
Proof.
  intros hs h. pose proof (local_step r s hs) as ls. pose proof numerator_range as (n0 & n1 & n2).
  pose proof (place_pos (tau * r + s)) as p. set (t := (tau * r + s)%nat) in *.
  change (round_steps r s) with (step_size t) in *. rewrite step_mu in ls.
  assert (0 <= 1 - 2 / (INR t + delay)).
  { assert (2 / (INR t + delay) <= 1); [| lra]. apply Rmult_le_reg_r with (INR t + delay); [lra |].
    replace (2 / (INR t + delay) * (INR t + delay)) with 2 by (field; lra). lra. }
  apply (Rmult_le_compat_l (1 - 2 / (INR t + delay))) in h; [| easy].
  pose proof (decay_two (INR t + delay) numerator (4 * (variances + selection) / mu^2) ltac:(lra) n1 n0) as d.
  rewrite S_INR. replace (INR t + 1 + delay) with (INR t + delay + 1) by ring.
  assert (e : step_size t ^ 2 * (variances + selection) = 4 * (variances + selection) / mu^2 / (INR t + delay)^2)
    by apply step_square.
  lra.
Qed.

Lemma all_distances r s : (s <= tau)%nat -> mean_distance r s <= numerator / (INR (tau * r + s) + delay).
Proof.
  revert r s.
  assert (sel : forall r s, (s < tau)%nat -> 0 <= selection * round_steps r s ^ 2)
    by (intros; apply Rmult_le_pos; [easy | apply pow2_ge_0]).
  (* by rounds; the last step of a round carries the selection *)
  assert (z : forall r, mean_distance r O <= numerator / (INR (tau * r) + delay) ->
    forall s, (s <= tau)%nat -> mean_distance r s <= numerator / (INR (tau * r + s) + delay)).
  { intros r h. induction s as [| s IH]; intro hs; [now rewrite Nat.add_0_r |]. rewrite Nat.add_succ_r.
    pose proof (step_with_selection r s ltac:(lia) (IH ltac:(lia))) as st. pose proof (sel r s ltac:(lia)). lra. }
  induction r as [| r IH].
  - apply z. rewrite Nat.mul_0_r. cbn [INR]. rewrite Rplus_0_l. unfold mean_distance.
    rewrite (E_ext (P O) _ (fun _ => sq (w0 - xs))).
    + rewrite E_const. pose proof numerator_range as (_ & _ & n2). pose proof delay_range.
      apply Rmult_le_reg_l with delay; [lra |].
      replace (delay * (numerator / delay)) with numerator by (field; lra). easy.
    + intros o _. apply same_sq. intro v. rewrite !ip_sub. f_equal. unfold mean_model, average_model, path.
      cbn [local_model]. rewrite start.
      apply (vE_const clients w0 v).
  - apply z. destruct tau as [| t] eqn:et; [lia |]. rewrite <- et in *. pose proof (closing r) as cl. 
    pose proof (step_with_selection r t ltac:(lia) (IH t ltac:(lia))) as st.
    replace (tau * S r)%nat with (S (tau * r + t)) by lia. replace (tau - 1)%nat with t in cl by lia.
    rewrite <- et in st.
    replace (S t) with tau in st by lia. lra.
Qed.

Lemma gap_of_distance (x : V) : F x - F xs <= L / 2 * sq (x - xs).
Proof.
  apply (above_minimum mu L F (mean_gradient clients g)); [now apply mean_loss_lower | apply mean_loss_upper; intro;
    apply smooth_clients | exact best].
Qed.

(** kappa/(gamma + T) (2 (B + C)/mu + mu gamma/2 |w_0 - w*|^2) is L/2 times the numerator over T + gamma. *)
Lemma bound_form T C : C = selection ->
  L / 2 * (numerator / (INR T + delay)) = L / mu / (delay + INR T) * (2 * (variances + C) / mu
    + mu * delay / 2 * sq (w0 - xs)).
Proof. intros ->. unfold numerator. pose proof (place_pos T). field. lra. Qed.
End Rounds.

Arguments mean_model {V} clients u xi g tau mu L r s o.
Arguments client_model {V} u xi g tau mu L r k s o.

(** ** The hypotheses of the three theorems *)

Section Theorems.
Context {V : space}.
Variables (clients : law) (P : nat -> law) (past : nat -> nat -> nat -> nat -> Prop) (u : nat -> nat -> V).
Variables (xi : nat -> nat -> nat -> nat -> V) (f : nat -> V -> R) (g : nat -> V -> V) (low : nat -> R).
Variables (tau : nat) (mu L G2 : R) (sigma2 : nat -> R) (xs w0 : V).
Let own := fun (_ : nat) (i : nat) => i.
Local Notation F := (mean_loss clients f).
Local Notation Gamma := (objective_gap clients f low xs).
Local Notation weighted_sigma2 := (sum (size clients) (fun k => weight clients k ^ 2 * sigma2 k)).
Local Notation gamma := (delay tau mu L).
Local Notation model := (client_model u xi g tau mu L).

Hypothesis curvatures : 0 < mu <= L.
Hypothesis strongly : forall k, strongly_convex mu (f k) (g k).
Hypothesis smooth_clients : forall k, smooth L (f k) (g k).
Hypothesis minima : forall k, bounded_below (f k) (low k).
Hypothesis best : minimizer F xs.
Hypothesis tau_pos : (0 < tau)%nat.
Hypothesis known : forall r, information (past r) (u r) own (xi r).
Hypothesis unbiased : forall r, unbiased_noise (P r) (past r) (xi r).
Hypothesis unrelated : forall r, uncorrelated_noise (P r) (xi r).
Hypothesis variance : forall r i s, E (P r) (fun o => sq (xi r i s o)) <= sigma2 i.
Hypothesis gradients : forall r k s, (s < tau)%nat -> E (P r) (fun o => sq (g k (model r k s o) + xi r k s o)) <= G2.
Hypothesis start : forall o, u O o = w0.

Definition follows_all := forall r (h : V -> R),
  E (P (S r)) (fun o => h (u (S r) o)) = E (P r) (fun o => h (mean_model clients u xi g tau mu L r tau o)).

Let B := weighted_sigma2 + 6 * L * Gamma + 8 * (INR tau - 1)^2 * G2.

Lemma start_of_round r o : same (mean_model clients u xi g tau mu L r 0 o) (u r o).
Proof. intro v. unfold mean_model, average_model, path. cbn [local_model]. apply (vE_const clients (u r o) v). Qed.

(** After T = tau r + s steps. *)
Theorem fedavg_full_participation_gap r s : follows_all -> (s <= tau)%nat ->
  let T := INR (tau * r + s) in
  E (P r) (fun o => F (mean_model clients u xi g tau mu L r s o)) - F xs
    <= L / mu / (gamma + T) * (2 * B / mu + mu * gamma / 2 * sq (w0 - xs)).
Proof.
  intros hf hs T.
  assert (cl : forall r, mean_distance clients P u xi g tau mu L xs (S r) 0
    <= mean_distance clients P u xi g tau mu L xs r tau
    + 0 * round_steps tau mu L r (tau - 1) ^ 2).
  { intro q. rewrite Rmult_0_l, Rplus_0_r. unfold mean_distance. rewrite <- (hf q (fun z => sq (z - xs))). right.
    apply E_ext. intros o _.
    apply same_sq. intro v. now rewrite !ip_sub, (start_of_round (S q) o v). }
  pose proof (all_distances clients P past u xi f g low tau mu L G2 sigma2 xs w0 curvatures strongly smooth_clients
    minima best tau_pos known unbiased
    unrelated variance gradients start 0 ltac:(lra) cl r s hs) as d.
  apply (Rmult_le_compat_l (L / 2)) in d; [| lra].
  pose proof (bound_form clients f low tau mu L G2 sigma2 xs w0 curvatures 0 (tau * r + s) 0 eq_refl) as bf.
  rewrite bf in d. unfold variances in d. rewrite Rplus_0_r in d.
  apply Rle_trans with (2 := d). unfold mean_distance. rewrite <- E_scal, <- (E_const (P r) (F xs)), <- E_minus.
  apply E_le. intro o.
  apply (gap_of_distance clients f g mu L xs strongly smooth_clients best).
Qed.

(** *** K clients are drawn, independently of their models *)
Section Drawn.
Variables (draw : nat -> law) (K : nat) (hK : (0 < K)%nat) (c : nat -> nat -> nat -> nat).
Definition drawn_model r s o b : V := vE (uniform K hK) (fun i => model r (c r b i) s o).
Definition follows_drawn := forall r (h : V -> R),
  E (P (S r)) (fun o => h (u (S r) o)) = E (P r) (fun o => E (draw r) (fun b => h (drawn_model r tau o b))).

(** Each draw is fair, and the mean of the draws has [share] of the clients' variance. *)
Variable share : R.
Hypothesis share_pos : 0 <= share.
Hypothesis fair : forall r i (h : nat -> R), (i < K)%nat -> E (draw r) (fun b => h (c r b i)) = E clients h.
Hypothesis spread_of_draws : forall r (x : nat -> V),
  E (draw r) (fun b => sq (vE (uniform K hK) (fun i => x (c r b i)) - vE clients x))
    = share * E clients (fun k => sq (x k - vE clients x)).

(** The variance of the draws, after s + 1 steps. *)
Lemma drawn_distance r s : (s < tau)%nat ->
  E (P r) (fun o => E (draw r) (fun b => sq (drawn_model r (S s) o b - xs)))
    <= mean_distance clients P u xi g tau mu L xs r (S s) + 4 * share * INR tau^2 * G2 * round_steps tau mu L r s ^ 2.
Proof.
  intro hs. set (eta := round_steps tau mu L r). set (w o k := model r k (S s) o). set (mb o := vE clients (w o)).
  assert (split : E (P r) (fun o => E (draw r) (fun b => sq (drawn_model r (S s) o b - xs)))
    = E (P r) (fun o => sq (mb o - xs)) + share * E (P r) (fun o => E clients (fun k => sq (w o k - mb o)))).
  { rewrite <- E_scal, <- E_plus. apply E_ext. intros o _. unfold mb. rewrite <- (spread_of_draws r (w o)). fold (mb o).
    transitivity (E (draw r) (fun b => sq (mb o - xs) + 2 * (ip (drawn_model r (S s) o b) (mb o - xs)
      - ip (mb o) (mb o - xs)) + sq (drawn_model r (S s) o b - mb o))).
    - apply E_ext. intros b _. ips. ring.
    - Es. rewrite (E_ext (draw r) (fun b => ip (drawn_model r (S s) o b) (mb o - xs))
        (fun b => E (uniform K hK) (fun i => ip (w o (c r b i)) (mb o - xs))))
        by (intros; apply ip_vE).
      rewrite E_swap, (E_ext (uniform K hK) _ (fun _ => ip (mb o) (mb o - xs))).
      + Es. unfold drawn_model, w. ring.
      + intros i hi. rewrite (fair r i (fun k => ip (w o k) (mb o - xs)) hi). unfold mb at 2. now rewrite ip_vE. }
  rewrite split. apply Rplus_le_compat.
  - right. reflexivity.
  - replace (4 * share * INR tau^2 * G2 * eta s ^ 2) with (share * (4 * eta s ^ 2 * INR tau^2 * G2)) by ring.
    apply Rmult_le_compat_l; [easy |].
    assert (hG : 0 <= G2) by (apply Rle_trans with (2 := gradients 0 0 0 tau_pos); apply E_pos; intro; apply sq_pos).
    assert (sp : forall t, 0 < eta t) by (intro t; apply (step_pos tau mu L curvatures)).
    apply Rle_trans with ((sum (S s) eta)^2 * G2).
    + apply (round_drift (P r) (fun _ => clients) (u r) own (xi r) g eta (S s) G2 sp).
      intros t ht. rewrite E_swap, <- (E_const clients G2). apply E_le. intro k. apply (gradients r k t). lia.
    + apply Rmult_le_compat_r; [easy |].
      assert (h0 : 0 <= sum (S s) eta) by (apply sum_pos; intros; left; apply sp).
      assert (b : sum (S s) eta <= INR tau * (2 * eta s)).
      { apply Rle_trans with (INR (S s) * (2 * eta s)).
        - rewrite <- sum_const. apply sum_le. intros i hi. destruct (Nat.eq_dec i s) as [-> | ne];
            [pose proof (sp s); lra |].
          apply (step_halving tau mu L curvatures tau_pos r i s); lia.
        - pose proof (sp s). apply Rmult_le_compat_r; [lra | apply le_INR; lia]. }
      replace (4 * eta s ^ 2 * INR tau^2) with ((INR tau * (2 * eta s))^2) by ring. now apply pow_incr.
Qed.

Lemma drawn_gap r s : follows_drawn -> (s <= tau)%nat ->
  let T := INR (tau * r + s) in let C := 4 * share * INR tau^2 * G2 in
  E (P r) (fun o => E (draw r) (fun b => F (drawn_model r s o b))) - F xs
    <= L / mu / (gamma + T) * (2 * (B + C) / mu + mu * gamma / 2 * sq (w0 - xs)).
Proof.
  intros hf hs T C.
  assert (hG : 0 <= G2) by (apply Rle_trans with (2 := gradients 0 0 0 tau_pos); apply E_pos; intro; apply sq_pos).
  assert (hC : 0 <= C) by (unfold C; apply Rmult_le_pos; [apply Rmult_le_pos; [pos | apply pow2_ge_0] | easy]).
  assert (cl : forall r, mean_distance clients P u xi g tau mu L xs (S r) 0
    <= mean_distance clients P u xi g tau mu L xs r tau
    + C * round_steps tau mu L r (tau - 1) ^ 2).
  { intro q. pose proof (drawn_distance q (tau - 1) ltac:(lia)) as dd. replace (S (tau - 1)) with tau in dd by lia.
    apply Rle_trans with (2 := dd). rewrite <- (hf q (fun z => sq (z - xs))). unfold mean_distance. right. apply E_ext.
    intros o _.
    apply same_sq. intro v. now rewrite !ip_sub, (start_of_round (S q) o v). }
  pose proof (all_distances clients P past u xi f g low tau mu L G2 sigma2 xs w0 curvatures strongly smooth_clients
    minima best tau_pos known unbiased
    unrelated variance gradients start C hC cl) as d.
  set (num := numerator clients f low tau mu L G2 sigma2 xs w0 C) in *.
  assert (dist : E (P r) (fun o => E (draw r) (fun b => sq (drawn_model r s o b - xs))) <= num / (T + gamma)).
  { destruct s as [| s].
    - apply Rle_trans with (2 := d r O ltac:(lia)). right. apply E_ext. intros o _.
      rewrite (E_ext (draw r) _ (fun _ => sq (mean_model clients u xi g tau mu L r 0 o - xs))); [apply E_const |].
      intros b _. apply same_sq. intro v. rewrite !ip_sub, (start_of_round r o v). f_equal.
      unfold drawn_model, client_model, path. cbn [local_model]. apply (vE_const (uniform K hK) (u r o) v).
    - apply Rle_trans with (1 := drawn_distance r s ltac:(lia)). unfold T. rewrite Nat.add_succ_r.
      apply (step_with_selection clients P past u xi f g low tau mu L G2 sigma2 xs w0 curvatures strongly smooth_clients
        minima best tau_pos known unbiased
        unrelated variance gradients C hC r s ltac:(lia) (d r s ltac:(lia))). }
  apply (Rmult_le_compat_l (L / 2)) in dist; [| lra].
  pose proof (bound_form clients f low tau mu L G2 sigma2 xs w0 curvatures C (tau * r + s) C eq_refl) as bf.
  fold num in bf. fold T in bf.
  rewrite bf in dist. unfold variances in dist. apply Rle_trans with (2 := dist).
  rewrite <- E_scal, <- (E_const (P r) (F xs)), <- E_minus. apply E_le. intro o.
  rewrite <- E_scal, <- (E_const (draw r) (F xs)), <- E_minus. apply E_le. intro b.
  apply (gap_of_distance clients f g mu L xs strongly smooth_clients best).
Qed.
End Drawn.

Theorem fedavg_with_replacement_gap draw K (hK : (0 < K)%nat) c r s :
  (forall r, draws_with_replacement clients (draw r) K (c r)) -> follows_drawn draw K hK c -> (s <= tau)%nat ->
  let T := INR (tau * r + s) in let C := 4 / INR K * INR tau^2 * G2 in
  E (P r) (fun o => E (draw r) (fun b => F (drawn_model K hK c r s o b))) - F xs
    <= L / mu / (gamma + T) * (2 * (B + C) / mu + mu * gamma / 2 * sq (w0 - xs)).
Proof.
  intros hd hf hs T C. pose proof (lt_0_INR K hK) as pK.
  pose proof (drawn_gap draw K hK c (/ INR K) ltac:(left; now apply Rinv_0_lt_compat)
    ltac:(intros q i h hi; now apply (hd q))
    ltac:(intros q x; rewrite (with_replacement clients (draw q) K hK (c q) x (hd q)); unfold Rdiv; ring) r s hf hs) as
      g0.
  exact g0.
Qed.
End Theorems.

(** K of N clients drawn without replacement; all weights are equal. *)
Section Subsets.
Context {V : space}.
Variables (N : nat) (hN : (0 < N)%nat) (P : nat -> law) (past : nat -> nat -> nat -> nat -> Prop) (u : nat -> nat -> V).
Variables (xi : nat -> nat -> nat -> nat -> V) (f : nat -> V -> R) (g : nat -> V -> V) (low : nat -> R).
Variables (tau : nat) (mu L G2 : R) (sigma2 : nat -> R) (xs w0 : V).
Let own := fun (_ : nat) (i : nat) => i.
Let clients := uniform N hN.
Local Notation F := (mean_loss clients f).
Local Notation gamma := (delay tau mu L).

Theorem fedavg_without_replacement_gap draw K (hK : (0 < K)%nat) c r s :
  0 < mu <= L -> (forall k, strongly_convex mu (f k) (g k)) -> (forall k, smooth L (f k) (g k)) ->
  (forall k, bounded_below (f k) (low k)) -> minimizer F xs -> (0 < tau)%nat ->
  (forall r, information (past r) (u r) own (xi r)) -> (forall r, unbiased_noise (P r) (past r) (xi r)) ->
  (forall r, uncorrelated_noise (P r) (xi r)) -> (forall r i s, E (P r) (fun o => sq (xi r i s o)) <= sigma2 i) ->
  (forall r k s, (s < tau)%nat -> E (P r) (fun o => sq (g k (client_model u xi g tau mu L r k s o) + xi r k s o)) <= G2)
    ->
  (forall o, u O o = w0) -> (2 <= N)%nat -> (K <= N)%nat ->
  (forall r, draws_without_replacement N (draw r) K (c r)) -> follows_drawn P u xi g tau mu L draw K hK c ->
    (s <= tau)%nat ->
  let T := INR (tau * r + s) in
  let B := sum N (fun k => (/ INR N)^2 * sigma2 k) + 6 * L * objective_gap clients f low xs
    + 8 * (INR tau - 1)^2 * G2 in
  let C := (INR N - INR K) / (INR N - 1) * (4 / INR K) * INR tau^2 * G2 in
  E (P r) (fun o => E (draw r) (fun b => F (drawn_model u xi g tau mu L K hK c r s o b))) - F xs
    <= L / mu / (gamma + T) * (2 * (B + C) / mu + mu * gamma / 2 * sq (w0 - xs)).
Proof.
  intros hm sc sm mi be tp kn ub un va gr st h2 hKN hd hf hs T B C. pose proof (lt_0_INR K hK) as pK.
  assert (2 <= INR N) by (apply (le_INR 2) in h2; cbn in h2; lra). apply le_INR in hKN.
  set (share := (INR N - INR K) / (INR K * (INR N - 1))). assert (h0 : 0 <= share) by (unfold share; pos).
  assert (fair : forall r i (h : nat -> R), (i < K)%nat -> E (draw r) (fun b => h (c r b i)) = E clients h).
  { intros q i h hi. destruct (hd q) as [h1 _]. rewrite (h1 i h hi). unfold clients, E. cbn [uniform size weight].
    rewrite sum_scal. unfold Rdiv. ring. }
  pose proof (drawn_gap clients P past u xi f g low tau mu L G2 sigma2 xs w0 hm sc sm mi be tp kn ub un va gr st draw K
    hK c share h0 fair
    ltac:(intros q x; apply (without_replacement N hN (draw q) K hK (c q) x h2 (hd q))) r s hf hs) as g0.
  replace C with (4 * share * INR tau^2 * G2) by (unfold C, share; field; lra). exact g0.
Qed.
End Subsets.
