(** The conditions of exported worst cases: what a class says of two points, where the gradients there are as good as
    given vectors. The constants that a condition contains are arguments, so that the checker reads them. *)

From FedTheory Require Export Conditions.

Section Calls.
Context {V : space}.
Implicit Types (f : V -> R) (g T H M N : V -> V) (x y u v w z : V) (dom : V -> Prop) (A : V -> V -> Prop).

Lemma same_sub x x' y y' : same x x' -> same y y' -> same (x - y)%V (x' - y')%V.
Proof. intros h k v. now rewrite !ip_sub, h, k. Qed.
Lemma same_ip x x' y y' : same x x' -> same y y' -> ip x y = ip x' y'.
Proof. intros h k. now rewrite h, (same_r y y' x' k). Qed.

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
Lemma resolvent_value t s A x y : t * s = 1 -> resolvent s A x y -> A y (t * (x - y))%V.
Proof. intros h p. unfold resolvent in p. now rewrite (inverse t s h) in p. Qed.

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
(** A convex function that grows at most like G/2 |x - xs|^2. *)
Lemma call_growth G b f xs : 0 < G -> b * (2 * G) = 1 -> (forall z, f z - f xs <= G / 2 * sq (z - xs)) ->
  forall x v, subgradient everywhere f x v -> f x - f xs + ip v (xs - x) + b * sq v <= 0.
Proof.
  intros hG hb h x v [_ s]. pose proof (s (xs + / G * v)%V I) as k. pose proof (h (xs + / G * v)%V) as l.
  replace b with (/ (2 * G)) by (apply inverse; lra).
  replace (ip v (xs + / G * v - x)) with (ip v (xs - x) + / G * sq v) in k by (ips; ring).
  replace (G / 2 * sq (xs + / G * v - xs)) with (/ (2 * G) * sq v) in l by (ips; field; lra).
  replace (/ G * sq v) with (2 * (/ (2 * G) * sq v)) in k by (field; lra). lra.
Qed.

(** ** Subgradients up to an error *)

Definition subgradient_up_to (e : R) dom f x v := dom x /\ forall z, dom z -> f x + ip v (z - x) - e <= f z.

Lemma call_up_to e dom f x v y : subgradient_up_to e dom f x v -> dom y -> f x - f y + ip v (y - x) - e <= 0.
Proof. intros [_ h] d. pose proof (h y d). lra. Qed.
Lemma call_normal_up_to e dom x v y : subgradient_up_to e dom (fun _ => 0) x v -> dom y -> ip v (y - x) - e <= 0.
Proof. intros [_ h] d. pose proof (h y d). lra. Qed.
Lemma call_smooth_up_to L b e f g x v : 0 < L -> b * (2 * L) = 1 -> upper L f g -> subgradient_up_to e everywhere f x v ->
  forall y u, same (g y) u -> f x - f y + ip v (y - x) + b * sq (u - v) - e <= 0.
Proof.
  intros hL hb up [_ h] y u hu. pose proof (h (y + / L * (v - u))%V I) as k. pose proof (up y (y + / L * (v - u))%V) as l.
  rewrite (hu _) in l. replace b with (/ (2 * L)) by (apply inverse; lra).
  replace (ip v (y + / L * (v - u) - x)) with (ip v (y - x) + / L * (ip v v - ip v u)) in k by (ips; ring).
  replace (ip u (y + / L * (v - u) - y)) with (/ L * (ip v u - ip u u)) in l by (rewrite (ip_sym v u); ips; ring).
  replace (L / 2 * sq (y + / L * (v - u) - y)) with (/ (2 * L) * sq (u - v)) in l by (ips; field; lra).
  replace (/ L * (ip v v - ip v u)) with (/ L * (ip v u - ip u u) + 2 * (/ (2 * L) * sq (u - v))) in k
    by (rewrite (ip_sym v u); ips; field; lra).
  lra.
Qed.
Lemma call_lipschitz_up_to G b e f x v : b = G^2 -> 0 <= e -> lipschitz G f -> subgradient_up_to e everywhere f x v ->
  sq v - b <= 0.
