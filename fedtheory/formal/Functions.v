(** Classes of functions by their defining inequalities, and the interpolation inequalities that follow.

    A function is a map [f] to the real numbers with a map [g] to its gradients. The two bounds of [smooth] say that
    [g x] is the gradient of [f] at [x], and that the gradient is Lipschitz continuous with constant [L]
    ([smooth_lipschitz]). *)

From FedTheory Require Export Space.

Section Classes.
Context {V : space}.
Implicit Types (f : V -> R) (g : V -> V) (x y z v : V) (m mu L : R).

(** [f] is above the parabolas of curvature [m] that touch it, and below those of curvature [L]. *)
Definition lower m f g := forall x y, f x + ip (g x) (y - x) + m / 2 * sq (y - x) <= f y.
Definition upper L f g := forall x y, f y <= f x + ip (g x) (y - x) + L / 2 * sq (y - x).

Definition convex f g := lower 0 f g.
Definition strongly_convex mu f g := lower mu f g.
Definition smooth L f g := upper L f g /\ lower (- L) f g.
Definition lipschitz M f := forall x y, (f x - f y)^2 <= M^2 * sq (x - y).
Definition minimizer f x := forall y, f x <= f y.
Definition bounded_below f (low : R) := forall x, low <= f x.

(** A quadratic: its Hessian [H] is linear and symmetric, with eigenvalues between [m] and [L]. *)
Definition is_linear (H : V -> V) :=
  (forall x y, same (H (x + y)%V) (H x + H y)%V) /\ (forall a x, same (H (a * x)%V) (a * H x)%V).
Definition self_adjoint (H : V -> V) := forall x y, ip (H x) y = ip x (H y).
Definition quadratic m L f g H c :=
  is_linear H /\ self_adjoint H /\ (forall x, m * sq x <= ip (H x) x <= L * sq x)
  /\ (forall x, same (g x) (H (x - c)%V)) /\ (forall x, f x = f c + ip (H (x - c)%V) (x - c) / 2).

(** A convex function that is finite on [dom] only, and its subgradients. The normal cone of a set is the case f = 0. *)
Definition subgradient (dom : V -> Prop) f x v := dom x /\ forall z, dom z -> f x + ip v (z - x) <= f z.
Definition normal (dom : V -> Prop) := subgradient dom (fun _ => 0).
(** Its domain may be the whole space; the same with a term of curvature [m]; a minimizer on the domain. *)
Definition everywhere (x : V) := True.
Definition subgradient_by m (dom : V -> Prop) f x v :=
  dom x /\ forall z, dom z -> f x + ip v (z - x) + m / 2 * sq (z - x) <= f z.
Definition minimizer_on (dom : V -> Prop) f x := dom x /\ forall z, dom z -> f x <= f z.
Definition diameter (D : R) (dom : V -> Prop) := forall x y, dom x -> dom y -> sq (x - y) <= D^2.
(** [x] is the proximal point of [y]: the minimizer of gamma f + |. - y|^2/2 on [dom]. *)
Definition prox (gamma : R) dom f y x := subgradient dom f x (/ gamma * (y - x)).

Lemma lower_le m m' f g : m' <= m -> lower m f g -> lower m' f g.
Proof. intros h k x y. pose proof (k x y). pose proof (sq_pos (y - x)%V). nra. Qed.
Lemma upper_le L L' f g : L <= L' -> upper L f g -> upper L' f g.
Proof. intros h k x y. pose proof (k x y). pose proof (sq_pos (y - x)%V). nra. Qed.

(** ** Interpolation *)

(** The inequality of Taylor, Hendrickx and Glineur for curvatures between [m] and [L], any signs. With m = 0 it is that
    of smooth convex functions, and with m = - L that of smooth functions. *)
Theorem interpolation m L f g x y : m < L -> lower m f g -> upper L f g ->
  f x + ip (g x) (y - x) + m / 2 * sq (y - x) + sq (g y - g x - m * (y - x)) / (2 * (L - m)) <= f y.
Proof.
  intros h low up. set (z := (y - / (L - m) * (g y - g x - m * (y - x)))%V).
  pose proof (low x z) as h1. pose proof (up y z) as h2.
  assert (e : f y + ip (g y) (z - y) + L / 2 * sq (z - y) - (f x + ip (g x) (z - x) + m / 2 * sq (z - x))
    = f y - (f x + ip (g x) (y - x) + m / 2 * sq (y - x) + sq (g y - g x - m * (y - x)) / (2 * (L - m)))).
  { unfold z. ips. field. lra. }
  lra.
Qed.

