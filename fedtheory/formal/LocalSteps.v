(** A round of local gradient steps of all clients, without bounded gradients: federated averaging and SCAFFOLD. *)

From FedTheory Require Export Functions Averages Recursions.

(** d_s, the sum of the s powers of c below the tau-th, and 1/beta. *)
Definition way (c : R) (tau s : nat) : R := sum s (fun r => c ^ (tau - 1 - r)).
Definition steepness (mu L eta : R) : R := eta * (L - mu) / (2 * (1 - eta * mu) - eta * (L - mu)).

Section Squares.
Context {V : space}.
Implicit Types (x : nat -> V) (q : V).

(** What deviations of the gradients may gain: two completed squares. *)
Lemma deviations_with_sum n x q (d : nat -> R) b : 0 < b ->
  - sq (vsum n x) - 2 * sum n (fun r => d r * ip (x r) q) - b * sum n (fun r => sq (x r))
    <= / b * (sum n (fun r => d r ^ 2) - sum n d ^ 2 / (b + INR n)) * sq q.
Proof.
  intro hb. pose proof (pos_INR n) as pn. set (t := sum n d / (b + INR n)).
  pose proof (sq_pos (vsum n x + t * q)%V) as s1.
  assert (s2 : 0 <= b * sum n (fun r => sq (x r + (d r - t) / b * q))).
  { apply Rmult_le_pos; [lra |]. apply sum_pos. intros. apply sq_pos. }
  assert (e1 : sq (vsum n x + t * q) = sq (vsum n x) + 2 * t * sum n (fun r => ip (x r) q) + t^2 * sq q).
  { rewrite <- (ip_vsum n x q). ips. ring. }
  assert (e2 : b * sum n (fun r => sq (x r + (d r - t) / b * q)) = b * sum n (fun r => sq (x r))
    + 2 * sum n (fun r => d r * ip (x r) q) - 2 * t * sum n (fun r => ip (x r) q)
    + / b * (sum n (fun r => d r ^ 2) - 2 * t * sum n d + INR n * t^2) * sq q).
  { clear s1 s2 e1. clearbody t. clear pn. induction n as [| n IH]; [cbn; ring |]. rewrite S_INR. cbn [sum].
    rewrite Rmult_plus_distr_l, IH. ips. field. lra. }
  assert (e3 : / b * (sum n (fun r => d r ^ 2) - sum n d ^ 2 / (b + INR n)) * sq q
    = / b * (sum n (fun r => d r ^ 2) - 2 * t * sum n d + INR n * t^2) * sq q + t^2 * sq q) by (unfold t; field; lra).
  lra.
Qed.

Lemma deviations_without n x q (d : nat -> R) b : 0 < b ->
  2 * sum n (fun r => d r * ip (x r) q) - b * sum n (fun r => sq (x r)) <= / b * sum n (fun r => d r ^ 2) * sq q.
Proof.
  intro hb. assert (s : 0 <= b * sum n (fun r => sq (x r - d r / b * q))).
  { apply Rmult_le_pos; [lra |]. apply sum_pos. intros. apply sq_pos. }
  assert (e : b * sum n (fun r => sq (x r - d r / b * q)) = b * sum n (fun r => sq (x r))
    - 2 * sum n (fun r => d r * ip (x r) q) + / b * sum n (fun r => d r ^ 2) * sq q).
  { clear s. induction n as [| n IH]; [cbn; ring |]. cbn [sum]. rewrite Rmult_plus_distr_l, IH. ips. field. lra. }
  lra.
Qed.
End Squares.

Section Core.
Context {V : space}.
(** Client [k] goes from y k 0 = w through y k 1, ..., along its gradient less a correction [e k]. *)
Variables (clients : law) (g : nat -> V -> V) (e : nat -> V) (xs w : V) (y : nat -> nat -> V).
Variables (mu eta : R) (tau : nat).
Hypothesis start : forall k, y k O = w.
Hypothesis step : forall k s, same (y k (S s)) (y k s - eta * (g k (y k s) - e k)).
Let c := 1 - eta * mu.
Let A s := c ^ (tau - s).
Let q k : V := (g k xs - e k)%V.
Let v k s : V := (g k (y k s) - g k xs - mu * (y k s - xs))%V.
Let u k s : V := (A (S s) * v k s)%V.
Let ubar s : V := vE clients (fun k => u k s).
Let dev k s : V := (u k s - ubar s)%V.
Let Z k s : V := (A s * (y k s - xs))%V.
Let Zbar s : V := (c ^ tau * (w - xs) - eta * vsum s ubar)%V.
Let W k s : V := vsum s (dev k).
Let d s := way c tau s.
Hypothesis corrected : forall z, E clients (fun k => ip (q k) z) = 0.

