(** Averaging and normalized averaging with a fixed step size: how fast they come to their own stationary points. *)

From FedTheory Require Export Rounds.

(** Two runs of gradient steps of one client come closer. *)
Lemma steps_contract {V : space} (f : V -> R) (g : nat -> V -> V) k mu L eta (w v : V) s :
  mu <= L -> 0 <= eta -> lower mu f (g k) -> upper L f (g k) ->
  sq (gradient_steps g eta w k s - gradient_steps g eta v k s)
    <= Rmax ((1 - eta * mu)^2) ((1 - eta * L)^2) ^ s * sq (w - v).
Proof.
  intros h he low up. induction s as [| s IH]; cbn [gradient_steps pow]; [lra |].
  apply Rle_trans with (1 := step_contracts mu L eta f (g k) _ _ h he low up).
  rewrite Rmult_assoc. apply Rmult_le_compat_l; [| easy].
  apply Rle_trans with ((1 - eta * mu)^2); [apply pow2_ge_0 | apply Rmax_l].
Qed.

Section Averaging.
Context {V : space}.
Variables (clients : law) (f : nat -> V -> R) (g : nat -> V -> V) (mu L eta : R) (tau : nat) (steps : nat -> nat).
Hypothesis curvatures : 0 < mu <= L.
Hypothesis eta_pos : 0 < eta.
Hypothesis convergent : eta * L < 2.
Hypothesis strongly : forall k, strongly_convex mu (f k) (g k).
Hypothesis smooth_clients : forall k, smooth L (f k) (g k).
(** Client [k] makes [steps k] steps; [tau] is the least of these numbers. *)
Hypothesis at_least : forall k, (tau <= steps k)%nat.

Definition round (w : V) : V := vE clients (fun k => gradient_steps g eta w k (steps k)).
Fixpoint many_rounds (w : V) (r : nat) : V := match r with O => w | S r => round (many_rounds w r) end.

Theorem stationary_averaging_distance w w_inf r : same (round w_inf) w_inf ->
  sq (many_rounds w r - w_inf)
    <= Rmax ((1 - eta * mu)^2) ((1 - eta * L)^2) ^ (tau * r) * sq (w - w_inf).
Proof.
  intro fixed. set (q := Rmax _ _).
  assert (hq : 0 <= q <= 1).
  { unfold q. split; [apply Rle_trans with ((1 - eta * mu)^2); [apply pow2_ge_0 | apply Rmax_l] |].
    assert (0 < eta * mu) by pos. assert (eta * mu <= eta * L) by (apply Rmult_le_compat_l; lra).
    apply Rmax_lub; rewrite <- (pow1 2), <- (pow2_abs (_ - _)); apply pow_incr; split; try apply Rabs_pos;
      apply Rabs_le; lra. }
  rewrite pow_mult. apply (geometric_pure (fun r => sq (many_rounds w r - w_inf))); [now apply pow_le |].
  intros t _. cbn [many_rounds]. set (x := many_rounds w t).
  assert (e : same (round x - w_inf) (vE clients (fun k => gradient_steps g eta x k (steps k)
    - gradient_steps g eta w_inf k (steps k))%V)).
  { intro z. rewrite ip_sub, <- (fixed z). unfold round.
    rewrite (vE_sub clients (fun k => gradient_steps g eta x k (steps k))
      (fun k => gradient_steps g eta w_inf k (steps k)) z).
    now rewrite ip_sub. }
  rewrite (same_sq _ _ e). apply Rle_trans with (1 := jensen_zero clients _).
  rewrite <- (E_const clients (q^tau * sq (x - w_inf))). apply E_le. intro k.
  apply Rle_trans with (1 := steps_contract (f k) g k mu L eta x w_inf (steps k) ltac:(lra) ltac:(lra) (strongly k)
    (proj1 (smooth_clients k))).
  apply Rmult_le_compat_r; [apply sq_pos |]. fold q. specialize (at_least k).
  replace (steps k) with (tau + (steps k - tau))%nat by lia.
  rewrite pow_add. pose proof (geometric_one q (steps k - tau) hq). pose proof (pow_le q tau (proj1 hq)). nra.
