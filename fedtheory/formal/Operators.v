(** Classes of operators by their defining inequalities. An operator is a relation between points and values, so that it
    may have many values at a point, or none. *)

From FedTheory Require Export Functions.

Section Operators.
Context {V : space}.
Implicit Types (A : V -> V -> Prop) (T : V -> V) (x y u v : V).

Definition monotone A := forall x u y v, A x u -> A y v -> 0 <= ip (u - v) (x - y).
Definition strongly_monotone_by (mu : R) A := forall x u y v, A x u -> A y v -> mu * sq (x - y) <= ip (u - v) (x - y).
Definition cocoercive_by (beta : R) A := forall x u y v, A x u -> A y v -> beta * sq (u - v) <= ip (u - v) (x - y).
Definition lipschitz_by (L : R) A := forall x u y v, A x u -> A y v -> sq (u - v) <= L^2 * sq (x - y).
Definition graph T : V -> V -> Prop := fun x u => u = T x.
Definition nonexpansive T := lipschitz_by 1 (graph T).
Definition firmly_nonexpansive T := cocoercive_by 1 (graph T).
(** [y] is the resolvent of [gamma A] at [x]. *)
Definition resolvent (gamma : R) A x y := A y (/ gamma * (x - y))%V.

(** A skew-symmetric or symmetric linear operator with bounded norm. *)
Definition skew (H : V -> V) := forall x y, ip (H x) y = - ip x (H y).
Definition bounded_by (L : R) (H : V -> V) := forall x, sq (H x) <= L^2 * sq x.

Theorem cocoercive_monotone beta A : 0 <= beta -> cocoercive_by beta A -> monotone A.
Proof. intros h c x u y v hu hv. pose proof (c x u y v hu hv). pose proof (sq_pos (u - v)%V). nra. Qed.

Theorem cocoercive_lipschitz beta A : 0 < beta -> cocoercive_by beta A -> lipschitz_by (/ beta) A.
Proof.
  intros h c x u y v hu hv. pose proof (c x u y v hu hv) as k. pose proof (sq_pos (beta * (u - v) - (x - y))%V) as p.
  assert (e : sq (beta * (u - v) - (x - y)) = beta^2 * sq (u - v) - 2 * beta * ip (u - v) (x - y) + sq (x - y))
    by (ips; ring).
  assert (i : beta^2 * sq (u - v) <= sq (x - y)).
  { assert (beta * (beta * sq (u - v)) <= beta * ip (u - v) (x - y)) by (apply Rmult_le_compat_l; lra).
    pose proof (young beta (u - v)%V (x - y)%V h) as q. apply (Rmult_le_compat_l beta) in q; [| lra].
    replace (beta * (beta * sq (u - v) + / beta * sq (x - y))) with (beta^2 * sq (u - v) + sq (x - y)) in q
      by (field; lra). lra. }
  apply Rmult_le_reg_l with (beta^2); [nra |].
  replace (beta^2 * ((/ beta)^2 * sq (x - y))) with (sq (x - y)) by (field; lra). easy.
Qed.

(** [T] is firmly nonexpansive if and only if [2 T - 1] is nonexpansive. *)
Theorem firmly_nonexpansive_reflection T :
  firmly_nonexpansive T <-> nonexpansive (fun x => 2 * T x - x)%V.
Proof.
  assert (e : forall x y, sq (2 * T x - x - (2 * T y - y))
    = sq (x - y) + 4 * (sq (T x - T y) - ip (T x - T y) (x - y))) by (intros; ips; ring).
  split; intros h x u y v -> ->.
  - pose proof (h x (T x) y (T y) eq_refl eq_refl). rewrite e. lra.
  - pose proof (h x _ y _ eq_refl eq_refl) as k. cbv beta in k. rewrite e in k. lra.
Qed.

(** Resolvents of monotone operators are firmly nonexpansive. *)
Theorem resolvent_firm gamma A x x' y y' : 0 < gamma -> monotone A -> resolvent gamma A x y ->
  resolvent gamma A x' y' ->
  sq (y - y') + sq (x - y - (x' - y')) <= sq (x - x').
Proof.
  intros h m p p'. pose proof (m y _ y' _ p p') as k.
  assert (e : ip (/ gamma * (x - y) - / gamma * (x' - y')) (y - y') = / gamma * ip (x - y - (x' - y')) (y - y'))
    by (ips; ring). rewrite e in k.
  assert (0 <= ip (x - y - (x' - y')) (y - y')) by (apply Rmult_le_reg_l with (/ gamma);
    [now apply Rinv_0_lt_compat | lra]).
  assert (d : sq (x - x') = sq (y - y') + sq (x - y - (x' - y')) + 2 * ip (x - y - (x' - y')) (y - y')) by (ips; ring).
  lra.
Qed.

(** Gradients of smooth convex functions are cocoercive, and subgradients are monotone. *)
Theorem gradient_cocoercive L f g : 0 < L -> convex f g -> upper L f g -> cocoercive_by (/ L) (graph g).
Proof.
  intros h low up x u y v -> ->. pose proof (cocoercive 0 L f g y x ltac:(lra) low up) as c.
  assert (d : sq (g x - g y) <= L * ip (g x - g y) (x - y)) by (clear low up; ipa; lra).
  apply Rmult_le_reg_l with L; [easy |]. rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by lra. easy.
Qed.
Theorem subgradient_monotone dom f : monotone (subgradient dom f).
Proof. intros x u y v hu hv. now apply (subgradients_monotone dom f). Qed.
Theorem normal_monotone dom : monotone (normal dom).
Proof. intros x u y v hu hv. now apply (subgradients_monotone dom (fun _ => 0)). Qed.
End Operators.
