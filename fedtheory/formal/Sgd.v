(** Steps of stochastic gradients whose clients differ at the minimizer. *)

From FedTheory Require Export Clients Draws Recursions.

(** The mean of the models that the drawn clients reach in one gradient step. *)
Definition drawn_mean {V : space} (m : nat) (hm : (0 < m)%nat) (g : nat -> V -> V) (eta : R) (w : V) (c : nat -> nat) :
  V :=
  vE (uniform m hm) (fun i => w - eta * g (c i) w)%V.
Arguments drawn_mean {V} m hm g eta w%V c.

Section Step.
Context {V : space}.
Variables (clients draw : law) (m : nat) (hm : (0 < m)%nat) (c : nat -> nat -> nat).
Variables (f : nat -> V -> R) (g : nat -> V -> V) (mu L eta : R) (xs w : V).
Hypothesis curvatures : 0 < mu <= L.
Hypothesis eta_pos : 0 < eta.
Hypothesis strongly : forall k, strongly_convex mu (f k) (g k).
Hypothesis smooth_clients : forall k, smooth L (f k) (g k).
Hypothesis best : minimizer (mean_loss clients f) xs.

Let k := eta * (L - mu) / 2.
Let a := 1 - eta * (L + mu) / 2.
Let Delta := sq (w - xs).
Let h i : V := g i xs.
Let r i : V := (g i w - g i xs - (L + mu) / 2 * (w - xs))%V.
Let hbar o : V := vE (uniform m hm) (fun i => h (c o i)).
Let rbar o : V := vE (uniform m hm) (fun i => r (c o i)).
Let X o : V := (a * (w - xs) - eta * hbar o)%V.
Let Y o : V := (- eta * rbar o)%V.

Lemma step_split o : same (drawn_mean m hm g eta w (c o) - xs) (X o + Y o).
Proof.
  intro z. unfold drawn_mean. rewrite ip_sub, ip_vE. unfold X, Y, hbar, rbar. rewrite ip_add, ip_sub, !ip_scale, !ip_vE.
  rewrite (E_ext _ _ (fun i => ip w z - eta * (ip (r (c o i)) z + ip (h (c o i)) z + (L + mu) / 2 * ip (w - xs) z))).
  - Es. rewrite !ip_sub. unfold a. field.
  - intros i _. unfold r, h. rewrite !ip_sub, !ip_scale, !ip_sub. ring.
Qed.

Lemma curvature_part : E draw (fun o => sq (Y o)) <= k^2 * Delta.
Proof.
  rewrite <- (E_const draw (k^2 * Delta)). apply E_le. intro o. unfold Y.
  replace (sq (- eta * rbar o)) with (eta^2 * sq (rbar o)) by (ips; ring).
  replace (k^2 * Delta) with (eta^2 * (((L - mu) / 2)^2 * Delta)) by (unfold k; field).
  apply Rmult_le_compat_l; [pos |]. unfold rbar. apply Rle_trans with
    (1 := jensen_zero (uniform m hm) (fun i => r (c o i))).
  rewrite <- (E_const (uniform m hm) (((L - mu) / 2)^2 * Delta)). apply E_le. intro i.
  apply (gradient_ball mu L (f (c o i))); [lra | apply strongly | apply smooth_clients].
Qed.

Variable noise2 : R.
Hypothesis centred : forall z, E draw (fun o => ip (hbar o) z) = 0.
Hypothesis spread_of_draw : E draw (fun o => sq (hbar o)) = noise2.

Lemma heterogeneity_part : E draw (fun o => sq (X o)) = a^2 * Delta + eta^2 * noise2.
Proof.
  rewrite <- spread_of_draw.
  transitivity (E draw (fun o => a^2 * Delta - 2 * a * eta * ip (hbar o) (w - xs) + eta^2 * sq (hbar o))).
  - apply E_ext. intros o _. unfold X, Delta. ips. ring.
  - Es. rewrite centred. ring.
Qed.

Lemma step_bound : E draw (fun o => sq (drawn_mean m hm g eta w (c o) - xs))
  <= (k * sqrt Delta + sqrt (a^2 * Delta + eta^2 * noise2))^2.