Qed.
End Averaging.

(** ** Quadratics: powers of I - eta H as forms *)

Section Powers.
Context {V : space}.
Variables (f : V -> R) (g H : V -> V) (c0 : V) (mu L eta : R).
Hypothesis quad : quadratic mu L f g H c0.
Hypothesis hm : mu <= L.
Hypothesis he : 0 < eta.
Hypothesis hx : eta * L <= 1.
Let c := 1 - eta * mu.

Definition A (v : V) : V := (v - eta * H v)%V.
Fixpoint power (s : nat) (v : V) : V := match s with O => v | S s => A (power s v) end.
Lemma power_swap s v : power s (A v) = A (power s v).
Proof. induction s as [| s IH]; cbn; [easy | now rewrite IH]. Qed.

Lemma H_sym u v : ip (H u) v = ip u (H v).
Proof. apply quad. Qed.
Lemma A_sym u v : ip (A u) v = ip u (A v).
Proof. unfold A. rewrite ip_sub, ip_sub_r, ip_scale, ip_scale_r, H_sym. ring. Qed.
Lemma power_sym s u v : ip (power s u) v = ip u (power s v).
Proof.
  revert v. induction s as [| s IH]; intro v; [easy |]. cbn [power]. rewrite A_sym, IH. now rewrite power_swap.
Qed.
Lemma power_add s t v : power (s + t) v = power s (power t v).
Proof. induction s as [| s IH]; cbn; [easy | now rewrite IH]. Qed.

Lemma A_form u : ip (A u) u = sq u - eta * ip (H u) u.
Proof. unfold A. rewrite ip_sub, ip_scale. reflexivity. Qed.
Lemma A_square u : sq (A u) <= c * ip (A u) u.
Proof.
  destruct quad as (hl & hs & hb & hg & hf).
  (* |H u - mu u|^2 <= (L - mu) <H u - mu u, u>, from the parabola <H x, x>/2 *)
  set (f0 := fun x : V => ip (H x) x / 2). 
  assert (hz : forall v, ip (H zero) v = 0) by (intro v; rewrite H_sym, ip_zero; easy).
  assert (q0 : quadratic mu L f0 H H zero).
  { split; [exact hl | split; [exact hs | split; [exact hb | split]]].
    - intros x v. rewrite (linear_sub H x zero hl v), ip_sub, hz. ring.
    - intro x. unfold f0. rewrite (linear_sub H x zero hl (x - zero)%V), ip_sub, hz, ip_sub_r, ip_zero_r, hz. field. }
  destruct (quadratic_between mu L f0 H H zero q0) as [low up].
  pose proof (cocoercive mu L f0 H zero u hm low up) as k.
  set (v := (H u - mu * u)%V).
  assert (e : same (H u - H zero - mu * (u - zero)) v).
  { intro z. unfold v. rewrite !ip_sub, !ip_scale, ip_sub, hz, ip_zero. ring. }
  rewrite (same_sq _ _ e), (e (u - zero)%V), ip_sub_r, ip_zero_r in k.
  assert (p : 0 <= ip v u) by (unfold v; rewrite ip_sub, ip_scale; pose proof (hb u); unfold sq in *; lra).
  assert (e1 : sq (A u) = c^2 * sq u - 2 * c * eta * ip v u + eta^2 * sq v) by (unfold A, v, c; ips; ring).
  assert (e2 : ip (A u) u = c * sq u - eta * ip v u) by (unfold A, v, c; ips; ring).
  rewrite e1, e2. assert (0 <= c - eta * (L - mu)) by (unfold c; lra).
  assert (eta^2 * sq v <= eta^2 * ((L - mu) * (ip v u - 0))) by (apply Rmult_le_compat_l; [pos | easy]).
  assert (0 <= eta * (c - eta * (L - mu)) * ip v u) by pos. lra.
Qed.

Lemma form_range u : 0 <= ip (A u) u <= c * sq u.
Proof.
  destruct quad as (hl & hs & hb & hg & hf). rewrite A_form. pose proof (hb u). pose proof (sq_pos u).
  assert (eta * ip (H u) u <= eta * (L * sq u)) by (apply Rmult_le_compat_l; lra).
  assert (eta * (mu * sq u) <= eta * ip (H u) u) by (apply Rmult_le_compat_l; lra).
  assert (eta * L * sq u <= 1 * sq u) by (apply Rmult_le_compat_r; lra). unfold c. lra.
