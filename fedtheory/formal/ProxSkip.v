(** Scaffnew, the federated form of ProxSkip: gradient steps with control variates, and averages when a coin falls. *)

From FedTheory Require Export Clients Recursions.

Section Scaffnew.
Context {V : space}.
Variables (clients : law) (f : nat -> V -> R) (g : nat -> V -> V) (mu L gamma p : R) (xs : V).
Hypothesis curvatures : 0 < mu <= L.
Hypothesis gamma_pos : 0 < gamma.
Hypothesis probability : 0 < p <= 1.
Hypothesis strongly : forall k, strongly_convex mu (f k) (g k).
Hypothesis smooth_clients : forall k, smooth L (f k) (g k).
Hypothesis best : minimizer (mean_loss clients f) xs.

(** The state: the clients' models and control variates. *)
Definition state : Type := ((nat -> V) * (nat -> V))%type.
Definition moved (s : state) k : V := (fst s k - gamma * (g k (fst s k) - snd s k))%V.
Definition stay (s : state) : state := (moved s, snd s).
Definition communicate (s : state) : state :=
  let mean := vE clients (moved s) in (fun _ => mean, fun k => (snd s k + p / gamma * (mean - moved s k))%V).

(** The expected value of [h] after T steps from [s], over the coins. *)
Fixpoint expected (h : state -> R) (T : nat) (s : state) : R :=
  match T with
  | O => h s
  | S T => p * expected h T (communicate s) + (1 - p) * expected h T (stay s)
  end.

Definition potential (s : state) : R :=
  E clients (fun k => sq (fst s k - xs)) + (gamma / p)^2 * E clients (fun k => sq (snd s k - g k xs)).
Definition balanced (s : state) : Prop := forall z, E clients (fun k => ip (snd s k) z) = 0.

Lemma stay_balanced s : balanced s -> balanced (stay s).
Proof. easy. Qed.
Lemma communicate_balanced s : balanced s -> balanced (communicate s).
Proof.
  intros h z. unfold communicate. cbn [snd].
  rewrite (E_ext _ _ (fun k => ip (snd s k) z + p / gamma * (ip (vE clients (moved s)) z - ip (moved s k) z)))
    by (intros; rewrite ip_add, ip_scale, ip_sub; ring).
  Es. rewrite (h z), ip_vE. ring.
Qed.

(** The gradient step is a contraction of every client. *)
Definition rate : R := Rmax (Rmax ((1 - gamma * mu)^2) ((1 - gamma * L)^2)) (1 - p^2).

Lemma one_step s : balanced s -> p * potential (communicate s) + (1 - p) * potential (stay s) <= rate * potential s.
Proof.
  intro hb. assert (hz : forall z, E clients (fun k => ip (g k xs) z) = 0).
  { intro z. apply (gradients_at_minimizer clients f g L); [intro; apply smooth_clients | exact best]. }
  set (x := fst s). set (h := snd s). set (y := moved s). set (t := gamma / p).
  assert (hh : forall z, E clients (fun k => ip (h k) z) = 0) by exact hb.
  assert (ht : t * (p / gamma) = 1) by (unfold t; field; lra).
  set (d k := (y k - t * h k - (xs - t * g k xs))%V).
  (* what the coin makes of the state *)
  assert (c : potential (communicate s) = E clients (fun k => sq (d k))).
  { rewrite (spread_zero clients d), Rplus_comm. unfold potential, communicate. cbn [fst snd]. fold y h t.
    assert (md : same (vE clients d) (vE clients y - xs)).
    { intro z. rewrite ip_sub, !ip_vE. rewrite (E_ext clients (fun i => ip (d i) z)
        (fun k => ip (y k) z - t * ip (h k) z - (ip xs z - t * ip (g k xs) z)))
          by (intros; unfold d; rewrite !ip_sub, !ip_scale; ring).
      Es. rewrite hh, hz. ring. }
    f_equal.
    - rewrite (E_const clients (sq (vE clients y - xs))). symmetry. now apply same_sq.
    - rewrite <- E_scal. apply E_ext. intros k _.
      assert (e : same (d k - vE clients d) (- t * (h k + p / gamma * (vE clients y - y k) - g k xs))).
      { intro z. rewrite ip_sub, (md z). unfold d. rewrite !ip_sub, !ip_scale, !ip_sub, !ip_add, !ip_scale, !ip_sub.
        transitivity (ip (y k) z - ip (vE clients y) z - t * (ip (h k) z - ip (g k xs) z)); [ring |].
        replace (- t * (ip (h k) z + p / gamma * (ip (vE clients y) z - ip (y k) z) - ip (g k xs) z))
          with (- (t * (p / gamma)) * (ip (vE clients y) z - ip (y k) z) - t * (ip (h k) z - ip (g k xs) z)) by ring.
        rewrite ht. ring. }
      rewrite (same_sq _ _ e). ips. ring. }
  rewrite c. unfold potential at 1, stay. cbn [fst snd]. fold y h t.
  assert (total : p * E clients (fun k => sq (d k))
      + (1 - p) * (E clients (fun k => sq (y k - xs)) + t^2 * E clients (fun k => sq (h k - g k xs)))
    = E clients (fun k => sq (x k - gamma * g k (x k) - (xs - gamma * g k xs)))
      + (1 - p^2) * (t^2 * E clients (fun k => sq (h k - g k xs)))).
  { rewrite <- !E_scal, <- !E_plus, <- !E_scal, <- !E_plus. apply E_ext. intros k _. unfold d, y, moved. fold x h.
    assert (et : gamma = t * p) by (unfold t; field; lra). rewrite et. ips. ring. }
  rewrite total. unfold rate. set (q := Rmax ((1 - gamma * mu)^2) _).
  assert (w : E clients (fun k => sq (x k - gamma * g k (x k) - (xs - gamma * g k xs)))
    <= q * E clients (fun k => sq (x k - xs))).
  { rewrite <- E_scal. apply E_le. intro k.
    apply (step_contracts mu L gamma (f k) (g k)); [lra | lra | apply strongly | apply smooth_clients]. }
  set (A := E clients (fun k => sq (x k - xs))) in *. set (B := t^2 * E clients (fun k => sq (h k - g k xs))).
  assert (hA : 0 <= A) by (apply E_pos; intro; apply sq_pos).
  assert (hB : 0 <= B) by (apply Rmult_le_pos; [apply pow2_ge_0 | apply E_pos; intro; apply sq_pos]).
  unfold potential. fold x h t. fold A B.
  pose proof (Rmax_l q (1 - p^2)). pose proof (Rmax_r q (1 - p^2)).
  assert (q * A <= Rmax q (1 - p^2) * A) by now apply Rmult_le_compat_r.
  assert ((1 - p^2) * B <= Rmax q (1 - p^2) * B) by now apply Rmult_le_compat_r. lra.
Qed.

Lemma rate_pos : 0 <= rate.
Proof. apply Rle_trans with (1 - p^2); [nra | apply Rmax_r]. Qed.

Lemma many_steps T s : balanced s -> expected potential T s <= rate^T * potential s.
Proof.
  revert s. induction T as [| T IH]; intros s hb; cbn [expected pow]; [lra |].
  pose proof (IH (communicate s) (communicate_balanced s hb)) as i1.
  pose proof (IH (stay s) (stay_balanced s hb)) as i2.
  pose proof (one_step s hb) as o. pose proof (pow_le rate T rate_pos) as hr.
  apply Rle_trans with (rate^T * (p * potential (communicate s) + (1 - p) * potential (stay s))).
  - assert (p * expected potential T (communicate s) <= p * (rate^T * potential (communicate s)))
      by (apply Rmult_le_compat_l; lra).
    assert ((1 - p) * expected potential T (stay s) <= (1 - p) * (rate^T * potential (stay s)))
      by (apply Rmult_le_compat_l; lra). lra.
  - rewrite (Rmult_comm rate), Rmult_assoc. now apply Rmult_le_compat_l.
Qed.

(** All models start at [w0], with control variates [h0] that sum to zero. *)
Section Theorems.
Variables (w0 : V) (h0 : nat -> V) (T : nat).
Hypothesis sum_zero : forall z, E clients (fun k => ip (h0 k) z) = 0.
Let control_error2 := E clients (fun k => sq (h0 k - g k xs)).

Theorem proxskip_refined_fixed_step_potential :
  expected potential T (fun _ => w0, h0)
    <= Rmax (Rmax ((1 - gamma * mu)^2) ((1 - gamma * L)^2)) (1 - p^2) ^ T
       * (sq (w0 - xs) + (gamma / p)^2 * control_error2).
Proof.
  apply Rle_trans with (1 := many_steps T (fun _ => w0, h0) sum_zero). right. unfold potential. cbn [fst snd].
  now rewrite E_const.
Qed.

Theorem proxskip_fixed_step_potential : gamma * L <= 1 ->
  expected potential T (fun _ => w0, h0)
    <= Rmax (1 - gamma * mu) (1 - p^2) ^ T * (sq (w0 - xs) + (gamma / p)^2 * control_error2).
Proof.
  intro hx. apply Rle_trans with (1 := proxskip_refined_fixed_step_potential).
  assert (gamma * mu <= gamma * L) by (apply Rmult_le_compat_l; lra). assert (0 < gamma * mu) by pos.
  apply Rmult_le_compat_r.
  - apply Rplus_le_le_0_compat; [apply sq_pos |]. apply Rmult_le_pos;
      [apply pow2_ge_0 | apply E_pos; intro; apply sq_pos].
  - apply pow_incr. split; [apply rate_pos |].
    apply Rmax_lub; [apply Rmax_lub | apply Rmax_r]; apply Rle_trans with (2 := Rmax_l _ _); nra.
Qed.
End Theorems.
End Scaffnew.
