(** Weighted means of functions: their curvatures, and their minimizer. *)

From FedTheory Require Export Functions Laws.

Section Clients.
Context {V : space}.
Variables (clients : law) (f : nat -> V -> R) (g : nat -> V -> V).

Lemma mean_loss_upper L : (forall k, upper L (f k) (g k)) -> upper L (mean_loss clients f) (mean_gradient clients g).
Proof.
  intros h x y. unfold mean_loss, mean_gradient.
  rewrite ip_vE, <- !E_plus, <- (E_const clients (L / 2 * sq (y - x))), <- E_plus. apply E_le. intro. apply h.
Qed.

Lemma mean_loss_lower m : (forall k, lower m (f k) (g k)) -> lower m (mean_loss clients f) (mean_gradient clients g).
Proof.
  intros h x y. unfold mean_loss, mean_gradient.
  rewrite ip_vE, <- !E_plus, <- (E_const clients (m / 2 * sq (y - x))), <- E_plus. apply E_le. intro. apply h.
Qed.

(** The gradients of the clients at the minimizer of their mean loss sum to zero. *)
Lemma gradients_at_minimizer L xs z : (forall k, upper L (f k) (g k)) -> minimizer (mean_loss clients f) xs ->
  E clients (fun k => ip (g k xs) z) = 0.
Proof.
  intros h best. rewrite <- ip_vE.
  exact (minimizer_gradient L (mean_loss clients f) (mean_gradient clients g) xs (mean_loss_upper L h) best z).
Qed.

(** The objective gap, F* less the weighted mean of lower bounds on the clients' losses. *)
Definition objective_gap (low : nat -> R) (xs : V) : R := E clients (fun k => f k xs - low k).

(** Heterogeneity at the minimizer is at most 2 L times the objective gap. *)
Lemma heterogeneity_le L low xs : 0 < L -> (forall k, upper L (f k) (g k)) -> (forall k, bounded_below (f k) (low k)) ->
  E clients (fun k => sq (g k xs)) <= 2 * L * objective_gap low xs.
Proof. intros hL h hl. unfold objective_gap. rewrite <- E_scal. apply E_le. intro. now apply gradient_le. Qed.
End Clients.
Arguments objective_gap {V} clients f low xs%V.
