(** Finite sums, laws and expectations.

    A [law] gives weights to 0, ..., size - 1: the weights of clients, or the probabilities of outcomes. [E p f] is
    the weighted sum of the numbers f 0, f 1, ..., and [vE p x] that of the vectors x 0, x 1, ... Families are
    indexed by all natural numbers; members beyond the size never enter. *)

From FedTheory Require Export Space.

(** ** Sums *)

Fixpoint sum (n : nat) (f : nat -> R) : R := match n with O => 0 | S m => sum m f + f m end.
Fixpoint vsum {V : space} (n : nat) (x : nat -> V) : V := match n with O => zero | S m => (vsum m x + x m)%V end.
Arguments vsum {V} _%nat _.

Section Sums.
Implicit Types (n : nat) (f g : nat -> R).

Lemma sum_ext n f g : (forall i, (i < n)%nat -> f i = g i) -> sum n f = sum n g.
Proof. induction n as [| n IH]; intro h; cbn; [easy |]. rewrite (h n) by lia. now rewrite IH by (intros; apply h; lia).
Qed.
Lemma sum_le n f g : (forall i, (i < n)%nat -> f i <= g i) -> sum n f <= sum n g.
Proof.
  induction n as [| n IH]; intro h; cbn; [lra |].
  pose proof (h n ltac:(lia)). pose proof (IH ltac:(intros; apply h; lia)). lra.
Qed.
Lemma sum_add n f g : sum n (fun i => f i + g i) = sum n f + sum n g.
Proof. induction n as [| n IH]; cbn; [| rewrite IH]; ring. Qed.
Lemma sum_sub n f g : sum n (fun i => f i - g i) = sum n f - sum n g.
Proof. induction n as [| n IH]; cbn; [| rewrite IH]; ring. Qed.
Lemma sum_scal n a f : sum n (fun i => a * f i) = a * sum n f.
Proof. induction n as [| n IH]; cbn; [| rewrite IH]; ring. Qed.
Lemma sum_scal_r n a f : sum n (fun i => f i * a) = sum n f * a.
Proof. induction n as [| n IH]; cbn; [| rewrite IH]; ring. Qed.
Lemma sum_const n a : sum n (fun _ => a) = INR n * a.
Proof. induction n as [| n IH]; [cbn; ring |]. rewrite S_INR. cbn [sum]. rewrite IH. ring. Qed.
Lemma sum_zero n f : (forall i, (i < n)%nat -> f i = 0) -> sum n f = 0.
Proof. intro h. rewrite (sum_ext n f (fun _ => 0)) by easy. rewrite sum_const. ring. Qed.
Lemma sum_pos n f : (forall i, (i < n)%nat -> 0 <= f i) -> 0 <= sum n f.
Proof. intro h. rewrite <- (sum_zero n (fun _ => 0)) by easy. now apply sum_le. Qed.
Lemma sum_swap n m (h : nat -> nat -> R) : sum n (fun i => sum m (h i)) = sum m (fun j => sum n (fun i => h i j)).
Proof.
  induction n as [| n IH]; cbn.
  - symmetry. now apply sum_zero.
  - rewrite IH. now rewrite <- sum_add.
Qed.
Lemma sum_neg n f : sum n (fun i => - f i) = - sum n f.
Proof. induction n as [| n IH]; cbn; [| rewrite IH]; ring. Qed.
Lemma sum_shift n f : sum (S n) f = f O + sum n (fun i => f (S i)).
Proof. induction n as [| n IH]; [cbn; ring |]. change (sum (S (S n)) f) with (sum (S n) f + f (S n)). rewrite IH. cbn.
ring. Qed.
Lemma sum_rev n f : sum n (fun i => f (n - 1 - i)%nat) = sum n f.
Proof.
  induction n as [| n IH]; [easy |]. rewrite sum_shift. cbn [sum]. rewrite <- IH.
  replace (S n - 1 - 0)%nat with n by lia. rewrite Rplus_comm. f_equal.
  apply sum_ext. intros i hi. f_equal. lia.
Qed.
Lemma sum_member n k f : (k < n)%nat -> (forall i, 0 <= f i) -> f k <= sum n f.
Proof.
  intros hk h. induction n as [| n IH]; [lia |]. cbn. destruct (Nat.eq_dec k n) as [-> | e].
  - pose proof (sum_pos n f (fun i _ => h i)). lra.
  - pose proof (IH ltac:(lia)). pose proof (h n). lra.
