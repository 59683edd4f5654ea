(** FedALIGN: one step of priority clients and of others that match, Lemma A.6 and Appendix A.4. *)

From FedTheory Require Export OneStepBounds Draws.

(** ** Renormalized weights: priority clients 0, ..., N - 1, and then the others, of which [I k] (0 or 1) takes part *)

Section Included.
Variables (priority : law) (others : nat) (p I : nat -> R).
Hypothesis shares : forall k, 0 <= p k.
Hypothesis indicators : forall k, 0 <= I k.
Local Notation N := (size priority).
Definition extra : R := sum others (fun k => p k * I k).
Definition renormalized i : R := (if lt_dec i N then weight priority i else p (i - N)%nat * I (i - N)%nat) * / (1
  + extra).

Lemma extra_pos : 0 <= extra.
Proof. apply sum_pos. intros. now apply Rmult_le_pos. Qed.
Lemma renormalized_pos i : 0 <= renormalized i.
Proof.
  pose proof extra_pos. unfold renormalized. apply Rmult_le_pos; [| left; apply Rinv_0_lt_compat; lra].
  destruct (lt_dec i N); [apply weight_pos | now apply Rmult_le_pos].
Qed.
Lemma renormalized_split (h : nat -> R) : sum (N + others) (fun i => renormalized i * h i)
  = / (1 + extra) * (E priority h + sum others (fun k => p k * I k * h (N + k)%nat)).
Proof.
  assert (q : forall m, sum (N + m) (fun i => renormalized i * h i)
    = / (1 + extra) * (sum N (fun i => weight priority i * h i) + sum m (fun k => p k * I k * h (N + k)%nat))).
  { induction m as [| m IH].
    - rewrite Nat.add_0_r. cbn [sum]. rewrite Rplus_0_r, <- sum_scal. apply sum_ext. intros i hi. unfold renormalized.
      destruct (lt_dec i N); [ring | lia].
    - rewrite Nat.add_succ_r. cbn [sum]. rewrite IH. unfold renormalized. destruct (lt_dec (N + m) N); [lia |].
      replace (N + m - N)%nat with m by lia. ring. }
  apply q.
Qed.
Lemma renormalized_sum : sum (N + others) renormalized = 1.
Proof.
  pose proof extra_pos. rewrite (sum_ext _ renormalized (fun i => renormalized i * 1)) by (intros; ring).
  rewrite renormalized_split, E_const. rewrite (sum_ext others _ (fun k => p k * I k)) by (intros; ring). fold extra.
  field. lra.
Qed.
Definition included : law := {| size := N + others; weight := renormalized; weight_pos := renormalized_pos;
  weight_sum := renormalized_sum |}.

Lemma E_included h : E included h = / (1 + extra) * (E priority h + sum others (fun k => p k * I k * h (N + k)%nat)).
Proof. exact (renormalized_split h). Qed.
End Included.

Section Steps.
Context {V : space}.
Variables (P priority : law) (past : nat -> nat -> nat -> Prop) (others : nat) (p : nat -> R) (I : nat -> nat -> R)
  (u : nat -> V).
Variables (xi : nat -> nat -> nat -> V) (f : nat -> V -> R) (g : nat -> V -> V) (low : nat -> R) (eta : nat -> R)
  (j : nat).
