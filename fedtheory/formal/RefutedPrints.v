(** Printed forms that are false: counterexamples of parabolas on a line that meet all hypotheses. *)

From FedTheory Require Import Instances.

(** ** Power-of-Choice, eqs. (81) and (85), with m = 1: their drift has the factor m - 1

    Two opposite clients, one of which is drawn in each round. *)

Lemma mean_parabola (x : line) : mean_loss two (loss ones sides) x = (x O)^2 / 2 + 1 / 2.
Proof. unfold mean_loss. rewrite mean_of_two. unfold loss, ones, sides. field. Qed.
Lemma origin_best : minimizer (mean_loss two (loss ones sides)) origin.
Proof. intro x. rewrite !mean_parabola. unfold origin, at_. pose proof (pow2_ge_0 (x O)). nra. Qed.
Lemma opposite_gap : objective_gap two (loss ones sides) (fun _ => 0) origin = 1 / 2.
Proof. unfold objective_gap. rewrite mean_of_two. unfold loss, ones, sides, origin, at_. field. Qed.

(** The model of a client that starts at 0 and makes s steps 1/(t + 8). *)
Lemma telescoping eta cl i s : (forall t, eta t = / (INR t + 8)) ->
  local_model (slope ones sides) eta origin cl (fun _ _ => zero) i s O = sides (cl i) * (INR s / (INR s + 7)).
Proof.
  intro he. induction s as [| s IH]; [cbn; unfold origin, at_; field |]. cbn [local_model].
  set (y := local_model _ _ _ _ _ _ s) in *. pose proof (pos_INR s).
  replace ((y - eta s * (slope ones sides (cl i) y + zero))%V O) with (y O - eta s * (1 * (y O - sides (cl i))))
    by (cbn; unfold slope, at_, ones; ring).
  rewrite IH, he, S_INR. field. split; lra.
Qed.
Lemma fixed_steps e cl i s : local_model (slope ones sides) (fun _ => e) origin cl (fun _ _ => zero) i s O
  = sides (cl i) * (1 - (1 - e)^s).
Proof.
  induction s as [| s IH]; [cbn; unfold origin, at_; ring |]. cbn [local_model pow].
  set (y := local_model _ _ _ _ _ _ s) in *.
  replace ((y - e * (slope ones sides (cl i) y + zero))%V O) with (y O - e * (1 * (y O - sides (cl i))))
    by (cbn; unfold slope, at_, ones; ring).
  rewrite IH. ring.
Qed.

Local Notation eta := (weighted_step 1 1 1).
Lemma eta_value t : eta t = / (INR t + 8).
Proof. unfold weighted_step. cbn [INR]. pose proof (pos_INR t). field. lra. Qed.
Lemma eta_range t : 0 <= eta t * 1 <= 1.
Proof.
  rewrite eta_value. pose proof (pos_INR t). split; [rewrite Rmult_1_r; left; apply Rinv_0_lt_compat; lra |].
  apply Rmult_le_reg_r with (INR t + 8); [lra |]. replace (/ (INR t + 8) * 1 * (INR t + 8)) with 1 by (field; lra). lra.
Qed.
Local Notation run := (starts ones sides origin eta 10).
(** The run: ten local steps of the client that is drawn. *)
Lemma opposite_setting : setting two rounds same_outcome run clients_drawn no_noise (loss ones sides) (slope ones sides)
  (fun _ => 0) 10 1 1 (4 * 1^2) 1 1 origin origin eta 1 (plain 1 one_pos) 0.
Proof.
  apply one_of_two; try lia; [exact unit_curved | exact ones_range | exact sides_range | exact origin_in | exact
    origin_best |
    exact eta_range |]. intro t. pose proof (eta_range t). lra.
Qed.