(** Without division, so that [m = L] is allowed. *)
Theorem interpolation_mult m L f g x y : m <= L -> lower m f g -> upper L f g ->
  sq (g y - g x - m * (y - x)) <= 2 * (L - m) * (f y - f x - ip (g x) (y - x) - m / 2 * sq (y - x)).
Proof.
  intros h low up. set (s := sq _). set (r := f y - _ - _ - _).
  assert (hr : 0 <= r) by (unfold r; pose proof (low x y); lra).
  assert (k : forall e, 0 < e -> s <= 2 * (L - m + e) * r).
  { intros e he. pose proof (interpolation m (L + e) f g x y ltac:(lra) low (upper_le L (L + e) f g ltac:(lra) up)) as
      i.
    fold s in i. assert (j : s / (2 * (L + e - m)) <= r) by (unfold r; lra).
    apply (Rmult_le_compat_l (2 * (L + e - m))) in j; [| lra].
    replace (2 * (L + e - m) * (s / (2 * (L + e - m)))) with s in j by (field; lra). lra. }
  apply Rnot_lt_le. intro c.
  pose proof (k ((s - 2 * (L - m) * r) / (4 * (r + 1))) ltac:(apply Rdiv_lt_0_compat; lra)) as j.
  assert (2 * ((s - 2 * (L - m) * r) / (4 * (r + 1))) * r <= (s - 2 * (L - m) * r) / 2).
  { apply Rmult_le_reg_r with (4 * (r + 1)); [lra |].
    replace (2 * ((s - 2 * (L - m) * r) / (4 * (r + 1))) * r * (4 * (r + 1))) with (2 * (s - 2 * (L - m) * r) * r)
      by (field; lra). nra. }
  lra.
Qed.

(** Smooth convex functions. *)
Corollary interpolation_smooth_convex L f g x y : 0 < L -> convex f g -> upper L f g ->
  f x + ip (g x) (y - x) + sq (g y - g x) / (2 * L) <= f y.
Proof.
  intros h low up. pose proof (interpolation 0 L f g x y h low up) as i.
  replace (f x + ip (g x) (y - x) + sq (g y - g x) / (2 * L))
    with (f x + ip (g x) (y - x) + 0 / 2 * sq (y - x) + sq (g y - g x - 0 * (y - x)) / (2 * (L - 0))); [easy |].
  ips. field. lra.
Qed.

(** Smooth functions, which need not be convex. *)
Corollary interpolation_smooth L f g x y : 0 < L -> smooth L f g ->
  f x + (ip (g x) (y - x) + ip (g y) (y - x)) / 2 - L / 4 * sq (y - x) + sq (g y - g x) / (4 * L) <= f y.
Proof.
  intros h [up low]. pose proof (interpolation (- L) L f g x y ltac:(lra) low up) as i.
  replace (f x + (ip (g x) (y - x) + ip (g y) (y - x)) / 2 - L / 4 * sq (y - x) + sq (g y - g x) / (4 * L))
    with (f x + ip (g x) (y - x) + - L / 2 * sq (y - x) + sq (g y - g x - - L * (y - x)) / (2 * (L - - L))); [easy |].
  ips. field. lra.
Qed.

(** ** Gradients *)

(** With [v] the difference of the gradients less [m] times that of the points. *)
Theorem cocoercive m L f g x y : m <= L -> lower m f g -> upper L f g ->
  sq (g y - g x - m * (y - x)) <= (L - m) * ip (g y - g x - m * (y - x)) (y - x).
Proof.
  intros h low up.
  pose proof (interpolation_mult m L f g x y h low up) as i. pose proof (interpolation_mult m L f g y x h low up) as j.
  assert (e : sq (g x - g y - m * (x - y)) = sq (g y - g x - m * (y - x))) by (ips; ring). rewrite e in j.
  assert (e2 : f y - f x - ip (g x) (y - x) - m / 2 * sq (y - x) + (f x - f y - ip (g y) (x - y) - m / 2 * sq (x - y))
    = ip (g y - g x - m * (y - x)) (y - x)) by (ips; field). rewrite <- e2. lra.
Qed.

Theorem strongly_monotone mu f g x y : lower mu f g -> mu * sq (y - x) <= ip (g y - g x) (y - x).
Proof. intro low. pose proof (low x y). pose proof (low y x). ipa. lra. Qed.

Lemma ip_upper L f g x y : upper L f g -> ip (g y - g x) (y - x) <= L * sq (y - x).
Proof. intro up. pose proof (up x y). pose proof (up y x). ipa. lra. Qed.

(** The difference of gradients lies in the ball over (mu + L)/2 (y - x) with radius (L - mu)/2 |y - x|. *)
Theorem gradient_ball m L f g x y : m <= L -> lower m f g -> upper L f g ->
  sq (g y - g x - (L + m) / 2 * (y - x)) <= ((L - m) / 2)^2 * sq (y - x).
