(** The hypotheses about draws and samplings can be met: product laws. *)

From FedTheory Require Import Draws Sampling.

Lemma sum_blocks n k f : sum (n * k) f = sum n (fun i => sum k (fun j => f (i * k + j)%nat)).
Proof.
  induction n as [| n IH]; [easy |]. cbn [sum]. rewrite <- IH. rewrite Nat.mul_succ_l.
  generalize (n * k)%nat. intro b. clear IH. induction k as [| k IH]; [cbn; rewrite Nat.add_0_r; ring |].
  rewrite Nat.add_succ_r. cbn [sum]. rewrite IH. ring.
Qed.

Section Product.
Variables (p r : law).
Definition pair_weight o : R := weight p (o / size r) * weight r (o mod size r).
Lemma pair_pos o : 0 <= pair_weight o.
Proof. apply Rmult_le_pos; apply weight_pos. Qed.
Lemma size_pos (q : law) : (0 < size q)%nat.
Proof. destruct (size q) as [| n] eqn:e; [| lia]. pose proof (weight_sum q) as s. rewrite e in s. cbn in s. lra. Qed.
Lemma digits i j : (j < size r)%nat -> ((i * size r + j) / size r = i)%nat /\ ((i * size r + j) mod size r = j)%nat.
Proof.
  intro h. split.
  - symmetry. apply (Nat.div_unique _ _ i j); lia.
  - symmetry. apply (Nat.mod_unique _ _ i j); lia.
Qed.
Lemma pair_E (h : nat -> R) :
  sum (size p * size r) (fun o => pair_weight o * h o) = E p (fun i => E r (fun j => h (i * size r + j)%nat)).
Proof.
  rewrite sum_blocks. apply sum_ext. intros i _. unfold E. rewrite <- sum_scal. apply sum_ext. intros j hj.
  unfold pair_weight. destruct (digits i j hj) as [-> ->]. ring.
Qed.
Lemma pair_sum : sum (size p * size r) pair_weight = 1.
Proof. rewrite (sum_ext _ pair_weight (fun o => pair_weight o * 1)) by (intros; ring).
rewrite pair_E, (E_ext p _ (fun _ => 1)) by (intros; apply E_const). apply E_const. Qed.
(** The outcomes i, j of two independent experiments, as i size r + j. *)
Definition product : law := {| size := size p * size r; weight := pair_weight; weight_pos := pair_pos;
  weight_sum := pair_sum |}.
Lemma E_product h : E product h = E p (fun i => E r (fun j => h (i * size r + j)%nat)).
Proof. exact (pair_E h). Qed.
Lemma E_product_digits (h : nat -> nat -> R) : E product (fun o => h (o / size r)%nat (o mod size r)%nat)
  = E p (fun i => E r (fun j => h i j)).
Proof.
  rewrite E_product. apply E_ext. intros i _. apply E_ext. intros j hj. destruct (digits i j hj) as [-> ->].
  reflexivity.
Qed.
End Product.

(** m independent experiments, with laws q 0, ..., q (m - 1): the last one is the last digit. *)
Fixpoint experiments (q : nat -> law) (m : nat) : law :=
  match m with O => uniform 1 ltac:(lia) | S m => product (experiments q m) (q m) end.
Fixpoint digit (q : nat -> law) (m : nat) (o i : nat) : nat :=
  match m with
  | O => O
  | S m => if Nat.eq_dec i m then (o mod size (q m))%nat else digit q m (o / size (q m)) i
  end.

Lemma one_digit q m i (h : nat -> R) : (i < m)%nat -> E (experiments q m) (fun o => h (digit q m o i)) = E (q i) h.
Proof.
  revert h. induction m as [| m IH]; intros h hi; [lia |]. cbn [experiments digit].
  destruct (Nat.eq_dec i m) as [-> | e].
  - rewrite (E_product_digits _ _ (fun _ j => h j)). apply E_const.
  - rewrite (E_product_digits _ _ (fun a _ => h (digit q m a i))).
    rewrite (E_ext _ _ (fun a => h (digit q m a i))) by (intros; apply E_const).
    apply IH. lia.