Proof.
  intros -> he lip [_ h]. destruct (Rle_or_lt (sq v - G^2) 0) as [d | d]; [easy | exfalso].
  pose proof (sq_pos v) as p. pose proof (pow2_ge_0 G) as q. assert (0 < sq v) by lra.
  set (t := 2 * e / (sq v - G^2) + e / sq v + 1).
  assert (0 <= 2 * e / (sq v - G^2)) by pos. assert (0 <= e / sq v) by pos.
  assert (a : e <= t * sq v).
  { replace e with (e / sq v * sq v) at 1 by (field; lra). apply Rmult_le_compat_r; unfold t; lra. }
  assert (c : 2 * e < t * (sq v - G^2)).
  { replace (2 * e) with (2 * e / (sq v - G^2) * (sq v - G^2)) at 1 by (field; lra).
    apply Rmult_lt_compat_r; unfold t; lra. }
  pose proof (h (x + t * v)%V I) as k. pose proof (lip (x + t * v)%V x) as l.
  replace (ip v (x + t * v - x)) with (t * sq v) in k by (ips; ring).
  replace (sq (x + t * v - x)) with (t^2 * sq v) in l by (ips; ring).
  assert (0 < t) by (unfold t; lra).
  assert ((t * sq v - e)^2 <= (f (x + t * v)%V - f x)^2) by (apply pow_incr; lra).
  assert (0 < t * sq v) by (apply Rmult_lt_0_compat; lra).
  assert (t * sq v * (2 * e) < t * sq v * (t * (sq v - G^2))) by (apply Rmult_lt_compat_l; lra).
  pose proof (pow2_ge_0 e). nra.
Qed.

(** ** Functions seen from a point, along the ray from there *)

(** [g] is the gradient of [f] along every line; vectors with the same inner products have the same value. *)
Definition gradient_along_lines f g := (forall x y, same x y -> f x = f y)
  /\ forall x d, derivable_pt_lim (fun t => f (x + t * d)%V) 0 (ip (g x) d).
Definition restricted_secant m g xs := forall x, m * sq (x - xs) <= ip (g x) (x - xs).
Definition error_bound (M : R) g xs := forall x, sq (g x) <= M^2 * sq (x - xs).

Lemma along_ray f g x d t : gradient_along_lines f g ->
  derivable_pt_lim (fun s => f (x + s * d)%V) t (ip (g (x + t * d)%V) d).
Proof.
  intros [respects h] e he. destruct (h (x + t * d)%V d e he) as [delta k]. exists delta. intros s hs small.
  pose proof (k s hs small) as c.
  replace (f (x + (t + s) * d)%V) with (f (x + t * d + (0 + s) * d)%V)
    by (apply respects; intro v; rewrite !ip_add, !ip_scale; ring).
  replace (f (x + t * d)%V) with (f (x + t * d + 0 * d)%V)
    by (apply respects; intro v; rewrite !ip_add, !ip_scale; ring). easy.
Qed.

(** A function on [0, 1] whose derivative is not negative does not fall. The mean value theorem of Coq's library rests on
    the law of excluded middle; this proof needs the axioms of the real numbers only. *)
Lemma rising (F G : R -> R) : (forall t, 0 <= t <= 1 -> derivable_pt_lim F t (G t)) ->
  (forall t, 0 <= t <= 1 -> 0 <= G t) -> F 0 <= F 1.
