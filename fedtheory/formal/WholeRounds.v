(** Power-of-Choice without bounded gradients: a round of m active clients, whose selection may be biased. *)

From FedTheory Require Export Noise Recursions.

(** The coefficients of a round with steps eta 0, eta 1, ...: of the distance, of the loss at the start that is kept, of
    the loss at the minimizer, of the noise, and the share of the loss that is left. *)
Section Coefficients.
Variables (mu L : R) (eta : nat -> R).
Fixpoint contraction (s : nat) : R := match s with O => 1 | S s => (1 - eta s * mu) * contraction s end.
Fixpoint loss_left (s : nat) : R := match s with O => 1 | S s => loss_left s * (1 - eta s * L)^2 end.
Fixpoint moved (s : nat) : R := match s with O => 0 | S s => (1 - eta s * mu) * moved s + eta s end.
Fixpoint kept (s : nat) : R :=
  match s with O => 0 | S s => (1 - eta s * mu) * kept s + eta s * (1 - eta s * L) * loss_left s end.
Fixpoint noise_kept (s : nat) : R := match s with O => 0 | S s => (1 - eta s * mu) * noise_kept s + eta s ^ 2 end.
(** In the last step the noises of m clients average. *)
Definition noise_of_round (m : R) (tau : nat) : R :=
  match tau with O => 0 | S s => (1 - eta s * mu) * noise_kept s + eta s ^ 2 / m end.

Hypothesis steps : forall s, 0 < eta s.
Hypothesis short : forall s, eta s * L <= 1.
Hypothesis curvatures : 0 < mu <= L.

Lemma rest_pos s : 0 <= 1 - eta s * mu.
Proof. pose proof (short s). pose proof (steps s). assert (eta s * mu <= eta s * L) by (apply Rmult_le_compat_l; lra).
lra. Qed.
Lemma loss_pos s : 0 <= loss_left s.
Proof. induction s; cbn [loss_left]; [lra |]. apply Rmult_le_pos; [easy | apply pow2_ge_0]. Qed.
Lemma kept_pos s : 0 <= kept s.
Proof.
  induction s as [| s IH]; cbn [kept]; [lra |]. pose proof (rest_pos s). pose proof (loss_pos s). pose proof (short s).
  pose proof (steps s).
  apply Rplus_le_le_0_compat; [now apply Rmult_le_pos |]. apply Rmult_le_pos; [apply Rmult_le_pos; lra | easy].
Qed.
Lemma moved_pos s : 0 <= moved s.
Proof. induction s as [| s IH]; cbn [moved]; [lra |]. pose proof (rest_pos s). pose proof (steps s).
pose proof (Rmult_le_pos _ _ H IH). lra. Qed.
End Coefficients.

Section Round.
Context {V : space}.
Variables (P clients : law) (past : nat -> nat -> nat -> Prop) (m : nat) (hm : (0 < m)%nat).
Variables (f : nat -> V -> R) (g : nat -> V -> V) (low : nat -> R) (mu L sigma2 rho rho_tilde : R) (xs : V).
Variables (u : nat -> V) (c : nat -> nat -> nat) (xi : nat -> nat -> nat -> V) (eta : nat -> R).
Local Notation slots := (uniform m hm).
Local Notation y := (path u c xi g eta).
Local Notation F := (mean_loss clients f).
Local Notation Gamma := (objective_gap clients f low xs).

Hypothesis curvatures : 0 < mu <= L.
Hypothesis strongly : forall k, strongly_convex mu (f k) (g k).
Hypothesis smooth_clients : forall k, smooth L (f k) (g k).
Hypothesis minima : forall k, bounded_below (f k) (low k).
Hypothesis best : minimizer F xs.
Hypothesis steps : forall s, 0 < eta s.
Hypothesis short : forall s, eta s * L <= 1.
Hypothesis known : information past u c xi.
Hypothesis unbiased : unbiased_noise P past xi.
Hypothesis unrelated : uncorrelated_noise P xi.
Hypothesis variance : forall s, E slots (fun i => E P (fun o => sq (xi i s o))) <= sigma2.