Qed.

Definition form (s : nat) (v : V) : R := ip (power s v) v.

Lemma form_even j v : form (j + j) v = sq (power j v).
Proof. unfold form, sq. now rewrite power_add, power_sym. Qed.
Lemma form_odd j v : form (S (j + j)) v = ip (A (power j v)) (power j v).
Proof. unfold form. change (power (S (j + j)) v) with (A (power (j + j) v)).
now rewrite A_sym, power_add, power_sym, power_swap, <- A_sym. Qed.

Hypothesis hc : 0 <= c <= 1.

Lemma form_step s v : form (S s) v <= c * form s v.
Proof.
  destruct (Nat.Even_or_Odd s) as [[j e] | [j e]].
  - replace s with (j + j)%nat by lia. rewrite form_odd, form_even. apply form_range.
  - replace s with (S (j + j)) by lia. replace (S (S (j + j))) with (S j + S j)%nat by lia. rewrite form_odd, form_even.
    apply A_square.
Qed.
Lemma form_pos s v : 0 <= form s v.
Proof.
  destruct (Nat.Even_or_Odd s) as [[j e] | [j e]].
  - replace s with (j + j)%nat by lia. rewrite form_even. apply sq_pos.
  - replace s with (S (j + j)) by lia. rewrite form_odd. apply form_range.
Qed.
Lemma form_upper s v : form s v <= c^s * sq v.
Proof.
  induction s as [| s IH]; [unfold form, power; cbn; unfold sq; lra |].
  apply Rle_trans with (1 := form_step s v). cbn [pow]. rewrite Rmult_assoc. apply Rmult_le_compat_l; [lra | easy].
Qed.
Lemma form_le s v : form s v <= sq v.
Proof.
  apply Rle_trans with (1 := form_upper s v). pose proof (geometric_one c s hc). pose proof (sq_pos v). nra.
Qed.
Lemma form_lower s v : (1 - INR s * (eta * L)) * sq v <= form s v.
Proof.
  induction s as [| s IH]; [unfold form, power; cbn; unfold sq; lra |].
  rewrite S_INR. assert (d : form s v - form (S s) v <= eta * L * sq v); [| lra].
  destruct quad as (hl & hs & hb & hg & hf).
  assert (b : forall j, eta * ip (H (power j v)) (power j v) <= eta * L * sq v).
  { intro j. rewrite Rmult_assoc. apply Rmult_le_compat_l; [lra |]. apply Rle_trans with (L * sq (power j v));
      [apply hb |].
    pose proof (form_le (j + j) v) as l. rewrite form_even in l. pose proof (hb (power j v)).
    pose proof (sq_pos (power j v)).
    assert (0 <= mu) by (unfold c in hc; apply Rmult_le_reg_l with eta; lra). apply Rmult_le_compat_l; lra. }
  destruct (Nat.Even_or_Odd s) as [[j e] | [j e]].
  - replace s with (j + j)%nat by lia. rewrite form_odd, form_even, A_form. pose proof (b j). lra.
  - replace s with (S (j + j)) by lia. replace (S (S (j + j))) with (S j + S j)%nat by lia. rewrite form_odd, form_even.
    change (power (S j) v) with (A (power j v)). set (u := power j v).
    assert (k : ip (A u) u - sq (A u) = eta * ip (H u) u - eta^2 * sq (H u)).
    { unfold A. ips. pose proof (H_sym u u). ring. }
    rewrite k. pose proof (b j) as bj. fold u in bj. assert (0 <= eta^2 * sq (H u)) by pos. lra.
Qed.

(** The difference of two runs of gradient steps. *)
Lemma steps_power k (gs : nat -> V -> V) (w v : V) s z : gs k = g ->
  ip (gradient_steps gs eta w k s - gradient_steps gs eta v k s) z = ip (w - v) (power s z).