Proof.
  assert (hD : 0 <= Delta) by apply sq_pos.
  assert (hk : 0 <= k) by (unfold k; pos).
  assert (hX : 0 <= a^2 * Delta + eta^2 * noise2) by (rewrite <- heterogeneity_part; apply E_pos; intro; apply sq_pos).
  rewrite (E_ext draw _ (fun o => sq (X o + Y o))) by (intros; apply same_sq, step_split).
  rewrite Rplus_comm. apply (@minkowski (L2 draw V) X Y).
  - apply sqrt_pos.
  - apply Rmult_le_pos; [easy | apply sqrt_pos].
  - rewrite pow2_sqrt by easy. right. apply heterogeneity_part.
  - rewrite Rpow_mult_distr, pow2_sqrt by easy. apply curvature_part.
Qed.

(** The tangent at the floor. *)
Lemma step_affine : k < 1 -> E draw (fun o => sq (drawn_mean m hm g eta w (c o) - xs))
  <= (k + a^2 / (1 - k)) * Delta + eta^2 * noise2 / (1 - k).
Proof.
  intro hk1. assert (hk : 0 <= k) by (unfold k; pos). assert (hD : 0 <= Delta) by apply sq_pos.
  rewrite (E_ext draw _ (fun o => sq (X o + Y o))) by (intros; apply same_sq, step_split).
  pose proof curvature_part as cp. pose proof heterogeneity_part as hp.
  destruct (Req_dec k 0) as [e | e].
  - assert (z : E draw (fun o => sq (Y o)) <= 0) by (rewrite e in cp; lra).
    assert (s : @sq (L2 draw V) (@add (L2 draw V) X Y) = E draw (fun o => sq (X o))).
    { unfold sq at 1. rewrite ip_add, !ip_add_r, (@sq_zero_r (L2 draw V) Y z X), (@sq_zero (L2 draw V) Y z X),
        (@sq_zero (L2 draw V) Y z Y).
      change (@ip (L2 draw V) X X) with (E draw (fun o => sq (X o))). ring. }
    change (E draw (fun o => sq (X o + Y o))) with (@sq (L2 draw V) (@add (L2 draw V) X Y)). rewrite s, hp, e.
    right. field.
  - pose proof (@young (L2 draw V) ((1 - k) / k) Y X ltac:(apply Rdiv_lt_0_compat; lra)) as y0.
    change (2 * E draw (fun o => ip (Y o) (X o)) <= (1 - k) / k * E draw (fun o => sq (Y o))
      + / ((1 - k) / k) * E draw (fun o => sq (X o))) in y0.
    assert (s : E draw (fun o => sq (X o + Y o)) = E draw (fun o => sq (X o)) + 2 * E draw (fun o => ip (Y o) (X o))
      + E draw (fun o => sq (Y o))).
    { rewrite <- E_scal, <- !E_plus. apply E_ext. intros. ips. ring. }
    rewrite s. replace (/ ((1 - k) / k)) with (k / (1 - k)) in y0 by (field; lra).
    assert (1 / k * E draw (fun o => sq (Y o)) <= 1 / k * (k^2 * Delta))
      by (apply Rmult_le_compat_l; [apply Rlt_le, Rdiv_lt_0_compat; lra | easy]).
    replace (1 / k * (k^2 * Delta)) with (k * Delta) in * by (field; lra).
    replace ((1 - k) / k * E draw (fun o => sq (Y o))) with (1 / k * E draw (fun o => sq (Y o))
      - E draw (fun o => sq (Y o))) in y0 by (field; lra).
    replace ((k + a^2 / (1 - k)) * Delta + eta^2 * noise2 / (1 - k)) with
      (k * Delta + / (1 - k) * (a^2 * Delta + eta^2 * noise2)) by (field; lra).
    rewrite <- hp. replace (/ (1 - k) * E draw (fun o => sq (X o))) with
      (E draw (fun o => sq (X o)) + k / (1 - k) * E draw (fun o => sq (X o))) by (field; lra).
    lra.
Qed.
End Step.

(** ** Any sampling of clients under which the mean gradient at the minimizer is 0 in expectation *)

Section AnySampling.
Context {V : space}.
Variables (m : nat) (hm : (0 < m)%nat).
Variables (f : nat -> V -> R) (g : nat -> V -> V) (mu L eta : R) (xs : V).
Hypothesis curvatures : 0 < mu <= L.
Hypothesis eta_pos : 0 < eta.
Hypothesis strongly : forall k, strongly_convex mu (f k) (g k).
Hypothesis smooth_clients : forall k, smooth L (f k) (g k).

