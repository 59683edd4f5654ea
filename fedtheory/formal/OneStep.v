(** One local step of clients whose models are averaged: the inequality behind the theorems with bounded gradients. *)

From FedTheory Require Export Noise.

(** ** Without noise: slots with weights [a], clients [c], models [w], and any point [v] to compare with *)

Section Core.
Context {V : space}.
Variables (a : law) (c : nat -> nat) (w : nat -> V) (f : nat -> V -> R) (g : nat -> V -> V) (low : nat -> R).
Variables (mu L eta : R) (xs v : V).
Hypothesis curvatures : 0 < mu <= L.
Hypothesis eta_pos : 0 < eta.
Hypothesis short : eta * L <= 1 / 4.
Hypothesis strongly : forall k, strongly_convex mu (f k) (g k).
Hypothesis smooth_clients : forall k, smooth L (f k) (g k).
Hypothesis minima : forall k, bounded_below (f k) (low k).
Let wb := vE a w.
Let gb := vE a (fun i => g (c i) (w i)).
Let excess (z : nat -> V) := E a (fun i => f (c i) (z i) - low (c i)).

Lemma core_a : sq (wb - eta * gb - xs)
  <= (1 - eta * mu) * sq (wb - xs) + E a (fun i => sq (w i - wb)) - 2 * eta * (1 - 2 * eta * L) * excess w
    + 2 * eta * excess (fun _ => xs).
Proof.
  assert (e : sq (wb - eta * gb - xs) = sq (wb - xs) - 2 * eta * ip gb (wb - xs) + eta^2 * sq gb) by (ips; ring).
  pose proof (jensen_zero a (fun i => g (c i) (w i))) as j. fold gb in j.
  pose proof (jensen a w xs) as jw. fold wb in jw.
  assert (h : sq (wb - xs) - 2 * eta * ip gb (wb - xs) + eta^2 * E a (fun i => sq (g (c i) (w i)))
    <= sq (wb - xs) + E a (fun i => sq (w i - wb)) - 2 * eta * (1 - 2 * eta * L) * excess w
      + 2 * eta * excess (fun _ => xs)
       - eta * mu * E a (fun i => sq (w i - xs))).
  { unfold gb, excess. rewrite ip_vE, <- !E_scal, <- (E_const a (sq (wb - xs))), <- E_minus, <- !E_plus, <- E_minus,
      <- E_plus, <- E_minus.
    apply E_le. intro i. set (k := c i). set (x := w i).
    pose proof (strongly k x xs) as s. pose proof (gradient_le L (f k) (g k) (low k) x ltac:(lra)
      (proj1 (smooth_clients k)) (minima k)) as b.
    pose proof (sq_pos (eta * g k x + (wb - x))%V) as p.
    replace (sq (eta * g k x + (wb - x))) with (eta^2 * sq (g k x) + 2 * eta * ip (g k x) (wb - x) + sq (x - wb)) in p
      by (ips; ring).
    replace (ip (g k x) (wb - xs)) with (ip (g k x) (wb - x) - ip (g k x) (xs - x)) by (ips; ring).
    replace (sq (xs - x)) with (sq (x - xs)) in s by (ips; ring).
    apply (Rmult_le_compat_l (2 * eta)) in s; [| lra]. apply (Rmult_le_compat_l (2 * eta^2)) in b; [| pos]. lra. }
  apply (Rmult_le_compat_l (eta^2)) in j; [| apply pow2_ge_0].
  assert (p : 0 < eta * mu) by pos. apply (Rmult_le_compat_l (eta * mu)) in jw; [| lra]. rewrite e. lra.
Qed.

(** The smaller [q], the more of the excess at [v] is kept, and the more the distances from [v] count. *)
Variable q : R.
Hypothesis share : 0 < q <= 1.

Lemma core_b : - (2 * eta * (1 - 2 * eta * L) * excess w)
  <= - (2 * eta * (1 - 2 * eta * L) * (1 - q * eta * L) * excess (fun _ => v)) + / q * E a (fun i => sq (w i - v)).