Proof.
  intro eg. revert z. induction s as [| s IH]; intro z; [easy |]. cbn [gradient_steps power].
  rewrite <- power_swap, <- IH. destruct quad as (hl & hs & hb & hg & hf).
  set (x := gradient_steps gs eta w k s). set (y := gradient_steps gs eta v k s). rewrite eg.
  rewrite !ip_sub, !ip_scale, (hg x z), (hg y z), (linear_sub H x c0 hl z), (linear_sub H y c0 hl z), !ip_sub.
  unfold A. rewrite !ip_sub_r, !ip_scale_r, (H_sym x z), (H_sym y z). ring.
Qed.
End Powers.

(** A symmetric form bounded by B |v|^2 has norm at most B. *)
Lemma symmetric_norm {V : space} (M : V -> V) B : is_linear M -> self_adjoint M -> 0 <= B ->
  (forall v, - B * sq v <= ip (M v) v <= B * sq v) -> forall v, sq (M v) <= B^2 * sq v.
Proof.
  intros hl hs hB hb v.
  assert (p : forall s, 4 * s * sq (M v) <= 2 * B * (sq v + s^2 * sq (M v))).
  { intro s. set (u := (s * M v)%V).
    pose proof (hb (v + u)%V) as h1. pose proof (hb (v - u)%V) as h2.
    rewrite (proj1 hl v u (v + u)%V) in h1. rewrite (linear_sub M v u hl (v - u)%V) in h2.
    assert (e : ip (M v) u = s * sq (M v)) by (unfold u, sq; apply ip_scale_r).
    assert (e2 : ip (M u) v = ip (M v) u) by (rewrite hs; apply ip_sym).
    assert (e3 : sq u = s^2 * sq (M v)) by (unfold u; ips; ring).
    rewrite !ip_add, !ip_add_r in h1. rewrite !ip_sub, !ip_sub_r in h2. rewrite e2, e in *.
    replace (sq (v + u)) with (sq v + 2 * ip v u + sq u) in h1 by (ips; ring).
    replace (sq (v - u)) with (sq v - 2 * ip v u + sq u) in h2 by (ips; ring). rewrite e3 in *. lra. }
  destruct (Req_dec B 0) as [z | z].
  - pose proof (p 1). pose proof (sq_pos v). subst B. rewrite Rmult_0_r, Rmult_0_l in *. nra.
  - pose proof (p (/ B)) as k. apply (Rmult_le_compat_l (B / 2)) in k; [| lra].
    replace (B / 2 * (4 * / B * sq (M v))) with (2 * sq (M v)) in k by (field; lra).
    replace (B / 2 * (2 * B * (sq v + (/ B)^2 * sq (M v)))) with (B^2 * sq v + sq (M v)) in k by (field; lra). lra.
Qed.

Section Normalized.
Context {V : space}.
Variables (clients : law) (f : nat -> V -> R) (g H : nat -> V -> V) (c0 : nat -> V) (mu L eta : R).
Variables (steps : nat -> nat) (tau : nat).
Hypothesis quadratics : forall k, quadratic mu L (f k) (g k) (H k) (c0 k).
Hypothesis curvatures : 0 < mu <= L.
Hypothesis eta_pos : 0 < eta.
Hypothesis short_steps : eta * L <= 1.
(** Client [k] makes [steps k] steps; [tau] is the largest of these numbers, and [mean_steps] their mean. *)
Hypothesis some_steps : forall k, (0 < steps k)%nat.
Hypothesis at_most : forall k, (steps k <= tau)%nat.
Definition mean_steps : R := E clients (fun k => INR (steps k)).

Definition normalized_round (w : V) : V :=
  (w - mean_steps * vE clients (fun k => / INR (steps k) * (w - gradient_steps g eta w k (steps k))))%V.

Let c := 1 - eta * mu.
Let M (v : V) : V := (v - mean_steps * vE clients (fun k => / INR (steps k) * (v - power (H k) eta (steps k) v)))%V.

Lemma step_range : 0 <= c <= 1.
Proof. unfold c. nra. Qed.

Lemma M_ip v z : ip (M v) z
  = ip v z - mean_steps * E clients (fun k => / INR (steps k) * (ip v z - ip v (power (H k) eta (steps k) z))).
