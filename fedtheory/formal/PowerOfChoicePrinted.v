(** Power-of-Choice as printed: what follows from the corrected forms. The skews are those of every round's start, of
    which rho_bar and rho_tilde of the paper are a lower and an upper bound; gradients are bounded on average over the
    active clients. *)

From FedTheory Require Export PowerOfChoiceTheorems.

(** ** One step, in rounds in which steps at most halve *)
Section Steps.
Context {V : space}.
Variables (P clients : law) (past : nat -> nat -> nat -> Prop) (u : nat -> V) (c : nat -> nat -> nat).
Variables (xi : nat -> nat -> nat -> V) (f : nat -> V -> R) (g : nat -> V -> V) (low : nat -> R) (eta : nat -> R)
  (j tau : nat).
Variables (mu L G2 sigma2 rho rho_tilde : R) (xs : V).
Hypothesis known : information past u c xi.
Hypothesis unbiased : unbiased_noise P past xi.
Hypothesis steps : forall s, 0 < eta s.
Hypothesis in_round : (j <= tau - 1)%nat /\ (1 <= tau)%nat.
Hypothesis halving : forall s, (s < j)%nat -> eta s <= 2 * eta j.
Hypothesis curvatures : 0 < mu <= L.
Hypothesis strongly : forall k, strongly_convex mu (f k) (g k).
Hypothesis smooth_clients : forall k, smooth L (f k) (g k).
Hypothesis minima : forall k, bounded_below (f k) (low k).
Hypothesis best : minimizer (mean_loss clients f) xs.
Hypothesis start_gradients : forall k, E P (fun o => sq (g k (u o))) <= G2.
Hypothesis feasible : rho <= L / mu.
Local Notation Gamma := (objective_gap clients f low xs).

Lemma G2_nonneg : 0 <= G2.
Proof. apply Rle_trans with (2 := start_gradients O). apply E_pos. intro. apply sq_pos. Qed.
Lemma Gamma_nonneg : 0 <= Gamma.
Proof. apply E_pos. intro q. pose proof (minima q xs). lra. Qed.
Lemma elapsed_square : 0 <= (elapsed eta j)^2 * G2 <= 4 * eta j ^ 2 * INR tau^2 * G2.
Proof.
  pose proof G2_nonneg. split; [apply Rmult_le_pos; [apply pow2_ge_0 | easy] |].
  pose proof (halving_le eta j G2 (fun s => Rlt_le _ _ (steps s)) (eta j) tau ltac:(easy) (Rlt_le _ _ (steps j))
    (proj1 in_round) (proj2 in_round) halving) as h. apply Rle_trans with (1 := h).
  pose proof (le_INR 1 tau (proj2 in_round)) as ht. cbn in ht. pose proof (pow2_ge_0 (eta j)).
  assert ((INR tau - 1)^2 <= INR tau^2) by (apply pow_incr; lra).
  apply Rmult_le_compat_r; [easy |]. apply Rmult_le_compat_l; lra.
Qed.
Lemma step_skew : eta j * L <= 1 / 4 -> rho * mu <= L /\ 0 < eta j * L /\ eta j * mu * rho <= 1 / 4.
Proof.
  intro h. pose proof (steps j). assert (rm : rho * mu <= L) by (apply (Rmult_le_compat_r mu) in feasible; [| lra];
    replace (L / mu * mu) with L in feasible by (field; lra); lra).
  assert (eta j * (rho * mu) <= eta j * L) by (apply Rmult_le_compat_l; lra). repeat split; [easy | pos | lra].
Qed.

(** Eqs. (64) and (65). *)
Theorem power_of_choice_one_step_printed m (hm : (0 < m)%nat) :
  let a := fun _ : nat => uniform m hm in let avg := average_model a u c xi g eta in
  eta j * L <= 1 / 4 ->
  uncorrelated_noise P xi -> E (uniform m hm) (fun i => E P (fun o => sq (xi i j o))) <= sigma2 ->
  (forall r, (r < j)%nat -> E P (fun o => E (uniform m hm) (fun i => sq
    (g (c o i) (path u c xi g eta i r o) + xi i r o))) <= G2) ->
  skewed_slots P clients a u c f low rho rho_tilde xs ->
  E P (fun o => sq (avg (S j) o - xs))
    <= (1 - eta j * mu * (1 + 3 * rho / 8)) * E P (fun o => sq (avg j o - xs))
      + eta j ^ 2 * (32 * INR tau^2 * G2 + sigma2 / INR m + 6 * rho * L * Gamma) + 2 * eta j * Gamma * (rho_tilde -
        rho).