Theorem power_of_choice_weighted_average_gap_printed_false :
  ~ forall (V : space) clients P past u c xi (f : nat -> V -> R) (g : nat -> V -> V) low tau mu L G2 rho rho_tilde
      (xs w0 : V) n a m noise2 sigma2 r s, let M := INR m in
    setting clients P past u c xi f g low tau mu L G2 rho rho_tilde xs w0 (weighted_step mu L m) n a noise2 ->
    (0 < m)%nat -> noise2 <= sigma2 -> 0 < rho <= L / mu -> rho <= rho_tilde -> (s <= tau)%nat ->
    let gamma := 4 * M * (1 + M) * L / mu in let Gamma := objective_gap clients f low xs in
    expected_gap clients P u c xi f g tau xs (weighted_step mu L m) a r s
      <= / (INR (tau * r + s) + gamma) * (L * M^2 * (32 * M * (M - 1) * INR tau^2 * G2 + sigma2) / (mu^2 * rho)
           + 2 * L^2 * M * (M + 2) * Gamma / mu^2 + L * gamma * sq (w0 - xs) / 2)
        + 2 * L * Gamma / (rho * mu) * (rho_tilde / rho - 1).
Proof.
  intro claim. pose proof (claim line two rounds same_outcome run clients_drawn no_noise (loss ones sides) (slope ones
    sides)
    (fun _ => 0) 10%nat 1 1 _ 1 1 origin origin 1%nat (plain 1 one_pos) 1%nat 0 0 0%nat 10%nat opposite_setting
      ltac:(lia) ltac:(lra) ltac:(lra) ltac:(lra)
    ltac:(lia)) as h. cbv zeta in h. rewrite opposite_gap in h.
  assert (value : expected_gap two rounds run clients_drawn no_noise (loss ones sides) (slope ones sides) 10 origin eta
    (plain 1 one_pos) 0 10 = 50 / 289).
  { unfold expected_gap. rewrite (E_ext (rounds 0) _ (fun _ => 389 / 578)).
    - rewrite E_const, mean_parabola. unfold origin, at_. field.
    - intros o _. change (plain 1 one_pos) with (fun _ _ : nat => single). rewrite run_of_client, mean_parabola.
      unfold client_run, average_model. rewrite mean_line, mean_of_single. unfold path.
      change (run 0%nat o) with origin. rewrite telescoping by (intro t; apply eta_value).
      destruct (drawn_now two o); cbn [sides INR]; field. }
  rewrite value in h. replace (sq (origin - origin)) with 0 in h
    by (rewrite sq_line; cbn; unfold origin, at_; ring).
  cbn in h. lra.
Qed.

(** The third step of a round with steps 1/100. *)
Theorem power_of_choice_weighted_one_step_printed_false :
  ~ forall (V : space) (P clients : law) past (u : nat -> V) c xi (f : nat -> V -> R) (g : nat -> V -> V) low eta j tau
      mu L G2 sigma2 rho rho_tilde (xs : V) m n (a : nat -> law),
    let avg := average_model a u c xi g eta in let M := INR m in let Gamma := objective_gap clients f low xs in
    information past u c xi -> unbiased_noise P past xi -> (forall s, 0 < eta s) -> (j <= tau - 1)%nat -> (1 <=
      tau)%nat ->
    (forall s, (s < j)%nat -> eta s <= 2 * eta j) -> 0 < mu <= L -> (forall k, strongly_convex mu (f k) (g k)) ->
    (forall k, smooth L (f k) (g k)) -> (forall k, bounded_below (f k) (low k)) -> minimizer (mean_loss clients f) xs ->
    (forall k, E P (fun o => sq (g k (u o))) <= G2) -> rho <= L / mu -> (1 <= m)%nat -> eta j * L < / (2 * (1 + M)) ->
    (forall o, size (a o) = n) -> (forall i, adapted past 0 (fun o => weight (a o) i)) ->
    E P (fun o => sq (step_noise a xi j o)) <= sigma2 ->
    (forall r, (r < j)%nat ->
      E P (fun o => E (a o) (fun i => sq (g (c o i) (path u c xi g eta i r o) + xi i r o))) <= G2) ->
    skewed_slots P clients a u c f low rho rho_tilde xs ->
    E P (fun o => sq (avg (S j) o - xs))
      <= (1 - eta j * mu * (/ M + rho / 2)) * E P (fun o => sq (avg j o - xs)) + 2 * eta j * Gamma * (rho_tilde - rho)
        + eta j ^ 2 * (32 * M^2 * (M - 1) * INR tau^2 * G2 + sigma2 * M + 2 * L * (2 + M) * rho * Gamma).