Lemma A_step s : (s < tau)%nat -> A s = c * A (S s).
Proof. intro h. unfold A. now replace (tau - s)%nat with (S (tau - S s)) by lia. Qed.

(** The weighted distance of a client is that of the mean less the deviations so far. *)
Lemma Z_split k s : (s <= tau)%nat -> same (Z k s) (Zbar s - eta * (W k s + d s * q k)).
Proof.
  induction s as [| s IH]; intros h z.
  - unfold Z, Zbar, W, d, way, A. cbn. rewrite start, Nat.sub_0_r. ips. ring.
  - specialize (IH ltac:(lia) z).
    assert (e1 : ip (Zbar (S s)) z = ip (Zbar s) z - eta * ip (ubar s) z) by (unfold Zbar; cbn [vsum]; ips; ring).
    assert (e2 : ip (W k (S s)) z = ip (W k s) z + ip (u k s) z - ip (ubar s) z)
      by (unfold W, dev; cbn [vsum]; ips; ring).
    assert (e3 : d (S s) = d s + A (S s)) by (unfold d, way, A; cbn [sum];
      now replace (tau - 1 - s)%nat with (tau - S s)%nat by lia).
    assert (e4 : ip (u k s) z = A (S s) * ip (v k s) z) by apply ip_scale.
    assert (e5 : ip (v k s) z = ip (g k (y k s)) z - ip (g k xs) z - mu * ip (y k s - xs) z)
      by (unfold v; rewrite !ip_sub, ip_scale, ip_sub; ring).
    assert (e6 : ip (y k (S s) - xs) z = ip (y k s - xs) z - eta * (ip (g k (y k s)) z - ip (e k) z))
      by (rewrite (ip_sub (y k (S s))), (step k s z), !ip_sub, ip_scale, ip_sub; ring).
    assert (e7 : ip (q k) z = ip (g k xs) z - ip (e k) z) by apply ip_sub.
    assert (r : forall i, ip (Zbar i - eta * (W k i + d i * q k)) z
      = ip (Zbar i) z - eta * (ip (W k i) z + d i * ip (q k) z))
      by (intro; rewrite ip_sub, ip_scale, ip_add, ip_scale; ring).
    rewrite r in *. unfold Z in *. rewrite ip_scale in *. rewrite (A_step s) in IH by lia.
    rewrite e6, e1, e2, e3, e4, e5, e7. rewrite e7 in IH. unfold c in IH. lra.
Qed.

Variable theta : R.
Hypothesis theta_large : eta^2 <= theta.
Hypothesis curvature : forall k s, (s < tau)%nat -> theta * sq (u k s) <= 2 * eta * ip (u k s) (Z k s).

Lemma W_mean s z : E clients (fun k => ip (W k s) z) = 0.
Proof.
  unfold W. rewrite (E_ext _ _ (fun k => sum s (fun r => ip (dev k r) z))) by (intros; apply ip_vsum).
  rewrite E_sum. apply sum_zero. intros r _. apply deviations_sum.
Qed.

Lemma core s : (s <= tau)%nat ->
  sq (Zbar s) <= (c ^ tau)^2 * sq (w - xs)
    + E clients (fun k => eta^2 * (- sq (W k s) - 2 * sum s (fun r => d r * ip (dev k r) (q k)))
                          - (theta - eta^2) * sum s (fun r => sq (dev k r))).
