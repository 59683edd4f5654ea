(** The inequalities of the classes in the form in which the checker of certificates reads them: expressions that are at
    most zero, with the numbers that depend on the constants as arguments of their own. *)

From FedTheory Require Export Functions Certificate.

Section Conditions.
Context {V : space}.
Implicit Types (f : V -> R) (g : V -> V) (x y v : V).

(** Curvatures between m and L, at two points; a = m/2 and b = 1/(2 (L - m)). *)
Lemma cond_between m L a b f g x y : m < L -> 2 * a = m -> b * (2 * (L - m)) = 1 -> lower m f g -> upper L f g ->
  f x - f y + ip (g x) (y - x) + a * sq (y - x) + b * sq (g y - g x - m * (y - x)) <= 0.
Proof.
  intros h ha hb low up. pose proof (interpolation m L f g x y h low up) as i.
  assert (hb' : b = / (2 * (L - m))) by (apply Rmult_eq_reg_r with (2 * (L - m)); [rewrite hb; field; lra | lra]).
  replace a with (m / 2) by lra. rewrite hb'. unfold Rdiv in *. lra.
Qed.
(** At a minimizer xs, from the point x, and from xs to x. *)
Lemma cond_to_minimizer m L a b f g x xs : m < L -> 2 * a = m -> b * (2 * (L - m)) = 1 -> lower m f g -> upper L f g ->
  minimizer f xs -> f x - f xs + ip (g x) (xs - x) + a * sq (xs - x) + b * sq (g x + m * (xs - x)) <= 0.
Proof.
  intros h ha hb low up best. pose proof (cond_between m L a b f g x xs h ha hb low up) as c.
  pose proof (minimizer_gradient L f g xs up best) as z. assert (zr : forall v, ip v (g xs) = 0)
    by (intro; rewrite ip_sym; apply z).
  replace (sq (g x + m * (xs - x))) with (sq (g xs - g x - m * (xs - x))); [easy |]. ips. rewrite ?z, ?zr. ring.
Qed.
Lemma cond_from_minimizer m L a b f g x xs : m < L -> 2 * a = m -> b * (2 * (L - m)) = 1 -> lower m f g ->
  upper L f g ->
  minimizer f xs -> f xs - f x + a * sq (x - xs) + b * sq (g x - m * (x - xs)) <= 0.
Proof.
  intros h ha hb low up best. pose proof (cond_between m L a b f g xs x h ha hb low up) as c.
  pose proof (minimizer_gradient L f g xs up best) as z. assert (zr : forall v, ip v (g xs) = 0)
    by (intro; rewrite ip_sym; apply z).
  rewrite z in c. replace (sq (g x - m * (x - xs))) with (sq (g x - g xs - m * (x - xs))); [lra |]. ips.
  rewrite ?z, ?zr. ring.
Qed.

(** Smooth convex functions, b = 1/(2 L). *)
Lemma cond_smooth_convex L b f g x y : 0 < L -> b * (2 * L) = 1 -> convex f g -> upper L f g ->
  f x - f y + ip (g x) (y - x) + b * sq (g y - g x) <= 0.
Proof.
  intros h hb low up. pose proof (cond_between 0 L 0 b f g x y h ltac:(lra) ltac:(lra) low up) as c.
  replace (sq (g y - g x)) with (sq (g y - g x - 0 * (y - x))) by (ips; ring). lra.
Qed.
Lemma cond_smooth_convex_minimizer L b f g x xs : 0 < L -> b * (2 * L) = 1 -> convex f g -> upper L f g ->
  minimizer f xs ->
  f x - f xs + ip (g x) (xs - x) + b * sq (g x) <= 0.
Proof.
  intros h hb low up best. pose proof (cond_to_minimizer 0 L 0 b f g x xs h ltac:(lra) ltac:(lra) low up best) as c.
  replace (sq (g x)) with (sq (g x + 0 * (xs - x))) by (ips; ring). lra.
Qed.

(** Convex functions with subgradients, and their domains; a minimizer; Lipschitz continuity. *)
Lemma cond_subgradient (dom : V -> Prop) f x v y : subgradient dom f x v -> dom y -> f x - f y + ip v (y - x) <= 0.
Proof. intros [_ h] d. pose proof (h y d). lra. Qed.
Lemma cond_minimizer f xs x : minimizer f xs -> f xs - f x <= 0.
Proof. intro h. pose proof (h x). lra. Qed.
Lemma cond_lipschitz M b (dom : V -> Prop) f x v : 0 <= M -> b = M^2 -> lipschitz M f -> (forall y, dom y) ->
  subgradient dom f x v ->
  sq v - b <= 0.
Proof.
  intros hM hb l d [_ s]. subst b.
  pose proof (s (x + v)%V (d _)) as h. pose proof (l (x + v)%V x) as k.
  replace (ip v (x + v - x)) with (sq v) in h by (ips; ring). replace (sq (x + v - x)) with (sq v) in k by (ips; ring).
  pose proof (sq_pos v) as p. apply Rnot_lt_le. intro c. assert (M^2 < sq v) by lra.
  assert (sq v * sq v <= M^2 * sq v) by nra. nra.
Qed.

End Conditions.