Proof.
  unfold M. rewrite ip_sub, ip_scale, ip_vE. f_equal. f_equal. apply E_ext. intros k _.
  now rewrite ip_scale, ip_sub, (power_sym (f k) (g k) (H k) (c0 k) mu L eta (quadratics k)).
Qed.

Lemma M_symmetric : self_adjoint M.
Proof.
  intros x y. rewrite (ip_sym x), !M_ip, (ip_sym y x). f_equal. f_equal. apply E_ext. intros k _.
  f_equal. f_equal. rewrite (ip_sym y). symmetry. apply (power_sym (f k) (g k) (H k) (c0 k) mu L eta (quadratics k)).
Qed.

Lemma M_linear : is_linear M.
Proof.
  split.
  - intros x y z. rewrite ip_add, !M_ip, ip_add. 
    rewrite (E_ext clients _ (fun k => / INR (steps k) * (ip x z - ip x (power (H k) eta (steps k) z))
      + / INR (steps k) * (ip y z - ip y (power (H k) eta (steps k) z)))) by (intros; rewrite ip_add; ring).
    rewrite E_plus. ring.
  - intros a x z. rewrite ip_scale, !M_ip, ip_scale.
    rewrite (E_ext clients _ (fun k => a * (/ INR (steps k) * (ip x z - ip x (power (H k) eta (steps k) z)))))
      by (intros; rewrite ip_scale; ring).
    rewrite E_scal. ring.
Qed.

Lemma round_is_M w v z : ip (normalized_round w - normalized_round v) z = ip (M (w - v)) z.
Proof.
  unfold normalized_round. rewrite M_ip, !ip_sub, !ip_scale, !ip_vE.
  rewrite (E_ext clients (fun k => / INR (steps k) * (ip w z - ip v z - ip (w - v) (power (H k) eta (steps k) z)))
    (fun k => ip (/ INR (steps k) * (w - gradient_steps g eta w k (steps k))) z
            - ip (/ INR (steps k) * (v - gradient_steps g eta v k (steps k))) z)).
  - Es. ring.
  - intros k _. rewrite <- (steps_power (f k) (g k) (H k) (c0 k) mu L eta (quadratics k) k g w v (steps k) z eq_refl).
    rewrite !ip_scale, !ip_sub. ring.
Qed.

Theorem stationary_normalized_round w w_inf : eta * mean_steps * L < 2 -> same (normalized_round w_inf) w_inf ->
  sq (normalized_round w - w_inf)
    <= Rmax (1 - mean_steps / INR tau * (1 - (1 - eta * mu)^tau)) (eta * mean_steps * L - 1) ^ 2 * sq (w - w_inf).