Qed.
(** Only one summand is there. *)
Lemma sum_pick n k f : (k < n)%nat -> (forall i, (i < n)%nat -> i <> k -> f i = 0) -> sum n f = f k.
Proof.
  induction n as [| n IH]; intros hk h; [lia |]. cbn. destruct (Nat.eq_dec k n) as [-> | e].
  - rewrite sum_zero; [ring |]. intros. apply h; lia.
  - rewrite IH by (try lia; intros; apply h; lia). rewrite (h n) by lia. ring.
Qed.

Context {V : space}.
Implicit Types x y : nat -> V.
Lemma ip_vsum n x (v : V) : ip (vsum n x) v = sum n (fun i => ip (x i) v).
Proof. induction n as [| n IH]; cbn; [apply ip_zero |]. now rewrite ip_add, IH. Qed.
Lemma ip_vsum_r n x (v : V) : ip v (vsum n x) = sum n (fun i => ip v (x i)).
Proof. rewrite ip_sym, ip_vsum. apply sum_ext. intros. apply ip_sym. Qed.
End Sums.

(** ** Laws and expectations *)

Record law := Law {
  size : nat;
  weight : nat -> R;
  weight_pos : forall i, 0 <= weight i;
  weight_sum : sum size weight = 1
}.

Lemma weight_le_one (p : law) k : (k < size p)%nat -> weight p k <= 1.
Proof. intro h. rewrite <- (weight_sum p). apply sum_member; [easy | apply weight_pos]. Qed.

Definition E (p : law) (f : nat -> R) : R := sum (size p) (fun i => weight p i * f i).
Definition vE {V : space} (p : law) (x : nat -> V) : V := vsum (size p) (fun i => (weight p i * x i)%V).
Arguments vE {V} p x.

Section Expectations.
Variable p : law.
Implicit Types f g : nat -> R.

Lemma E_ext f g : (forall i, (i < size p)%nat -> f i = g i) -> E p f = E p g.
Proof. intro h. apply sum_ext. intros. now rewrite h. Qed.
Lemma E_le f g : (forall i, f i <= g i) -> E p f <= E p g.
Proof. intro h. apply sum_le. intros. apply Rmult_le_compat_l; [apply weight_pos | apply h]. Qed.
Lemma E_plus f g : E p (fun i => f i + g i) = E p f + E p g.
Proof. unfold E. rewrite <- sum_add. apply sum_ext. intros. ring. Qed.
Lemma E_minus f g : E p (fun i => f i - g i) = E p f - E p g.
Proof. unfold E. rewrite <- sum_sub. apply sum_ext. intros. ring. Qed.
Lemma E_opp f : E p (fun i => - f i) = - E p f.
Proof. unfold E. rewrite <- sum_neg. apply sum_ext. intros. ring. Qed.
Lemma E_scal a f : E p (fun i => a * f i) = a * E p f.
Proof. unfold E. rewrite <- sum_scal. apply sum_ext. intros. ring. Qed.
Lemma E_scal_r a f : E p (fun i => f i * a) = E p f * a.
Proof. unfold E. rewrite <- sum_scal_r. apply sum_ext. intros. ring. Qed.
Lemma E_div a f : E p (fun i => f i / a) = E p f / a.
Proof. apply E_scal_r. Qed.
Lemma E_const a : E p (fun _ => a) = a.
Proof. unfold E. rewrite sum_scal_r, weight_sum. ring. Qed.
Lemma E_pos f : (forall i, 0 <= f i) -> 0 <= E p f.
Proof. intro h. rewrite <- (E_const 0). now apply E_le. Qed.
Lemma E_sum n (h : nat -> nat -> R) : E p (fun i => sum n (h i)) = sum n (fun j => E p (fun i => h i j)).
Proof. unfold E. rewrite sum_swap. apply sum_ext. intros. now rewrite <- sum_scal. Qed.

Context {V : space}.
Implicit Types x y : nat -> V.
Lemma ip_vE x (v : V) : ip (vE p x) v = E p (fun i => ip (x i) v).
Proof. unfold vE, E. rewrite ip_vsum. apply sum_ext. intros. apply ip_scale. Qed.
Lemma ip_vE_r x (v : V) : ip v (vE p x) = E p (fun i => ip v (x i)).
Proof. rewrite ip_sym, ip_vE. apply E_ext. intros. apply ip_sym. Qed.
End Expectations.