Proof.
  unfold excess. rewrite <- !E_scal, <- !E_opp, <- E_plus. apply E_le. intro i. set (k := c i). set (x := w i).
  pose proof (strongly k v x) as s. pose proof (gradient_le L (f k) (g k) (low k) v ltac:(lra)
    (proj1 (smooth_clients k)) (minima k)) as b.
  pose proof (sq_pos (q * eta * g k v + (x - v))%V) as p.
  replace (sq (q * eta * g k v + (x - v))) with (q * (q * eta^2 * sq (g k v) + 2 * eta * ip (g k v) (x - v)
    + / q * sq (x - v))) in p by (ips; field; lra).
  assert (p' : 0 <= q * eta^2 * sq (g k v) + 2 * eta * ip (g k v) (x - v) + / q * sq (x - v)).
  { apply Rmult_le_reg_l with q; lra. }
  set (X := eta * L) in *. assert (hX : 0 < X) by (unfold X; pos). pose proof (sq_pos (x - v)%V) as d.
  set (D := sq (x - v)) in *.
  assert (m : - (/ q - eta * mu) * D <= 2 * eta * ((f k x - low k) - (1 - q * X) * (f k v - low k))).
  { replace (mu / 2 * sq (x - v)%V) with (mu / 2 * D) in s by easy.
    apply (Rmult_le_compat_l (2 * eta)) in s; [| lra].
    assert (0 < q * eta^2) by pos. apply (Rmult_le_compat_l (q * eta^2)) in b; [| lra]. unfold X. lra. }
  assert (hem : 0 <= eta * mu) by pos. assert (r : 0 <= 1 - 2 * X) by lra.
  apply (Rmult_le_compat_l (1 - 2 * X)) in m; [| easy].
  replace (2 * eta * L) with (2 * X) by (unfold X; ring). replace (q * eta * L) with (q * X) by (unfold X; ring).
  assert (0 <= / q) by (left; apply Rinv_0_lt_compat; lra).
  assert (0 <= (2 * X * / q + eta * mu * (1 - 2 * X)) * D) by (apply Rmult_le_pos; [pos | easy]). lra.
Qed.

Lemma core : sq (wb - eta * gb - xs)
  <= (1 - eta * mu) * sq (wb - xs) + E a (fun i => sq (w i - wb)) + / q * E a (fun i => sq (w i - v))
    - 2 * eta * (1 - 2 * eta * L) * (1 - q * eta * L) * excess (fun _ => v) + 2 * eta * excess (fun _ => xs).
Proof. pose proof core_a. pose proof core_b. lra. Qed.

(** (1 - 2 x)(1 - x) is at least 3/8, and at least 1 - 3 x. *)
Lemma factor_range : 3 / 8 <= (1 - 2 * eta * L) * (1 - eta * L) /\ 1 - 3 * (eta * L)
  <= (1 - 2 * eta * L) * (1 - eta * L) <= 1.
Proof.
  assert (0 < eta * L) by pos. replace (2 * eta * L) with (2 * (eta * L)) by ring. set (X := eta * L) in *. nra.
Qed.
End Core.

(** ** With noise: the outcomes of [P] decide weights, clients, start and noise; [j] steps of the round are made *)

Section Step.
Context {V : space}.
Variables (P : law) (past : nat -> nat -> nat -> Prop) (n : nat) (a : nat -> law) (u : nat -> V)
  (c : nat -> nat -> nat).
Variables (xi : nat -> nat -> nat -> V) (f : nat -> V -> R) (g : nat -> V -> V) (low : nat -> R) (eta : nat -> R)
  (j : nat).
Variables (mu L : R) (xs : V).
Hypothesis slots : forall o, size (a o) = n.
Hypothesis weights_known : forall i, adapted past 0 (fun o => weight (a o) i).
Hypothesis known : information past u c xi.
Hypothesis unbiased : unbiased_noise P past xi.
Local Notation w := (path u c xi g eta).

(** The average of the active clients' models after s steps of the round, and the noise of the next step. *)
Definition average_model s o : V := vE (a o) (fun i => w i s o).
Definition step_noise s o : V := vE (a o) (fun i => xi i s o).
Definition step_gradient s o : V := vE (a o) (fun i => g (c o i) (w i s o)).

Lemma average_step s o : same (average_model (S s) o) (average_model s o - eta s * step_gradient s o
  - eta s * step_noise s o).
Proof.
  intro z. unfold average_model, step_noise, step_gradient. rewrite !ip_sub, !ip_scale, !ip_vE, <- !E_scal, <- !E_minus.
  apply E_ext. intros i _. unfold path. cbn [local_model]. rewrite ip_sub, ip_scale, ip_add. ring.
Qed.

Lemma weighted_adapted s (x : nat -> nat -> V) : (forall i, adapted past s (x i)) ->
  adapted past s (fun o => vE (a o) (fun i => x i o)).
Proof.
  intros h o o' k. unfold vE. rewrite !slots. assert (k0 : past 0 o o')
    by (destruct known as (hp & _); now apply (past_back past s)).
  assert (q : forall m, vsum m (fun i => weight (a o) i * x i o)%V = vsum m (fun i => weight (a o') i * x i o')%V);
    [| apply q].
  induction m as [| m IH]; [easy |]. cbn [vsum]. rewrite IH, (h m o o' k), (weights_known m o o' k0). reflexivity.
Qed.

Lemma noise_centred s Z : adapted past s Z -> E P (fun o => ip (step_noise s o) (Z o)) = 0.
Proof.
  intro hz. rewrite (E_ext P _ (fun o => sum n (fun i => ip (xi i s o) (weight (a o) i * Z o)))).
  - rewrite E_sum. apply sum_zero. intros i _. apply (unbiased i s (fun o => weight (a o) i * Z o)%V). intros o o' h.
    rewrite (hz o o' h). f_equal. apply weights_known. destruct known as (hp & _). now apply (past_back past s).
  - intros o _. unfold step_noise. rewrite ip_vE. unfold E. rewrite slots. apply sum_ext. intros.
    now rewrite ip_scale_r.
Qed.

Lemma noise_separates s : E P (fun o => sq (average_model (S s) o - xs))
  = E P (fun o => sq (average_model s o - eta s * step_gradient s o - xs))
    + eta s ^ 2 * E P (fun o => sq (step_noise s o)).
Proof.
  set (Z o := (average_model s o - eta s * step_gradient s o - xs)%V).
  transitivity (E P (fun o => sq (Z o) - 2 * eta s * ip (step_noise s o) (Z o) + eta s ^ 2 * sq (step_noise s o))).
  - apply E_ext. intros o _. transitivity (sq (average_model s o - eta s * step_gradient s o - eta s * step_noise s o
      - xs)).
    + apply same_sq. intro z. now rewrite (ip_sub (average_model (S s) o)), (average_step s o z), <- ip_sub.
    + unfold Z. ips. ring.
  - change (E P (fun o => sq (average_model s o - eta s * step_gradient s o - xs))) with (E P (fun o => sq (Z o))).
    Es. rewrite (noise_centred s Z); [ring |]. intros o o' h. unfold Z. f_equal. f_equal.
    + apply (weighted_adapted s (fun i => w i s)); [| easy]. intro i. now apply (path_adapted past u c xi g eta i s).
    + f_equal. apply (weighted_adapted s (fun i o => g (c o i) (w i s o))); [| easy]. intro i.
      now apply (gradient_adapted past u c xi g eta i s).
Qed.

(** *** The drift within the round *)
Variable G2 : R.
Hypothesis steps : forall s, 0 < eta s.
Hypothesis gradients : forall s, (s < j)%nat -> E P (fun o => E (a o) (fun i => sq (g (c o i) (w i s o) + xi i s o)))
  <= G2.
Definition elapsed : R := sum j eta.

Lemma path_sum i s o : same (w i s o) (u o - vsum s (fun r => eta r * (g (c o i) (w i r o) + xi i r o))%V).
Proof.
  intro z. induction s as [| s IH]; [unfold path; cbn; ips; ring |]. unfold path in *. cbn [local_model vsum].
  rewrite ip_sub, IH, !ip_sub, ip_add. ring.
Qed.

Lemma round_way : E P (fun o => E (a o) (fun i => sq (w i j o - u o))) <= elapsed^2 * G2.
Proof.
  pose proof (way_le P a u (fun i s o => g (c o i) (w i s o) + xi i s o)%V eta j G2 (fun s => Rlt_le _ _ (steps s))
    gradients) as h.
  apply Rle_trans with (2 := h). right. apply E_ext. intros o _. apply E_ext. intros i _. apply same_sq. intro z.
  unfold model. rewrite !(ip_sub _ (u o)), (path_sum i j o z). reflexivity.
Qed.
Lemma round_drift : E P (fun o => E (a o) (fun i => sq (w i j o - average_model j o))) <= elapsed^2 * G2.
Proof. apply Rle_trans with (2 := round_way). apply E_le. intro o. apply spread_le. Qed.
Lemma round_average : E P (fun o => sq (average_model j o - u o)) <= elapsed^2 * G2.
Proof. apply Rle_trans with (2 := round_way). apply E_le. intro o. apply jensen. Qed.
End Step.
Arguments average_model {V} a u c xi g eta s o.
Arguments step_noise {V} a xi s o.

(** The variance of the noise of a step: uncorrelated slots, with weights that are known before. *)
Lemma step_noise_le {V : space} (P : law) (past : nat -> nat -> nat -> Prop) n (a : nat -> law)
  (xi : nat -> nat -> nat -> V) s sigma2 :
  (forall o, size (a o) = n) -> (forall i, adapted past s (fun o => weight (a o) i)) ->
  (forall i k (phi : nat -> R), i <> k -> adapted past s phi -> E P (fun o => phi o * ip (xi i s o) (xi k s o)) = 0) ->
  (forall i (phi : nat -> R), (forall o, 0 <= phi o) -> adapted past s phi -> E P (fun o => phi o * sq (xi i s o))
    <= sigma2 * E P phi) ->
  E P (fun o => sq (step_noise a xi s o)) <= sigma2 * E P (fun o => sum (size (a o)) (fun i => weight (a o) i ^ 2)).
Proof.
  intros hn hw hu hv.
  rewrite (E_ext P (fun o => sq (step_noise a xi s o)) (fun o => sum n
    (fun i => sum n (fun k => weight (a o) i * weight (a o) k * ip (xi i s o) (xi k s o))))).
  - rewrite (E_ext P (fun o => sum (size (a o)) _) (fun o => sum n (fun i => weight (a o) i ^ 2)))
      by (intros; now rewrite hn).
    rewrite !E_sum, <- sum_scal. apply sum_le. intros i hi. rewrite E_sum. rewrite (sum_pick n i _ hi).
    + apply Rle_trans with (2 := hv i (fun o => weight (a o) i ^ 2) (fun o => pow2_ge_0 _)
        ltac:(intros o o' h; now rewrite (hw i o o' h))).
      right. apply E_ext. intros o _. unfold sq. ring.
    + intros k hk e. apply (hu i k (fun o => weight (a o) i * weight (a o) k)); [auto |].
      intros o o' h. now rewrite (hw i o o' h), (hw k o o' h).
  - intros o _. unfold step_noise, vE. rewrite hn, sq_vsum. apply sum_ext. intros i _. apply sum_ext. intros k _.
    rewrite ip_scale, ip_scale_r. ring.
Qed.
