(** Clients: a family of vectors, one for each client, is a vector of the space [L2 p V] of all clients, and what a class
    says of the functions of all clients it says of their weighted sum there. *)

From FedTheory Require Export Calls Draws.

Section Families.
Context {V : space} (p : law).
Implicit Types (f : nat -> V -> R) (g : nat -> V -> V) (dom : nat -> V -> Prop) (u v : V) (x y : L2 p V).

Definition all_values f (x : L2 p V) : R := E p (fun k => f k (x k)).
Definition all_gradients g (x : L2 p V) : L2 p V := fun k => g k (x k).
Definition all_points dom (x : L2 p V) : Prop := forall k, dom k (x k).

Lemma all_lower m f g : (forall k, lower m (f k) (g k)) -> lower m (all_values f) (all_gradients g).
Proof.
  intros h x y. unfold all_values, all_gradients, sq. cbn [ip L2].
  rewrite <- E_scal, <- !E_plus. apply E_le. intro k. pose proof (h k (x k) (y k)) as c. exact c.
Qed.
Lemma all_upper L f g : (forall k, upper L (f k) (g k)) -> upper L (all_values f) (all_gradients g).
Proof.
  intros h x y. unfold all_values, all_gradients, sq. cbn [ip L2].
  rewrite <- E_scal, <- !E_plus. apply E_le. intro k. pose proof (h k (x k) (y k)) as c. exact c.
Qed.
Lemma all_minimizers L f g x : (forall k, upper L (f k) (g k)) -> (forall k, minimizer (f k) (x k)) ->
  same (all_gradients g x) zero.
Proof.
  intros up best v. cbn [ip L2]. apply E_ext. intros k _. unfold all_gradients.
  rewrite (minimizer_gradient L (f k) (g k) (x k) (up k) (best k)). cbn. now rewrite ip_zero.
Qed.

Lemma all_same g (x u : L2 p V) : (forall k, same (g k (x k)) (u k)) -> same (all_gradients g x) u.
Proof. intros h v. cbn [ip L2]. apply E_ext. intros k _. apply h. Qed.
Lemma all_implicit t s g (x y : L2 p V) : t * s = 1 -> (forall k, same (y k) (x k - s * g k (y k))%V) ->
  same (all_gradients g y) (t * (x - y))%V.
Proof. intros h k. apply all_same. intro i. exact (implicit_same t s (g i) (x i) (y i) h (k i)). Qed.

(** A vector that all clients share. *)
Lemma call_shared u v : ip u v - @ip (L2 p V) (fun _ => u) (fun _ => v) = 0.
Proof. cbn [ip L2]. rewrite E_const. ring. Qed.
(** What differs among clients is orthogonal to what they share. *)
Lemma call_apart u (x : L2 p V) (s : V) : same (vE p x) s -> @ip (L2 p V) (fun _ => u) (x - (fun _ => s))%V = 0.
Proof.
  intro h. rewrite ip_sub_r. cbn [ip L2]. rewrite E_const, <- ip_vE_r, (same_r _ _ u h). ring.
Qed.
(** The gradients at a minimizer of the mean add up to 0. *)
Lemma mean_minimizer L f g u : (forall k, upper L (f k) (g k)) -> minimizer (mean_loss p f) u ->
  same (vE p (fun k => g k u)) zero.
Proof.
  intros up best. apply (minimizer_same L (mean_loss p f) (mean_gradient p g) u); [| easy].
  intros a b. unfold mean_loss, mean_gradient. rewrite ip_vE.
  replace (E p (fun k => f k a) + E p (fun i => ip (g i a) (b - a)%V) + L / 2 * sq (b - a))
    with (E p (fun k => f k a + ip (g k a) (b - a) + L / 2 * sq (b - a))) by (now Es).
  apply E_le. intro k. apply up.
Qed.
End Families.

(** ** Samples: in outcome [b] of [draw], the m clients c b 0, ..., c b (m - 1) are drawn, different ones of equal weights
    or, with replacement, each by the weights ([draws_with_replacement]) *)

Definition draws_distinct (p draw : law) (m : nat) (c : nat -> nat -> nat) :=
  (forall k, (k < size p)%nat -> weight p k = / INR (size p)) /\ draws_without_replacement (size p) draw m c.
Definition sampled_mean {V : space} (m : nat) (c : nat -> nat -> nat) (x : nat -> V) (b : nat) : V :=
  (/ INR m * vsum m (fun i => x (c b i)))%V.

Section Samples.
Context {V : space} (p draw : law) (m : nat) (c : nat -> nat -> nat) (x : nat -> V) (mean : V) (s : R).
Hypothesis average : same (vE p x) mean.
Hypothesis some : (0 < m)%nat.

Lemma sampled_mean_uniform b : same (sampled_mean m c x b) (vE (uniform m some) (fun i => x (c b i))).
Proof.
  intro v. unfold sampled_mean. rewrite ip_scale, ip_vsum, ip_vE. unfold E. cbn. now rewrite sum_scal.