Proof.
  induction s as [| s IH]; intro h.
  - replace (sq (Zbar 0)) with ((c ^ tau)^2 * sq (w - xs)) by (unfold Zbar; cbn [vsum]; ips; ring).
    rewrite (E_ext _ _ (fun _ => 0)); [rewrite E_const; lra |].
    intros k _. unfold W. cbn [vsum sum]. ips. ring.
  - specialize (IH ltac:(lia)).
    assert (f1 : theta * (E clients (fun k => sq (dev k s)) + sq (ubar s))
      <= 2 * eta * E clients (fun k => ip (u k s) (Z k s))).
    { unfold dev, ubar. rewrite <- (spread_zero clients (fun k => u k s)), <- !E_scal. apply E_le. intro k.
      apply curvature. lia. }
    assert (f2 : E clients (fun k => ip (u k s) (Z k s)) = ip (ubar s) (Zbar s)
      - eta * E clients (fun k => ip (dev k s) (W k s) + d s * ip (dev k s) (q k))).
    { transitivity (E clients (fun k => ip (u k s) (Zbar s) - eta * (ip (dev k s) (W k s) + d s * ip (dev k s) (q k))
        - eta * (ip (W k s) (ubar s) + d s * ip (q k) (ubar s)))).
      - apply E_ext. intros k _. rewrite (same_r _ _ (u k s) (Z_split k s ltac:(lia))).
        replace (u k s) with (u k s) by easy. unfold dev. rewrite !ip_sub_r, !ip_scale_r, !ip_add_r, !ip_scale_r,
          !ip_sub.
        rewrite (ip_sym (W k s) (ubar s)), (ip_sym (q k) (ubar s)). ring.
      - Es. rewrite W_mean, corrected. unfold ubar. rewrite ip_vE. ring. }
    assert (f3 : sq (Zbar (S s)) = sq (Zbar s) - 2 * eta * ip (ubar s) (Zbar s) + eta^2 * sq (ubar s)).
    { unfold Zbar. cbn [vsum]. ips. ring. }
    assert (f4 : E clients (fun k => eta^2 * (- sq (W k (S s)) - 2 * sum (S s) (fun r => d r * ip (dev k r) (q k)))
                          - (theta - eta^2) * sum (S s) (fun r => sq (dev k r)))
      = E clients (fun k => eta^2 * (- sq (W k s) - 2 * sum s (fun r => d r * ip (dev k r) (q k)))
                          - (theta - eta^2) * sum s (fun r => sq (dev k r)))
        - 2 * eta^2 * E clients (fun k => ip (dev k s) (W k s) + d s * ip (dev k s) (q k))
        - theta * E clients (fun k => sq (dev k s))).
    { rewrite <- !E_scal, <- !E_minus. apply E_ext. intros k _. unfold W. cbn [vsum sum]. fold (W k s). ips. ring. }
    rewrite f2 in f1. pose proof (sq_pos (ubar s)) as p. rewrite f3, f4. nra.
Qed.

(** What the round does, for a client and for the mean. *)
Lemma client_end k z : ip (y k tau - xs) z = ip (Zbar tau) z - eta * (ip (W k tau) z + d tau * ip (q k) z).
Proof.
  pose proof (Z_split k tau (le_n tau) z) as h. unfold Z, A in h. rewrite Nat.sub_diag in h. cbn [pow] in h.
  rewrite ip_scale, Rmult_1_l in h. rewrite h, ip_sub, ip_scale, ip_add, ip_scale. ring.
Qed.
Lemma mean_end : same (vE clients (fun k => y k tau) - xs) (Zbar tau).
Proof.
  intro z. transitivity (E clients (fun k => ip (y k tau - xs) z)).
  - rewrite ip_sub, ip_vE, <- (E_const clients (ip xs z)), <- E_minus. apply E_ext. intros. now rewrite ip_sub.
  - rewrite (E_ext _ _ _ (fun k _ => client_end k z)). Es. rewrite W_mean, corrected. ring.
Qed.

Definition deviation k r : V := dev k r.
Definition deviations k : V := W k tau.

Theorem core_round : sq (vE clients (fun k => y k tau) - xs) <= (c ^ tau)^2 * sq (w - xs)
    + E clients (fun k => eta^2 * (- sq (deviations k) - 2 * sum tau
        (fun r => way c tau r * ip (deviation k r) (g k xs - e k)))
                          - (theta - eta^2) * sum tau (fun r => sq (deviation k r))).
Proof. rewrite (same_sq _ _ mean_end). now apply core. Qed.

Lemma deviations_vsum k : deviations k = vsum tau (deviation k).
Proof. reflexivity. Qed.
Lemma client_deviation k z : ip (y k tau - vE clients (fun k => y k tau)) z
  = - eta * (ip (deviations k) z + way c tau tau * ip (g k xs - e k) z).
Proof.
  transitivity (ip (y k tau - xs) z - ip (vE clients (fun k => y k tau) - xs) z); [rewrite !ip_sub; ring |].
  rewrite client_end, (mean_end z). unfold deviations, d, q. ring.
Qed.
Lemma deviation_zero k : (0 < tau)%nat -> same (deviation k O)
  (c ^ (tau - 1) * (g k w - g k xs - (vE clients (fun k => g k w) - vE clients (fun k => g k xs)))).