Theorem client_sampling_one_step draw c w :
  (forall z, E draw (fun o => ip (vE (uniform m hm) (fun i => g (c o i) xs)) z) = 0) ->
  let k := eta * (L - mu) / 2 in let a := 1 - eta * (L + mu) / 2 in let Delta := sq (w - xs) in
  let variance := E draw (fun o => sq (vE (uniform m hm) (fun i => g (c o i) xs))) in
  E draw (fun o => sq (drawn_mean m hm g eta w (c o) - xs))
    <= (k * sqrt Delta + sqrt (a^2 * Delta + eta^2 * variance))^2.
Proof.
  intros h k a Delta variance.
  now apply (step_bound draw m hm c f g mu L eta xs w curvatures eta_pos strongly smooth_clients variance).
Qed.
End AnySampling.

(** ** Draws with replacement, in proportion to the weights *)

Section WithReplacement.
Context {V : space}.
Variables (clients : law) (m : nat) (hm : (0 < m)%nat).
Variables (f : nat -> V -> R) (g : nat -> V -> V) (mu L eta : R) (xs : V).
Hypothesis curvatures : 0 < mu <= L.
Hypothesis eta_pos : 0 < eta.
Hypothesis strongly : forall k, strongly_convex mu (f k) (g k).
Hypothesis smooth_clients : forall k, smooth L (f k) (g k).
Hypothesis best : minimizer (mean_loss clients f) xs.
Let zeta2 := E clients (fun k => sq (g k xs)).

Lemma draws_centred draw c z : draws_with_replacement clients draw m c ->
  E draw (fun o => ip (vE (uniform m hm) (fun i => g (c o i) xs)) z) = 0.
Proof.
  intros [h1 _]. rewrite (E_ext draw _ (fun o => E (uniform m hm) (fun i => ip (g (c o i) xs) z)))
    by (intros; apply ip_vE).
  rewrite E_swap, (E_ext _ _ (fun _ => 0)); [apply E_const |]. intros i hi.
  rewrite (h1 i (fun k => ip (g k xs) z) hi).
  apply (gradients_at_minimizer clients f g L); [intro; apply smooth_clients | exact best].
Qed.

Lemma draws_spread draw c : draws_with_replacement clients draw m c ->
  E draw (fun o => sq (vE (uniform m hm) (fun i => g (c o i) xs))) = zeta2 / INR m.
Proof.
  intro h. assert (z : forall v, ip (vE clients (fun k => g k xs)) v = 0).
  { intro v. rewrite ip_vE. apply (gradients_at_minimizer clients f g L); [intro; apply smooth_clients | exact best]. }
  pose proof (with_replacement clients draw m hm c (fun k => g k xs) h) as e.
  assert (s : forall x : V, sq (x - vE clients (fun k => g k xs)) = sq x)
    by (intro; unfold sq; rewrite ip_sub, !ip_sub_r, (ip_sym x (vE clients _)), !z; ring).
  rewrite (E_ext draw _ (fun o => sq (vE (uniform m hm) (fun i => g (c o i) xs)))),
    (E_ext clients _ (fun k => sq (g k xs))) in e by (intros; apply s).
  exact e.
Qed.

Theorem sgd_drawn_step draw c w : draws_with_replacement clients draw m c ->
  let k := eta * (L - mu) / 2 in let a := 1 - eta * (L + mu) / 2 in let Delta := sq (w - xs) in
  E draw (fun o => sq (drawn_mean m hm g eta w (c o) - xs))
    <= (k * sqrt Delta + sqrt (a^2 * Delta + eta^2 * zeta2 / INR m))^2.
Proof.
  intros h k a Delta. replace (eta^2 * zeta2 / INR m) with (eta^2 * (zeta2 / INR m)) by (unfold Rdiv; ring).
  apply (step_bound draw m hm c f g mu L eta xs w curvatures eta_pos strongly smooth_clients (zeta2 / INR m)).
  - intro z. now apply draws_centred.
  - now apply draws_spread.
Qed.