Qed.
Lemma sampled_square A :
  (forall i (h : nat -> R), (i < m)%nat -> E draw (fun b => h (c b i)) = E p h) ->
  E draw (fun b => sq (vE (uniform m some) (fun i => x (c b i)) - vE p x)) = A ->
  E draw (fun b => sq (sampled_mean m c x b)) = sq mean + A.
Proof.
  intros h1 <-. transitivity (E draw (fun b => sq (vE p x)
    + 2 * (E (uniform m some) (fun i => ip (x (c b i)) (vE p x)) - sq (vE p x))
    + sq (vE (uniform m some) (fun i => x (c b i)) - vE p x))).
  - apply E_ext. intros b _. rewrite (same_sq _ _ (sampled_mean_uniform b)), <- ip_vE. ips. rewrite ?sq_ip. ring.
  - Es. rewrite E_swap, (E_ext (uniform m some) _ (fun _ => sq (vE p x))), E_const, (same_sq _ _ average); [ring |].
    intros i hi. rewrite (h1 i (fun k => ip (x k) (vE p x)) hi), <- ip_vE. reflexivity.
Qed.
Lemma deviation_mean : E p (fun k => sq (x k - vE p x)) = E p (fun k => sq (x k - mean)).
Proof. apply E_ext. intros k _. apply same_sq. intro v. now rewrite !ip_sub, (average v). Qed.

Lemma call_draws_with_replacement : s * INR m = 1 -> draws_with_replacement p draw m c ->
  E draw (fun b => sq (sampled_mean m c x b)) - (@sq (L2 p V) (fun _ => mean) + s * @sq (L2 p V) (fun k => x k - mean)%V)
    = 0.
Proof.
  intros hs h. pose proof (lt_0_INR m some). rewrite (sampled_square (s * E p (fun k => sq (x k - mean)))).
  - unfold sq. cbn [ip L2]. rewrite E_const. ring.
  - apply h.
  - rewrite (with_replacement p draw m some c x h), deviation_mean. replace s with (/ INR m) by (field_simplify_eq; lra).
    field. lra.
Qed.
Lemma call_draws_distinct : (m <= size p)%nat -> (2 <= size p)%nat ->
  s * (INR m * (INR (size p) - 1)) = INR (size p) - INR m -> draws_distinct p draw m c ->
  E draw (fun b => sq (sampled_mean m c x b)) - (@sq (L2 p V) (fun _ => mean) + s * @sq (L2 p V) (fun k => x k - mean)%V)
    = 0.
Proof.
  intros hm hn hs [hw h]. pose proof (lt_0_INR m some). pose proof (le_INR _ _ hn) as n2. cbn [INR] in n2.
  set (n := INR (size p)) in *. assert (n0 : (0 < size p)%nat) by lia.
  assert (same_law : forall f, E (uniform (size p) n0) f = E p f).
  { intro f. apply sum_ext. intros k hk. cbn. now rewrite (hw k hk). }
  assert (middle : same (vE (uniform (size p) n0) x) (vE p x)).
  { intro v. now rewrite !ip_vE, same_law. }
  rewrite (sampled_square (s * E p (fun k => sq (x k - mean)))).
  - unfold sq. cbn [ip L2]. rewrite E_const. ring.
  - intros i f hi. destruct h as [h1 _]. rewrite (h1 i f hi), <- same_law. unfold E. cbn. rewrite sum_scal. fold n. field.
    lra.
  - pose proof (without_replacement (size p) n0 draw m some c x hn h) as wr. cbv zeta in wr. fold n in wr.
    transitivity (E draw (fun b => sq (vE (uniform m some) (fun i => x (c b i)) - vE (uniform (size p) n0) x))).
    { apply E_ext. intros b _. apply same_sq. intro v. now rewrite !ip_sub, middle. }
    rewrite wr, same_law, <- deviation_mean. f_equal.
    + apply Rmult_eq_reg_r with (INR m * (n - 1)); [rewrite hs; field; lra | nra].
    + apply E_ext. intros k _. apply same_sq. intro v. now rewrite !ip_sub, middle.
Qed.
End Samples.

(** Means of vectors of clients, given those of the vectors that are named; and shares of a sample. *)
Ltac averages :=
  repeat match goal with x := _ |- _ => subst x end; let v := fresh in intro v; rewrite ip_vE;
  erewrite E_ext by (intros; ips; reflexivity); Es; ips; rewrite ?ip_vE; cbv beta;
  repeat match goal with
  | h : same _ _ |- _ => let k := fresh in pose proof (h v) as k; rewrite ?ip_vE, ?ip_zero in k; cbv beta in k; clear h
  end; lra.
Ltac counted := repeat match goal with h : size _ = _ |- _ => rewrite h end; rewrite !INR_IZR_INZ; cbn; lra.