Lemma E_swap p r (h : nat -> nat -> R) : E p (fun i => E r (h i)) = E r (fun j => E p (fun i => h i j)).
Proof. unfold E at 2. rewrite E_sum. apply sum_ext. intros. apply E_scal. Qed.

(** [Es] splits the expectations of a goal at sums and constant factors. *)
#[global] Hint Rewrite E_plus E_minus E_opp E_scal E_scal_r E_div E_const : E.
Ltac Es := autorewrite with E.

(** Outcomes in two stages: first [a] of the law [p], then [b] of the law [r a]. *)
Definition E2 (p : law) (r : nat -> law) (h : nat -> nat -> R) : R := E p (fun a => E (r a) (h a)).

Section TwoStages.
Variables (p : law) (r : nat -> law).
Implicit Types f g : nat -> nat -> R.
Lemma E2_ext f g : (forall a b, f a b = g a b) -> E2 p r f = E2 p r g.
Proof. intro h. apply E_ext. intros. apply E_ext. intros. apply h. Qed.
Lemma E2_le f g : (forall a b, f a b <= g a b) -> E2 p r f <= E2 p r g.
Proof. intro h. apply E_le. intro. apply E_le. intro. apply h. Qed.
Lemma E2_plus f g : E2 p r (fun a b => f a b + g a b) = E2 p r f + E2 p r g.
Proof. unfold E2. rewrite <- E_plus. apply E_ext. intros. apply E_plus. Qed.
Lemma E2_minus f g : E2 p r (fun a b => f a b - g a b) = E2 p r f - E2 p r g.
Proof. unfold E2. rewrite <- E_minus. apply E_ext. intros. apply E_minus. Qed.
Lemma E2_scal c f : E2 p r (fun a b => c * f a b) = c * E2 p r f.
Proof. unfold E2. rewrite <- E_scal. apply E_ext. intros. apply E_scal. Qed.
Lemma E2_const c : E2 p r (fun _ _ => c) = c.
Proof. unfold E2. transitivity (E p (fun _ => c)); [apply E_ext; intros; apply E_const | apply E_const]. Qed.
Lemma E2_first (f : nat -> R) : E2 p r (fun a _ => f a) = E p f.
Proof. apply E_ext. intros. apply E_const. Qed.
End TwoStages.
#[global] Hint Rewrite E2_plus E2_minus E2_scal E2_const : E.

(** The weighted loss of clients, and its gradient. *)
Definition mean_loss {V : space} (clients : law) (f : nat -> V -> R) (x : V) : R := E clients (fun k => f k x).
Definition mean_gradient {V : space} (clients : law) (g : nat -> V -> V) (x : V) : V := vE clients (fun k => g k x).
Arguments mean_loss {V} clients f x%V.
Arguments mean_gradient {V} clients g x%V.

(** The mean of n numbers, each with the same weight. *)
Lemma uniform_sum n : (0 < n)%nat -> sum n (fun _ => / INR n) = 1.
Proof. intro h. rewrite sum_const. field. apply not_0_INR. lia. Qed.
Lemma uniform_pos n : (0 < n)%nat -> 0 <= / INR n.
Proof. intro h. left. apply Rinv_0_lt_compat. now apply lt_0_INR. Qed.
Definition uniform (n : nat) (h : (0 < n)%nat) : law :=
  {| size := n; weight := fun _ => / INR n; weight_pos := fun _ => uniform_pos n h; weight_sum := uniform_sum n h |}.

Lemma uniform_squares n (h : (0 < n)%nat) f : sum n (fun i => (/ INR n)^2 * f i) = / INR n * E (uniform n h) f.
Proof. unfold E. cbn [uniform size weight]. rewrite <- sum_scal. apply sum_ext. intros. ring. Qed.

(** ** Random vectors are vectors *)

Program Definition L2 (p : law) (V : space) : space := {|
  vec := nat -> V;
  zero := fun _ => zero;
  add := fun x y i => (x i + y i)%V;
  scale := fun a x i => (a * x i)%V;
  ip := fun x y => E p (fun i => ip (x i) (y i))
|}.
Next Obligation. apply E_ext. intros. apply ip_sym. Qed.
Next Obligation. rewrite <- E_plus. apply E_ext. intros. apply ip_add. Qed.
Next Obligation. rewrite <- E_scal. apply E_ext. intros. apply ip_scale. Qed.
Next Obligation. rewrite <- (E_const p 0). apply E_ext. intros. apply ip_zero. Qed.
Next Obligation. apply E_pos. intro. apply ip_pos. Qed.