Proof.
  intros h low up. pose proof (cocoercive m L f g x y h low up) as c.
  assert (e : sq (g y - g x - (L + m) / 2 * (y - x)) = sq (g y - g x - m * (y - x))
    - (L - m) * ip (g y - g x - m * (y - x)) (y - x) + ((L - m) / 2)^2 * sq (y - x)) by (ips; field). lra.
Qed.

Theorem smooth_lipschitz L f g x y : 0 <= L -> smooth L f g -> sq (g y - g x) <= L^2 * sq (y - x).
Proof.
  intros h [up low]. pose proof (gradient_ball (- L) L f g x y ltac:(lra) low up) as c.
  replace (L^2) with (((L - - L) / 2)^2) by field.
  replace (sq (g y - g x)) with (sq (g y - g x - (L + - L) / 2 * (y - x))) by (ips; field). easy.
Qed.

(** [|g x|^2 <= 2 L (f x - inf f)] needs the upper bound only. *)
Theorem gradient_le L f g low x : 0 < L -> upper L f g -> bounded_below f low -> sq (g x) <= 2 * L * (f x - low).
Proof.
  intros h up hlow. pose proof (up x (x - / L * g x)%V) as i. pose proof (hlow (x - / L * g x)%V) as j.
  replace (f x + ip (g x) (x - / L * g x - x) + L / 2 * sq (x - / L * g x - x)) with (f x - sq (g x) / (2 * L)) in i
    by (ips; field; lra).
  assert (k : sq (g x) / (2 * L) <= f x - low) by lra. apply (Rmult_le_compat_l (2 * L)) in k; [| lra].
  replace (2 * L * (sq (g x) / (2 * L))) with (sq (g x)) in k by (field; lra). easy.
Qed.

(** The gradient at a minimizer is as good as zero. *)
Theorem minimizer_gradient L f g x : upper L f g -> minimizer f x -> forall v, ip (g x) v = 0.
Proof.
  intros up low. apply sq_zero.
  pose proof (gradient_le (Rmax L 1) f g (f x) x) as h.
  specialize (h ltac:(pose proof (Rmax_r L 1); lra) (upper_le _ _ _ _ (Rmax_l L 1) up) low). lra.
Qed.

(** A strongly convex function above its minimum. *)
Theorem above_minimum mu L f g x y : lower mu f g -> upper L f g -> minimizer f x ->
  mu / 2 * sq (y - x) <= f y - f x <= L / 2 * sq (y - x).
Proof.
  intros low up h. pose proof (low x y). pose proof (up x y).
  rewrite (minimizer_gradient L f g x up h) in *. lra.
Qed.

(** Strong convexity gives [mu |x - xs| <= |g x|], and [2 mu (f x - min f) <= |g x|^2]. *)
Theorem strong_gradient mu f g x y : 0 < mu -> lower mu f g -> (forall v, ip (g y) v = 0) ->
  mu^2 * sq (x - y) <= sq (g x).
Proof.
  intros h low z. pose proof (strongly_monotone mu f g y x low) as k. rewrite ip_sub, z in k.
  pose proof (sq_pos (g x - mu * (x - y))%V) as p.
  assert (e : sq (g x - mu * (x - y)) = sq (g x) - 2 * mu * ip (g x) (x - y) + mu^2 * sq (x - y)) by (ips; ring).
  assert (mu * (mu * sq (x - y)) <= mu * ip (g x) (x - y)) by (apply Rmult_le_compat_l; lra). nra.
Qed.

Theorem polyak mu f g x y : 0 < mu -> lower mu f g -> 2 * mu * (f x - f y) <= sq (g x).
Proof.
  intros h low. pose proof (low x y) as k. pose proof (sq_pos (g x + mu * (y - x))%V) as p.
  assert (e : sq (g x + mu * (y - x)) = sq (g x) + 2 * mu * (ip (g x) (y - x) + mu / 2 * sq (y - x))) by (ips; field).
  assert (mu * (f x + ip (g x) (y - x) + mu / 2 * sq (y - x)) <= mu * f y) by (apply Rmult_le_compat_l; lra). lra.
Qed.

(** ** A gradient step contracts distances *)

Theorem step_contracts mu L eta f g x y : mu <= L -> 0 <= eta -> lower mu f g -> upper L f g ->
  sq (y - eta * g y - (x - eta * g x)) <= Rmax ((1 - eta * mu)^2) ((1 - eta * L)^2) * sq (y - x).
