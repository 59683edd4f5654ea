(** Smoothness in the usual sense, a derivative with a Lipschitz continuous gradient, is that of [Functions.v]. *)

From FedTheory Require Import Calls.

Section Smoothness.
Context {V : space}.
Implicit Types (f : V -> R) (g : V -> V) (x y d h : V).

(** The derivative of [f] at [x] is the product with [g x]. Vectors with the same inner products have the same value. *)
Definition differentiable f g := (forall x y, same x y -> f x = f y) /\
  forall x e, 0 < e -> exists delta, 0 < delta /\
    forall h, sq h <= delta^2 -> (f (x + h)%V - f x - ip (g x) h)^2 <= e^2 * sq h.
Definition lipschitz_gradient L g := forall x y, sq (g y - g x) <= L^2 * sq (y - x).

(** [g] is the gradient of [f] along every line. *)
Definition gradient_along_lines f g := (forall x y, same x y -> f x = f y)
  /\ forall x d, derivable_pt_lim (fun t => f (x + t * d)%V) 0 (ip (g x) d).

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

Lemma square_le a b : 0 <= b -> a^2 <= b^2 -> Rabs a <= b.
Proof. intros hb h. apply Rnot_lt_le. intro k. pose proof (Rabs_pos a). rewrite <- (pow2_abs a) in h. nra. Qed.

Lemma differentiable_along f g : differentiable f g -> gradient_along_lines f g.
Proof.
  intros [respects h]. split; [easy |]. intros x d e he. set (n := sqrt (sq d) + 1).
  assert (n0 : 0 <= sqrt (sq d)) by apply sqrt_pos. assert (hn : 0 < n) by (unfold n; lra).
  assert (n2 : sq d <= n^2) by (unfold n; rewrite <- (pow2_sqrt (sq d)) at 1 by apply sq_pos; apply pow_incr; lra).
  destruct (h x (e / (2 * n)) ltac:(pos)) as (delta & hd & near). exists (mkposreal (delta / n) ltac:(pos)).
  intros t ht small. cbn in small. rewrite Rplus_0_l.
  replace (f (x + 0 * d)%V) with (f x) by (apply respects; intro v; ips; ring).
  assert (t2 : t^2 <= (delta / n)^2) by (rewrite <- (pow2_abs t); apply pow_incr; pose proof (Rabs_pos t); lra).
  pose proof (near (t * d)%V) as k. replace (sq (t * d)) with (t^2 * sq d) in k by (ips; ring).
  rewrite ip_scale_r in k. pose proof (sq_pos d). pose proof (pow2_ge_0 t).
  specialize (k ltac:(apply Rle_trans with (t^2 * n^2); [apply Rmult_le_compat_l; lra |];
    replace (delta^2) with ((delta / n)^2 * n^2) by (field; lra); apply Rmult_le_compat_r; [pos | lra])).
  assert (b : Rabs (f (x + t * d)%V - f x - t * ip (g x) d) <= e / 2 * Rabs t).
  { apply square_le; [pose proof (Rabs_pos t); pos |]. apply Rle_trans with (1 := k).
    rewrite Rpow_mult_distr, (pow2_abs t). replace ((e / (2 * n))^2) with ((e / 2)^2 * / n^2) by (field; lra).
    replace ((e / 2)^2 * t^2) with ((e / 2)^2 * / n^2 * (t^2 * n^2)) by (field; lra).
    apply Rmult_le_compat_l; [pos |]. apply Rmult_le_compat_l; lra. }
  replace ((f (x + t * d)%V - f x) / t - ip (g x) d) with ((f (x + t * d)%V - f x - t * ip (g x) d) / t) by (field;
    lra).
  unfold Rdiv. rewrite Rabs_mult, (Rabs_inv t). pose proof (Rabs_pos_lt t ht).
  apply Rle_lt_trans with (e / 2 * Rabs t * / Rabs t); [apply Rmult_le_compat_r; [pos | easy] |].
  replace (e / 2 * Rabs t * / Rabs t) with (e / 2) by (field; lra). lra.
Qed.

(** A function whose slopes along the line from x to y differ from that at x by at most L t |y - x|^2, on one side. *)
Lemma along_line c L f g x y : gradient_along_lines f g ->
  (forall t, 0 <= t <= 1 -> c * ip (g (x + t * (y - x)) - g x)%V (y - x) <= L * t * sq (y - x)) ->
  c * (f y - f x - ip (g x) (y - x)) <= L / 2 * sq (y - x).