Proof.
  intro claim. set (e := 1 / 100).
  assert (stays : forall o i s, -1 <= path (fun _ => origin) (fun o _ => o) (no_noise 0) (slope ones sides) (fun _ =>
    e) i s o
    O <= 1).
  { intros o i s. unfold path. apply local_stays; [exact sides_range | intros; unfold ones, e; lra | unfold origin,
    at_; lra]. }
  assert (bounded : forall k x, -1 <= x O <= 1 -> sq (slope ones sides k x) <= 4).
  { intros k x hx. replace 4 with (4 * 1^2) by ring. apply slope_stays; [unfold ones; lra | apply sides_range | exact
    hx]. }
  assert (avg : forall s, E two (fun o => sq (average_model (fun _ => single) (fun _ => origin) (fun o _ => o)
    (no_noise 0)
    (slope ones sides) (fun _ => e) s o - origin)%V) = (1 - (99 / 100)^s)^2).
  { intro s. rewrite mean_of_two. unfold average_model. rewrite !sq_line. cbn -[vE pow path].
    rewrite !mean_line, !mean_of_single. unfold path. rewrite !fixed_steps. unfold origin, at_, e, sides.
    replace (1 - 1 / 100) with (99 / 100) by field. field. }
  pose proof (claim line two two (same_outcome 0) (fun _ => origin) (fun o _ => o) (no_noise 0) (loss ones sides)
    (slope ones sides) (fun _ => 0) (fun _ => e) 2%nat 10%nat 1 1 4 0 1 1 origin 1%nat 1%nat (fun _ => single)) as h.
  cbv zeta in h. rewrite !avg, opposite_gap in h. revert h. cbn [INR]. unfold same_outcome.
  intro h. cut ((1 - (99 / 100)^3)^2 <= (1 - e * 1 * (/ 1 + 1 / 2)) * (1 - (99 / 100)^2)^2 + 2 * e * (1 / 2) * (1 - 1)
    + e^2 * (32 * 1^2 * (1 - 1) * INR 10^2 * 4 + 0 * 1 + 2 * 1 * (2 + 1) * 1 * (1 / 2))); [unfold e; cbn; lra |].
  apply h; clear h.
  - exact (all_known 0 (fun _ => origin) (fun o _ => o)).
  - intros i s Z _. rewrite (E_ext _ _ (fun _ => 0)) by (intros; apply ip_zero). apply E_const.
  - intro. unfold e. lra.
  - lia.
  - lia.
  - intros. unfold e. lra.
  - lra.
  - intro. apply loss_lower. unfold ones. lra.
  - intro. apply loss_smooth. unfold ones. lra.
  - intro. apply loss_low. unfold ones. lra.
  - apply origin_best.
  - intro k. rewrite <- (E_const two 4). apply E_le. intro. apply bounded. unfold origin, at_. lra.
  - lra.
  - lia.
  - unfold e. lra.
  - easy.
  - easy.
  - right. rewrite (E_ext _ _ (fun _ => 0)); [apply E_const |]. intros o _. unfold step_noise.
    rewrite sq_line, mean_line, (E_ext _ _ (fun _ => 0)) by easy. rewrite E_const. ring.
  - intros r _. rewrite <- (E_const two 4). apply E_le. intro o. rewrite <- (E_const single 4). apply E_le. intro i.
    set (y := path _ _ _ _ _ i r o).
    replace (sq (slope ones sides o y + no_noise 0 i r o)%V) with (sq (slope ones sides o y))
      by (rewrite !sq_line; cbn; ring). apply bounded, stays.
  - apply (unbiased_skews two (fun _ => two) (fun _ _ => origin) (fun _ o _ => o) (loss ones sides) (fun _ => 0) origin
    0 1
      ltac:(lia)); [intro; apply loss_low; unfold ones; lra |]. intros i h _. symmetry.
    exact (E_const two (E two (fun k => h k origin))).