Proof.
  intros h he low up. pose proof (cocoercive mu L f g x y h low up) as c.
  pose proof (ip_upper L f g x y up) as u.
  set (v := (g y - g x - mu * (y - x))%V) in *.
  assert (e : sq (y - eta * g y - (x - eta * g x))
    = (1 - eta * mu)^2 * sq (y - x) - 2 * (1 - eta * mu) * eta * ip v (y - x) + eta^2 * sq v) by (unfold v; ips; ring).
  assert (u' : ip v (y - x) <= (L - mu) * sq (y - x)) by (unfold v; clear c e; ipa; lra).
  rewrite e. pose proof (sq_pos v). pose proof (sq_pos (y - x)%V).
  assert (0 <= ip v (y - x) \/ L - mu = 0) as [p | p] by (destruct (Req_dec (L - mu) 0); [now right | left; nra]).
  - destruct (Rle_dec (eta * (L - mu)) (2 * (1 - eta * mu))) as [b | b].
    + apply Rle_trans with ((1 - eta * mu)^2 * sq (y - x)).
      * assert (eta^2 * sq v <= eta * (eta * (L - mu)) * ip v (y - x)) by nra.
        assert (eta * (eta * (L - mu) * ip v (y - x)) <= eta * (2 * (1 - eta * mu) * ip v (y - x)))
          by (apply Rmult_le_compat_l; [easy |]; now apply Rmult_le_compat_r). lra.
      * apply Rmult_le_compat_r; [easy | apply Rmax_l].
    + apply Rle_trans with ((1 - eta * L)^2 * sq (y - x)).
      * assert (eta^2 * sq v <= eta^2 * ((L - mu) * ip v (y - x))) by (apply Rmult_le_compat_l; [nra | easy]).
        assert (eta * (eta * (L - mu) - 2 * (1 - eta * mu)) * ip v (y - x)
          <= eta * (eta * (L - mu) - 2 * (1 - eta * mu)) * ((L - mu) * sq (y - x)))
          by (apply Rmult_le_compat_l; [nra | easy]). nra.
      * apply Rmult_le_compat_r; [easy | apply Rmax_r].
  - assert (hv : sq v <= 0) by nra. rewrite (sq_zero v hv).
    apply Rle_trans with ((1 - eta * mu)^2 * sq (y - x)); [nra |].
    apply Rmult_le_compat_r; [easy | apply Rmax_l].
Qed.

(** ** Quadratics, subgradients, proximal points *)

Lemma linear_sub H x y : is_linear H -> same (H (x - y)%V) (H x - H y)%V.
Proof.
  intros [ha hs] v. unfold sub. rewrite (ha x (-1 * y)%V v), !ip_add, (hs (-1) y v). now rewrite !ip_scale.
Qed.

Theorem quadratic_between m L f g H c : quadratic m L f g H c -> lower m f g /\ upper L f g.
Proof.
  intros (hl & hs & hb & hg & hf).
  assert (e : forall x y, f y - f x - ip (g x) (y - x) = ip (H (y - x)%V) (y - x) / 2).
  { intros x y. rewrite (hf y), (hf x), (hg x).
    rewrite !(fun u v => linear_sub H u v hl).
    assert (t : forall u v, ip (H u) v = ip (H v) u) by (intros; rewrite hs; apply ip_sym).
    pose proof (t x y); pose proof (t x c); pose proof (t y c). ips. ipa. lra. }
  split; intros x y; pose proof (hb (y - x)%V); pose proof (e x y); lra.
Qed.

Theorem subgradients_monotone dom f x y u v :
  subgradient dom f x u -> subgradient dom f y v -> 0 <= ip (u - v) (x - y).
Proof. intros [dx hx] [dy hy]. pose proof (hx y dy). pose proof (hy x dx). ipa. lra. Qed.

(** Proximal steps are firmly nonexpansive. *)
Theorem prox_firm gamma dom f y y' x x' : 0 < gamma -> prox gamma dom f y x -> prox gamma dom f y' x' ->
  sq (x - x') + sq (y - x - (y' - x')) <= sq (y - y').
Proof.
  intros h p p'. pose proof (subgradients_monotone dom f x x' _ _ p p') as m.
  assert (e : ip (/ gamma * (y - x) - / gamma * (y' - x')) (x - x')
    = / gamma * ip (y - x - (y' - x')) (x - x')) by (ips; ring). rewrite e in m.
  assert (0 <= ip (y - x - (y' - x')) (x - x')).
  { apply Rmult_le_reg_l with (/ gamma); [now apply Rinv_0_lt_compat | lra]. }
  assert (d : sq (y - y') = sq (x - x') + sq (y - x - (y' - x')) + 2 * ip (y - x - (y' - x')) (x - x')) by (ips; ring).
  lra.
Qed.
End Classes.
