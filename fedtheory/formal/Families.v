(** Clients: a family of vectors, one for each client, is a vector of the space [L2 p V] of all clients, and what a class
    says of the functions of all clients it says of their weighted sum there. *)

From FedTheory Require Export Calls Laws.

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