Proof.
  intros a avg short hu hv hg hs. pose proof (step_skew short) as (rm & hx & hk).
  assert (sv : E P (fun o => sq (step_noise a xi j o)) <= sigma2 / INR m)
    by exact (mean_step_variance P m hm xi j sigma2 hu hv).
  pose proof (skewed_step_apart P clients past m a u c xi f g low eta j mu L G2 (sigma2 / INR m) rho rho_tilde xs
    ltac:(easy) ltac:(easy) known unbiased steps short curvatures strongly smooth_clients minima best hg start_gradients
    sv (3 / 8) (4 / 15) hs ltac:(lra) ltac:(lra)
    ltac:(replace (2 * eta j * L) with (2 * (eta j * L)) by ring;
      replace (/ 5 * eta j * L) with (/ 5 * (eta j * L)) by ring; nra)) as h.
  fold avg in h. replace (3 / 8 * (1 + / (4 / 15))) with (57 / 32) in h by field. destruct hs as (hr & _).
  pose proof elapsed_square as [d0 d]. set (s := elapsed eta j) in *.
  assert ((6 + 57 / 32 * (eta j * mu * rho)) * (s^2 * G2) <= 8 * (s^2 * G2)) by (apply Rmult_le_compat_r; lra). lra.
Qed.

(** Eq. (81) for m >= 2, with weights of sum one. *)
Theorem power_of_choice_weighted_one_step_printed m n (a : nat -> law) :
  let avg := average_model a u c xi g eta in let M := INR m in
  (2 <= m)%nat -> eta j * L < / (2 * (1 + M)) ->
  (forall o, size (a o) = n) -> (forall i, adapted past 0 (fun o => weight (a o) i)) ->
  E P (fun o => sq (step_noise a xi j o)) <= sigma2 ->
  (forall r, (r < j)%nat -> E P (fun o => E (a o) (fun i => sq (g (c o i) (path u c xi g eta i r o) + xi i r o))) <= G2)
    ->
  skewed_slots P clients a u c f low rho rho_tilde xs ->
  E P (fun o => sq (avg (S j) o - xs))
    <= (1 - eta j * mu * (/ M + rho / 2)) * E P (fun o => sq (avg j o - xs)) + 2 * eta j * Gamma * (rho_tilde - rho)
      + eta j ^ 2 * (32 * M^2 * (M - 1) * INR tau^2 * G2 + sigma2 * M + 2 * L * (2 + M) * rho * Gamma).
Proof.
  intros avg M h2 short hn hw sv hg hs. assert (hM : 2 <= M) by (apply (le_INR 2); lia).
  assert (x6 : / (2 * (1 + M)) <= 1 / 6).
  { apply Rmult_le_reg_r with (2 * (1 + M)); [lra |]. rewrite Rinv_l by lra. lra. }
  pose proof (step_skew ltac:(lra)) as (rm & hx & hk).
  pose proof (skewed_step_apart P clients past n a u c xi f g low eta j mu L G2 sigma2 rho rho_tilde xs
    hn hw known unbiased steps ltac:(lra) curvatures strongly smooth_clients minima best hg start_gradients
    sv (1 / 2) (1 / 4) hs ltac:(lra) ltac:(lra)
    ltac:(replace (2 * eta j * L) with (2 * (eta j * L)) by ring;
      replace (/ 5 * eta j * L) with (/ 5 * (eta j * L)) by ring; nra)) as h.
  fold avg in h. replace (1 / 2 * (1 + / (1 / 4))) with (5 / 2) in h by field. destruct hs as (hr & _).
  pose proof elapsed_square as [d0 d]. set (s := elapsed eta j) in *. pose proof G2_nonneg. pose proof Gamma_nonneg.
  assert (a1 : (6 + 5 / 2 * (eta j * mu * rho)) * (s^2 * G2) <= 8 * (s^2 * G2)) by (apply Rmult_le_compat_r; lra).
  assert (t2 : 0 <= eta j ^ 2 * (INR tau^2 * G2))
    by (apply Rmult_le_pos; [apply pow2_ge_0 | apply Rmult_le_pos; [apply pow2_ge_0 | easy]]).
  assert (a2 : 1 * (eta j ^ 2 * (INR tau^2 * G2)) <= M^2 * (M - 1) * (eta j ^ 2 * (INR tau^2 * G2)))
    by (apply Rmult_le_compat_r; [easy | nra]).
  set (D := E P (fun o => sq (avg j o - xs))) in *. assert (hD : 0 <= D) by (apply E_pos; intro; apply sq_pos).
  assert (hmM : / M <= 1) by (apply Rmult_le_reg_r with M; [lra |]; rewrite Rinv_l by lra; lra).
  assert (a3 : eta j * mu * / M * D <= eta j * mu * 1 * D).
  { pose proof (steps j). apply Rmult_le_compat_r; [easy |]. apply Rmult_le_compat_l; [pos | easy]. }
  assert (s2 : 0 <= sigma2) by (apply Rle_trans with (2 := sv); apply E_pos; intro; apply sq_pos).
  assert (a4 : eta j ^ 2 * sigma2 <= eta j ^ 2 * (sigma2 * M)) by (apply Rmult_le_compat_l; [apply pow2_ge_0 | nra]).
  assert (hRG : 0 <= eta j ^ 2 * (rho * L * Gamma)) by (apply Rmult_le_pos; [apply pow2_ge_0 | pos]).
  assert (a5 : 6 * (eta j ^ 2 * (rho * L * Gamma)) <= 2 * (2 + M) * (eta j ^ 2 * (rho * L * Gamma)))
    by (apply Rmult_le_compat_r; lra).
  lra.
