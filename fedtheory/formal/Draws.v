(** Draws of clients with and without replacement: the variance of the mean of the drawn models. *)

From FedTheory Require Export Averages.

(** In outcome [o] of the law [draw] the clients c o 0, ..., c o (m - 1) are drawn. *)
Definition draws_with_replacement (clients draw : law) (m : nat) (c : nat -> nat -> nat) :=
  (forall i (h : nat -> R), (i < m)%nat -> E draw (fun o => h (c o i)) = E clients h) /\
  (forall i j (h : nat -> nat -> R), (i < m)%nat -> (j < m)%nat -> i <> j ->
    E draw (fun o => h (c o i) (c o j)) = E clients (fun k => E clients (h k))).

(** Any two of the m drawn clients are equally likely to be any two different clients. *)
Definition draws_without_replacement (n : nat) (draw : law) (m : nat) (c : nat -> nat -> nat) :=
  (forall i (h : nat -> R), (i < m)%nat -> E draw (fun o => h (c o i)) = sum n h / INR n) /\
  (forall i j (h : nat -> nat -> R), (i < m)%nat -> (j < m)%nat -> i <> j ->
    E draw (fun o => h (c o i) (c o j))
      = (sum n (fun k => sum n (h k)) - sum n (fun k => h k k)) / (INR n * (INR n - 1))).

Section Variance.
Context {V : space}.
Implicit Types x : nat -> V.

(** The expected square of a mean of m random vectors, from the products of two of them. *)
Lemma mean_square (draw : law) m (hm : (0 < m)%nat) (y : nat -> nat -> V) (A B : R) :
  (forall i, (i < m)%nat -> E draw (fun o => sq (y o i)) = A) ->
  (forall i j, (i < m)%nat -> (j < m)%nat -> i <> j -> E draw (fun o => ip (y o i) (y o j)) = B) ->
  E draw (fun o => sq (vE (uniform m hm) (y o))) = (A + (INR m - 1) * B) / INR m.
Proof.
  intros ha hb. pose proof (lt_0_INR m hm) as p.
  transitivity (E draw (fun o => (/ INR m)^2 * sum m (fun i => sum m (fun j => ip (y o i) (y o j))))).
  { apply E_ext. intros o _. unfold vE. cbn. rewrite sq_vsum, <- sum_scal. apply sum_ext. intros i _.
    rewrite <- sum_scal. apply sum_ext. intros j _. rewrite ip_scale, ip_scale_r. ring. }
  rewrite E_scal, E_sum.
  rewrite (sum_ext m _ (fun _ => A + (INR m - 1) * B)); [rewrite sum_const; field; lra |].
  intros i hi. rewrite E_sum.
  transitivity (sum m (fun j => B) + sum m (fun j => if Nat.eq_dec j i then A - B else 0)).
  - rewrite <- sum_add. apply sum_ext. intros j hj. destruct (Nat.eq_dec j i) as [-> | e].
    + rewrite <- (ha i hi). unfold sq. ring.
    + rewrite hb by auto. ring.
  - rewrite sum_const, (sum_pick m i) by (try easy; intros j _ e; destruct (Nat.eq_dec j i); easy).
    destruct (Nat.eq_dec i i); [ring | easy].
Qed.

Lemma with_replacement clients draw m (hm : (0 < m)%nat) c x : draws_with_replacement clients draw m c ->
  E draw (fun o => sq (vE (uniform m hm) (fun i => x (c o i)) - vE clients x))
    = E clients (fun k => sq (x k - vE clients x)) / INR m.