Proof.
  intros hshort fixed. fold c. pose proof step_range as hc.
  assert (ht : (0 < tau)%nat) by (pose proof (some_steps 0); pose proof (at_most 0); lia).
  pose proof (lt_0_INR tau ht) as pt.
  assert (hms : 0 < mean_steps <= INR tau).
  { unfold mean_steps. split.
    - apply Rlt_le_trans with (E clients (fun _ => 1)); [rewrite E_const; lra |]. apply E_le. intro k.
      apply (le_INR 1). pose proof (some_steps k). lia.
    - rewrite <- (E_const clients (INR tau)). apply E_le. intro k. now apply le_INR. }
  set (B := Rmax _ _).
  assert (hg : 0 <= 1 - c^tau <= 1) by (pose proof (geometric_one c tau hc); lra).
  assert (hB : 0 <= B).
  { unfold B. apply Rle_trans with (1 - mean_steps / INR tau * (1 - c^tau)); [| apply Rmax_l].
    assert (0 <= mean_steps / INR tau <= 1).
    { split; [pos |]. apply Rmult_le_reg_r with (INR tau); [easy |].
      replace (mean_steps / INR tau * INR tau) with mean_steps by (field; lra). lra. }
    nra. }
  assert (e : same (normalized_round w - w_inf) (M (w - w_inf))).
  { intro z. rewrite <- round_is_M, !ip_sub. now rewrite (fixed z). }
  rewrite (same_sq _ _ e). apply symmetric_norm; [apply M_linear | apply M_symmetric | easy |].
  intro v. rewrite M_ip. fold (sq v).
  pose proof (sq_pos v) as hv.
  set (S := E clients (fun k => / INR (steps k) * (sq v - ip v (power (H k) eta (steps k) v)))).
  assert (s1 : (1 - c^tau) / INR tau * sq v <= S).
  { unfold S. rewrite <- (E_const clients ((1 - c^tau) / INR tau * sq v)). apply E_le. intro k.
    pose proof (lt_0_INR (steps k) (some_steps k)) as pk.
    pose proof (form_upper (f k) (g k) (H k) (c0 k) mu L eta (quadratics k) ltac:(lra) eta_pos short_steps hc (steps k)
      v) as u.
    fold c in u. unfold form in u. rewrite (ip_sym _ v) in u.
    assert (hx : 0 <= eta * mu <= 1) by (unfold c in hc; lra).
    pose proof (powers_average (eta * mu) hx (steps k) (tau - steps k)) as a.
    replace (steps k + (tau - steps k))%nat with tau in a by (pose proof (at_most k); lia). fold c in a.
    pose proof (powers_sum (eta * mu) tau) as p1. pose proof (powers_sum (eta * mu) (steps k)) as p2. fold c in p1, p2.
    assert (m : INR (steps k) * (1 - c^tau) <= INR tau * (1 - c^(steps k))).
    { rewrite <- p1, <- p2. apply (Rmult_le_compat_l (eta * mu)) in a; lra. }
    apply Rmult_le_reg_l with (INR (steps k) * INR tau); [pos |].
    replace (INR (steps k) * INR tau * ((1 - c^tau) / INR tau * sq v)) with (INR (steps k) * (1 - c^tau) * sq v)
      by (field; lra).
    replace (INR (steps k) * INR tau * (/ INR (steps k) * (sq v - ip v (power (H k) eta (steps k) v))))
      with (INR tau * (sq v - ip v (power (H k) eta (steps k) v))) by (field; lra).
    apply Rle_trans with (INR tau * ((1 - c^(steps k)) * sq v)).
    - rewrite <- Rmult_assoc. now apply Rmult_le_compat_r.
    - apply Rmult_le_compat_l; lra. }
  assert (s2 : S <= eta * L * sq v).
  { unfold S. rewrite <- (E_const clients (eta * L * sq v)). apply E_le. intro k.
    pose proof (lt_0_INR (steps k) (some_steps k)) as pk.
    pose proof (form_lower (f k) (g k) (H k) (c0 k) mu L eta (quadratics k) ltac:(lra) eta_pos short_steps hc (steps k)
      v) as l.
    unfold form in l. rewrite (ip_sym _ v) in l.
    apply Rmult_le_reg_l with (INR (steps k)); [easy |].
    replace (INR (steps k) * (/ INR (steps k) * (sq v - ip v (power (H k) eta (steps k) v))))
      with (sq v - ip v (power (H k) eta (steps k) v)) by (field; lra). lra. }
  change (ip v v) with (sq v).
  assert (mean_steps * S <= mean_steps * (eta * L * sq v)) by (apply Rmult_le_compat_l; lra).
  assert (mean_steps * ((1 - c^tau) / INR tau * sq v) <= mean_steps * S) by (apply Rmult_le_compat_l; lra).
  pose proof (Rmax_l (1 - mean_steps / INR tau * (1 - c^tau)) (eta * mean_steps * L - 1)) as r1.
  pose proof (Rmax_r (1 - mean_steps / INR tau * (1 - c^tau)) (eta * mean_steps * L - 1)) as r2. fold B in r1, r2.
  apply (Rmult_le_compat_r (sq v)) in r1; [| easy]. apply (Rmult_le_compat_r (sq v)) in r2; [| easy].
  replace ((1 - mean_steps / INR tau * (1 - c^tau)) * sq v) with (sq v - mean_steps * ((1 - c^tau) / INR tau * sq v)) in
    r1 by (field; lra).
  split; lra.
Qed.
End Normalized.