Qed.
End Steps.

(** ** Whole runs *)
Section Runs.
Context {V : space}.
Variables (clients : law) (P : nat -> law) (past : nat -> nat -> nat -> nat -> Prop).
Variables (u : nat -> nat -> V) (c : nat -> nat -> nat -> nat) (xi : nat -> nat -> nat -> nat -> V).
Variables (f : nat -> V -> R) (g : nat -> V -> V) (low : nat -> R) (tau : nat).
Variables (mu L G2 rho rho_tilde : R) (xs w0 : V).
Variables (m : nat) (hm : (0 < m)%nat) (sigma2 : R).
Local Notation F := (mean_loss clients f).
Local Notation Gamma := (objective_gap clients f low xs).
Local Notation setting := (setting clients P past u c xi f g low tau mu L G2 rho rho_tilde xs w0).
Local Notation expected_gap := (expected_gap clients P u c xi f g tau xs).

(** Eq. (7), for every rho_bar. *)
Theorem power_of_choice_decaying_steps_gap_printed r s :
  setting (decaying_step mu L) m (plain m hm) (sigma2 / INR m) -> 0 < rho <= L / mu -> rho <= rho_tilde ->
  (s <= tau)%nat ->
  let gamma := 4 * L / mu in
  expected_gap (decaying_step mu L) (plain m hm) r s
    <= / (INR (tau * r + s) + gamma) * (4 * L * (32 * INR tau^2 * G2 + sigma2 / INR m) / (3 * mu^2 * rho)
         + 8 * L^2 * Gamma / mu^2 + L * gamma * sq (w0 - xs) / 2)
      + 8 * L * Gamma / (3 * mu) * (rho_tilde / rho - 1).
Proof.
  intros S hr ho hs gamma. pose proof (curvatures _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ S) as cv.
  pose proof (G2_nonnegative clients P past m _ u c xi f g low tau _ mu L G2 _ rho rho_tilde xs w0 S) as hG.
  pose proof (Gamma_nonnegative clients P past m _ u c xi f g low tau _ mu L G2 _ rho rho_tilde xs w0 S) as hGam.
  pose proof (noise_nonnegative clients P past m _ u c xi f g low tau _ mu L G2 _ rho rho_tilde xs w0 S) as hN.
  apply Rle_trans with (1 := power_of_choice_decaying_steps_gap clients P past u c xi f g low tau mu L G2 rho rho_tilde
    xs w0 m hm sigma2 S hr ho r s hs).
  set (N := sigma2 / INR m) in *. fold gamma. pose proof (pos_INR (tau * r + s)). pose proof (sq_pos (w0 - xs)%V) as hD.
  assert (g0 : 0 < gamma) by (unfold gamma; apply Rdiv_lt_0_compat; lra).
  assert (hT : 0 <= 32 * INR tau^2 * G2) by (apply Rmult_le_pos; [pose proof (pow2_ge_0 (INR tau)); lra | easy]).
  assert (a1 : 0 <= 4 * L * (32 * INR tau^2 * G2 + N) / (3 * mu^2 * rho)) by pos.
  assert (a2 : 0 <= 8 * L^2 * Gamma / mu^2) by pos. assert (a3 : 0 <= L * gamma * sq (w0 - xs) / 2) by pos.
  apply Rplus_le_compat.
  - apply Rmult_le_compat_l; [left; apply Rinv_0_lt_compat; lra |]. apply Rmax_lub; lra.
  - replace (8 * L * Gamma / (3 * mu) * (rho_tilde / rho - 1)) with (8 * L * Gamma * (rho_tilde - rho) * / (mu * (3 *
    rho)))
      by (field; lra). unfold Rdiv.
    apply Rmult_le_compat_l; [pos |].
    apply Rinv_le_contravar; [pos | apply Rmult_le_compat_l; lra].