Proof.
  intros [h1 h2]. set (d := fun k => (x k - vE clients x)%V).
  transitivity (E draw (fun o => sq (vE (uniform m hm) (fun i => d (c o i))))).
  { apply E_ext. intros o _. apply same_sq. intro v. unfold d.
    now rewrite (vE_sub (uniform m hm) (fun i => x (c o i)) (fun _ => vE clients x) v), !ip_sub, (vE_const _ _ v). }
  rewrite (mean_square draw m hm (fun o i => d (c o i)) (E clients (fun k => sq (d k))) 0).
  - unfold d. rewrite Rmult_0_r, Rplus_0_r. reflexivity.
  - intros i hi. apply (h1 i (fun k => sq (d k)) hi).
  - intros i j hi hj e. rewrite (h2 i j (fun k l => ip (d k) (d l)) hi hj e).
    rewrite <- (E_const clients 0). apply E_ext. intros k _.
    transitivity (E clients (fun l => ip (d l) (d k))); [apply E_ext; intros; apply ip_sym | apply deviations_sum].
Qed.

Lemma without_replacement n (hn : (0 < n)%nat) draw m (hm : (0 < m)%nat) c x :
  (2 <= n)%nat -> draws_without_replacement n draw m c -> let clients := uniform n hn in
  E draw (fun o => sq (vE (uniform m hm) (fun i => x (c o i)) - vE clients x))
    = (INR n - INR m) / (INR m * (INR n - 1)) * E clients (fun k => sq (x k - vE clients x)).
Proof.
  intros h2n [h1 h2] clients. set (d := fun k => (x k - vE clients x)%V).
  assert (pm : 0 < INR m) by now apply lt_0_INR. assert (pn : 2 <= INR n) by (apply le_INR in h2n; cbn in h2n; lra).
  assert (u : forall f, sum n f = INR n * E clients f).
  { intro f. unfold clients, E. cbn. rewrite sum_scal. field. lra. }
  transitivity (E draw (fun o => sq (vE (uniform m hm) (fun i => d (c o i))))).
  { apply E_ext. intros o _. apply same_sq. intro v. unfold d.
    now rewrite (vE_sub (uniform m hm) (fun i => x (c o i)) (fun _ => vE clients x) v), !ip_sub, (vE_const _ _ v). }
  rewrite (mean_square draw m hm (fun o i => d (c o i)) (E clients (fun k => sq (d k)))
    (- E clients (fun k => sq (d k)) / (INR n - 1))).
  - unfold d. field. lra.
  - intros i hi. rewrite (h1 i (fun k => sq (d k)) hi), u. field. lra.
  - intros i j hi hj e. rewrite (h2 i j (fun k l => ip (d k) (d l)) hi hj e).
    rewrite (sum_zero n (fun k => sum n (fun l => ip (d k) (d l)))).
    + unfold sq in *. rewrite (u (fun k => ip (d k) (d k))). field. lra.
    + intros k _. rewrite u. replace (E clients _) with 0; [ring |]. symmetry.
      transitivity (E clients (fun l => ip (d l) (d k))); [apply E_ext; intros; apply ip_sym | apply deviations_sum].
Qed.
End Variance.

(** ** Lemma 5 of Li et al.: the models of a round, and draws that do not depend on them

    The outcomes of [past] are those of the noise; [g k s o] is the direction of client k in step s of the round. *)

Section LiEtAl.
Context {V : space}.
Variables (past clients draw : law) (m : nat) (hm : (0 < m)%nat) (c : nat -> nat -> nat).
Variables (u : nat -> V) (g : nat -> nat -> nat -> V) (eta : nat -> R) (last : R) (tau : nat) (G2 : R).
Hypothesis steps : forall s, 0 <= eta s.
Hypothesis halving : forall s, (s < tau)%nat -> eta s <= 2 * last.
Hypothesis positive : 0 <= last /\ 0 <= G2.
Hypothesis gradients : forall k s, (s < tau)%nat -> E past (fun o => sq (g k s o)) <= G2.

Definition trained k o : V := model u g eta tau k o.

Lemma mean_gradients s : (s < tau)%nat -> E past (fun o => E clients (fun k => sq (g k s o))) <= G2.
Proof. intro hs. rewrite E_swap, <- (E_const clients G2). apply E_le. intro k. now apply gradients. Qed.