(** T steps: [past t] and [w t] are the law and the model after t steps, and clients are drawn anew in each. *)
Theorem sgd_fixed_step_distance (past : nat -> law) (w : nat -> nat -> V) (draw : nat -> law)
  (c : nat -> nat -> nat -> nat)
    (w0 : V) T :
  eta * L < 2 -> (forall t, draws_with_replacement clients (draw t) m (c t)) -> (forall o, w O o = w0) ->
  (forall t (h : V -> R), E (past (S t)) (fun o => h (w (S t) o))
    = E (past t) (fun o => E (draw t) (fun b => h (drawn_mean m hm g eta (w t o) (c t b))))) ->
  let k := eta * (L - mu) / 2 in let a := 1 - eta * (L + mu) / 2 in let q := k + a^2 / (1 - k) in
  E (past T) (fun o => sq (w T o - xs))
    <= q^T * sq (w0 - xs) + (1 - q^T) * (eta * zeta2 / (INR m * mu * (2 - eta * L))).
Proof.
  intros hL hd h0 hf k a q. pose proof (lt_0_INR m hm) as pm.
  assert (hk : 0 <= k < 1) by (unfold k; split; nra).
  set (floor := eta * zeta2 / (INR m * mu * (2 - eta * L))).
  assert (hq : 0 <= q) by (unfold q; apply Rplus_le_le_0_compat;
    [lra | apply Rmult_le_pos; [apply pow2_ge_0 | left; apply Rinv_0_lt_compat; lra]]).
  pose proof (geometric_floor (fun t => E (past t) (fun o => sq (w t o - xs))) q floor T hq) as G. cbv beta in G.
  assert (e0 : E (past O) (fun o => sq (w O o - xs)) = sq (w0 - xs)).
  { rewrite (E_ext _ _ (fun _ => sq (w0 - xs))) by (intros; now rewrite h0). apply E_const. }
  rewrite e0 in G. replace (q^T * sq (w0 - xs) + (1 - q^T) * floor) with (floor + q^T * (sq (w0 - xs) - floor)) by ring.
  apply G. intros t _. rewrite (hf t (fun z => sq (z - xs))).
  apply Rle_trans with (E (past t) (fun o => q * sq (w t o - xs) + (floor - q * floor))); [| right; Es; ring].
  apply E_le. intro o.
  apply Rle_trans with (1 := step_affine (draw t) m hm (c t) f g mu L eta xs (w t o) curvatures eta_pos strongly
    smooth_clients
    (zeta2 / INR m) (fun z => draws_centred _ _ z (hd t)) (draws_spread _ _ (hd t)) (proj2 hk)).
  fold k a q. right. apply Rplus_eq_compat_l. unfold floor, q.
  assert (k1 : 1 - k <> 0) by lra. assert (2 - eta * L <> 0) by lra.
  replace (eta * zeta2 / (INR m * mu * (2 - eta * L)) - (k + a^2 / (1 - k)) *
    (eta * zeta2 / (INR m * mu * (2 - eta * L))))
    with (((1 - k)^2 - a^2) * (eta * zeta2 / (INR m * mu * (2 - eta * L))) / (1 - k)) by (field; repeat split; lra).
  replace ((1 - k)^2 - a^2) with (eta * mu * (2 - eta * L)) by (unfold k, a; field). field. repeat split; lra.
Qed.
End WithReplacement.

(** ** Draws of m of N equally weighted clients *)

Section Subsets.
Context {V : space}.
Variables (n : nat) (hn : (0 < n)%nat) (m : nat) (hm : (0 < m)%nat) (draw : law) (c : nat -> nat -> nat).
Variables (f : nat -> V -> R) (g : nat -> V -> V) (mu L eta : R) (xs w : V).
Hypothesis several : (2 <= n)%nat.
Hypothesis at_most : (m <= n)%nat.
Hypothesis curvatures : 0 < mu <= L.
Hypothesis eta_pos : 0 < eta.
Hypothesis strongly : forall k, strongly_convex mu (f k) (g k).
Hypothesis smooth_clients : forall k, smooth L (f k) (g k).
Hypothesis best : minimizer (mean_loss (uniform n hn) f) xs.
Hypothesis draws : draws_without_replacement n draw m c.
Let clients := uniform n hn.
Let alpha := (INR n - INR m) / (INR m * (INR n - 1)).

Lemma sums_are_means h : sum n h / INR n = E clients h.
Proof. unfold clients, E. cbn. rewrite sum_scal. unfold Rdiv. ring. Qed.