Proof.
  intros h z. unfold deviation, dev, ubar, u, v, A. rewrite ip_sub, !ip_scale, ip_vE.
  rewrite (E_ext clients _ (fun i => c ^ (tau - 1) * (ip (g i w) z - ip (g i xs) z - mu * ip (w - xs) z))).
  - Es. rewrite !ip_sub, !ip_scale, ip_sub, !ip_vE, start. ring.
  - intros i _. rewrite start. rewrite ip_scale, !ip_sub, ip_scale, ip_sub. ring.
Qed.
End Core.

(** Strongly convex, smooth losses fulfill [curvature] with theta = eta^2 (1 + beta). *)
Lemma curvature_holds {V : space} (f : V -> R) (g : V -> V) (x xs : V) mu L eta beta a :
  let c := 1 - eta * mu in let v := (g x - g xs - mu * (x - xs))%V in
  0 < eta -> mu <= L -> 0 <= c -> 0 < beta -> eta * (1 + beta) * (L - mu) <= 2 * c -> lower mu f g -> upper L f g ->
  eta^2 * (1 + beta) * sq (a * v)%V <= 2 * eta * ip (a * v) (c * a * (x - xs)).
Proof.
  intros c v he hm hc hb hsteep low up. pose proof (cocoercive mu L f g xs x hm low up) as k. fold v in k.
  replace (sq (a * v)) with (a^2 * sq v) by (ips; ring).
  replace (ip (a * v) (c * a * (x - xs))) with (a^2 * (c * ip v (x - xs))) by (rewrite ip_scale, ip_scale_r; ring).
  assert (p : 0 <= ip v (x - xs)).
  { pose proof (strongly_monotone mu f g xs x low). unfold v. rewrite ip_sub, ip_scale. unfold sq in *. lra. }
  assert (h : eta * (1 + beta) * sq v <= 2 * c * ip v (x - xs)).
  { apply Rle_trans with (eta * (1 + beta) * ((L - mu) * ip v (x - xs))); [apply Rmult_le_compat_l; [pos | easy] |].
    rewrite <- Rmult_assoc. now apply Rmult_le_compat_r. }
  apply (Rmult_le_compat_l (eta * a^2)) in h; [| pos]. lra.
Qed.

Lemma small_le X Y K : (forall t, 0 < t -> X <= Y + t * K) -> X <= Y.
Proof.
  intro h. apply Rnot_lt_le. intro l. pose proof (Rabs_pos K). pose proof (Rle_abs K).
  pose proof (h ((X - Y) / (2 * (Rabs K + 1))) ltac:(apply Rdiv_lt_0_compat; lra)) as k.
  assert ((X - Y) / (2 * (Rabs K + 1)) * K <= (X - Y) / 2).
  { apply Rle_trans with ((X - Y) / (2 * (Rabs K + 1)) * (Rabs K + 1)).
    - apply Rmult_le_compat_l; [left; apply Rdiv_lt_0_compat; lra | lra].
    - right. field. lra. }
  lra.
Qed.

(** From every beta that the curvatures allow to 1/beta = steepness, which is 0 where mu = L. *)
Lemma steep X Y (phi : R -> R) K mu L eta :
  0 < eta -> mu <= L -> eta * (L + mu) < 2 ->
  (forall beta, 0 < beta -> eta * (1 + beta) * (L - mu) <= 2 * (1 - eta * mu) -> X <= Y + phi (/ beta)) ->
  (forall t, 0 < t -> phi t <= t * K) -> 0 <= phi 0 -> X <= Y + phi (steepness mu L eta).
Proof.
  intros he hm hs h hp h0. destruct (Req_dec mu L) as [e | e].
  - apply Rle_trans with Y.
    + apply small_le with K. intros t ht. apply Rle_trans with (Y + phi (/ / t)).
      * apply h; [now apply Rinv_0_lt_compat |]. replace (L - mu) with 0 by lra. nra.
      * rewrite Rinv_inv. pose proof (hp t ht). lra.
    + unfold steepness. replace (L - mu) with 0 by lra. unfold Rdiv. rewrite Rmult_0_r, Rmult_0_l. lra.
  - assert (hl : 0 < eta * (L - mu)) by pos.
    pose proof (h ((2 * (1 - eta * mu) - eta * (L - mu)) / (eta * (L - mu)))) as k.
    replace (/ ((2 * (1 - eta * mu) - eta * (L - mu)) / (eta * (L - mu)))) with (steepness mu L eta) in k
      by (unfold steepness; field; split; nra).
    apply k; [apply Rdiv_lt_0_compat; nra |]. right. field. split; lra.
Qed.