Variables (mu L G2 sigma2 : R) (xs : V).
Let own := fun (_ : nat) (i : nat) => i.
Local Notation N := (size priority).
Hypothesis shares : forall k, 0 <= p k.
(** The indicators of outcome [o] are fixed at the round's start. *)
Hypothesis indicators : forall o k, 0 <= I o k.
Hypothesis frozen : forall k, adapted past 0 (fun o => I o k).
Hypothesis known : information past u own xi.
Hypothesis unbiased : unbiased_noise P past xi.
Hypothesis unrelated : forall i k (phi : nat -> R), i <> k -> adapted past j phi ->
  E P (fun o => phi o * ip (xi i j o) (xi k j o)) = 0.
Hypothesis variance : forall i (phi : nat -> R), (forall o, 0 <= phi o) -> adapted past j phi ->
  E P (fun o => phi o * sq (xi i j o)) <= sigma2 * E P phi.
Hypothesis sigma2_nonnegative : 0 <= sigma2.
Hypothesis G2_nonnegative : 0 <= G2.
Hypothesis steps : forall s, 0 < eta s.
Hypothesis short : eta j * L <= 1 / 4.
Hypothesis curvatures : 0 < mu <= L.
Hypothesis strongly : forall k, strongly_convex mu (f k) (g k).
Hypothesis smooth_clients : forall k, smooth L (f k) (g k).
Hypothesis minima : forall k, bounded_below (f k) (low k).
Hypothesis best : minimizer (mean_loss priority f) xs.

Definition weights_of o : law := included priority others p (I o) shares (indicators o).
Local Notation a := weights_of.
Local Notation avg := (average_model a u own xi g eta).
Local Notation Gamma := (objective_gap priority f low xs).
Hypothesis gradients : forall r, (r < j)%nat -> E P (fun o => E (a o)
  (fun i => sq (g i (path u own xi g eta i r o) + xi i r o))) <= G2.

(** 1/(1 + s), and the gaps of the included others, both expected. *)
Definition priority_weight : R := E P (fun o => / (1 + extra others p (I o))).
Definition included_gap : R :=
  E P (fun o => / (1 + extra others p (I o)) * sum others (fun k => p k * I o
    k * (f (N + k)%nat xs - low (N + k)%nat))).

Lemma extra_adapted o o' : past 0 o o' -> extra others p (I o) = extra others p (I o').
Proof. intro h. apply sum_ext. intros k _. now rewrite (frozen k o o' h). Qed.
Lemma weights_adapted i : adapted past 0 (fun o => weight (a o) i).
Proof.
  intros o o' h. cbn [weights_of included weight]. unfold renormalized. rewrite (extra_adapted o o' h).
  destruct (lt_dec i N); [easy |]. now rewrite (frozen (i - N) o o' h).
Qed.

Theorem fedalign_refined_one_step squared_weights :
  E P (fun o => sum (size (a o)) (fun i => weight (a o) i ^ 2)) <= squared_weights ->
  E P (fun o => sq (avg (S j) o - xs))
    <= (1 - eta j * mu) * E P (fun o => sq (avg j o - xs)) + 2 * (elapsed eta j)^2 * G2
      + eta j ^ 2 * (6 * L * Gamma * priority_weight + sigma2 * squared_weights) + 2 * eta j * included_gap.
Proof.
  intro hq. set (e := eta j) in *. assert (he : 0 < e) by apply steps.
  assert (sv : E P (fun o => sq (step_noise a xi j o)) <= sigma2 * squared_weights).
  { apply Rle_trans with (1 := step_noise_le P past (N + others) a xi j sigma2 ltac:(easy)
      ltac:(intros i o o' h; apply weights_adapted; destruct known as (hp & _); now apply (past_back past j)) unrelated
        variance).
    now apply Rmult_le_compat_l. }
  pose proof (one_step_core P past (N + others) a u own xi f g low eta j mu L (sigma2 * squared_weights) xs ltac:(easy)
    weights_adapted known
    unbiased steps short curvatures strongly smooth_clients minima sv (avg j)) as h. fold e in h.
  pose proof (round_drift P a u own xi g eta j G2 steps gradients) as d.
  pose proof (factor_range mu L e curvatures he short) as [k1 k2]. set (k := (1 - 2 * e * L) * (1 - e * L)) in *.
  assert (hGam : 0 <= Gamma) by (apply E_pos; intro q; pose proof (minima q xs); lra).
  set (La := E P (fun o => E (a o) (fun i => f (own o i) (avg j o) - low (own o i)))) in *.
  set (Lx := E P (fun o => E (a o) (fun i => f (own o i) xs - low (own o i)))) in *.
  assert (ex : Lx = Gamma * priority_weight + included_gap).
  { unfold Lx, priority_weight, included_gap. rewrite <- E_scal, <- E_plus. apply E_ext. intros o _. unfold weights_of.
    rewrite E_included.
    unfold own, objective_gap. ring. }
  assert (ea : Gamma * priority_weight <= La).
  { unfold La, priority_weight. rewrite <- E_scal. apply E_le. intro o. unfold weights_of at 1. rewrite E_included.
    cbv beta.
    pose proof (extra_pos others p (I o) shares (indicators o)) as ep. rewrite Rmult_comm.
    apply Rmult_le_compat_l; [left; apply Rinv_0_lt_compat; lra |].
    assert (0 <= sum others (fun k => p k * I o k * (f (own o (N + k)%nat) (avg j o) - low (own o (N + k)%nat)))).
    { apply sum_pos. intros q _. apply Rmult_le_pos; [now apply Rmult_le_pos |].
      pose proof (minima (own o (N + q)%nat) (avg j o)). lra. }
    assert (Gamma <= E priority (fun i => f (own o i) (avg j o) - low (own o i))); [| lra].
    pose proof (best (avg j o)) as b. unfold mean_loss in b. set (y := avg j o) in *. clearbody y.
    unfold objective_gap, own. rewrite !E_minus. lra. }
  assert (hp : 0 <= priority_weight).
  { apply E_pos. intro o. pose proof (extra_pos others p (I o) shares (indicators o)). left. apply Rinv_0_lt_compat.
    lra. }
  set (Gp := Gamma * priority_weight) in *. assert (hGp : 0 <= Gp) by (unfold Gp; pos).
  replace (2 * e * (1 - 2 * e * L) * (1 - e * L)) with (2 * e * k) in h by (unfold k; ring).
  assert (2 * e * k * Gp <= 2 * e * k * La) by (apply Rmult_le_compat_l; [pos | easy]).
  assert ((1 - 3 * (e * L)) * (2 * e * Gp) <= k * (2 * e * Gp)) by (apply Rmult_le_compat_r; [pos | easy]).
  rewrite ex in h. replace (6 * L * Gamma * priority_weight) with (6 * L * Gp) by (unfold Gp; ring). lra.
Qed.

Variable tau : nat.
Hypothesis in_round : (j <= tau - 1)%nat /\ (1 <= tau)%nat.
Hypothesis halving : forall s, (s < j)%nat -> eta s <= 2 * eta j.

Theorem fedalign_one_step :
  E P (fun o => sq (avg (S j) o - xs))
    <= (1 - eta j * mu) * E P (fun o => sq (avg j o - xs))
      + eta j ^ 2 * (8 * (INR tau - 1)^2 * G2 + 6 * L * Gamma * priority_weight + sigma2) + 2 * eta j * included_gap.
Proof.
  assert (hq : E P (fun o => sum (size (a o)) (fun i => weight (a o) i ^ 2)) <= 1).
  { rewrite <- (E_const P 1). apply E_le. intro o. apply squares_le_one. }
  pose proof (fedalign_refined_one_step 1 hq) as h.
  pose proof (halving_le eta j G2 (fun s => Rlt_le _ _ (steps s)) (eta j) tau G2_nonnegative (Rlt_le _ _ (steps j))
    (proj1 in_round) (proj2 in_round) halving) as hv.
  unfold elapsed in h. lra.
Qed.

(** K priority clients are drawn, as when the round closes; the models of the included others are taken as they are. *)
Variables (draw : law) (K : nat) (hK : (0 < K)%nat) (c : nat -> nat -> nat).
Hypothesis draws : draws_with_replacement priority draw K c.
Hypothesis gradients_given : forall k r, (r < S j)%nat -> E P (fun o => sq (g k (path u own xi g eta k r o) + xi k r o))
  <= G2.
Definition final k o : V := path u own xi g eta k (S j) o.
Definition drawn_average o b : V :=
  (/ (1 + extra others p (I o)) * (vE (uniform K hK) (fun i => final (c b i) o)
     + vsum others (fun k => (p k * I o k * final (N + k) o)%V)))%V.

(** The draws are unbiased: they add their variance to the squared distance. *)
Lemma drawn_distance o : E draw (fun b => sq (drawn_average o b - xs)) = sq (avg (S j) o - xs)
  + (/ (1 + extra others p (I o)))^2 * (E priority (fun k => sq (final k o - vE priority (fun k => final k o))) / INR K).
Proof.
  set (r := / (1 + extra others p (I o))). pose proof (lt_0_INR K hK) as pK.
  set (mb := vE priority (fun k => final k o)). set (rest := vsum others
    (fun k => (p k * I o k * final (N + k) o)%V)).
  assert (ea : same (avg (S j) o) (r * (mb + rest))).
  { intro z. unfold average_model. rewrite ip_vE. unfold weights_of. rewrite E_included, ip_scale, ip_add.
    unfold mb, rest. rewrite ip_vE, ip_vsum.
    fold r. f_equal. f_equal. apply sum_ext. intros k _. now rewrite ip_scale. }
  pose proof (with_replacement priority draw K hK c (fun k => final k o) draws) as wr. fold mb in wr. rewrite <- wr.
  transitivity (E draw (fun b => sq (avg (S j) o - xs) + 2 * r * (ip (vE (uniform K hK) (fun i => final (c b i) o))
    (avg (S j) o - xs) - ip mb (avg (S j) o - xs))
    + r^2 * sq (vE (uniform K hK) (fun i => final (c b i) o) - mb))).
  - apply E_ext. intros b _. transitivity (sq (avg (S j) o - xs
      + r * (vE (uniform K hK) (fun i => final (c b i) o) - mb))); [| ips; ring].
    apply same_sq. intro z. unfold drawn_average. fold r rest.
    rewrite ip_add, !ip_sub, (ea z), !ip_scale, !ip_add, ip_sub. ring.
  - Es. rewrite (E_ext draw (fun b => ip (vE (uniform K hK) (fun i => final (c b i) o)) (avg (S j) o - xs))
      (fun b => E (uniform K hK) (fun i => ip (final (c b i) o) (avg (S j) o - xs))))
      by (intros; apply ip_vE).
    rewrite E_swap, (E_ext (uniform K hK) _ (fun _ => ip mb (avg (S j) o - xs))).
    + Es. ring.
    + intros i hi. destruct draws as [h1 _]. rewrite (h1 i (fun k => ip (final k o) (avg (S j) o - xs)) hi).
      unfold mb. now rewrite ip_vE.
Qed.
(** The variance is at most the mean squared way of the priority clients. *)
Lemma drawn_way : E P (fun o => (/ (1 + extra others p (I o)))^2 * (E priority
  (fun k => sq (final k o - vE priority (fun k => final k o))) / INR K)) <= (sum (S j) eta)^2 * G2 / INR K.
Proof.
  pose proof (lt_0_INR K hK) as pK.
  apply Rle_trans with (E P (fun o => E priority (fun k => sq (final k o - vE priority (fun k => final k o)))) / INR K).
  - rewrite <- E_div. apply E_le. intro o. pose proof (extra_pos others p (I o) shares (indicators o)) as ep.
    set (D := E priority _ / INR K). assert (0 <= D) by (apply Rmult_le_pos;
      [apply E_pos; intro; apply sq_pos | left; now apply Rinv_0_lt_compat]).
    assert (0 < / (1 + extra others p (I o)) <= 1) by (split;
      [apply Rinv_0_lt_compat; lra | rewrite <- Rinv_1; apply Rinv_le_contravar; lra]).
    set (r := / (1 + extra others p (I o))) in *. assert (r^2 <= 1) by (rewrite <- (pow1 2); apply pow_incr; lra).
    rewrite <- (Rmult_1_l D) at 2. now apply Rmult_le_compat_r.
  - apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat |].
    apply Rle_trans with (E P (fun o => E priority (fun k => sq (final k o - u o))));
      [apply E_le; intro; apply spread_le |].
    apply (round_way P (fun _ => priority) u own xi g eta (S j) G2 steps).
    intros r hr. rewrite E_swap, <- (E_const priority G2). apply E_le. intro k. exact (gradients_given k r hr).
Qed.

Theorem fedalign_partial_one_step :
  E P (fun o => E draw (fun b => sq (drawn_average o b - xs)))
    <= (1 - eta j * mu) * E P (fun o => sq (avg j o - xs))
      + eta j ^ 2 * (8 * (INR tau - 1)^2 * G2 + 4 * INR tau^2 * G2 / INR K + 6 * L * Gamma * priority_weight + sigma2)
      + 2 * eta j * included_gap.
Proof.
  pose proof fedalign_one_step as h. pose proof (lt_0_INR K hK) as pK. pose proof drawn_way as way.
  assert (b : (sum (S j) eta)^2 * G2 / INR K <= 4 * eta j ^ 2 * INR tau^2 * G2 / INR K).
  { apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat |]. apply Rmult_le_compat_r; [easy |].
    assert (0 <= sum (S j) eta) by (apply sum_pos; intros; left; apply steps).
    assert (bd : sum (S j) eta <= INR tau * (2 * eta j)).
    { apply Rle_trans with (INR (S j) * (2 * eta j)).
      - rewrite <- sum_const. apply sum_le. intros i hi. destruct (Nat.eq_dec i j) as [-> | ne];
          [pose proof (steps j); lra | apply halving; lia].
      - pose proof (steps j). apply Rmult_le_compat_r; [lra | apply le_INR; lia]. }
    replace (4 * eta j ^ 2 * INR tau^2) with ((INR tau * (2 * eta j))^2) by ring. now apply pow_incr. }
  rewrite (E_ext P _ _ (fun o _ => drawn_distance o)), E_plus. unfold Rdiv in *. lra.
Qed.
End Steps.