Lemma subset_unbiased (x : nat -> V) z : E draw (fun o => ip (vE (uniform m hm) (fun i => x (c o i))) z)
  = ip (vE clients x) z.
Proof.
  destruct draws as [h1 _]. rewrite (E_ext draw _ (fun o => E (uniform m hm) (fun i => ip (x (c o i)) z)))
    by (intros; apply ip_vE).
  rewrite E_swap, (E_ext _ _ (fun _ => ip (vE clients x) z)); [apply E_const |]. intros i hi.
  now rewrite (h1 i (fun k => ip (x k) z) hi), sums_are_means, ip_vE.
Qed.

Lemma subset_square (x : nat -> V) (z : V) : E draw (fun o => sq (vE (uniform m hm) (fun i => x (c o i)) - z))
  = sq (vE clients x - z) + alpha * E clients (fun k => sq (x k - vE clients x)).
Proof.
  unfold alpha, clients. rewrite <- (without_replacement n hn draw m hm c x several draws). fold clients.
  transitivity (E draw (fun o => sq (vE clients x - z)
    + 2 * (ip (vE (uniform m hm) (fun i => x (c o i))) (vE clients x - z) - ip (vE clients x) (vE clients x - z))
    + sq (vE (uniform m hm) (fun i => x (c o i)) - vE clients x))).
  - apply E_ext. intros o _. ips. ring.
  - Es. rewrite subset_unbiased. ring.
Qed.

Lemma zero_gradient z : ip (vE clients (fun k => g k xs)) z = 0.
Proof. rewrite ip_vE. apply (gradients_at_minimizer clients f g L); [intro; apply smooth_clients | exact best]. Qed.

Theorem sgd_subset_step :
  let k := eta * (L - mu) / 2 in let a := 1 - eta * (L + mu) / 2 in let Delta := sq (w - xs) in
  let zeta2 := E clients (fun k => sq (g k xs)) in
  E draw (fun o => sq (drawn_mean m hm g eta w (c o) - xs))
    <= (k * sqrt Delta + sqrt (a^2 * Delta + alpha * eta^2 * zeta2))^2.
Proof.
  intros k a Delta zeta2. replace (alpha * eta^2 * zeta2) with (eta^2 * (alpha * zeta2)) by ring.
  apply (step_bound draw m hm c f g mu L eta xs w curvatures eta_pos strongly smooth_clients (alpha * zeta2)).
  - intro z. rewrite (subset_unbiased (fun k => g k xs)). apply zero_gradient.
  - pose proof (subset_square (fun k => g k xs) (vE clients (fun k => g k xs))) as e.
    assert (s : forall x : V, sq (x - vE clients (fun k => g k xs)) = sq x)
      by (intro; unfold sq; rewrite ip_sub, !ip_sub_r, (ip_sym x (vE clients _)), !zero_gradient; ring).
    rewrite s in e. unfold sq at 2 in e. rewrite zero_gradient in e.
    rewrite (E_ext draw _ (fun o => sq (vE (uniform m hm) (fun i => g (c o i) xs)))),
      (E_ext clients _ (fun k => sq (g k xs))) in e
      by (intros; apply s). rewrite e. unfold zeta2. ring.
Qed.

(** Without the square roots, and with the objective gap: a local step of federated averaging. *)
Theorem fedavg_sampled_step low : eta * L <= 1 -> eta * (L + mu) < 2 -> (forall k, bounded_below (f k) (low k)) ->
  let cc := 1 - eta * mu in let Gamma := objective_gap clients f low xs in
  E draw (fun o => sq (drawn_mean m hm g eta w (c o) - xs))
    <= cc^2 * sq (w - xs) + 2 * alpha * eta^2 * L * Gamma / (1 - alpha * eta * (L - mu) / (2 * cc)).