Lemma round_spread :
  E past (fun o => E clients (fun k => sq (trained k o - vE clients (fun k => trained k o))))
    <= 4 * last^2 * INR tau^2 * G2.
Proof.
  apply Rle_trans with (1 := drift_le past (fun _ => clients) u g eta tau G2 steps mean_gradients).
  apply Rmult_le_compat_r; [easy |].
  assert (0 <= sum tau eta) by (apply sum_pos; auto).
  assert (b : sum tau eta <= INR tau * (2 * last)) by (rewrite <- sum_const; now apply sum_le).
  replace (4 * last^2 * INR tau^2) with ((INR tau * (2 * last))^2) by ring. now apply pow_incr.
Qed.

Theorem fedavg_with_replacement_variance : draws_with_replacement clients draw m c ->
  E past (fun o => E draw (fun b => sq (vE (uniform m hm) (fun i => trained (c b i) o)
    - vE clients (fun k => trained k o))))
    <= 4 / INR m * last^2 * INR tau^2 * G2.
Proof.
  intro h. assert (0 < INR m) by now apply lt_0_INR.
  apply Rle_trans with (E past (fun o => E clients (fun k => sq (trained k o - vE clients (fun k => trained k o)))) /
    INR m).
  - right. rewrite <- E_div. apply E_ext. intros o _. now apply
      (with_replacement clients draw m hm c (fun k => trained k o)).
  - replace (4 / INR m * last^2 * INR tau^2 * G2) with (4 * last^2 * INR tau^2 * G2 / INR m) by (field; lra).
    apply Rmult_le_compat_r; [pos | apply round_spread].
Qed.
End LiEtAl.

Section LiEtAlSubsets.
Context {V : space}.
Variables (past draw : law) (n m : nat) (hn : (0 < n)%nat) (hm : (0 < m)%nat) (c : nat -> nat -> nat).
Variables (u : nat -> V) (g : nat -> nat -> nat -> V) (eta : nat -> R) (last : R) (tau : nat) (G2 : R).
Hypothesis steps : forall s, 0 <= eta s.
Hypothesis halving : forall s, (s < tau)%nat -> eta s <= 2 * last.
Hypothesis positive : 0 <= last /\ 0 <= G2.
Hypothesis gradients : forall k s, (s < tau)%nat -> E past (fun o => sq (g k s o)) <= G2.

Theorem fedavg_without_replacement_variance :
  (2 <= n)%nat -> (m <= n)%nat -> draws_without_replacement n draw m c -> let clients := uniform n hn in
  E past (fun o => E draw (fun b => sq
      (vE (uniform m hm) (fun i => trained u g eta tau (c b i) o) - vE clients (fun k => trained u g eta tau k o))))
    <= (INR n - INR m) / (INR n - 1) * (4 / INR m) * last^2 * INR tau^2 * G2.
Proof.
  intros h2 hmn h clients. assert (0 < INR m) by now apply lt_0_INR.
  assert (2 <= INR n) by (apply le_INR in h2; cbn in h2; lra).
  apply le_INR in hmn. set (w := trained u g eta tau).
  apply Rle_trans with ((INR n - INR m) / (INR m * (INR n - 1))
    * E past (fun o => E clients (fun k => sq (w k o - vE clients (fun k => w k o))))).
  - right. rewrite <- E_scal. apply E_ext. intros o _. now apply
      (without_replacement n hn draw m hm c (fun k => w k o)).
  - replace ((INR n - INR m) / (INR n - 1) * (4 / INR m) * last^2 * INR tau^2 * G2)
      with ((INR n - INR m) / (INR m * (INR n - 1)) * (4 * last^2 * INR tau^2 * G2)) by (field; lra).
    apply Rmult_le_compat_l; [pos | now apply round_spread].
Qed.
End LiEtAlSubsets.