Section Means.
Variable p : law.
Context {V : space}.
Implicit Types x y : nat -> V.

Lemma same_vE x y : (forall i, same (x i) (y i)) -> same (vE p x) (vE p y).
Proof. intros h v. rewrite !ip_vE. apply E_ext. intros. apply h. Qed.
Lemma vE_const (v : V) : same (vE p (fun _ => v)) v.
Proof. intro u. now rewrite ip_vE, E_const. Qed.
Lemma vE_sub x y : same (vE p (fun i => x i - y i)%V) (vE p x - vE p y)%V.
Proof. intro v. rewrite ip_sub, !ip_vE, <- E_minus. apply E_ext. intros. apply ip_sub. Qed.
Lemma vE_add x y : same (vE p (fun i => x i + y i)%V) (vE p x + vE p y)%V.
Proof. intro v. rewrite ip_add, !ip_vE, <- E_plus. apply E_ext. intros. apply ip_add. Qed.
Lemma vE_scale a x : same (vE p (fun i => a * x i)%V) (a * vE p x)%V.
Proof. intro v. rewrite ip_scale, !ip_vE, <- E_scal. apply E_ext. intros. apply ip_scale. Qed.

(** The mean squared distance from any point is that from the mean, and that of the mean from the point. *)
Theorem spread x (v : V) : E p (fun i => sq (x i - v)%V) = E p (fun i => sq (x i - vE p x)%V) + sq (vE p x - v)%V.
Proof.
  assert (h : forall u : V, E p (fun i => sq (x i - u)%V) = E p (fun i => sq (x i)) - 2 * ip (vE p x) u + sq u).
  { intro u. rewrite ip_vE. transitivity (E p (fun i => sq (x i) - 2 * ip (x i) u + sq u)); [| now Es].
    apply E_ext. intros. ips. ring. }
  rewrite !h. ips. ring.
Qed.

Lemma spread_zero x : E p (fun i => sq (x i)) = E p (fun i => sq (x i - vE p x)%V) + sq (vE p x).
Proof.
  transitivity (E p (fun i => sq (x i - zero)%V)); [apply E_ext; intros; ips; ring |].
  rewrite (spread x zero). f_equal. ips. ring.
Qed.

Lemma deviations_sum x (v : V) : E p (fun k => ip (x k - vE p x)%V v) = 0.
Proof.
  transitivity (E p (fun k => ip (x k) v - ip (vE p x) v)); [apply E_ext; intros; apply ip_sub |]. Es. rewrite ip_vE.
  ring.
Qed.

(** Jensen's inequality. *)
Theorem jensen x (v : V) : sq (vE p x - v)%V <= E p (fun i => sq (x i - v)%V).
Proof. rewrite spread. pose proof (E_pos p (fun i => sq (x i - vE p x)%V) (fun i => sq_pos _)). lra. Qed.
Theorem jensen_zero x : sq (vE p x) <= E p (fun i => sq (x i)).
Proof. rewrite spread_zero. pose proof (E_pos p (fun i => sq (x i - vE p x)%V) (fun i => sq_pos _)). lra. Qed.
(** The mean is the point of least mean squared distance. *)
Theorem spread_le x (v : V) : E p (fun i => sq (x i - vE p x)%V) <= E p (fun i => sq (x i - v)%V).
Proof. rewrite (spread x v). pose proof (sq_pos (vE p x - v)%V). lra. Qed.
End Means.

(** ** Vectors of n numbers, so that a theorem about every [space] is one about them *)

Program Definition euclid (n : nat) : space := {|
  vec := nat -> R;
  zero := fun _ => 0;
  add := fun x y i => x i + y i;
  scale := fun a x i => a * x i;
  ip := fun x y => sum n (fun i => x i * y i)
|}.
Next Obligation. apply sum_ext. intros. ring. Qed.
Next Obligation. rewrite <- sum_add. apply sum_ext. intros. ring. Qed.
Next Obligation. rewrite <- sum_scal. apply sum_ext. intros. ring. Qed.
Next Obligation. apply sum_zero. intros. ring. Qed.
Next Obligation. apply sum_pos. intros. apply Rle_0_sqr. Qed.