Proof.
  intros hx hs below cc Gamma.
  assert (hn2 : 2 <= INR n) by (apply (le_INR 2) in several; cbn in several; lra).
  assert (hmn : INR m <= INR n) by now apply le_INR. pose proof (le_INR 1 m ltac:(lia)) as hm1. cbn in hm1.
  assert (ha : 0 <= alpha <= 1).
  { unfold alpha. split; [pos |]. apply Rmult_le_reg_r with (INR m * (INR n - 1)); [pos |].
    replace ((INR n - INR m) / (INR m * (INR n - 1)) * (INR m * (INR n - 1))) with (INR n - INR m) by (field; lra).
    nra. }
  assert (hc : 0 < cc) by (unfold cc; nra).
  set (u i := (g i w - g i xs - mu * (w - xs))%V). set (z := (w - xs)%V).
  set (x i := (w - eta * g i w)%V). set (ubar := vE clients u).
  change (E draw (fun o => sq (vE (uniform m hm) (fun i => x (c o i)) - xs))
    <= cc^2 * sq z + 2 * alpha * eta^2 * L * Gamma / (1 - alpha * eta * (L - mu) / (2 * cc))).
  rewrite subset_square.
  assert (m1 : same (vE clients x - xs) (cc * z - eta * ubar)).
  { intro v. rewrite !ip_sub, !ip_scale. unfold ubar, x. rewrite !ip_vE.
    rewrite (E_ext clients (fun i => ip (w - eta * g i w) v)
      (fun i => ip w v - eta * (ip (u i) v + ip (g i xs) v + mu * ip z v)))
      by (intros; unfold u, z; rewrite !ip_sub, !ip_scale, ?ip_sub; ring).
    Es. rewrite <- (ip_vE clients (fun i => g i xs)), zero_gradient. unfold z, cc. rewrite !ip_sub. ring. }
  assert (m2 : forall k, same (x k - vE clients x) (- eta * (u k - ubar + g k xs))).
  { intros k v. pose proof (m1 v) as e. rewrite ip_sub, ip_sub, !ip_scale in e.
    rewrite ip_sub, ip_scale, ip_add, ip_sub.
    unfold x at 1, u at 1. rewrite !ip_sub, !ip_scale. unfold z in e. rewrite ip_sub in *. unfold cc in e. unfold z.
    rewrite ?ip_sub. lra. }
  rewrite (same_sq _ _ m1), (E_ext clients _ (fun k => eta^2 * sq (u k - ubar + g k xs)))
    by (intros k _; rewrite (same_sq _ _ (m2 k)); ips; ring).
  rewrite E_scal.
  assert (co : forall k, sq (u k) <= (L - mu) * ip (u k) z).
  { intro k. apply (cocoercive mu L (f k) (g k) xs w); [lra | apply strongly | apply smooth_clients]. }
  assert (mo : 0 <= ip ubar z).
  { unfold ubar. rewrite ip_vE. apply E_pos. intro k. pose proof (strongly_monotone mu (f k) (g k) xs w (strongly k)) as
      s.
    unfold u. rewrite ip_sub, ip_scale. unfold z, sq in *. lra. }
  assert (het : E clients (fun k => sq (g k xs)) <= 2 * L * Gamma)
    by (apply (heterogeneity_le clients f g L low xs); [lra | intro; apply smooth_clients | easy]).
  pose proof (spread_zero clients u) as sp. fold ubar in sp.
  set (D := 1 - alpha * eta * (L - mu) / (2 * cc)).
  assert (hl : eta * (L - mu) < 2 * cc) by (unfold cc; lra).
  assert (hD : 0 < D).
  { unfold D. assert (alpha * eta * (L - mu) / (2 * cc) < 1); [| lra]. apply Rmult_lt_reg_r with (2 * cc); [lra |].
    replace (alpha * eta * (L - mu) / (2 * cc) * (2 * cc)) with (alpha * (eta * (L - mu))) by (field; lra).
    assert (0 <= eta * (L - mu)) by pos. nra. }
  (* alpha eta^2 |v + h|^2 - (2 c eta/(L - mu)) |v|^2 <= alpha eta^2 |h|^2 / D, with L - mu multiplied out *)
  assert (pt : forall v q : V, (L - mu) * (alpha * eta^2 * sq (v + q)) - 2 * cc * eta * sq v
    <= (L - mu) * (alpha * eta^2 * sq q / D)).
  { intros v q. pose proof (sq_pos (D * v - (1 - D) * q)%V) as p. apply Rmult_le_reg_l with (D * (1 - D + D)); [pos |].
    assert (e1 : (L - mu) * alpha * eta = (1 - D) * (2 * cc)) by (unfold D; field; lra).
    replace (D * (1 - D + D) * ((L - mu) * (alpha * eta^2 * sq (v + q)) - 2 * cc * eta * sq v))
      with (D * eta * (((L - mu) * alpha * eta) * sq (v + q) - 2 * cc * sq v)) by ring.
    replace (D * (1 - D + D) * ((L - mu) * (alpha * eta^2 * sq q / D))) with (eta * ((L - mu) * alpha * eta) * sq q)
      by (field; lra).
    rewrite e1. replace (D * eta * ((1 - D) * (2 * cc) * sq (v + q) - 2 * cc * sq v))
      with (2 * cc * eta * (D * ((1 - D) * sq (v + q) - sq v))) by ring.
    replace (eta * ((1 - D) * (2 * cc)) * sq q) with (2 * cc * eta * ((1 - D) * sq q)) by ring.
    apply Rmult_le_compat_l; [pos |].
    assert (D * ((1 - D) * sq (v + q) - sq v) = (1 - D) * sq q - sq (D * v - (1 - D) * q)) by (ips; ring). lra. }
  set (S := E clients (fun k => sq (u k - ubar))) in *. set (S' := E clients (fun k => sq (u k - ubar + g k xs))).
  set (Z2 := E clients (fun k => sq (g k xs))) in *.
  assert (all : (L - mu) * (alpha * eta^2 * S') - 2 * cc * eta * S <= (L - mu) * (alpha * eta^2 * Z2 / D)).
  { replace ((L - mu) * (alpha * eta^2 * S') - 2 * cc * eta * S) with
      (E clients (fun k => (L - mu) * (alpha * eta^2 * sq (u k - ubar + g k xs)) - 2 * cc * eta * sq (u k - ubar)))
      by (unfold S', S; now Es).
    replace ((L - mu) * (alpha * eta^2 * Z2 / D)) with (E clients
      (fun k => (L - mu) * (alpha * eta^2 * sq (g k xs) / D)))
      by (unfold Z2; rewrite E_scal, E_div, E_scal; ring).
    apply E_le. intro. apply pt. }
  assert (cs : S + sq ubar <= (L - mu) * ip ubar z).
  { rewrite <- sp. unfold ubar. rewrite ip_vE, <- E_scal. apply E_le. intro. apply co. }
  assert (hZ : alpha * eta^2 * Z2 / D <= 2 * alpha * eta^2 * L * Gamma / D).
  { apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat |].
    replace (2 * alpha * eta^2 * L * Gamma) with (alpha * eta^2 * (2 * L * Gamma)) by ring.
    apply Rmult_le_compat_l; [pos | easy]. }
  replace (sq (cc * z - eta * ubar)) with (cc^2 * sq z - 2 * cc * eta * ip ubar z + eta^2 * sq ubar) by (ips; ring).
  apply Rle_trans with (cc^2 * sq z + alpha * eta^2 * Z2 / D); [| lra].
  assert (hS : 0 <= S) by (apply E_pos; intro; apply sq_pos). pose proof (sq_pos ubar) as hub.
  destruct (Req_dec L mu) as [e | e].
  - (* all curvatures are mu *)
    assert (hu : forall k, sq (u k) <= 0) by (intro k; pose proof (co k); replace (L - mu) with 0 in * by lra; lra).
    assert (hub0 : sq ubar <= 0) by (replace (L - mu) with 0 in cs by lra; lra).
    assert (hS' : S' = Z2).
    { unfold S', Z2. apply E_ext. intros k _. unfold sq at 1. rewrite ip_add, !ip_add_r, !ip_sub, !ip_sub_r.
      rewrite !(sq_zero _ (hu k)), !(sq_zero _ hub0), !(sq_zero_r _ (hu k)), !(sq_zero_r _ hub0). unfold sq. ring. }
    rewrite hS'. replace D with 1 by (unfold D; replace (L - mu) with 0 by lra; field; lra).
    assert (0 <= 2 * cc * eta * ip ubar z) by pos. replace (sq ubar) with 0 by lra. lra.
  - assert (hLm : 0 < L - mu) by lra. apply Rmult_le_reg_l with (L - mu); [easy |].
    assert (2 * cc * eta * (S + sq ubar) <= 2 * cc * eta * ((L - mu) * ip ubar z))
      by (apply Rmult_le_compat_l; [pos | easy]).
    assert (0 <= eta * (2 * cc - eta * (L - mu)) * sq ubar) by pos. lra.
Qed.
End Subsets.