Proof.
  intros along up. destruct (Rle_or_lt (F 0) (F 1)) as [done | fall]; [easy | exfalso].
  set (e := (F 0 - F 1) / 2). assert (he : 0 < e) by (unfold e; lra).
  set (S := fun t => 0 <= t <= 1 /\ F 0 <= F t + e * t).
  destruct (completeness S) as [c [above least]].
  - exists 1. intros t [ht _]. lra.
  - exists 0. split; [lra | rewrite Rmult_0_r; lra].
  - assert (h0 : 0 <= c) by (apply above; split; [lra | rewrite Rmult_0_r; lra]).
    assert (h1 : c <= 1) by (apply least; intros t [ht _]; lra).
    assert (S c) as [_ at_c].
    { split; [lra |]. destruct (Rle_or_lt (F 0) (F c + e * c)) as [k | k]; [easy | exfalso].
      destruct (along c (conj h0 h1) 1 ltac:(lra)) as [delta near]. pose proof (cond_pos delta) as hd.
      set (l := Rabs (G c) + 1 + e). pose proof (Rabs_pos (G c)) as hl. assert (0 < l) by (unfold l; lra).
      set (gap := (F 0 - (F c + e * c)) / l). assert (0 < gap) by (unfold gap; pos).
      set (r := Rmin delta gap). assert (0 < r) by (apply Rmin_pos; lra).
      enough (c <= c - r) by lra. apply least. intros t [ht low]. destruct (Rle_or_lt t (c - r)) as [d | d]; [easy |].
      exfalso. assert (t <= c) by (now apply above). pose proof (Rmin_l delta gap). pose proof (Rmin_r delta gap).
      destruct (Req_dec t c) as [-> | apart]; [lra |].
      pose proof (near (t - c) ltac:(lra) ltac:(rewrite Rabs_left; unfold r in d; lra)) as k2.
      replace (c + (t - c)) with t in k2 by ring.
      assert (k5 : F t - F c <= (c - t) * (Rabs (G c) + 1)).
      { apply Rabs_def2 in k2. destruct k2 as [_ k2]. pose proof (Rle_abs (- G c)) as k4. rewrite Rabs_Ropp in k4.
        assert (q : - (Rabs (G c) + 1) <= (F t - F c) / (t - c)) by lra.
        apply (Rmult_le_compat_r (c - t)) in q; [| lra].
        replace ((F t - F c) / (t - c) * (c - t)) with (- (F t - F c)) in q by (field; lra). lra. }
      assert (c - t < gap) by (unfold r in d; lra).
      assert ((c - t) * l < gap * l) by (apply Rmult_lt_compat_r; lra).
      replace (gap * l) with (F 0 - (F c + e * c)) in * by (unfold gap; field; lra).
      assert (0 <= (c - t) * e) by (apply Rmult_le_pos; lra). unfold l in *. lra. }
    destruct (Rle_or_lt 1 c) as [d | d]; [assert (c = 1) by lra; subst c; unfold e in at_c; lra |].
    destruct (along c (conj h0 h1) e he) as [delta near]. pose proof (cond_pos delta) as hd.
    set (r := Rmin (delta / 2) (1 - c)). assert (hr : 0 < r) by (apply Rmin_pos; lra).
    pose proof (Rmin_l (delta / 2) (1 - c)) as m1. pose proof (Rmin_r (delta / 2) (1 - c)) as m2. fold r in m1, m2.
    enough (c + r <= c) by lra. apply above. split; [lra |].
    pose proof (near r ltac:(lra) ltac:(rewrite Rabs_right; lra)) as k. apply Rabs_def2 in k. destruct k as [_ k].
    pose proof (up c (conj h0 h1)). assert (q : - e <= (F (c + r) - F c) / r) by lra.
    apply (Rmult_le_compat_r r) in q; [| lra].
    replace ((F (c + r) - F c) / r * r) with (F (c + r) - F c) in q by (field; lra). lra.
Qed.

(** A parabola along the ray that is below (a factor 1) or above (a factor -1) in slope is so in value. *)
Lemma ray_value a c f g xs x : gradient_along_lines f g ->
  (forall t, 0 <= t <= 1 -> 0 <= c * (ip (g (xs + t * (x - xs))%V) (x - xs) - 2 * a * t * sq (x - xs))) ->
  0 <= c * (f x - f xs - a * sq (x - xs)).
Proof.
  intros along h. pose proof along as [respects _]. set (d := (x - xs)%V) in *.
  pose proof (rising (fun t => c * (f (xs + t * d)%V - a * sq d * t^2))
    (fun t => c * (ip (g (xs + t * d)%V) d - a * sq d * (2 * t)))) as mean.
  cbv beta in mean.
  replace (f (xs + 1 * d)%V) with (f x) in mean
    by (apply respects; intro v; unfold d; rewrite !ip_add, !ip_scale, !ip_sub; ring).
  replace (f (xs + 0 * d)%V) with (f xs) in mean
    by (apply respects; intro v; rewrite !ip_add, !ip_scale; ring).
  enough (c * (f xs - a * sq d * 0 ^ 2) <= c * (f x - a * sq d * 1 ^ 2)) by lra. apply mean.
  - intros t _. apply (derivable_pt_lim_scal (fun t => f (xs + t * d)%V - a * sq d * t^2)).
    apply (derivable_pt_lim_minus (fun t => f (xs + t * d)%V) (fun t => a * sq d * t^2)).
    + now apply along_ray.
    + apply (derivable_pt_lim_scal (fun t => t^2)). replace (2 * t) with (INR 2 * t ^ pred 2) by (simpl; ring).
      apply derivable_pt_lim_pow.
  - intros t ht. pose proof (h t ht). lra.