Qed.

(** Eq. (8) in expectation, for every rho_bar. *)
Theorem power_of_choice_fixed_step_gap_printed eta r s :
  setting (fun _ => eta) m (plain m hm) (sigma2 / INR m) -> 0 < eta -> eta * L <= 1 / 4 -> rho <= L / mu ->
  (s <= tau)%nat ->
  let C := 32 * INR tau^2 * G2 + sigma2 / INR m + 6 * rho * L * Gamma in let D := 2 * Gamma * (rho_tilde - rho) in
  expected_gap (fun _ => eta) (plain m hm) r s
    <= L / mu * (1 - eta * mu * (1 + 3 * rho / 8)) ^ (tau * r + s) * (F w0 - F xs - 4 * (eta * C + D) / (8 + 3 * rho))
      + 4 * L * eta * C / (mu * (8 + 3 * rho)) + 8 * L * Gamma * (rho_tilde - rho) / (mu * (8 + 3 * rho)).
Proof.
  intros S he short hf hs C D. pose proof (curvatures _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ S) as cv.
  pose proof (rho_nonnegative clients P past m _ u c xi f g low tau _ mu L G2 _ rho rho_tilde xs w0 S) as hr.
  apply Rle_trans with (1 := power_of_choice_fixed_step_gap clients P past u c xi f g low tau mu L G2 rho rho_tilde
    xs w0 m hm sigma2 eta S he short hf r s hs). right. fold C. unfold D. field. lra.
Qed.

(** Eq. (85) for m >= 2 and rho_bar <= 2; the bias is that of print. *)
Theorem power_of_choice_weighted_average_gap_printed n a noise2 r s : let M := INR m in
  setting (weighted_step mu L m) n a noise2 -> (2 <= m)%nat -> noise2 <= sigma2 -> 0 < rho <= 2 -> rho <= L / mu ->
  rho <= rho_tilde -> (s <= tau)%nat ->
  let gamma := 4 * M * (1 + M) * L / mu in
  expected_gap (weighted_step mu L m) a r s
    <= / (INR (tau * r + s) + gamma) * (L * M^2 * (32 * M * (M - 1) * INR tau^2 * G2 + sigma2) / (mu^2 * rho)
         + 2 * L^2 * M * (M + 2) * Gamma / mu^2 + L * gamma * sq (w0 - xs) / 2)
      + 2 * L * Gamma / (rho * mu) * (rho_tilde / rho - 1).
Proof.
  intros M S h2 hn hr hf ho hs gamma. pose proof (curvatures _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ S) as cv.
  pose proof (Gamma_nonnegative clients P past n _ u c xi f g low tau _ mu L G2 _ rho rho_tilde xs w0 S) as hGam.
  apply Rle_trans with (1 := several_clients clients P past u c xi f g low tau mu L G2 rho rho_tilde
    xs w0 n a m noise2 hm S ho hf sigma2 r s hs h2 ltac:(easy) hn).
  assert (hM : 2 <= M) by (apply (le_INR 2); lia). fold M. fold gamma.
  assert (g0 : 0 < gamma) by (unfold gamma; apply Rdiv_lt_0_compat; [nra | lra]). pose proof (pos_INR (tau * r + s)).
  apply Rplus_le_compat; [right; field; repeat split; lra |].
  apply Rmult_le_reg_r with (mu * rho^2 * (1 + 1 / 2 * rho)); [pos |].
  replace (L * Gamma * (rho_tilde - rho) / (mu * (1 + 1 / 2 * rho)) * (mu * rho^2 * (1 + 1 / 2 * rho))) with
    (L * Gamma * (rho_tilde - rho) * rho^2) by (field; lra).
  replace (2 * L * Gamma / (rho * mu) * (rho_tilde / rho - 1) * (mu * rho^2 * (1 + 1 / 2 * rho))) with
    (L * Gamma * (rho_tilde - rho) * (2 + rho)) by (field; lra).
  apply Rmult_le_compat_l; [pos | nra].
Qed.
End Runs.