Qed.

(** ** FedALIGN, Theorems 1 and A.9 with one local step: their sums omit step 0

    A priority client with the minimum at 0, where the run starts, and another one with the minimum at 1, which takes
      part
    in round 0 only. *)

Local Notation f1 := (loss ones apart_by_one).
Local Notation g1 := (slope ones apart_by_one).
Local Notation eta1 := (round_steps 1 1 1).
Local Notation own := (fun _ i : nat => i).
Lemma eta1_first : eta1 0 0 = 1 / 4.
Proof.
  unfold round_steps, step_size, delay. rewrite Rmax_left by (cbn; lra). cbn. field.
Qed.
Lemma priority_loss (x : line) : mean_loss single f1 x = (x O)^2 / 2.
Proof. unfold mean_loss. rewrite mean_of_single. unfold loss, ones, apart_by_one. field. Qed.
Lemma one_step_of k o (B : nat -> line) : B o O = 0 -> path B own (no_noise 0) g1 (eta1 0) k 1 o O = apart_by_one k / 4.
Proof.
  intro h. unfold path. cbn [local_model]. unfold no_noise. set (e := eta1 0 0).
  replace ((B o - e * (g1 k (B o) + zero))%V O) with (B o O - e * (1 * (B o O - apart_by_one k)))
    by (cbn; unfold slope, at_, ones; ring).
  rewrite h. unfold e. rewrite eta1_first. field.
Qed.

Theorem fedalign_full_participation_gap_printed_false :
  ~ forall (V : space) P priority past others p I u xi (f : nat -> V -> R) (g : nat -> V -> V) low tau mu L G2 sigma2
      (xs w0 : V) shares indicators theta rho r s, let gamma := delay tau mu L in let T := (tau * r + s)%nat in
    alignment P priority past others p I u xi f g low tau mu L G2 sigma2 xs w0 shares indicators ->
    follows_included P priority others p I u xi g tau mu L shares indicators -> (s <= tau)%nat ->
    / (INR T + gamma - 2) * sum (T - 1) (fun i => weight_of_step P others p I tau (S i)) <= theta ->
    2 * L / (mu * (INR T + gamma - 2)) * sum (T - 1) (fun i => gap_of_step P priority others p I f low tau xs (S i)) <=
      rho ->
    E (P r) (fun o => mean_loss priority f (included_model priority others p I u xi g tau mu L shares indicators r s o))
        - mean_loss priority f xs
      <= / (INR T + gamma) * (2 * L / mu^2 * (sigma2 + 8 * (INR tau - 1)^2 * G2) + 4 * L^2 / mu * sq (w0 - xs)
        + 12 * L^2 / mu^2 * theta * objective_gap priority f low xs) + rho.
Proof.
  intro claim. destruct (aligned 1 one_pos (included_run 1) (included_run_stays 1) (fun _ => eq_refl)) as [h _].
  pose proof (claim line (fun _ => single) single same_outcome 1%nat share_one only_first (included_run 1) no_noise
    f1 g1 (fun _ => 0) 1%nat 1 1 4 0 origin origin share_pos only_first_pos 0 0 0%nat 1%nat h (follow_included 1)
      ltac:(lia)
    ltac:(cbn; lra) ltac:(cbn; lra)) as k. revert k. cbv zeta. rewrite mean_of_single, !priority_loss.
  change (included_model single 1 share_one only_first (included_run 1) no_noise g1 1 1 1 share_pos only_first_pos 0 1
    0)
    with (all_included 1 0 (included_run 1 0) 0). unfold all_included, average_model. rewrite mean_line.
  unfold included_weights, weights_of. rewrite E_included, mean_of_single.
  cbn [sum size single uniform]. rewrite !one_step_of by easy.
  replace (sq (origin - origin)) with 0 by (rewrite sq_line; cbn; unfold origin, at_; ring).
  unfold extra. cbn [sum]. unfold share_one, only_first, apart_by_one, origin, at_. cbn [Nat.add INR]. lra.
