(** Parabolas on a line as clients, and rounds of independent draws: federations that meet the hypotheses of theorems,
  or
    contradict a bound. *)

From FedTheory Require Export Clients Noise Existence.

Definition line : space := euclid 1.
Definition at_ (a : R) : line := fun _ => a.

Lemma sq_line (x : line) : sq x = (x O)^2.
Proof. unfold sq. cbn. ring. Qed.
Lemma ip_line (x y : line) : ip x y = x O * y O.
Proof. cbn. ring. Qed.
Lemma mean_line (p : law) (x : nat -> line) : vE p x O = E p (fun k => x k O).
Proof.
  unfold vE, E. assert (h : forall n, vsum (V := line) n (fun i => weight p i * x i)%V O = sum n (fun i => weight p i *
    x i O)).
  { induction n as [| n IH]; [reflexivity |]. cbn [sum]. rewrite <- IH. reflexivity. }
  apply h.
Qed.
(** Means of numbers between -1 and 1. *)
Lemma mean_range (p : law) (h : nat -> R) : (forall i, -1 <= h i <= 1) -> -1 <= E p h <= 1.
Proof.
  intro k. split; [rewrite <- (E_const p (-1)) | rewrite <- (E_const p 1)]; apply E_le; intro; apply k.
Qed.

(** ** Client k has the curvature [a k] and the minimum 0 at [c k] *)
Section Parabolas.
Variables (a c : nat -> R).
Definition loss k (x : line) : R := a k / 2 * (x O - c k)^2.
Definition slope k (x : line) : line := at_ (a k * (x O - c k)).

Lemma loss_lower mu k : mu <= a k -> lower mu (loss k) (slope k).
Proof.
  intros h x y. rewrite sq_line, ip_line. unfold loss, slope, at_. cbn. pose proof (pow2_ge_0 (y O - x O)) as p. cbn in
    p.
  nra.
Qed.
Lemma loss_upper L k : a k <= L -> upper L (loss k) (slope k).
Proof.
  intros h x y. rewrite sq_line, ip_line. unfold loss, slope, at_. cbn. pose proof (pow2_ge_0 (y O - x O)) as p. cbn in
    p.
  nra.
Qed.
Lemma loss_smooth L k : - L <= a k <= L -> smooth L (loss k) (slope k).
Proof. intro h. split; [apply loss_upper | apply loss_lower]; lra. Qed.
Lemma loss_low k : 0 <= a k -> bounded_below (loss k) 0.
Proof. intros h x. unfold loss. pose proof (pow2_ge_0 (x O - c k)). apply Rmult_le_pos; lra. Qed.
Lemma loss_attained k : loss k (at_ (c k)) = 0.
Proof. unfold loss, at_. field. Qed.

(** Steps that are not too long stay between -1 and 1. *)
Lemma step_stays k eta x : -1 <= c k <= 1 -> 0 <= eta * a k <= 1 -> -1 <= x <= 1 -> -1 <= x - eta * (a k * (x - c k))
  <= 1.
Proof. intros hc he hx. set (b := eta * a k) in *. replace (eta * (a k * (x - c k))) with (b * (x - c k)) by (unfold b;
  ring). nra. Qed.
Lemma local_stays eta u cl i s : (forall k, -1 <= c k <= 1) -> (forall k t, 0 <= eta t * a k <= 1) -> -1 <= u O <= 1 ->
  -1 <= local_model slope eta u cl (fun _ _ => zero) i s O <= 1.
Proof.
  intros hc he hu. induction s as [| s IH]; [exact hu |]. cbn [local_model].
  set (y := local_model slope eta u cl (fun _ _ => zero) i s) in *.
  replace ((y - eta s * (slope (cl i) y + zero))%V O) with (y O - eta s * (a (cl i) * (y O - c (cl i)))) by (cbn;
    unfold slope, at_; ring).
  now apply step_stays.
Qed.
Lemma slope_stays A k x : 0 <= a k <= A -> -1 <= c k <= 1 -> -1 <= x O <= 1 -> sq (slope k x) <= 4 * A^2.
Proof.
  intros ha hc hx. rewrite sq_line. unfold slope, at_. rewrite Rpow_mult_distr.
  assert (h1 : a k ^ 2 <= A^2) by (apply pow_incr; lra). assert (h2 : (x O - c k)^2 <= 4) by nra.
  pose proof (pow2_ge_0 (a k)). pose proof (pow2_ge_0 (x O - c k)). nra.
Qed.
End Parabolas.

(** ** Rounds of independent draws

    [before r o] is the model before round r, if [o] is what was drawn in rounds 0, ..., r - 1; [step r B o b] is the
    model after round r, if [B] are the models before it and [b] is drawn. *)
Section Process.
Context {V : space}.
Variables (coin : law) (w0 : V) (step : nat -> (nat -> V) -> nat -> nat -> V).
Definition drawn_before (r : nat) : law := experiments (fun _ => coin) r.
Fixpoint before (r : nat) : nat -> V :=
  match r with O => fun _ => w0 | S r => fun o => step r (before r) (o / size coin)%nat (o mod size coin)%nat end.
(** The same with the draw of round r as the last digit. *)
Definition model_before r (o : nat) : V := before r (o / size coin)%nat.
Definition drawn_now (o : nat) : nat := (o mod size coin)%nat.

Lemma before_next r (h : V -> R) :
  E (drawn_before (S r)) (fun o => h (before (S r) o)) = E (drawn_before r) (fun o => E coin (fun b => h (step r
    (before r) o b))).
Proof. exact (E_product_digits (drawn_before r) coin (fun o b => h (step r (before r) o b))). Qed.
Lemma model_before_next r (h : V -> R) : E (drawn_before (S (S r))) (fun o => h (model_before (S r) o))
  = E (drawn_before (S r)) (fun o => h (step r (before r) (o / size coin) (o mod size coin))%nat).
Proof.
  transitivity (E (drawn_before (S r)) (fun o => E coin (fun _ => h (before (S r) o)))).
  - exact (E_product_digits (drawn_before (S r)) coin (fun o _ => h (before (S r) o))).
  - apply E_ext. intros o _. apply E_const.
Qed.
Lemma drawn_fairly r (h : nat -> V -> R) : E (drawn_before (S r)) (fun o => h (drawn_now o) (model_before r o))
  = E (drawn_before (S r)) (fun o => E coin (fun b => h b (model_before r o))).
Proof.
  transitivity (E (drawn_before r) (fun o => E coin (fun b => h b (before r o)))).
  - exact (E_product_digits (drawn_before r) coin (fun o b => h b (before r o))).
  - rewrite (E_ext _ _ (fun o => E coin (fun _ => E coin (fun b => h b (before r o))))) by (intros; now rewrite
    E_const).
    symmetry. exact (E_product_digits (drawn_before r) coin (fun o _ => E coin (fun b => h b (before r o)))).
Qed.
Lemma before_in (inside : V -> Prop) : inside w0 ->
  (forall r B o b, (forall o, inside (B o)) -> inside (step r B o b)) -> forall r o, inside (before r o).
Proof. intros h0 h. induction r as [| r IH]; intro o; [exact h0 |]. cbn [before]. now apply h. Qed.
End Process.

(** Without noise, all outcomes may be told apart from the start. *)
Definition same_outcome (_ _ : nat) (o o' : nat) : Prop := o = o'.
Definition no_noise {V : space} (_ _ _ _ : nat) : V := zero.
Lemma all_known {V : space} r (u : nat -> V) c : information (same_outcome r) u c (no_noise r).
Proof. repeat split; intros; try easy; intros ? ? ->; reflexivity. Qed.