Qed.

(** At a minimizer no slope is negative. *)
Lemma minimizer_slope f g xs d : gradient_along_lines f g -> minimizer f xs -> 0 <= ip (g xs) d.
Proof.
  intros [respects along] best. destruct (Rle_or_lt 0 (ip (g xs) d)) as [k | k]; [easy | exfalso].
  destruct (along xs d (- ip (g xs) d) ltac:(lra)) as [delta near]. pose proof (cond_pos delta) as hd.
  pose proof (near (delta / 2) ltac:(lra) ltac:(rewrite Rabs_right; lra)) as c.
  apply Rabs_def2 in c. destruct c as [c _].
  assert (q : (f (xs + (0 + delta / 2) * d)%V - f (xs + 0 * d)%V) / (delta / 2) < 0) by lra.
  replace (f (xs + 0 * d)%V) with (f xs) in q by (apply respects; intro v; rewrite !ip_add, !ip_scale; ring).
  pose proof (best (xs + (0 + delta / 2) * d)%V).
  assert (0 <= (f (xs + (0 + delta / 2) * d)%V - f xs) / (delta / 2)) by pos. lra.
Qed.

Lemma call_secant m g xs : restricted_secant m g xs -> forall x u, same (g x) u ->
  m * sq (x - xs) - ip u (x - xs) <= 0.
Proof. intros h x u hu. rewrite <- (hu (x - xs)%V). pose proof (h x). lra. Qed.
Lemma call_secant_value m a f g xs : 2 * a = m -> gradient_along_lines f g -> minimizer f xs ->
  restricted_secant m g xs -> forall x u, same (g x) u -> a * sq (x - xs) - (f x - f xs) <= 0.
Proof.
  intros ha along best h x _ _. pose proof (ray_value a 1 f g xs x along) as r.
  enough (0 <= 1 * (f x - f xs - a * sq (x - xs))) by lra. apply r. intros t ht.
  destruct (Req_dec t 0) as [-> | apart].
  { assert (z : 0 <= ip (g (xs + 0 * (x - xs))%V) (x - xs)).
    { apply (minimizer_slope f); [easy |]. destruct along as [respects _]. intro y.
      replace (f (xs + 0 * (x - xs))%V) with (f xs); [apply best |].
      apply respects. intro v. rewrite ip_add, ip_scale. ring. }
    lra. }
  set (d := (x - xs)%V). pose proof (h (xs + t * d)%V) as k.
  assert (e : same (xs + t * d - xs)%V (t * d)%V) by (intro v; rewrite ip_sub, ip_add, ip_scale; ring).
  rewrite (same_sq _ _ e), (same_r _ _ _ e), ip_scale_r in k. replace (sq (t * d)) with (t^2 * sq d) in k by (ips; ring).
  apply Rmult_le_reg_l with t; [lra |]. subst m. lra.
Qed.
Lemma call_error_bound (M : R) b g xs : b = M^2 -> error_bound M g xs -> forall x u, same (g x) u ->
  sq u - b * sq (x - xs) <= 0.
Proof. intros -> h x u hu. rewrite <- (same_sq _ _ hu). pose proof (h x). lra. Qed.
Lemma call_error_value (M : R) a f g xs : 0 <= M -> 2 * a = M -> gradient_along_lines f g -> error_bound M g xs ->
  forall x u, same (g x) u -> f x - f xs - a * sq (x - xs) <= 0.
Proof.
  intros hM ha along h x _ _. pose proof (ray_value a (-1) f g xs x along) as r.
  enough (0 <= -1 * (f x - f xs - a * sq (x - xs))) by lra.
  apply r. intros t ht. set (d := (x - xs)%V). pose proof (h (xs + t * d)%V) as k.
  assert (e : same (xs + t * d - xs)%V (t * d)%V) by (intro v; rewrite ip_sub, ip_add, ip_scale; ring).
  rewrite (same_sq _ _ e) in k. replace (sq (t * d)) with (t^2 * sq d) in k by (ips; ring).
  pose proof (cauchy_schwarz (g (xs + t * d)%V) d) as c. pose proof (sq_pos d) as p.
  assert (0 <= M * t * sq d) by (apply Rmult_le_pos; [apply Rmult_le_pos; lra | easy]).
  assert (sq (g (xs + t * d)%V) * sq d <= (M * t * sq d)^2).
  { replace ((M * t * sq d)^2) with (M^2 * (t^2 * sq d) * sq d) by ring. now apply Rmult_le_compat_r. }
  assert (ip (g (xs + t * d)%V) d <= M * t * sq d) by (apply Rsqr_incr_0_var; [unfold Rsqr; lra | easy]).
  subst M. lra.