Qed.

(** The same with a thousand draws of the only priority client. *)
Lemma thousand : (0 < 1000)%nat.
Proof. lia. Qed.

Theorem fedalign_partial_participation_gap_printed_false :
  ~ forall (V : space) P priority past others p I u xi (f : nat -> V -> R) (g : nat -> V -> V) low tau mu L G2 sigma2
      (xs w0 : V) shares indicators draw K (hK : (0 < K)%nat) c theta rho r s,
    let gamma := 8 * L / mu in let T := (tau * r + s)%nat in
    alignment P priority past others p I u xi f g low tau mu L G2 sigma2 xs w0 shares indicators ->
    (forall r, draws_with_replacement priority (draw r) K (c r)) ->
    (forall r k s, (s < tau)%nat -> E (P r)
      (fun o => sq (g k (path (u r) own (xi r) g (round_steps tau mu L r) k s o) + xi r k s o)) <= G2) ->
    follows_priority_draws P priority others p I u xi g tau mu L draw K hK c -> (s <= tau)%nat -> INR tau <= gamma ->
    / (INR T + gamma - 2) * sum (T - 1) (fun i => weight_of_step P others p I tau (S i)) <= theta ->
    2 * L / (mu * (INR T + gamma - 2)) * sum (T - 1) (fun i => gap_of_step P priority others p I f low tau xs (S i)) <=
      rho ->
    E (P r) (fun o => E (draw r) (fun b => mean_loss priority f
        (partial_model priority others p I u xi g tau mu L K hK c r s o b))) - mean_loss priority f xs
      <= / (INR T + gamma) * (2 * L / mu^2 * (sigma2 + 8 * (INR tau - 1)^2 * G2 + 8 * INR tau^2 * G2 / INR K)
        + 4 * L^2 / mu * sq (w0 - xs) + 12 * L^2 / mu^2 * theta * objective_gap priority f low xs) + rho.
Proof.
  intro claim. destruct (aligned 1 one_pos (drawn_run 1 1000 thousand) (drawn_run_stays 1 1000 thousand) (fun _ =>
    eq_refl)) as
    [h hg].
  pose proof (claim line (fun _ => single) single same_outcome 1%nat share_one only_first (drawn_run 1 1000 thousand)
    no_noise f1 g1 (fun _ => 0) 1%nat 1 1 4 0 origin origin share_pos only_first_pos (fun _ => single) 1000%nat thousand
    (fun _ _ _ => O) 0 0 0%nat 1%nat h (fun _ => only_client_drawn 1000) ltac:(intros; apply hg)
    (follow_drawn 1 one_pos 1000 thousand) ltac:(lia) ltac:(cbn; lra)
    ltac:(cbn; lra) ltac:(cbn; lra)) as k. revert k. cbv zeta. rewrite !mean_of_single, !priority_loss.
  change (partial_model single 1 share_one only_first (drawn_run 1 1000 thousand) no_noise g1 1 1 1 1000 thousand
    (fun _ _ _ => O) 0 1 0 0) with (all_drawn 1 1000 thousand 0 (drawn_run 1 1000 thousand 0) 0).
  rewrite all_drawn_value. cbn [Nat.sub]. rewrite !one_step_of by easy.
  replace (sq (origin - origin)) with 0 by (rewrite sq_line; cbn; unfold origin, at_; ring).
  rewrite (INR_IZR_INZ 1000). unfold only_first, apart_by_one, origin, at_. cbn [Nat.add Nat.mul INR Z.of_nat
    Pos.of_succ_nat Pos.succ]. lra.
Qed.