Proof.
  intros along h. pose proof along as [respects _]. set (d := (y - x)%V) in *.
  pose proof (rising (fun t => L / 2 * sq d * t^2 - c * (f (x + t * d)%V - ip (g x) d * t))
    (fun t => L / 2 * sq d * (2 * t) - c * (ip (g (x + t * d)%V) d - ip (g x) d))) as mean. cbv beta in mean.
  replace (f (x + 1 * d)%V) with (f y) in mean by (apply respects; intro v; unfold d; ips; ring).
  replace (f (x + 0 * d)%V) with (f x) in mean by (apply respects; intro v; ips; ring).
  enough (L / 2 * sq d * 0^2 - c * (f x - ip (g x) d * 0) <= L / 2 * sq d * 1^2 - c * (f y - ip (g x) d * 1)) by lra.
  apply mean; intros t ht.
  - apply (derivable_pt_lim_minus (fun t => L / 2 * sq d * t^2) (fun t => c * (f (x + t * d)%V - ip (g x) d * t))).
    + apply (derivable_pt_lim_scal (fun t => t^2)). replace (2 * t) with (INR 2 * t ^ pred 2) by (simpl; ring).
      apply derivable_pt_lim_pow.
    + apply (derivable_pt_lim_scal (fun t => f (x + t * d)%V - ip (g x) d * t)).
      apply (derivable_pt_lim_minus (fun t => f (x + t * d)%V) (fun t => ip (g x) d * t)); [now apply along_ray |].
      pose proof (derivable_pt_lim_scal (fun t => t) (ip (g x) d) t 1 (derivable_pt_lim_id t)) as k.
      rewrite Rmult_1_r in k. exact k.
  - pose proof (h t ht) as k. rewrite ip_sub in k. lra.
Qed.

Theorem smooth_iff_lipschitz_gradient L f g : 0 <= L ->
  smooth L f g <-> differentiable f g /\ lipschitz_gradient L g.
Proof.
  intro hL. split.
  - intro s. pose proof s as [up low]. split; [split | intros x y; now apply (smooth_lipschitz L f)].
    + intros x y h. pose proof (up x y). pose proof (low x y).
      assert (z : same (y - x)%V zero) by (intro v; rewrite ip_sub, ip_zero, (h v); ring).
      rewrite (same_r _ _ (g x) z), (same_sq _ _ z), ip_zero_r in *. unfold sq in *. rewrite ip_zero in *. lra.
    + intros x e he. exists (2 * e / (L + 1)). split; [pos |]. intros h small. set (r := (f (x + h)%V - f x - ip (g x)
      h)).
      pose proof (up x (x + h)%V) as u. pose proof (low x (x + h)%V) as l.
      assert (z : same (x + h - x)%V h) by (intro v; ips; ring).
      rewrite (same_r _ _ (g x) z), (same_sq _ _ z) in *. pose proof (sq_pos h) as p.
      assert (b : Rabs r <= L / 2 * sq h) by (apply Rabs_le; unfold r; lra).
      rewrite <- (pow2_abs r). apply Rle_trans with ((L / 2 * sq h)^2); [apply pow_incr; pose proof (Rabs_pos r); lra
        |].
      replace ((L / 2 * sq h)^2) with ((L / 2)^2 * sq h * sq h) by ring. apply Rmult_le_compat_r; [easy |].
      apply Rle_trans with ((L / 2)^2 * (2 * e / (L + 1))^2); [apply Rmult_le_compat_l; [pos | easy] |].
      replace ((L / 2)^2 * (2 * e / (L + 1))^2) with ((L / (L + 1))^2 * e^2) by (field; lra).
      assert (q : 0 <= L / (L + 1) <= 1).
      { split; [pos |]. apply Rmult_le_reg_r with (L + 1); [lra |].
        replace (L / (L + 1) * (L + 1)) with L by (field; lra). lra. }
      rewrite <- (Rmult_1_l (e^2)) at 2. apply Rmult_le_compat_r; [pos | nra].
  - intros [df lip]. pose proof (differentiable_along f g df) as along.
    assert (slopes : forall c x y t, c^2 = 1 -> 0 <= t <= 1 ->
      c * ip (g (x + t * (y - x)) - g x)%V (y - x) <= L * t * sq (y - x)).
    { intros c x y t hc ht. set (d := (y - x)%V). set (z := (g (x + t * d) - g x)%V).
      pose proof (lip x (x + t * d)%V) as k. fold z in k.
      assert (e : same (x + t * d - x)%V (t * d)%V) by (intro v; ips; ring).
      rewrite (same_sq _ _ e) in k. replace (sq (t * d)) with (t^2 * sq d) in k by (ips; ring).
      assert (n : sqrt (sq d)^2 = sq d) by (apply pow2_sqrt, sq_pos). pose proof (sqrt_pos (sq d)) as n0.
      rewrite <- ip_scale. replace (L * t * sq d) with (L * t * sqrt (sq d) * sqrt (sq d)) by (rewrite <- n at 3; ring).
      apply ip_le; [pos | easy | | lra]. replace (sq (c * z)) with (c^2 * sq z) by (ips; ring).
      rewrite hc, !Rpow_mult_distr, n. lra. }
    split; intros x y.
    + pose proof (along_line 1 L f g x y along (fun t => slopes 1 x y t ltac:(ring))). lra.
    + pose proof (along_line (-1) L f g x y along (fun t => slopes (-1) x y t ltac:(ring))). lra.
Qed.
End Smoothness.
