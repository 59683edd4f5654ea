(** Compressed communication: error feedback and EF21. *)

From FedTheory Require Export Clients Recursions.

(** ** The rate z: z^2 = t z + s *)

Definition ef_t (s eta mu L : R) : R := Rmax (1 - s - (1 + s) * eta * mu) ((1 + s) * eta * L - (1 - s)).
Definition ef_z (s eta mu L : R) : R := (ef_t s eta mu L + sqrt (ef_t s eta mu L ^ 2 + 4 * s)) / 2.

Lemma z_spec t s : 0 < s -> let z := (t + sqrt (t^2 + 4 * s)) / 2 in 0 < z /\ z^2 = t * z + s.
Proof.
  intros hs z. assert (h : 0 <= t^2 + 4 * s) by (pose proof (pow2_ge_0 t); lra).
  pose proof (pow2_sqrt _ h) as e. set (r := sqrt (t^2 + 4 * s)) in *. assert (hr : 0 <= r) by apply sqrt_pos.
  split; [unfold z | unfold z; field_simplify; lra].
  assert (0 < t + r); [| lra]. assert (- t < r); [| lra]. destruct (Rle_dec 0 t); nra.
Qed.

Lemma z_grows t t' s d : 0 < s -> 0 <= d -> t <= t' <= t + d ->
  (t' + sqrt (t'^2 + 4 * s)) / 2 <= (t + sqrt (t^2 + 4 * s)) / 2 + d.