Qed.
Lemma two_digits q m i j (h : nat -> nat -> R) : (i < m)%nat -> (j < m)%nat -> i <> j ->
  E (experiments q m) (fun o => h (digit q m o i) (digit q m o j)) = E (q i) (fun k => E (q j) (h k)).
Proof.
  revert h i j. induction m as [| m IH]; intros h i j hi hj ne; [lia |]. cbn [experiments digit].
  destruct (Nat.eq_dec i m) as [-> | ei]; destruct (Nat.eq_dec j m) as [-> | ej]; try easy.
  - rewrite (E_product_digits _ _ (fun a b => h b (digit q m a j))). rewrite E_swap. apply E_ext. intros b _.
    apply (one_digit q m j (fun l => h b l)). lia.
  - rewrite (E_product_digits _ _ (fun a b => h (digit q m a i) b)). apply (one_digit q m i (fun k => E (q m) (h k))).
    lia.
  - rewrite (E_product_digits _ _ (fun a _ => h (digit q m a i) (digit q m a j))).
    rewrite (E_ext _ _ (fun a => h (digit q m a i) (digit q m a j))) by (intros; apply E_const). apply IH; lia.
Qed.

Theorem draws_with_replacement_exist clients m : exists draw c, draws_with_replacement clients draw m c.
Proof.
  exists (experiments (fun _ => clients) m), (digit (fun _ => clients) m). split.
  - intros i h hi. now apply one_digit.
  - intros i j h hi hj ne. now apply two_digits.
Qed.

(** *** Coins *)
Section Coins.
Variables (n : nat) (p : nat -> R).
Hypothesis range : forall i, 0 <= p i <= 1.
Definition coin_weight (i o : nat) : R := match o with O => 1 - p i | 1%nat => p i | _ => 0 end.
Lemma coin_pos i o : 0 <= coin_weight i o.
Proof. pose proof (range i). destruct o as [| [| o]]; cbn; lra. Qed.
Lemma coin_sum i : sum 2 (coin_weight i) = 1.
Proof. cbn. ring. Qed.
Definition coin i : law := {| size := 2; weight := coin_weight i; weight_pos := coin_pos i; weight_sum := coin_sum i |}.
Definition falls (k : nat) : R := match k with O => 0 | _ => 1 end.
Lemma coin_falls i : E (coin i) falls = p i.
Proof. unfold E. cbn. ring. Qed.

(** Clients beyond n are always taken: they do not enter a sum over n clients. *)
Theorem independent_sampling_exists : exists draw x, independent_sampling (fun i => if lt_dec i n then p i else 1) draw
  x.
Proof.
  exists (experiments coin n), (fun o i => if lt_dec i n then falls (digit coin n o i) else 1).
  split; [| split; [| split]].
  - intro i. pose proof (range i). destruct (lt_dec i n); lra.
  - intros o i. destruct (lt_dec i n); [| now right]. unfold falls. destruct (digit coin n o i); [now left | now right].
  - intro i. destruct (lt_dec i n) as [h | h]; [| apply E_const]. rewrite (one_digit coin n i falls h).
    apply coin_falls.
  - intros i j ne. destruct (lt_dec i n) as [hi | hi]; destruct (lt_dec j n) as [hj | hj].
    + rewrite (two_digits coin n i j (fun k l => falls k * falls l) hi hj ne).
      rewrite (E_ext (coin i) _ (fun k => falls k * p j)) by (intros; now rewrite E_scal, coin_falls).
      now rewrite E_scal_r, coin_falls.
    + rewrite (E_ext _ _ (fun o => falls (digit coin n o i))) by (intros; ring).
      rewrite (one_digit coin n i falls hi), coin_falls. ring.
    + rewrite (E_ext _ _ (fun o => falls (digit coin n o j))) by (intros; ring).
      rewrite (one_digit coin n j falls hj), coin_falls. ring.
    + rewrite (E_ext _ _ (fun _ => 1)) by (intros; ring). rewrite E_const. ring.
Qed.
End Coins.