(** ** FedALIGN, Lemma A.8: K priority clients are drawn, and the included others, with weights p_k, take part

    The indicators of the round are fixed: the weights of the others sum to [s]. *)

Section FedAlign.
Context {V : space}.
Variables (past priority draw : law) (K : nat) (hK : (0 < K)%nat) (c : nat -> nat -> nat).
Variables (others : nat) (p : nat -> R) (u : nat -> V) (g : nat -> nat -> nat -> V) (other : nat -> nat -> V).
Variables (eta : nat -> R) (tau : nat) (G2 : R).
Hypothesis steps : forall i, 0 <= eta i.
Hypothesis gradients : forall k i, (i < tau)%nat -> E past (fun o => sq (g k i o)) <= G2.
Hypothesis shares : forall k, 0 <= p k.

Let w k o : V := trained u g eta tau k o.
Let s : R := sum others p.
(** The average of all, and that with the drawn priority clients in the place of all priority clients. *)
Definition aggregated o : V := (/ (1 + s) * (vE priority (fun k => w k o)
  + vsum others (fun k => (p k * other k o)%V)))%V.
Definition drawn o b : V :=
  (/ (1 + s) * (vE (uniform K hK) (fun i => w (c b i) o) + vsum others (fun k => (p k * other k o)%V)))%V.

Theorem fedalign_sampling_variance : draws_with_replacement priority draw K c ->
  E past (fun o => E draw (fun b => sq (drawn o b - aggregated o))) <= (sum tau eta * (/ (1 + s)))^2 * G2 / INR K.
Proof.
  intro h. assert (0 < INR K) by now apply lt_0_INR.
  assert (hs : 0 <= s) by (apply sum_pos; auto).
  apply Rle_trans with ((/ (1 + s))^2 * (E past (fun o => E priority
    (fun k => sq (w k o - vE priority (fun k => w k o)))) / INR K)).
  - right. rewrite <- E_div, <- E_scal. apply E_ext. intros o _.
    rewrite <- (with_replacement priority draw K hK c (fun k => w k o) h), <- E_scal. apply E_ext. intros b _.
    unfold drawn, aggregated. ips. ring.
  - replace ((sum tau eta * / (1 + s))^2 * G2 / INR K) with ((/ (1 + s))^2 * ((sum tau eta)^2 * G2 / INR K))
      by (field; lra).
    apply Rmult_le_compat_l; [pos |]. apply Rmult_le_compat_r; [pos |].
    apply (drift_le past (fun _ => priority) u g eta tau G2 steps).
    intros i hi. rewrite E_swap, <- (E_const priority G2). apply E_le. intro k. now apply gradients.
Qed.

Theorem fedalign_sampling_variance_printed (last : R) : draws_with_replacement priority draw K c ->
  0 <= last -> 0 <= G2 -> (forall i, (i < tau)%nat -> eta i <= 2 * last) ->
  E past (fun o => E draw (fun b => sq (drawn o b - aggregated o))) <= 4 * last^2 * INR tau^2 * G2 / INR K.
Proof.
  intros h hl hG halving. apply Rle_trans with (1 := fedalign_sampling_variance h).
  assert (0 < INR K) by now apply lt_0_INR. apply Rmult_le_compat_r; [pos |]. apply Rmult_le_compat_r; [easy |].
  assert (hs : 0 <= s) by (apply sum_pos; auto).
  assert (0 <= sum tau eta) by (apply sum_pos; auto).
  assert (b : sum tau eta <= INR tau * (2 * last)) by (rewrite <- sum_const; now apply sum_le).
  assert (0 < / (1 + s) <= 1) by (split; [pos | rewrite <- Rinv_1; apply Rinv_le_contravar; lra]).
  replace (4 * last^2 * INR tau^2) with ((INR tau * (2 * last))^2) by ring. apply pow_incr. nra.
Qed.
End FedAlign.