Proof.
  intros hs hd ht. assert (h : 0 <= t^2 + 4 * s) by (pose proof (pow2_ge_0 t); lra).
  pose proof (pow2_sqrt _ h) as e. set (r := sqrt (t^2 + 4 * s)) in *. assert (hr : 0 <= r) by apply sqrt_pos.
  assert (b : sqrt (t'^2 + 4 * s) <= r + d); [| lra].
  rewrite <- (sqrt_pow2 (r + d)) by lra. apply sqrt_le_1_alt.
  assert (hrt : - r <= t <= r) by (split; nra). assert (0 <= d * (r - t)) by pos. nra.
Qed.

Lemma t_steep s eta mu L : 0 < s < 1 -> 0 < eta -> mu <= L -> (1 + s) * eta * (L - mu) <= 2 * ef_t s eta mu L.
Proof.
  intros hs he hm. unfold ef_t. pose proof (Rmax_l (1 - s - (1 + s) * eta * mu) ((1 + s) * eta * L - (1 - s))).
  pose proof (Rmax_r (1 - s - (1 + s) * eta * mu) ((1 + s) * eta * L - (1 - s))). lra.
Qed.

Lemma t_grows s eta mu L d : 0 < s -> 0 < eta -> 0 <= d ->
  ef_t s eta mu L <= ef_t s eta mu (L + d / ((1 + s) * eta)) <= ef_t s eta mu L + d.
Proof.
  intros hs he hd. unfold ef_t. assert (hp : 0 < (1 + s) * eta) by pos.
  replace ((1 + s) * eta * (L + d / ((1 + s) * eta)) - (1 - s)) with ((1 + s) * eta * L - (1 - s) + d) by (field; lra).
  set (a := 1 - s - (1 + s) * eta * mu). set (b := (1 + s) * eta * L - (1 - s)).
  pose proof (Rmax_l a b). pose proof (Rmax_r a b).
  split; [apply Rmax_lub | apply Rmax_lub]; try lra; [apply Rmax_l |]. apply Rle_trans with (2 := Rmax_r _ _). lra.
Qed.

Lemma square_limit X z v : 0 <= z -> 0 <= v -> (forall d, 0 < d -> X <= (z + d)^2 * v) -> X <= z^2 * v.
Proof.
  intros hz hv h. apply Rnot_lt_le. intro k.
  set (gap := X - z^2 * v). assert (hg : 0 < gap) by (unfold gap; lra).
  set (d := Rmin 1 (gap / (2 * ((2 * z + 1) * v + 1)))).
  assert (hq : 0 < (2 * z + 1) * v + 1) by (assert (0 <= (2 * z + 1) * v) by pos; lra).
  assert (hd : 0 < d) by (unfold d; apply Rmin_pos; [lra | apply Rdiv_lt_0_compat; lra]).
  assert (hd1 : d <= 1) by apply Rmin_l.
  assert (hd2 : d * ((2 * z + 1) * v + 1) <= gap / 2).
  { apply Rle_trans with (gap / (2 * ((2 * z + 1) * v + 1)) * ((2 * z + 1) * v + 1)).
    - apply Rmult_le_compat_r; [lra | apply Rmin_r].
    - right. field. lra. }
  pose proof (h d hd) as i. assert (d * d * v <= d * 1 * v) by
    (apply Rmult_le_compat_r; [easy | apply Rmult_le_compat_l; lra]).
  unfold gap in *. nra.
Qed.

(** ** The squares of the proofs: of means, and of deviations *)

Section Squares.
Context {V : space}.
Implicit Types x e g d q : V.
Variables (s eta mu L t z : R).
Hypothesis hs : 0 < s < 1.
Hypothesis he : 0 < eta.
Hypothesis hm : mu < L.
Hypothesis hz : 0 < z.
Hypothesis eq : z^2 = t * z + s.
Hypothesis steep : (1 + s) * eta * (L - mu) <= 2 * t.
Hypothesis branch : t = 1 - s - (1 + s) * eta * mu \/ t = (1 + s) * eta * L - (1 - s).

Lemma t_pos : 0 < t.
Proof. assert (0 < (1 + s) * eta * (L - mu)) by pos. lra. Qed.
Lemma s_eq : s = z^2 - t * z.
Proof. lra. Qed.

Lemma b_pos : 0 <= 2 / (L - mu) - (1 + s) * eta / t.
Proof.
  pose proof t_pos. apply Rmult_le_reg_r with ((L - mu) * t); [pos |].
  replace ((2 / (L - mu) - (1 + s) * eta / t) * ((L - mu) * t)) with (2 * t - (1 + s) * eta * (L - mu)) by (field; lra).
  lra.
Qed.
Lemma b_pos' : 0 <= 2 / (L - mu) - s * eta / t.
Proof.
  pose proof t_pos. pose proof b_pos. assert (s * eta / t <= (1 + s) * eta / t); [| lra].
  apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat | apply Rmult_le_compat_r; lra].
Qed.

Lemma ef_means x e g :
  sq (x - e - eta * g) + s * sq (e + eta * g)
    <= z^2 * (sq (x - e) + / s * sq e) + 2 * eta * z / (L - mu) * ip (g - mu * x) (g - L * x).
Proof.
  pose proof t_pos as ht. pose proof b_pos as hb.
  set (A := (1 + s) * t * z / s). assert (hA : 0 < A) by (unfold A; pos).
  assert (sB : forall k, 0 <= eta * z * (2 / (L - mu) - (1 + s) * eta / t) * sq (g - k * x)) by (intro; pos).
  assert (sA : 0 <= A * sq (e + / A * ((1 - z^2) * x - (1 + s) * eta * g))) by pos.
  set (rhs := z^2 * _ + _). set (lhs := sq _ + _).
  assert (id : exists k, rhs - lhs = A * sq (e + / A * ((1 - z^2) * x - (1 + s) * eta * g))
    + eta * z * (2 / (L - mu) - (1 + s) * eta / t) * sq (g - k * x)).
  { unfold rhs, lhs, A. destruct branch as [b | b].
    - exists mu. set (l := L - mu) in *. assert (hL : L = mu + l) by (unfold l; ring). assert (hl : 0 < l) by lra.
      assert (hmu : mu = (1 - s - t) / ((1 + s) * eta)) by (rewrite b; field; lra).
      clearbody l. rewrite hL, hmu. assert (s <> 0) by lra. assert (1 + s <> 0) by lra. rewrite s_eq in *.
      ips. field. repeat split; lra.
    - exists L. set (l := L - mu) in *. assert (hmu : mu = L - l) by (unfold l; ring). assert (hl : 0 < l) by lra.
      assert (hL : L = (t + 1 - s) / ((1 + s) * eta)) by (rewrite b; field; lra).
      clearbody l. rewrite hmu, hL. assert (s <> 0) by lra. assert (1 + s <> 0) by lra. rewrite s_eq in *.
      ips. field. repeat split; lra. }
  destruct id as [k id]. pose proof (sB k). lra.
Qed.

Lemma ef_deviations e g : s * sq (e + eta * g) <= z^2 * sq e + 2 * eta * z / (L - mu) * sq g.
Proof.
  pose proof t_pos as ht. pose proof b_pos' as hb.
  assert (id : z^2 * sq e + 2 * eta * z / (L - mu) * sq g - s * sq (e + eta * g)
    = t * z * sq (e - s * eta / (t * z) * g) + eta * z * (2 / (L - mu) - s * eta / t) * sq g).
  { assert (hl : L - mu <> 0) by lra. set (l := L - mu) in *. clearbody l. assert (e0 : s = z^2 - t * z) by lra.
    rewrite e0. ips. field. repeat split; lra. }
  assert (0 <= t * z * sq (e - s * eta / (t * z) * g)) by pos.
  assert (0 <= eta * z * (2 / (L - mu) - s * eta / t) * sq g) by pos. lra.
Qed.

(** EF21: [g] and [q] are the gradient and its change, [d] what the server knows of it; the step is - eta d. *)
Lemma ef21_means g d q :
  s * sq (g + q) + s^2 * sq (g + q - d)
    <= z^2 * (s * sq g + sq (g - d)) + 2 * s * z / (eta * (L - mu)) * ip (q - mu * (- eta * d)) (q - L * (- eta * d)).
Proof.
  pose proof t_pos as ht. pose proof b_pos as hb.
  set (A := (1 + s) * t * z). assert (hA : 0 < A) by (unfold A; pos).
  assert (sA : 0 <= A * sq (g - / A * ((z^2 - s^2) * d + s * (1 + s) * q))) by pos.
  assert (sB : forall k, 0 <= s * z / eta * (2 / (L - mu) - (1 + s) * eta / t) * sq (q + k * eta * d)).
  { intro k. apply Rmult_le_pos; [apply Rmult_le_pos; [pos | easy] | apply sq_pos]. }
  set (rhs := z^2 * _ + _). set (lhs := s * sq _ + _).
  assert (id : exists k, rhs - lhs = A * sq (g - / A * ((z^2 - s^2) * d + s * (1 + s) * q))
    + s * z / eta * (2 / (L - mu) - (1 + s) * eta / t) * sq (q + k * eta * d)).
  { unfold rhs, lhs, A. assert (hl0 : L - mu <> 0) by lra. assert (s <> 0) by lra. assert (1 + s <> 0) by lra.
    destruct branch as [b | b].
    - exists mu. assert (hmu : mu = (1 - s - t) / ((1 + s) * eta)) by (rewrite b; field; lra).
      set (l := L - mu) in *. assert (hL : L = mu + l) by (unfold l; ring).
      clearbody l. rewrite hL, hmu. rewrite s_eq in *. ips. field. repeat split; lra.
    - exists L. assert (hL : L = (t + 1 - s) / ((1 + s) * eta)) by (rewrite b; field; lra).
      set (l := L - mu) in *. assert (hmu : mu = L - l) by (unfold l; ring).
      clearbody l. rewrite hmu, hL. rewrite s_eq in *. ips. field. repeat split; lra. }
  destruct id as [k id]. pose proof (sB k). lra.
Qed.

Lemma ef21_deviations p q : s^2 * sq (p + q) <= z^2 * sq p + 2 * s * z / (eta * (L - mu)) * sq q.
Proof.
  pose proof t_pos as ht. assert (hr : 0 < z^2 - s^2) by nra.
  assert (hc : 0 <= 2 * s * z / (eta * (L - mu)) - s^2 - s^4 / (z^2 - s^2)).
  { assert (hl : 0 < eta * (L - mu)) by pos.
    replace (2 * s * z / (eta * (L - mu)) - s^2 - s^4 / (z^2 - s^2)) with
      (s * z * (2 / (eta * (L - mu)) - s * z / (z^2 - s^2))) by (field; repeat split; lra).
    assert (a : s * z / (z^2 - s^2) <= s / t).
    { apply Rmult_le_reg_r with ((z^2 - s^2) * t); [pos |].
      replace (s * z / (z^2 - s^2) * ((z^2 - s^2) * t)) with (s * (t * z)) by (field; lra).
      replace (s / t * ((z^2 - s^2) * t)) with (s * (z^2 - s^2)) by (field; lra). apply Rmult_le_compat_l; nra. }
    assert (b : s / t <= 2 / (eta * (L - mu))).
    { apply Rmult_le_reg_r with (t * (eta * (L - mu))); [pos |].
      replace (s / t * (t * (eta * (L - mu)))) with (s * (eta * (L - mu))) by (field; lra).
      replace (2 / (eta * (L - mu)) * (t * (eta * (L - mu)))) with (2 * t) by (field; repeat split; lra). nra. }
    apply Rmult_le_pos; [pos | lra]. }
  assert (id : z^2 * sq p + 2 * s * z / (eta * (L - mu)) * sq q - s^2 * sq (p + q)
    = (z^2 - s^2) * sq (p - s^2 / (z^2 - s^2) * q) + (2 * s * z / (eta * (L - mu)) - s^2 - s^4 / (z^2 - s^2)) * sq q).
  { ips. field. repeat split; lra. }
  assert (0 <= (z^2 - s^2) * sq (p - s^2 / (z^2 - s^2) * q)) by pos.
  assert (0 <= (2 * s * z / (eta * (L - mu)) - s^2 - s^4 / (z^2 - s^2)) * sq q)
    by (apply Rmult_le_pos; [easy | apply sq_pos]). lra.
Qed.
End Squares.

(** Curvatures between mu and L, as one product. *)
Lemma sector {V : space} (f : V -> R) (g : V -> V) mu L x y : mu <= L -> lower mu f g -> upper L f g ->
  ip (g y - g x - mu * (y - x)) (g y - g x - L * (y - x)) <= 0.
Proof.
  intros h low up. pose proof (cocoercive mu L f g x y h low up) as c. set (v := (g y - g x - mu * (y - x))%V) in *.
  replace (ip v (g y - g x - L * (y - x))) with (sq v - (L - mu) * ip v (y - x)) by (unfold v; ips; ring). lra.
Qed.

Section Rounds.
Context {V : space}.
Variables (clients : law) (f : nat -> V -> R) (g : nat -> V -> V) (s eta mu L : R) (xs : V).
Hypothesis error_range : 0 < s < 1.
Hypothesis eta_pos : 0 < eta.
Hypothesis curvatures : 0 < mu <= L.
Hypothesis strongly : forall k, strongly_convex mu (f k) (g k).
Hypothesis smooth_clients : forall k, smooth L (f k) (g k).

(** Compressors with relative error at most s, one for each client. *)
Definition contractive (C : nat -> V -> V) := forall k v, sq (C k v - v) <= s^2 * sq v.

(** ** Error feedback: client k remembers [e k] *)
Definition sent_in (e : nat -> V) (x : V) k : V := (e k + eta * g k x)%V.
Definition ef_model C (x : V) e : V := (x - vE clients (fun k => C k (sent_in e x k)))%V.
Definition ef_memory (C : nat -> V -> V) (x : V) e k : V := (sent_in e x k - C k (sent_in e x k))%V.
Definition ef_potential (x : V) (e : nat -> V) : R := E clients (fun k => sq (x - xs - e k)) + / s * sq (vE clients e).

Hypothesis common : forall k, minimizer (f k) xs.

Lemma ef_core C x e L' : mu < L' -> L <= L' -> contractive C ->
  ef_potential (ef_model C x e) (ef_memory C x e) <= ef_z s eta mu L' ^ 2 * ef_potential x e.
Proof.
  intros hm hL hC. set (t := ef_t s eta mu L'). set (z := ef_z s eta mu L').
  destruct (z_spec t s (proj1 error_range)) as [hz eq]. change ((t + sqrt (t^2 + 4 * s)) / 2) with z in hz, eq.
  pose proof (t_steep s eta mu L' error_range eta_pos ltac:(lra)) as st. fold t in st.
  assert (br : t = 1 - s - (1 + s) * eta * mu \/ t = (1 + s) * eta * L' - (1 - s)).
  { unfold t, ef_t. destruct (Rle_dec (1 - s - (1 + s) * eta * mu) ((1 + s) * eta * L' - (1 - s))) as [q | q];
      [right; now apply Rmax_right | left; apply Rmax_left; lra]. }
  set (X := (x - xs)%V). set (v := sent_in e x). set (m k := C k (v k)). set (G k := g k x).
  set (eb := vE clients e). set (gb := vE clients G). set (vb := vE clients v). set (mb := vE clients m).
  set (y k := (v k - m k)%V). set (yb := vE clients y).
  assert (evb : same vb (eb + eta * gb)).
  { intro w. unfold vb, v, sent_in, eb, gb, G. rewrite (vE_add clients e (fun k => eta * g k x)%V w), !ip_add.
    f_equal. apply (vE_scale clients eta (fun k => g k x) w). }
  assert (eyb : same yb (vb - mb)) by (intro w; apply (vE_sub clients v m w)).
  (* what the compressors leave out *)
  assert (left_out : ef_potential (ef_model C x e) (ef_memory C x e)
    <= sq (X - vb) + s * sq vb + s * E clients (fun k => sq (v k - vb))).
  { assert (p1 : E clients (fun k => sq (ef_model C x e - xs - ef_memory C x e k)) = E clients (fun k => sq (y k - yb))
      + sq (X - vb)).
    { transitivity (E clients (fun k => sq (y k - (X - mb)))).
      - apply E_ext. intros k _. unfold ef_model, ef_memory, X. fold v m. change (v k - C k (v k))%V with (y k).
        change (vE clients m) with mb. ips. ring.
      - rewrite (spread clients y (X - mb)%V). fold yb. f_equal.
        assert (q : same (yb - (X - mb)) (-1 * (X - vb))) by
          (intro w; rewrite !ip_sub, ip_scale, !ip_sub, (eyb w), ip_sub; ring).
        rewrite (same_sq _ _ q). ips. ring. }
    assert (p2 : vE clients (ef_memory C x e) = yb) by reflexivity.
    assert (p3 : E clients (fun k => sq (y k - yb)) + sq yb <= s^2 * (E clients (fun k => sq (v k - vb)) + sq vb)).
    { unfold yb, vb. rewrite <- !spread_zero, <- E_scal. apply E_le. intro k. apply Rle_trans with (2 := hC k (v k)).
      right. unfold y, m. ips. ring. }
    unfold ef_potential. rewrite p1, p2. set (D := E clients (fun k => sq (y k - yb))) in *.
    assert (0 <= D) by (apply E_pos; intro; apply sq_pos). pose proof (sq_pos yb).
    apply (Rmult_le_compat_l (/ s)) in p3; [| left; apply Rinv_0_lt_compat; lra].
    replace (/ s * (s^2 * (E clients (fun k => sq (v k - vb)) + sq vb))) with
      (s * (E clients (fun k => sq (v k - vb)) + sq vb)) in p3 by (field; lra).
    assert (1 <= / s) by (rewrite <- Rinv_1; apply Rinv_le_contravar; lra).
    assert (1 * D <= / s * D) by now apply Rmult_le_compat_r. lra. }
  apply Rle_trans with (1 := left_out).
  pose proof (ef_means s eta mu L' t z error_range eta_pos hm hz eq st br X eb gb) as means.
  set (c0 := 2 * eta * z / (L' - mu)) in *. assert (hc0 : 0 <= c0)
    by (unfold c0; apply Rmult_le_pos; [pos | left; apply Rinv_0_lt_compat; lra]).
  assert (devs : s * E clients (fun k => sq (v k - vb)) <= z^2 * E clients (fun k => sq (e k - eb))
    + c0 * E clients (fun k => sq (G k - gb))).
  { rewrite <- !E_scal, <- E_plus. apply E_le. intro k.
    apply Rle_trans with (2 := ef_deviations s eta mu L' t z error_range eta_pos hm hz eq st (e k - eb) (G k - gb)).
    right. f_equal. apply same_sq. intro w. rewrite ip_sub, (evb w). unfold v, sent_in, G.
    repeat rewrite ?ip_add, ?ip_sub, ?ip_scale. ring. }
  assert (I : ip (gb - mu * X) (gb - L' * X) + E clients (fun k => sq (G k - gb)) <= 0).
  { apply Rle_trans with (E clients (fun k => ip (G k - mu * X) (G k - L' * X))).
    - right. transitivity (E clients (fun k => sq (G k)) - (mu + L') * ip gb X + mu * L' * sq X).
      + rewrite (spread_zero clients G). fold gb. ips. ring.
      + unfold gb. rewrite ip_vE, <- E_scal, <- E_minus, <- (E_const clients (mu * L' * sq X)), <- E_plus. apply E_ext.
        intros k _. ips. ring.
    - rewrite <- (E_const clients 0). apply E_le. intro k.
      pose proof (sector (f k) (g k) mu L' xs x ltac:(lra) (strongly k)
        (upper_le L L' _ _ hL (proj1 (smooth_clients k)))) as sc.
      pose proof (minimizer_gradient L (f k) (g k) xs (proj1 (smooth_clients k)) (common k)) as z0.
      assert (z0r : forall w, ip w (g k xs) = 0) by (intro; rewrite ip_sym; apply z0).
      apply Rle_trans with (2 := sc). right. unfold G, X. ips. rewrite ?z0, ?z0r. ring. }
  unfold ef_potential.
  assert (pot : E clients (fun k => sq (x - xs - e k)) = E clients (fun k => sq (e k - eb)) + sq (X - eb)).
  { transitivity (E clients (fun k => sq (e k - X))); [apply E_ext; intros; unfold X; ips; ring |].
    rewrite (spread clients e X). fold eb. f_equal. ips. ring. }
  rewrite pot. fold eb. rewrite (same_sq _ _ evb) in *.
  assert (e2 : sq (X - vb) = sq (X - eb - eta * gb)) by (apply same_sq; intro w; rewrite !ip_sub, (evb w), ip_add;
    ring).
  rewrite e2. apply (Rmult_le_compat_l c0) in I; [| easy]. lra.
Qed.

Theorem error_feedback_ef_round C x e : contractive C ->
  ef_potential (ef_model C x e) (ef_memory C x e) <= ef_z s eta mu L ^ 2 * ef_potential x e.
Proof.
  intro hC. destruct (z_spec (ef_t s eta mu L) s (proj1 error_range)) as [hz _]. fold (ef_z s eta mu L) in hz.
  assert (hp : 0 <= ef_potential x e).
  { unfold ef_potential. apply Rplus_le_le_0_compat; [apply E_pos; intro; apply sq_pos |].
    apply Rmult_le_pos; [left; apply Rinv_0_lt_compat; lra | apply sq_pos]. }
  apply square_limit; [lra | easy |]. intros d hd. set (L' := L + d / ((1 + s) * eta)).
  assert (hd' : 0 < d / ((1 + s) * eta)) by (apply Rdiv_lt_0_compat; [easy | pos]).
  apply Rle_trans with (1 := ef_core C x e L' ltac:(unfold L'; lra) ltac:(unfold L'; lra) hC).
  apply Rmult_le_compat_r; [easy |].
  destruct (z_spec (ef_t s eta mu L') s (proj1 error_range)) as [hz' _]. fold (ef_z s eta mu L') in hz'.
  apply pow_incr. split; [lra |].
  apply z_grows; [lra | lra |]. apply t_grows; lra.
Qed.

Fixpoint ef_run (C : nat -> nat -> V -> V) (x : V) (r : nat) : V * (nat -> V) :=
  match r with
  | O => (x, fun _ => zero)
  | S r => let st := ef_run C x r in (ef_model (C r) (fst st) (snd st), ef_memory (C r) (fst st) (snd st))
  end.

Theorem error_feedback_ef_distance C x r : (forall i, contractive (C i)) ->
  sq (fst (ef_run C x r) - xs) <= (1 + s) * (ef_z s eta mu L ^ 2) ^ r * sq (x - xs).
Proof.
  intro hC. pose proof (geometric_pure (fun r => ef_potential (fst (ef_run C x r)) (snd (ef_run C x r)))
    (ef_z s eta mu L ^ 2) r
    (pow2_ge_0 _)) as G. cbv beta in G. specialize (G ltac:(intros t _; cbn [ef_run fst snd];
      apply error_feedback_ef_round, hC)).
  assert (p0 : ef_potential (fst (ef_run C x 0)) (snd (ef_run C x 0)) = sq (x - xs)).
  { cbn [ef_run fst snd]. unfold ef_potential. rewrite (E_ext clients _ (fun _ => sq (x - xs))) by (intros; ips; ring).
    rewrite E_const. assert (z : same (vE clients (fun _ => @zero V)) zero) by apply vE_const. rewrite (same_sq _ _ z).
    ips. ring. }
  rewrite p0 in G. set (st := ef_run C x r) in *. set (y := fst st) in *. set (e := snd st) in *.
  unfold ef_potential in G.
  set (a := (y - xs - vE clients e)%V).
  assert (ha : sq a <= E clients (fun k => sq (y - xs - e k))).
  { apply Rle_trans with (sq (vE clients e - (y - xs))); [right; unfold a; ips; ring |].
    apply Rle_trans with (1 := jensen clients e (y - xs)%V). right. apply E_ext. intros. ips. ring. }
  assert (hy : sq (y - xs) <= (1 + s) * (sq a + / s * sq (vE clients e))).
  { pose proof (young s a (vE clients e) (proj1 error_range)) as yg.
    replace (sq (y - xs)) with (sq a + 2 * ip a (vE clients e) + sq (vE clients e)) by (unfold a; ips; ring).
    replace ((1 + s) * (sq a + / s * sq (vE clients e))) with
      (sq a + s * sq a + (/ s * sq (vE clients e) + sq (vE clients e))) by (field; lra). lra. }
  apply Rle_trans with (1 := hy). rewrite Rmult_assoc. apply Rmult_le_compat_l; lra.
Qed.

(** ** EF21: the server knows [d k] of the gradient of client k *)
Definition ef21_model (x : V) (d : nat -> V) : V := (x - eta * vE clients d)%V.
Definition ef21_known (C : nat -> V -> V) (x : V) d k : V := (d k + C k (g k (ef21_model x d) - d k))%V.
Definition ef21_potential (x : V) (d : nat -> V) : R :=
  s * sq (mean_gradient clients g x) + E clients (fun k => sq (g k x - d k)).

Lemma ef21_core C x d L' : mu < L' -> L <= L' -> contractive C ->
  ef21_potential (ef21_model x d) (ef21_known C x d) <= ef_z s eta mu L' ^ 2 * ef21_potential x d.
Proof.
  intros hm hL hC. set (t := ef_t s eta mu L'). set (z := ef_z s eta mu L').
  destruct (z_spec t s (proj1 error_range)) as [hz eq]. change ((t + sqrt (t^2 + 4 * s)) / 2) with z in hz, eq.
  pose proof (t_steep s eta mu L' error_range eta_pos ltac:(lra)) as st. fold t in st.
  assert (br : t = 1 - s - (1 + s) * eta * mu \/ t = (1 + s) * eta * L' - (1 - s)).
  { unfold t, ef_t. destruct (Rle_dec (1 - s - (1 + s) * eta * mu) ((1 + s) * eta * L' - (1 - s))) as [q | q];
      [right; now apply Rmax_right | left; apply Rmax_left; lra]. }
  set (y := ef21_model x d). set (G k := g k x). set (G' k := g k y). set (q k := (G' k - G k)%V).
  set (gb := vE clients G). set (db := vE clients d). set (qb := vE clients q). set (u k := (G' k - d k)%V).
  assert (eq0 : same qb (vE clients G' - gb)) by apply (vE_sub clients G' G).
  assert (eu : same (vE clients u) (gb + qb - db)).
  { intro w. rewrite !ip_sub, ip_add, (eq0 w), ip_sub. unfold u. rewrite (vE_sub clients G' d w), ip_sub. unfold db.
    ring. }
  assert (eg : same (vE clients G') (gb + qb)) by (intro w; rewrite ip_add, (eq0 w), ip_sub; ring).
  assert (left_out : ef21_potential y (ef21_known C x d)
    <= s * sq (gb + qb) + s^2 * sq (gb + qb - db) + s^2 * E clients (fun k => sq (u k - vE clients u))).
  { unfold ef21_potential. change (mean_gradient clients g y) with (vE clients G').
    rewrite (same_sq _ _ eg), <- (same_sq _ _ eu).
    assert (E clients (fun k => sq (g k y - ef21_known C x d k)) <= s^2 * E clients (fun k => sq (u k))).
    { rewrite <- E_scal. apply E_le. intro k. apply Rle_trans with (2 := hC k (u k)). right. unfold ef21_known. fold y.
      change (g k y - d k)%V with (u k). unfold u at 3, G'. ips. unfold u, G'. ips. ring. }
    rewrite (spread_zero clients u) in *. lra. }
  apply Rle_trans with (1 := left_out).
  pose proof (ef21_means s eta mu L' t z error_range eta_pos hm hz eq st br gb db qb) as means.
  set (c0 := 2 * s * z / (eta * (L' - mu))) in *. assert (hc0 : 0 <= c0)
    by (unfold c0; apply Rmult_le_pos; [pos | left; apply Rinv_0_lt_compat; pos]).
  set (p k := (G k - d k - (gb - db))%V).
  assert (devs : s^2 * E clients (fun k => sq (u k - vE clients u)) <= z^2 * E clients (fun k => sq (p k))
    + c0 * E clients (fun k => sq (q k - qb))).
  { rewrite <- !E_scal, <- E_plus. apply E_le. intro k.
    apply Rle_trans with (2 := ef21_deviations s eta mu L' t z error_range eta_pos hm hz eq st (p k) (q k - qb)).
    right. f_equal. apply same_sq. intro w. rewrite ip_sub, (eu w). unfold u, p, q. repeat rewrite ?ip_add, ?ip_sub.
    ring. }
  set (step := (- eta * db)%V).
  assert (I : ip (qb - mu * step) (qb - L' * step) + E clients (fun k => sq (q k - qb)) <= 0).
  { apply Rle_trans with (E clients (fun k => ip (q k - mu * step) (q k - L' * step))).
    - right. transitivity (E clients (fun k => sq (q k)) - (mu + L') * ip qb step + mu * L' * sq step).
      + rewrite (spread_zero clients q). fold qb. clearbody qb step. ips. ring.
      + unfold qb. rewrite ip_vE, <- E_scal, <- E_minus, <- (E_const clients (mu * L' * sq step)), <- E_plus.
        apply E_ext.
        intros k _. clearbody step q. ips. ring.
    - rewrite <- (E_const clients 0). apply E_le. intro k.
      pose proof (sector (f k) (g k) mu L' x y ltac:(lra) (strongly k)
        (upper_le L L' _ _ hL (proj1 (smooth_clients k)))) as sc.
      apply Rle_trans with (2 := sc). right. unfold q, G', G, step, y, ef21_model. fold db. ips. ring. }
  assert (pot : ef21_potential x d = s * sq gb + (E clients (fun k => sq (p k)) + sq (gb - db))).
  { unfold ef21_potential. change (mean_gradient clients g x) with gb. f_equal.
    rewrite (spread_zero clients (fun k => g k x - d k)%V). assert
      (sm : same (vE clients (fun k => g k x - d k)%V) (gb - db)) by (apply (vE_sub clients G d)).
    f_equal; [| now apply same_sq]. apply E_ext. intros k _. apply same_sq. intro w. unfold p, G.
    rewrite !(ip_sub _ _ w), (sm w), ip_sub. ring. }
  rewrite pot. apply (Rmult_le_compat_l c0) in I; [| easy]. unfold step in *. lra.
Qed.

Theorem error_feedback_ef21_round C x d : contractive C ->
  ef21_potential (ef21_model x d) (ef21_known C x d) <= ef_z s eta mu L ^ 2 * ef21_potential x d.
Proof.
  intro hC. destruct (z_spec (ef_t s eta mu L) s (proj1 error_range)) as [hz _]. fold (ef_z s eta mu L) in hz.
  assert (hp : 0 <= ef21_potential x d).
  { unfold ef21_potential. apply Rplus_le_le_0_compat; [apply Rmult_le_pos; [lra | apply sq_pos] | apply E_pos; intro;
      apply sq_pos]. }
  apply square_limit; [lra | easy |]. intros e he. set (L' := L + e / ((1 + s) * eta)).
  assert (he' : 0 < e / ((1 + s) * eta)) by (apply Rdiv_lt_0_compat; [easy | pos]).
  apply Rle_trans with (1 := ef21_core C x d L' ltac:(unfold L'; lra) ltac:(unfold L'; lra) hC).
  apply Rmult_le_compat_r; [easy |].
  destruct (z_spec (ef_t s eta mu L') s (proj1 error_range)) as [hz' _]. fold (ef_z s eta mu L') in hz'.
  apply pow_incr. split; [lra |]. apply z_grows; [lra | lra |]. apply t_grows; lra.
Qed.

Fixpoint ef21_run (C : nat -> nat -> V -> V) (x : V) (d : nat -> V) (r : nat) : V * (nat -> V) :=
  match r with
  | O => (x, d)
  | S r => let st := ef21_run C x d r in (ef21_model (fst st) (snd st), ef21_known (C r) (fst st) (snd st))
  end.

Theorem error_feedback_ef21_gradient2 C x d r : (forall i, contractive (C i)) ->
  sq (mean_gradient clients g (fst (ef21_run C x d r))) <= (ef_z s eta mu L ^ 2) ^ r * ef21_potential x d / s.
Proof.
  intro hC. pose proof (geometric_pure (fun r => ef21_potential (fst (ef21_run C x d r)) (snd (ef21_run C x d r)))
    (ef_z s eta mu L ^ 2) r
    (pow2_ge_0 _)) as G. cbv beta in G. specialize (G ltac:(intros t _; cbn [ef21_run fst snd];
      apply error_feedback_ef21_round, hC)).
  cbn [ef21_run fst snd] in G. set (st := ef21_run C x d r) in *.
  assert (h : s * sq (mean_gradient clients g (fst st)) <= ef21_potential (fst st) (snd st)).
  { unfold ef21_potential. assert (0 <= E clients (fun k => sq (g k (fst st) - snd st k)))
      by (apply E_pos; intro; apply sq_pos). lra. }
  apply Rmult_le_reg_l with s; [lra |].
  replace (s * ((ef_z s eta mu L ^ 2) ^ r * ef21_potential x d / s)) with
    ((ef_z s eta mu L ^ 2) ^ r * ef21_potential x d) by (field; lra). lra.
Qed.
End Rounds.