(** The loss of the active clients, above their minima, at the round's start and at the minimizer. *)
Definition active_loss : R := E P (fun o => E slots (fun i => f (c o i) (u o) - low (c o i))).
Definition active_loss_at_minimizer : R := E P (fun o => E slots (fun i => f (c o i) xs - low (c o i))).
(** The skews: that at the round's starting model is at least rho, and that at the minimizer at most rho_tilde. *)
Definition skewed :=
  0 <= rho /\ rho * E P (fun o => F (u o) - F xs + Gamma) <= active_loss /\ active_loss_at_minimizer
    <= rho_tilde * Gamma.

Let dist s := E P (fun o => E slots (fun i => sq (y i s o - xs))).
Let loss s := E P (fun o => E slots (fun i => f (c o i) (y i s o) - low (c o i))).
Let z i s o : V := (y i s o - eta s * g (c o i) (y i s o))%V.

Lemma path_step i s o : y i (S s) o = (y i s o - eta s * (g (c o i) (y i s o) + xi i s o))%V.
Proof. reflexivity. Qed.

Lemma swap (h : nat -> nat -> R) : E P (fun o => E slots (h o)) = E slots (fun i => E P (fun o => h o i)).
Proof. apply E_swap. Qed.

(** The step without its noise. *)
Lemma step_without_noise s :
  E P (fun o => E slots (fun i => sq (z i s o - xs)))
    <= (1 - eta s * mu) * dist s - 2 * eta s * (1 - eta s * L) * loss s + 2 * eta s * active_loss_at_minimizer.
Proof.
  unfold dist, loss, active_loss_at_minimizer. rewrite <- !E_scal, <- E_minus, <- E_plus. apply E_le. intro o.
  rewrite <- !E_scal, <- E_minus, <- E_plus. apply E_le. intro i. set (k := c o i). set (x := y i s o).
  set (e := eta s).
  pose proof (steps s) as he. fold e in he.
  pose proof (strongly k x xs) as a. pose proof (gradient_le L (f k) (g k) (low k) x ltac:(lra)
    (proj1 (smooth_clients k)) (minima k)) as b.
  replace (sq (z i s o - xs)) with (sq (x - xs) + 2 * e * ip (g k x) (xs - x) + e^2 * sq (g k x))
    by (unfold z; fold k x e; ips; ring).
  assert (e^2 * sq (g k x) <= e^2 * (2 * L * (f k x - low k))) by (apply Rmult_le_compat_l; [apply pow2_ge_0 | easy]).
  apply (Rmult_le_compat_l (2 * e)) in a; [| lra]. replace (sq (xs - x)) with (sq (x - xs)) in a by (ips; ring). lra.
Qed.

Lemma z_adapted i s : adapted past s (z i s).
Proof.
  intros o o' h. unfold z. f_equal; [now apply (path_adapted past u c xi g eta i s known) |].
  f_equal. now apply (gradient_adapted past u c xi g eta i s known).
Qed.

Lemma noise_adds i s : E P (fun o => sq (y i (S s) o - xs)) = E P (fun o => sq (z i s o - xs))
  + eta s ^ 2 * E P (fun o => sq (xi i s o)).
Proof.
  transitivity (E P (fun o => sq (z i s o - xs) - 2 * eta s * ip (xi i s o) (z i s o - xs)
    + eta s ^ 2 * sq (xi i s o))).
  - apply E_ext. intros o _. rewrite path_step. unfold z. ips. ring.
  - Es. rewrite (unbiased i s (fun o => z i s o - xs)%V); [ring |]. intros o o' h. f_equal. now apply z_adapted.
Qed.

Lemma step_dist s :
  dist (S s) <= (1 - eta s * mu) * dist s - 2 * eta s * (1 - eta s * L) * loss s
    + 2 * eta s * active_loss_at_minimizer + eta s ^ 2 * sigma2.
Proof.
  apply Rle_trans with (E P (fun o => E slots (fun i => sq (z i s o - xs))) + eta s ^ 2 * sigma2);
    [| pose proof (step_without_noise s); lra].
  unfold dist. rewrite !swap. rewrite (E_ext slots _ _ (fun i _ => noise_adds i s)), E_plus, E_scal.
  apply Rplus_le_compat_l. apply Rmult_le_compat_l; [apply pow2_ge_0 | apply variance].
Qed.

(** Local steps keep a loss high, and noise can only raise it. *)
Lemma loss_kept s : (1 - eta s * L)^2 * loss s <= loss (S s).
Proof.
  unfold loss. rewrite !swap, <- E_scal. apply E_le. intro i. rewrite <- E_scal.
  assert (q : E P (fun o => f (c o i) (z i s o) - low (c o i) - eta s * ip (xi i s o) (g (c o i) (z i s o)))
    = E P (fun o => f (c o i) (z i s o) - low (c o i))).
  { pose proof (unbiased i s (fun o => g (c o i) (z i s o))) as ub.
    transitivity (E P (fun o => f (c o i) (z i s o) - low (c o i))
      - eta s * E P (fun o => ip (xi i s o) (g (c o i) (z i s o))));
      [rewrite <- E_scal, <- E_minus; reflexivity |].
    rewrite ub; [ring |]. intros o o' h. rewrite (z_adapted i s o o' h). f_equal.
    destruct known as (hp & hu & hc & hx). apply (hc i). now apply (past_back past s). }
  apply Rle_trans with (E P (fun o => f (c o i) (z i s o) - low (c o i) - eta s * ip (xi i s o) (g (c o i) (z i s o)))).
  - rewrite q. apply E_le. intro o.
    apply (power_of_choice_loss_after_step L (eta s) (f (c o i)) (g (c o i)) (low (c o i)) (y i s o)); try easy;
      try lra.
    apply (lower_le mu); [lra | apply strongly].
  - apply E_le. intro o. set (k := c o i). pose proof (strongly k (z i s o) (y i (S s) o)) as a.
    pose proof (sq_pos (y i (S s) o - z i s o)%V).
    assert (e : ip (g k (z i s o)) (y i (S s) o - z i s o) = - eta s * ip (xi i s o) (g k (z i s o))).
    { rewrite path_step. unfold z at 2. fold k. ips. ring. }
    rewrite e in a. assert (0 <= mu / 2 * sq (y i (S s) o - z i s o)) by pos. lra.
Qed.

Lemma loss_after s : loss_left L eta s * loss 0 <= loss s.
Proof.
  induction s as [| s IH]; cbn [loss_left]; [lra |]. apply Rle_trans with (2 := loss_kept s).
  rewrite (Rmult_comm (loss_left L eta s)), Rmult_assoc. apply Rmult_le_compat_l; [apply pow2_ge_0 | easy].
Qed.

Lemma loss_start : loss 0 = active_loss.
Proof. reflexivity. Qed.
Lemma dist_start : dist 0 = E P (fun o => sq (u o - xs)).
Proof. apply E_ext. intros o _. exact (E_const slots (sq (u o - xs))). Qed.

Lemma dist_after s : dist s <= contraction mu eta s * dist 0 - 2 * kept mu L eta s * active_loss
  + 2 * moved mu eta s * active_loss_at_minimizer + noise_kept mu eta s * sigma2.
Proof.
  induction s as [| s IH]; cbn [contraction kept moved noise_kept]; [lra |].
  pose proof (step_dist s) as d. pose proof (loss_after s) as l. rewrite loss_start in l.
  pose proof (rest_pos mu L eta steps short curvatures s) as r. pose proof (steps s). pose proof (short s).
  apply (Rmult_le_compat_l (1 - eta s * mu)) in IH; [| easy].
  assert (0 <= 2 * eta s * (1 - eta s * L)) by pos.
  apply (Rmult_le_compat_l (2 * eta s * (1 - eta s * L))) in l; [| easy]. lra.
Qed.

(** The mean of the active clients' models after the round. *)
Definition round_mean (tau : nat) o : V := vE slots (fun i => y i tau o).

Lemma round_dist tau : E P (fun o => sq (round_mean tau o - xs))
  <= contraction mu eta tau * E P (fun o => sq (u o - xs)) - 2 * kept mu L eta tau * active_loss
    + 2 * moved mu eta tau * active_loss_at_minimizer + noise_of_round mu eta (INR m) tau * sigma2.
Proof.
  pose proof (lt_0_INR m hm) as pm. destruct tau as [| s].
  - cbn [contraction kept moved noise_of_round]. right.
    rewrite (E_ext P _ (fun o => sq (u o - xs))); [ring |]. intros o _. apply same_sq. intro w. rewrite !ip_sub.
    f_equal.
    unfold round_mean. exact (vE_const slots (u o) w).
  - set (zb o := vE slots (fun i => z i s o)). set (xb o := vE slots (fun i => xi i s o)).
    assert (e : E P (fun o => sq (round_mean (S s) o - xs)) = E P (fun o => sq (zb o - xs))
      + eta s ^ 2 * E P (fun o => sq (xb o))).
    { transitivity (E P (fun o => sq (zb o - xs) - 2 * eta s * ip (xb o) (zb o - xs) + eta s ^ 2 * sq (xb o))).
      - apply E_ext. intros o _. transitivity (sq (zb o - eta s * xb o - xs)); [| ips; ring]. apply same_sq. intro w.
        rewrite !ip_sub, ip_scale. f_equal. unfold round_mean, zb, xb. rewrite !ip_vE, <- E_scal, <- E_minus.
        apply E_ext. intros i _.
        rewrite path_step. unfold z. rewrite !ip_sub, !ip_scale, ip_add. ring.
      - Es. replace (E P (fun o => ip (xb o) (zb o - xs))) with 0; [ring |]. symmetry.
        rewrite (E_ext P _ (fun o => E slots (fun i => ip (xi i s o) (zb o - xs)))) by (intros; apply ip_vE).
        rewrite swap, (E_ext slots _ (fun _ => 0)); [apply E_const |]. intros i _.
        apply (unbiased i s (fun o => zb o - xs)%V). intros o o' h. f_equal. unfold zb, vE. 
        assert (q : forall n, vsum n (fun i => (weight slots i * z i s o)%V)
          = vsum n (fun i => (weight slots i * z i s o')%V)).
        { induction n as [| n IHn]; [easy |]. cbn [vsum]. rewrite IHn. f_equal. f_equal. now apply z_adapted. }
        apply q. }
    rewrite e.
    assert (b1 : E P (fun o => sq (zb o - xs)) <= E P (fun o => E slots (fun i => sq (z i s o - xs))))
      by (apply E_le; intro; apply jensen).
    assert (b2 : E P (fun o => sq (xb o)) <= sigma2 / INR m).
    { unfold xb. pose proof (uncorrelated_mean slots P (fun i o => xi i s o)) as um.
      rewrite um by (intros i j h; now apply unrelated).
      cbn [uniform size weight]. rewrite (uniform_squares m hm). unfold Rdiv. rewrite (Rmult_comm sigma2).
      apply Rmult_le_compat_l; [pos | apply variance]. }
    pose proof (step_without_noise s) as st. pose proof (loss_after s) as l. rewrite loss_start in l.
    pose proof (dist_after s) as d. rewrite dist_start in d.
    pose proof (rest_pos mu L eta steps short curvatures s) as r. pose proof (steps s). pose proof (short s).
    apply (Rmult_le_compat_l (1 - eta s * mu)) in d; [| easy].
    assert (0 <= 2 * eta s * (1 - eta s * L)) by pos.
    apply (Rmult_le_compat_l (2 * eta s * (1 - eta s * L))) in l; [| easy].
    apply (Rmult_le_compat_l (eta s ^ 2)) in b2; [| apply pow2_ge_0].
    cbn [contraction kept moved noise_of_round]. replace (eta s ^ 2 / INR m * sigma2) with
      (eta s ^ 2 * (sigma2 / INR m)) by (field; lra).
    rewrite Rmult_plus_distr_r. replace (eta s ^ 2 / INR m * sigma2) with (eta s ^ 2 * (sigma2 / INR m))
      by (field; lra). lra.
Qed.

Lemma mean_above_minimum : mu / 2 * E P (fun o => sq (u o - xs)) + Gamma <= E P (fun o => F (u o) - F xs + Gamma).
Proof.
  rewrite <- E_scal, <- (E_const P Gamma), <- E_plus, (E_const P Gamma). apply E_le. intro o. apply Rplus_le_compat_r.
  apply (above_minimum mu L F (mean_gradient clients g)); [apply mean_loss_lower; apply strongly |
    apply mean_loss_upper; intro; apply smooth_clients | exact best].
Qed.

(** A round whose steps change: [fedtheory.bounds.power_of_choice.round_coefficients]. *)
Theorem power_of_choice_round_coefficients tau : skewed ->
  E P (fun o => sq (round_mean tau o - xs))
    <= (contraction mu eta tau - rho * mu * kept mu L eta tau) * E P (fun o => sq (u o - xs))
      + 2 * (rho_tilde * moved mu eta tau - rho * kept mu L eta tau) * Gamma
      + noise_of_round mu eta (INR m) tau * sigma2.
Proof.
  intros (hr & h1 & h2). pose proof (round_dist tau) as d. pose proof mean_above_minimum as a.
  pose proof (kept_pos mu L eta steps short curvatures tau) as k.
  pose proof (moved_pos mu L eta steps short curvatures tau) as mv.
  apply (Rmult_le_compat_l rho) in a; [| easy].
  assert (b : rho * (mu / 2 * E P (fun o => sq (u o - xs)) + Gamma) <= active_loss) by lra.
  apply (Rmult_le_compat_l (2 * kept mu L eta tau)) in b; [| lra].
  apply (Rmult_le_compat_l (2 * moved mu eta tau)) in h2; [| lra]. lra.
Qed.
End Round.