Qed.

(** ** Quadratic functions and linear operators: [w] is a combination of points, and [z] the same one of their images *)

Definition adjoint (M N : V -> V) := forall x y, ip (M x) y = ip x (N y).

Lemma linear_add M w z w' z' : is_linear M -> same (M w) z -> same (M w') z' -> same (M (w + w')%V) (z + z')%V.
Proof. intros [h _] k k' v. now rewrite (h w w' v), !ip_add, k, k'. Qed.
Lemma linear_scale M a w z : is_linear M -> same (M w) z -> same (M (a * w)%V) (a * z)%V.
Proof. intros [_ h] k v. now rewrite (h a w v), !ip_scale, k. Qed.
Lemma quadratic_linear m L f g H : quadratic_with m L f g H -> is_linear H.
Proof. intros [h _]. exact h. Qed.
Lemma quadratic_difference m L f g H : quadratic_with m L f g H ->
  forall x y u v, same (g x) u -> same (g y) v -> same (H (x - y)%V) (u - v)%V.
Proof.
  intros (_ & _ & _ & hg & _) x y u v hu hv. apply same_trans with (1 := same_sym _ _ (hg y x)). now apply same_sub.
Qed.

Lemma quadratic_bounds m L f g H : quadratic_with m L f g H -> lower m f g /\ upper L f g.
Proof.
  intros (_ & _ & hb & _ & hf). split; intros x y; pose proof (hb (y - x)%V); rewrite (hf x y); lra.
Qed.
Lemma call_matrix m L f g H : m <= L -> quadratic_with m L f g H ->
  forall w z, same (H w) z -> 0 - ip (z - m * w) (L * w - z) <= 0.
Proof.
  intros h q w z hz. destruct (quadratic_bounds m L f g H q) as [low up]. destruct q as (hl & hs & _ & hg & _).
  pose proof (cocoercive m L f g zero w h low up) as c.
  assert (e : same (g w - g zero)%V z).
  { intro v. rewrite (hg zero w v), <- hz, !hs, ip_sub, ip_zero. ring. }
  assert (d : same (w - zero)%V w) by (intro v; rewrite ip_sub, ip_zero; ring).
  assert (k : same (g w - g zero - m * (w - zero))%V (z - m * w)%V).
  { apply same_sub; [easy |]. intro v. now rewrite !ip_scale, d. }
  rewrite (same_sq _ _ k), (same_ip _ _ _ _ k d) in c. clear - c. ipa. lra.
Qed.
Lemma call_chord m L f g H : quadratic_with m L f g H ->
  forall x y u v, same (g x) u -> same (g y) v -> f x - f y - 1 / 2 * ip (x - y) (u + v) = 0.
Proof.
  intros (_ & _ & _ & hg & hf) x y u v hu hv. pose proof (hf y x) as k. rewrite <- (hg y x (x - y)%V) in k.
  rewrite ip_sub, (hu (x - y)%V), (hv (x - y)%V) in k. rewrite (ip_sym (x - y)%V), ip_add. lra.
Qed.
Lemma call_symmetric m L f g H : quadratic_with m L f g H ->
  forall x y u v, same (H x) u -> same (H y) v -> ip y u - ip x v = 0.
Proof. intros (_ & hs & _) x y u v hu hv. rewrite (ip_sym y), <- (hu y), (hs x y), (same_r _ _ x hv). ring. Qed.

(** A symmetric operator is the Hessian of a quadratic function. *)
Definition symmetric_between m L M := is_linear M /\ self_adjoint M /\ forall x, m * sq x <= ip (M x) x <= L * sq x.
Lemma symmetric_quadratic m L M : symmetric_between m L M -> quadratic_with m L (fun x => ip (M x) x / 2) M M.
Proof.
  intros (hl & hs & hb). split; [easy | split; [easy | split; [easy | split]]]; intros x y.
  - apply same_sym. now apply linear_sub.
  - pose proof (linear_sub M y x hl) as d. rewrite (d (y - x)%V), !ip_sub, !ip_sub_r.
    pose proof (hs x y) as t. rewrite (ip_sym x) in t. lra.
Qed.
Lemma call_norm L b M : b = L^2 -> bounded_by L M -> forall w z, same (M w) z -> sq z - b * sq w <= 0.
Proof. intros -> h w z k. pose proof (h w). rewrite <- (same_sq _ _ k). lra. Qed.
Lemma call_adjoint M N : adjoint M N -> forall x y u v, same (M x) y -> same (N u) v -> ip x v - ip y u = 0.
Proof. intros h x y u v hy hv. rewrite <- (same_r _ _ x hv), <- (h x u), (hy u). ring. Qed.
Lemma call_skew M : skew M -> forall x y u v, same (M x) y -> same (M u) v -> ip x v + ip y u = 0.
Proof. intros h x y u v hy hv. rewrite <- (same_r _ _ x hv), <- (hy u), (h x u). ring. Qed.
Lemma adjoint_linear M N : adjoint M N -> is_linear N.
Proof.
  intro h. split; intros; intro v; rewrite (ip_sym (N _)), <- h, ?ip_add, ?ip_scale, ?ip_add_r, ?ip_scale_r, !(h v);
    now rewrite ?(ip_sym v).
Qed.
Lemma adjoint_bounded L M N : 0 <= L -> adjoint M N -> bounded_by L M -> bounded_by L N.
Proof.
  intros hL h b u. pose proof (cauchy_schwarz (M (N u)) u) as c. rewrite h in c. fold (sq (N u)) in c.
  pose proof (b (N u)) as k. pose proof (sq_pos u) as p. pose proof (sq_pos (N u)) as q.
  apply (Rmult_le_compat_r (sq u)) in k; [| easy].
  destruct (Req_dec (sq (N u)) 0) as [z | z]; [rewrite z; nra |].
  apply Rmult_le_reg_l with (sq (N u)); [lra | nra].
Qed.

(** ** Operators *)

Lemma call_monotone m A : strongly_monotone_by m A -> forall x u y v, A x u -> A y v ->
  m * sq (x - y) - ip (x - y) (u - v) <= 0.
Proof. intros h x u y v hu hv. pose proof (h x u y v hu hv). rewrite (ip_sym (x - y)%V). lra. Qed.
Lemma call_cocoercive b A : cocoercive_by b A -> forall x u y v, A x u -> A y v ->
  b * sq (u - v) - ip (x - y) (u - v) <= 0.
Proof. intros h x u y v hu hv. pose proof (h x u y v hu hv). rewrite (ip_sym (x - y)%V). lra. Qed.
Lemma monotone_by A : monotone A -> strongly_monotone_by 0 A.
Proof. intros h x u y v hu hv. pose proof (h x u y v hu hv). lra. Qed.
Lemma call_map_monotone m T : strongly_monotone_by m (graph T) -> forall x y u v, same (T x) u -> same (T y) v ->
  m * sq (x - y) - ip (x - y) (u - v) <= 0.
Proof.
  intros h x y u v hu hv. pose proof (h x _ y _ eq_refl eq_refl) as c. rewrite (ip_sym (x - y)%V).
  rewrite <- (same_sub _ _ _ _ hu hv (x - y)%V). lra.
Qed.
Lemma call_map_cocoercive b T : cocoercive_by b (graph T) -> forall x y u v, same (T x) u -> same (T y) v ->
  b * sq (u - v) - ip (x - y) (u - v) <= 0.
Proof.
  intros h x y u v hu hv. pose proof (h x _ y _ eq_refl eq_refl) as c. rewrite (ip_sym (x - y)%V).
  pose proof (same_sub _ _ _ _ hu hv) as k. rewrite <- (k (x - y)%V), <- (same_sq _ _ k). lra.
Qed.
Lemma call_map_lipschitz L b T : b = L^2 -> lipschitz_by L (graph T) ->
  forall x y u v, same (T x) u -> same (T y) v -> sq (u - v) - b * sq (x - y) <= 0.
Proof.
  intros -> h x y u v hu hv. pose proof (h x _ y _ eq_refl eq_refl) as c.
  rewrite <- (same_sq _ _ (same_sub _ _ _ _ hu hv)). lra.
Qed.

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
