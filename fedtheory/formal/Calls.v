(** The conditions of exported worst cases: what a class says of two points, where the gradients there are as good as
    given vectors. The constants that a condition contains are arguments, so that the checker reads them. *)

From FedTheory Require Export Conditions.

Section Calls.
Context {V : space}.
Implicit Types (f : V -> R) (g : V -> V) (x y u v z : V) (dom : V -> Prop).

Lemma same_sub x x' y y' : same x x' -> same y y' -> same (x - y)%V (x' - y')%V.
Proof. intros h k v. now rewrite !ip_sub, h, k. Qed.

(** ** Gradients that are given *)

Lemma minimizer_same L f g x : upper L f g -> minimizer f x -> same (g x) zero.
Proof. intros up low v. now rewrite (minimizer_gradient L f g x up low), ip_zero. Qed.
(** An implicit step, [y = x - s g y]. *)
Lemma implicit_same t s g x y : t * s = 1 -> same y (x - s * g y)%V -> same (g y) (t * (x - y))%V.
Proof.
  intros h k v. rewrite ip_scale, ip_sub, (k v), ip_sub, ip_scale.
  replace (t * (ip x v - (ip x v - s * ip (g y) v))) with (t * s * ip (g y) v) by ring. rewrite h. ring.
Qed.
Lemma inverse t s : t * s = 1 -> / s = t.
Proof. intro h. assert (s <> 0) by nra. apply Rmult_eq_reg_r with s; [rewrite Rinv_l; lra | easy]. Qed.
Lemma prox_subgradient t s dom f x y : t * s = 1 -> prox s dom f x y -> subgradient dom f y (t * (x - y))%V.
Proof. intros h p. unfold prox in p. now rewrite (inverse t s h) in p. Qed.

(** ** Smooth functions *)

Lemma call_between m L a b f g : m < L -> 2 * a = m -> b * (2 * (L - m)) = 1 -> lower m f g -> upper L f g ->
  forall x y u v, same (g x) u -> same (g y) v ->
  f x - f y + ip u (y - x) + a * sq (y - x) + b * sq (v - u - m * (y - x)) <= 0.
Proof.
  intros h ha hb low up x y u v hu hv. pose proof (cond_between m L a b f g x y h ha hb low up) as c.
  rewrite <- (hu (y - x)%V). replace (sq (v - u - m * (y - x))) with (sq (g y - g x - m * (y - x))); [easy |].
  apply same_sq, same_sub; [now apply same_sub | apply same_refl].
Qed.
Lemma call_convex L b f g : 0 < L -> b * (2 * L) = 1 -> lower 0 f g -> upper L f g ->
  forall x y u v, same (g x) u -> same (g y) v -> f x - f y + ip u (y - x) + b * sq (v - u) <= 0.
Proof.
  intros h hb low up x y u v hu hv. pose proof (cond_smooth_convex L b f g x y h hb low up) as c.
  rewrite <- (hu (y - x)%V). replace (sq (v - u)) with (sq (g y - g x)); [easy |].
  now apply same_sq, same_sub.
Qed.
(** Above the minimum, of a function that need not be convex. *)
Lemma call_descent L b f g xs : 0 < L -> b * (2 * L) = 1 -> upper L f g -> minimizer f xs ->
  forall x u, same (g x) u -> b * sq u - (f x - f xs) <= 0.
Proof.
  intros h hb up best x u hu. pose proof (gradient_le L f g (f xs) x h up best) as c. rewrite (same_sq _ _ hu) in c.
  assert (0 < b) by nra. apply (Rmult_le_compat_l b) in c; [| lra].
  replace (b * (2 * L * (f x - f xs))) with (b * (2 * L) * (f x - f xs)) in c by ring. rewrite hb in c. lra.
Qed.
Lemma call_polyak m b f g xs : b * (2 * m) = 1 -> (forall x, 2 * m * (f x - f xs) <= sq (g x)) -> 0 < m ->
  forall x u, same (g x) u -> f x - f xs - b * sq u <= 0.
Proof.
  intros hb h hm x u hu. pose proof (h x) as c. rewrite (same_sq _ _ hu) in c. assert (0 < b) by nra.
  apply (Rmult_le_compat_l b) in c; [| lra].
  replace (b * (2 * m * (f x - f xs))) with (b * (2 * m) * (f x - f xs)) in c by ring. rewrite hb in c. lra.
Qed.

(** ** Functions that need not be smooth, sets *)

Lemma call_subgradient_by m a dom f x v y : 2 * a = m -> subgradient_by m dom f x v -> dom y ->
  f x - f y + ip v (y - x) + a * sq (y - x) <= 0.
Proof. intros ha [_ h] d. pose proof (h y d). replace a with (m / 2) by lra. lra. Qed.
Lemma minimizer_everywhere f xs : minimizer f xs -> minimizer_on everywhere f xs.
Proof. intro h. split; [exact I | easy]. Qed.
Lemma call_minimizer_on dom f xs y : minimizer_on dom f xs -> dom y -> f xs - f y <= 0.
Proof. intros [_ h] d. pose proof (h y d). lra. Qed.
Lemma call_normal dom x v y : normal dom x v -> dom y -> ip v (y - x) <= 0.
Proof. intros [_ h] d. pose proof (h y d). lra. Qed.
Lemma normal_zero dom x : dom x -> normal dom x zero.
Proof. intro d. split; [easy |]. intros z _. rewrite ip_zero. lra. Qed.
(** [y] is the projection of [x] on a convex set. *)
Definition projection dom x y := normal dom y (x - y)%V.
Lemma projection_normal t dom x y : 0 <= t -> projection dom x y -> normal dom y (t * (x - y))%V.
Proof. intros ht [d h]. split; [easy |]. intros z hz. pose proof (h z hz). rewrite ip_scale. nra. Qed.
Lemma call_diameter D b dom x y : b = D^2 -> diameter D dom -> dom x -> dom y -> sq (x - y) - b <= 0.
Proof. intros -> h dx dy. pose proof (h x y dx dy). lra. Qed.
Lemma call_lipschitz G b f : 0 <= G -> b = G^2 -> lipschitz G f ->
  forall x v, subgradient everywhere f x v -> sq v - b <= 0.
Proof. intros hM hb h x v s. now apply (cond_lipschitz G b everywhere f x v). Qed.
(** ** Constraints *)

Lemma call_at_most (a b : R) : a <= b -> a - b <= 0.
Proof. lra. Qed.
Lemma call_equal (a b : R) : a = b -> a - b = 0.
Proof. lra. Qed.
End Calls.

(** ** Sums of closed forms, whose constants are variables: conditions on constants may be linear, nonlinear, or
    identities with denominators that are not 0. *)

Ltac differs := repeat split; let h := fresh in intro h; first [lra | nra].
Ltac side := first [lra | field; differs | nra].

Lemma term_at_most y c r : 0 <= y -> c <= 0 -> r <= 0 -> y * c + r <= 0.
Proof. intros. nra. Qed.
Lemma term_zero y c r : c = 0 -> r <= 0 -> y * c + r <= 0.
Proof. intros -> h. lra. Qed.
Lemma term_square {V : space} d (x : V) r : 0 <= d -> r <= 0 -> r - d * sq x <= 0.
Proof. intros h k. pose proof (Rmult_le_pos _ _ h (sq_pos x)). lra. Qed.
