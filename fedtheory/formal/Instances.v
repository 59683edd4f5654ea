(** Federations that meet all hypotheses of the main theorems: parabolas on a line, without noise. No theorem is
  vacuous. *)

From FedTheory Require Export Parabolas PowerOfChoicePrinted FedAlignTheorems.
From FedTheory Require Import LocalSamplingTheorems ScaffoldHorizon ProxSkip ErrorFeedback.

Lemma one_pos : (0 < 1)%nat.
Proof. lia. Qed.
Lemma two_pos : (0 < 2)%nat.
Proof. lia. Qed.
Definition single : law := uniform 1 one_pos.
Definition two : law := uniform 2 two_pos.
Lemma mean_of_single h : E single h = h O.
Proof. unfold E. cbn. field. Qed.
Lemma mean_of_two h : E two h = (h O + h 1%nat) / 2.
Proof. unfold E. cbn. field. Qed.
Lemma constant_mean (p : law) b (h : nat -> R) : (forall i, h i <= b) -> E p h <= b.
Proof. intro k. rewrite <- (E_const p b). now apply E_le. Qed.
Lemma zero_mean (p : law) (h : nat -> R) : (forall i, h i = 0) -> E p h = 0.
Proof. intro k. rewrite <- (E_const p 0). apply E_ext. intros. apply k. Qed.
Lemma silent {V : space} (P : law) past : @unbiased_noise V P past (no_noise 0).
Proof. intros i s Z _. apply zero_mean. intro. apply ip_zero. Qed.

(** ** Two clients, all of whose parabolas have minima between -1 and 1 *)
Section Federation.
Variables (a c : nat -> R) (mu L : R) (xs w0 : line).
Hypothesis curved : 0 < mu <= L.
Hypothesis curvatures : forall k, mu <= a k <= L.
Hypothesis minima : forall k, -1 <= c k <= 1.
Hypothesis start : -1 <= w0 O <= 1.
Local Notation f := (loss a c).
Local Notation g := (slope a c).
Local Notation low := (fun _ : nat => 0).
Local Notation own := (fun _ i : nat => i).

Lemma strongly k : strongly_convex mu (f k) (g k).
Proof. apply loss_lower, curvatures. Qed.
Lemma smooth_clients k : smooth L (f k) (g k).
Proof. apply loss_smooth. pose proof (curvatures k). lra. Qed.
Lemma lows k : bounded_below (f k) 0.
Proof. apply loss_low. pose proof (curvatures k). lra. Qed.
Lemma gradient_in k (x : line) : -1 <= x O <= 1 -> sq (g k x) <= 4 * L^2.
Proof. apply slope_stays; [pose proof (curvatures k); lra | apply minima]. Qed.
Lemma silent_gradient_in k (x : line) r i s o : -1 <= x O <= 1 -> sq (g k x + no_noise r i s o)%V <= 4 * L^2.
Proof.
  intro h. replace (sq (g k x + no_noise r i s o)%V) with (sq (g k x)) by (rewrite !sq_line; cbn; ring).
  now apply gradient_in.
Qed.
Section Steps.
Variable eta : nat -> R.
Hypothesis short : forall t, 0 <= eta t * L <= 1.
Hypothesis lengths : forall t, 0 <= eta t.
Lemma path_in (u : nat -> line) cl (xi : nat -> nat -> nat -> line) i s o : -1 <= u o O <= 1 -> (forall i s o, xi i s o
  = zero) -> -1 <= path u cl xi g eta i s o O <= 1.
Proof.
  intros hu hx. unfold path. pose proof (local_stays a c eta (u o) (cl o) i s minima) as h.
  replace (local_model g eta (u o) (cl o) (fun i s => xi i s o) i s) with (local_model g eta (u o) (cl o) (fun _ _ =>
    zero) i s).
  - apply h; [| easy]. intros k t. pose proof (curvatures k). pose proof (short t). pose proof (lengths t). nra.
  - clear h. induction s as [| s IH]; [reflexivity |]. cbn [local_model]. now rewrite IH, hx.
Qed.
Lemma average_in (p : nat -> law) (u : nat -> line) cl (xi : nat -> nat -> nat -> line) s o : -1 <= u o O <= 1 ->
  (forall i s o, xi i s o = zero) ->
  -1 <= average_model p u cl xi g eta s o O <= 1.
Proof. intros hu hx. unfold average_model. rewrite mean_line. apply mean_range. intro i. now apply path_in. Qed.
End Steps.

(** *** One of two clients of equal weights is drawn in each round *)
Section OneOfTwo.
Variables (eta : nat -> R) (tau : nat).
Hypothesis best : minimizer (mean_loss two f) xs.
Hypothesis short : forall t, 0 <= eta t * L <= 1.
Hypothesis lengths : forall t, 0 <= eta t.
Hypothesis some : (0 < tau)%nat.
Definition client_run (x : line) k r s : line :=
  average_model (fun _ => single) (fun _ => x) (fun _ _ => k) (no_noise r) g (fun t => eta (tau * r + t)) s 0.
Definition drawn_step r (B : nat -> line) o b : line := client_run (B o) b r tau.
Definition rounds r : law := drawn_before two (S r).
Definition starts : nat -> nat -> line := model_before two w0 drawn_step.
Definition clients_drawn (r o i : nat) : nat := drawn_now two o.

Lemma starts_in r o : -1 <= starts r o O <= 1.
Proof.
  apply (before_in two w0 drawn_step (fun x => -1 <= x O <= 1)); [easy |]. intros q B w b hB.
  unfold drawn_step, client_run. apply average_in; [intro; apply short | intro; apply lengths | apply hB | easy].
Qed.
Lemma run_of_client r s o : run_average (fun _ _ => single) starts clients_drawn no_noise g tau eta r s o
  = client_run (starts r o) (drawn_now two o) r s.
Proof. reflexivity. Qed.

Lemma one_of_two : setting two rounds same_outcome starts clients_drawn no_noise f g low tau mu L (4 * L^2) 1 1 xs w0
  eta 1
  (plain 1 one_pos) 0.
Proof.
  constructor.
  - exact curved.
  - exact strongly.
  - exact smooth_clients.
  - exact lows.
  - exact best.
  - exact some.
  - easy.
  - easy.
  - intro r. apply all_known.
  - intro r. apply silent.
  - intros r s _. right. apply zero_mean. intro o. unfold step_noise. rewrite sq_line, mean_line, zero_mean by easy.
    ring.
  - intros r s _. apply constant_mean. intro o. apply constant_mean. intro i. apply silent_gradient_in.
    apply (path_in (fun t => eta (tau * r + t))); [intro; apply short | intro; apply lengths | apply starts_in | easy].
  - intros r k. apply constant_mean. intro o. apply gradient_in, starts_in.
  - intro r. apply (unbiased_skews two rounds starts clients_drawn f low xs r 1 one_pos lows). intros i h _.
    exact (drawn_fairly two w0 drawn_step r h).
  - easy.
  - intros r h. exact (model_before_next two w0 drawn_step r h).
Qed.
End OneOfTwo.

(** *** All clients train, and all of them or one are averaged *)
Section Averaged.
Variables (tau : nat).
Hypothesis best : minimizer (mean_loss two f) xs.
Hypothesis some : (0 < tau)%nat.
Local Notation eta := (step_size tau mu L).
Lemma eta_lengths t : 0 <= eta t.
Proof. left. apply (step_pos tau mu L curved). Qed.
Lemma eta_short t : 0 <= eta t * L <= 1.
Proof. pose proof (step_short tau mu L curved t). pose proof (eta_lengths t). nra. Qed.

(** What Theorems 1 to 3 of Li et al. assume, for models between -1 and 1. *)
Lemma gradients_in P (u : nat -> nat -> line) : (forall r o, -1 <= u r o O <= 1) -> forall r k s, (s < tau)%nat ->
  E (P r) (fun o => sq (g k (client_model u no_noise g tau mu L r k s o) + no_noise r k s o)%V) <= 4 * L^2.
Proof.
  intros hu r k s _. apply constant_mean. intro o. apply silent_gradient_in.
  apply (path_in (round_steps tau mu L r)); [intro; apply eta_short | intro; apply eta_lengths | apply hu | easy].
Qed.
Definition mean_step r (B : nat -> line) o (b : nat) : line :=
  average_model (fun _ => two) B own (no_noise r) g (round_steps tau mu L r) tau o.
Definition one_step r (B : nat -> line) o b : line :=
  vE (uniform 1 one_pos) (fun _ => path B own (no_noise r) g (round_steps tau mu L r) b tau o).
Lemma mean_runs_in r o : -1 <= before single w0 mean_step r o O <= 1.
Proof.
  apply (before_in single w0 mean_step (fun x => -1 <= x O <= 1)); [easy |]. intros q B w b hB.
  apply average_in; [intro; apply eta_short | intro; apply eta_lengths | apply hB | easy].
Qed.
Lemma one_runs_in r o : -1 <= before two w0 one_step r o O <= 1.
Proof.
  apply (before_in two w0 one_step (fun x => -1 <= x O <= 1)); [easy |]. intros q B w b hB.
  unfold one_step. rewrite mean_line. apply mean_range. intros _.
  apply (path_in (round_steps tau mu L q)); [intro; apply eta_short | intro; apply eta_lengths | apply hB | easy].
Qed.
Lemma follow_mean : follows_all two (drawn_before single) (before single w0 mean_step) no_noise g tau mu L.
Proof. intros r h. rewrite (before_next single w0 mean_step). apply E_ext. intros o _. apply mean_of_single. Qed.
Lemma follow_one : follows_drawn (drawn_before two) (before two w0 one_step) no_noise g tau mu L (fun _ => two) 1
  one_pos
  (fun _ b _ => b).
Proof. intros r h. exact (before_next two w0 one_step r h). Qed.
Lemma silent_pairs {V : space} (P : nat -> law) r : @uncorrelated_noise V (P r) (no_noise r).
Proof. intros i j s _. apply zero_mean. intro. apply ip_zero. Qed.
Lemma silent_variance {V : space} (P : nat -> law) : forall r i s : nat,
  E (P r) (fun o => sq (@no_noise V r i s o)) <= (fun _ => 0) i.
Proof. intros. right. apply zero_mean. intro. apply ip_zero. Qed.

Definition full_participation_gap_of_two r s := fedavg_full_participation_gap two (drawn_before single) same_outcome
  (before single w0 mean_step) no_noise f g low tau mu L (4 * L^2) low xs w0 curved strongly smooth_clients lows best
    some
  (fun r => all_known r _ _) (fun r => silent _ _) (silent_pairs _) (silent_variance _) (gradients_in _ _ mean_runs_in)
  (fun _ => eq_refl) r s follow_mean.
Lemma one_with_replacement : draws_with_replacement two two 1 (fun b _ => b).
Proof. split; [easy | intros i j h hi hj e; lia]. Qed.
Definition with_replacement_gap_of_two r s := fedavg_with_replacement_gap two (drawn_before two) same_outcome
  (before two w0 one_step) no_noise f g low tau mu L (4 * L^2) low xs w0 curved strongly smooth_clients lows best some
  (fun r => all_known r _ _) (fun r => silent _ _) (silent_pairs _) (silent_variance _) (gradients_in _ _ one_runs_in)
  (fun _ => eq_refl) (fun _ => two) 1 one_pos (fun _ b _ => b) r s (fun _ => one_with_replacement) follow_one.
Lemma one_without_replacement : draws_without_replacement 2 two 1 (fun b _ => b).
Proof. split; [intros i h _; rewrite mean_of_two; cbn; field | intros i j h hi hj e; lia]. Qed.
Definition without_replacement_gap_of_two r s := fedavg_without_replacement_gap 2 two_pos (drawn_before two)
  same_outcome (before two w0 one_step) no_noise f g low tau mu L (4 * L^2) low xs w0 (fun _ => two) 1 one_pos (fun _ b
    _ => b)
  r s curved strongly smooth_clients lows best some (fun r => all_known r _ _) (fun r => silent _ _) (silent_pairs _)
  (silent_variance _) (gradients_in _ _ one_runs_in) (fun _ => eq_refl) (le_n 2) (le_S 1 1 (le_n 1))
  (fun _ => one_without_replacement) follow_one.
End Averaged.
End Federation.

(** ** FedALIGN: a priority client with the minimum at 0, where the run starts, and another one with the minimum at 1,
  which
    takes part in round 0 only *)

(** What both theorems assume. *)
Section Assumed.
Context {V : space}.
Variables (P : nat -> law) (priority : law) (past : nat -> nat -> nat -> nat -> Prop) (others : nat) (p : nat -> R)
  (I : nat -> nat -> nat -> R) (u : nat -> nat -> V) (xi : nat -> nat -> nat -> nat -> V) (f : nat -> V -> R)
  (g : nat -> V -> V) (low : nat -> R) (tau : nat) (mu L G2 sigma2 : R) (xs w0 : V).
Variables (shares : forall k, 0 <= p k) (indicators : forall r o k, 0 <= I r o k).
Local Notation own := (fun _ i : nat => i).
Local Notation model r i s o := (path (u r) own (xi r) g (round_steps tau mu L r) i s o).
Local Set Implicit Arguments.
Record alignment : Prop := {
  frozen : forall r k, adapted (past r) 0 (fun o => I r o k);
  curved : 0 < mu <= L;
  strongly_curved : forall k, strongly_convex mu (f k) (g k);
  smoothly_curved : forall k, smooth L (f k) (g k);
  lowest : forall k, bounded_below (f k) (low k);
  optimal : minimizer (mean_loss priority f) xs;
  some_steps : (0 < tau)%nat;
  informed : forall r, information (past r) (u r) own (xi r);
  no_bias : forall r, unbiased_noise (P r) (past r) (xi r);
  unrelated : forall r s i k (phi : nat -> R), i <> k -> adapted (past r) s phi ->
    E (P r) (fun o => phi o * ip (xi r i s o) (xi r k s o)) = 0;
  noise_variance : forall r s i (phi : nat -> R), (forall o, 0 <= phi o) -> adapted (past r) s phi ->
    E (P r) (fun o => phi o * sq (xi r i s o)) <= sigma2 * E (P r) phi;
  bounded_gradients : forall r s, (s < tau)%nat -> E (P r) (fun o => E (included_weights priority others p I shares
    indicators r o) (fun i => sq (g i (model r i s o) + xi r i s o))) <= G2;
  first_start : forall o, u O o = w0;
  low_attained : forall k, exists y, f k y = low k;
  gradients_at_best : forall k, sq (g k xs) <= G2;
  gradients_at_start : forall k, sq (g k w0) <= G2
}.
End Assumed.

Definition ones (_ : nat) : R := 1.
Definition apart_by_one (k : nat) : R := match k with O => 0 | _ => 1 end.
Definition share_one (_ : nat) : R := 1.
Definition only_first (r _ _ : nat) : R := match r with O => 1 | _ => 0 end.
Definition origin : line := at_ 0.
Lemma share_pos k : 0 <= share_one k.
Proof. unfold share_one. lra. Qed.
Lemma only_first_range r o k : 0 <= only_first r o k <= 1.
Proof. destruct r; cbn; lra. Qed.
Definition only_first_pos r o k : 0 <= only_first r o k := proj1 (only_first_range r o k).
Lemma apart_range k : -1 <= apart_by_one k <= 1.
Proof. destruct k; cbn; lra. Qed.
Lemma ones_range k : 1 <= ones k <= 1.
Proof. unfold ones. lra. Qed.
Lemma unit_curved : 0 < 1 <= 1.
Proof. lra. Qed.
Lemma origin_in : -1 <= origin O <= 1.
Proof. unfold origin, at_. lra. Qed.

Section Aligned.
Variable tau : nat.
Hypothesis some : (0 < tau)%nat.
Local Notation f1 := (loss ones apart_by_one).
Local Notation g1 := (slope ones apart_by_one).
Local Notation eta1 := (round_steps tau 1 1).
Local Notation own := (fun _ i : nat => i).

Lemma aligned_path_in (B : nat -> line) r k s o : -1 <= B o O <= 1 -> -1 <= path B own (no_noise r) g1 (eta1 r) k s o O
  <= 1.
Proof.
  intro h. apply (path_in ones apart_by_one 1 1 unit_curved ones_range apart_range); try easy; intro t;
    [apply (eta_short 1 1 unit_curved tau) | apply (eta_lengths 1 1 unit_curved tau)].
Qed.

(** A run that stays between -1 and 1 meets the hypotheses, whatever the averages are. *)
Lemma aligned (u : nat -> nat -> line) : (forall r o, -1 <= u r o O <= 1) -> (forall o, u O o = origin) ->
  alignment (fun _ => single) single same_outcome 1 share_one only_first u no_noise f1 g1 (fun _ => 0) tau 1 1 4 0
    origin
    origin share_pos only_first_pos /\
  forall r k s, E single (fun o => sq (g1 k (path (u r) own (no_noise r) g1 (eta1 r) k s o) + no_noise r k s o)%V) <= 4.
Proof.
  intros hu h0.
  assert (b : forall k x, -1 <= x O <= 1 -> sq (g1 k x) <= 4).
  { intros k x hx. replace 4 with (4 * 1^2) by ring. now apply (gradient_in ones apart_by_one 1 1 unit_curved
    ones_range apart_range). }
  assert (d : forall r k s o, sq (g1 k (path (u r) own (no_noise r) g1 (eta1 r) k s o) + no_noise r k s o)%V <= 4).
  { intros r k s o. replace 4 with (4 * 1^2) by ring.
    apply (silent_gradient_in ones apart_by_one 1 1 unit_curved ones_range apart_range), aligned_path_in, hu. }
  split; [constructor |].
  - easy.
  - lra.
  - exact (strongly ones apart_by_one 1 1 ones_range).
  - exact (smooth_clients ones apart_by_one 1 1 unit_curved ones_range).
  - exact (lows ones apart_by_one 1 1 unit_curved ones_range).
  - intro x. unfold mean_loss. rewrite !mean_of_single. unfold loss, ones, apart_by_one, origin, at_.
    pose proof (pow2_ge_0 (x O)). nra.
  - exact some.
  - intro r. apply all_known.
  - intro r. apply silent.
  - intros r s i k phi _ _. apply zero_mean. intro o. unfold no_noise. rewrite ip_zero. ring.
  - intros r s i phi _ _. right. rewrite Rmult_0_l. apply zero_mean. intro o. unfold no_noise, sq. rewrite ip_zero.
    ring.
  - intros r s _. apply constant_mean. intro o. apply constant_mean. intro i. apply d.
  - exact h0.
  - intro k. exists (at_ (apart_by_one k)). apply loss_attained.
  - intro k. apply b, origin_in.
  - intro k. apply b, origin_in.
  - intros r k s. apply constant_mean. intro o. apply d.
Qed.

(** All clients that are included are averaged; or K draws of the only priority client take its place. *)
Definition all_included r (B : nat -> line) (o : nat) : line := average_model
  (included_weights single 1 share_one only_first share_pos only_first_pos r) B own (no_noise r) g1 (eta1 r) tau o.
Fixpoint included_run (r : nat) : nat -> line :=
  match r with O => fun _ => origin | S r => all_included r (included_run r) end.
Lemma included_run_stays r o : -1 <= included_run r o O <= 1.
Proof.
  revert o. induction r as [| r IH]; intro o; [apply origin_in |]. cbn [included_run].
  unfold all_included, average_model. rewrite mean_line. apply mean_range. intro i. apply aligned_path_in, IH.
Qed.
Lemma follow_included : follows_included (fun _ => single) single 1 share_one only_first included_run no_noise g1 tau 1
  1
  share_pos only_first_pos.
Proof. intros r h. now rewrite !mean_of_single. Qed.

Variables (K : nat) (hK : (0 < K)%nat).
Definition all_drawn r (B : nat -> line) (o : nat) : line :=
  drawn_average single 1 share_one (only_first r) B (no_noise r) g1 (eta1 r) (tau - 1) K hK (fun _ _ => O) o 0.
Fixpoint drawn_run (r : nat) : nat -> line :=
  match r with O => fun _ => origin | S r => all_drawn r (drawn_run r) end.
Lemma all_drawn_value r B o : all_drawn r B o O = / (1 + only_first r o 0)
  * (path B own (no_noise r) g1 (eta1 r) 0 (S (tau - 1)) o O
     + only_first r o 0 * path B own (no_noise r) g1 (eta1 r) 1 (S (tau - 1)) o O).
Proof.
  unfold all_drawn, drawn_average, final.
  set (m := vE (uniform K hK) (fun _ => path B own (no_noise r) g1 (eta1 r) 0 (S (tau - 1)) o)).
  assert (e : m O = path B own (no_noise r) g1 (eta1 r) 0 (S (tau - 1)) o O) by (unfold m; rewrite mean_line; apply
    E_const).
  rewrite <- e. clearbody m. clear e. set (y := path B own (no_noise r) g1 (eta1 r) 1 (S (tau - 1)) o).
  set (i := only_first r o 0). unfold extra, share_one, vsum, sum. cbn [size single uniform]. fold i y. cbn.
  rewrite !Rplus_0_l, !Rmult_1_l. reflexivity.
Qed.
Lemma drawn_run_stays r o : -1 <= drawn_run r o O <= 1.
Proof.
  revert o. induction r as [| r IH]; intro o; [apply origin_in |]. cbn [drawn_run]. rewrite all_drawn_value.
  pose proof (aligned_path_in (drawn_run r) r 0 (S (tau - 1)) o (IH o)) as a.
  pose proof (aligned_path_in (drawn_run r) r 1 (S (tau - 1)) o (IH o)) as b.
  set (x := path (drawn_run r) own (no_noise r) g1 (eta1 r) 0 (S (tau - 1)) o O) in *.
  set (y := path (drawn_run r) own (no_noise r) g1 (eta1 r) 1 (S (tau - 1)) o O) in *.
  destruct r; cbn [only_first]; split; lra.
Qed.
Lemma only_client_drawn : draws_with_replacement single single K (fun _ _ => O).
Proof. split; intros; rewrite !mean_of_single; reflexivity. Qed.
Lemma follow_drawn : follows_priority_draws (fun _ => single) single 1 share_one only_first drawn_run no_noise g1 tau 1
  1
  (fun _ => single) K hK (fun _ _ _ => O).
Proof.
  intros r h. rewrite !mean_of_single. f_equal. cbn [drawn_run]. unfold all_drawn.
  assert (e : forall t, (0 < t)%nat -> partial_model single 1 share_one only_first drawn_run no_noise g1 tau 1 1 K hK
    (fun _ _ _ => O) r t 0 0 = drawn_average single 1 share_one (only_first r) (drawn_run r) (no_noise r) g1 (eta1 r)
      (t - 1) K
      hK (fun _ _ => O) 0 0).
  { intros [| t] ht; [lia |]. cbn [partial_model]. now rewrite Nat.sub_succ, Nat.sub_0_r. }
  now rewrite e.
Qed.
End Aligned.

(** ** Two clients with the curvatures 1 and 2, whose minima are at 1 and -1 *)

Definition curvs (k : nat) : R := match k with O => 1 | _ => 2 end.
Definition sides (k : nat) : R := match k with O => 1 | _ => -1 end.
Definition middle : line := at_ (- / 3).
Local Notation f := (loss curvs sides).
Local Notation g := (slope curvs sides).
Local Notation low := (fun _ : nat => 0).
Lemma sides_range k : -1 <= sides k <= 1.
Proof. destruct k; cbn; lra. Qed.
Lemma curvs_range k : 1 <= curvs k <= 2.
Proof. destruct k; cbn; lra. Qed.
Lemma one_below_two : 0 < 1 <= 2.
Proof. lra. Qed.
Lemma middle_best : minimizer (mean_loss two f) middle.
Proof.
  intro x. unfold mean_loss. rewrite !mean_of_two. unfold loss, curvs, sides, middle, at_.
  pose proof (pow2_ge_0 (x O + / 3)). nra.
Qed.
(** The clients are heterogeneous. *)
Lemma heterogeneous : objective_gap two f low middle = 2 / 3.
Proof. unfold objective_gap. rewrite mean_of_two. unfold loss, curvs, sides, middle, at_. field. Qed.
Definition strongly_two := strongly curvs sides 1 2 curvs_range.
Definition smooth_two := smooth_clients curvs sides 1 2 one_below_two curvs_range.
Definition lows_two := lows curvs sides 1 2 one_below_two curvs_range.

(** *** Power-of-Choice *)
Lemma decaying_in t : 0 <= decaying_step 1 2 t * 2 <= 1.
Proof.
  unfold decaying_step. pose proof (pos_INR t). replace (1 * (INR t + 4 * 2 / 1)) with (INR t + 8) by field.
  split; [pos |]. apply Rmult_le_reg_r with (INR t + 8); [lra |].
  replace (1 / (INR t + 8) * 2 * (INR t + 8)) with 2 by (field; lra). lra.
Qed.
Lemma weighted_in t : 0 <= weighted_step 1 2 2 t * 2 <= 1.
Proof.
  unfold weighted_step. pose proof (pos_INR t). cbn [INR]. set (z := 1 * _). assert (e : z = INR t + 48) by (unfold z;
    field).
  rewrite e. split; [pos |]. apply Rmult_le_reg_r with (INR t + 48); [lra |].
  replace ((1 + 1) / (INR t + 48) * 2 * (INR t + 48)) with 4 by (field; lra). lra.
Qed.
Section Slots.
Variable eta : nat -> R.
Hypothesis short : forall t, 0 <= eta t * 2 <= 1.
Local Notation run := (starts curvs sides origin eta 2).
Local Notation setting := (setting two rounds same_outcome run clients_drawn no_noise f g low 2 1 2 (4 * 2^2) 1 1
  middle origin
  eta 1 (plain 1 one_pos)).
Lemma instance_lengths t : 0 <= eta t.
Proof. pose proof (short t). lra. Qed.
Lemma setting_instance : setting 0.
Proof.
  exact (one_of_two curvs sides 1 2 middle origin one_below_two curvs_range sides_range origin_in eta 2 middle_best
    short
    instance_lengths two_pos).
Qed.
Lemma mean_setting_instance : setting (0 / INR 1).
Proof. replace (0 / INR 1) with 0 by (cbn; field). exact setting_instance. Qed.
End Slots.

(** Draws by the weights have the skews 1; the maximum 2 of L/mu is above it. *)
Lemma skew_one : 0 < 1 <= 2 / 1.
Proof. lra. Qed.
Definition power_of_choice_decaying_steps_gap_instance r s := power_of_choice_decaying_steps_gap two rounds
  same_outcome _ _ _ _ _
  _ 2 1 2 _ 1 1 middle origin 1 one_pos 0 (mean_setting_instance _ decaying_in) skew_one (Rle_refl 1) r s.
Lemma eighth_in (t : nat) : 0 <= (fun _ : nat => 1 / 8) t * 2 <= 1.
Proof. lra. Qed.
Definition power_of_choice_fixed_step_gap_instance r s := power_of_choice_fixed_step_gap two rounds same_outcome _ _ _
  _ _ _ 2 1 2
  _ 1 1 middle origin 1 one_pos 0 (1 / 8) (mean_setting_instance _ eighth_in) ltac:(lra) ltac:(lra) ltac:(lra) r s.
Definition power_of_choice_weighted_average_gap_instance r s := power_of_choice_weighted_average_gap two rounds
  same_outcome _ _ _
  _ _ _ 2 1 2 _ 1 1 middle origin 1 (plain 1 one_pos) 2 0 two_pos (setting_instance _ weighted_in) (Rle_refl 1)
    ltac:(lra) r s.

(** *** Federated averaging *)
Definition fedavg_full_participation_gap_instance := full_participation_gap_of_two curvs sides 1 2 middle origin
  one_below_two curvs_range sides_range origin_in 2 middle_best two_pos.
Definition fedavg_with_replacement_gap_instance := with_replacement_gap_of_two curvs sides 1 2 middle origin
  one_below_two curvs_range sides_range origin_in 2 middle_best two_pos.
Definition fedavg_without_replacement_gap_instance := without_replacement_gap_of_two curvs sides 1 2 middle origin
  one_below_two curvs_range sides_range origin_in 2 middle_best two_pos.

(** *** FedALIGN, with rounds of two steps; theta and rho are the sums *)
Definition aligned_included := proj1 (aligned 2 two_pos (included_run 2) (included_run_stays 2) (fun _ => eq_refl)).
Definition fedalign_full_participation_gap_instance r s hs := let h := aligned_included in
  fedalign_full_participation_gap (fun _ => single) single same_outcome 1 share_one only_first _ _ _ _ _ 2 1 1 4 0
    origin origin
    share_pos only_first_pos (frozen h) (curved h) (strongly_curved h) (smoothly_curved h) (lowest h) (optimal h)
      (some_steps h)
    (informed h) (no_bias h) (unrelated h) (noise_variance h) (bounded_gradients h) (first_start h) _ _ r s
      (follow_included 2)
    hs (Rle_refl _) (Rle_refl _).
Definition fedalign_full_participation_gap_printed_instance r s hs := let h := aligned_included in
  fedalign_full_participation_gap_printed (fun _ => single) single same_outcome 1 share_one only_first _ _ _ _ _ 2 1 1
    4 0 origin
    origin share_pos only_first_pos (frozen h) (curved h) (strongly_curved h) (smoothly_curved h) (lowest h) (optimal h)
    (some_steps h) (informed h) (no_bias h) (unrelated h) (noise_variance h) (bounded_gradients h) (first_start h) _ _
      r s
    (follow_included 2) hs (le_n 2) (low_attained h) (gradients_at_best h) (gradients_at_start h) (Rle_refl _)
      (Rle_refl _).
Definition aligned_drawn := aligned 2 two_pos (drawn_run 2 1 one_pos) (drawn_run_stays 2 1 one_pos) (fun _ => eq_refl).
Definition fedalign_partial_participation_gap_instance r s hs := let h := proj1 aligned_drawn in
  fedalign_partial_participation_gap (fun _ => single) single same_outcome 1 share_one only_first _ _ _ _ _ 2 1 1 4 0
    origin
    origin share_pos only_first_pos (frozen h) (curved h) (strongly_curved h) (smoothly_curved h) (lowest h) (optimal h)
    (some_steps h) (informed h) (no_bias h) (unrelated h) (noise_variance h) (bounded_gradients h) (first_start h)
    (fun _ => single) 1 one_pos (fun _ _ _ => O) (fun _ => only_client_drawn 1) (fun r k s _ => proj2 aligned_drawn r k
      s) _ _
    r s (follow_drawn 2 two_pos 1 one_pos) hs (Rle_refl _) (Rle_refl _).

(** *** Optimal Client Sampling: either client is sampled with probability 1/2, independently *)
Definition four : law := uniform 4 ltac:(lia).
Definition halves (_ i : nat) : R := match i with O | 1%nat => 1 / 2 | _ => 1 end.
Definition sampled (_ o i : nat) : R :=
  match i with
  | O => match o with O | 1%nat => 1 | _ => 0 end
  | 1%nat => match o with O | 2%nat => 1 | _ => 0 end
  | _ => 1
  end.
Lemma mean_of_four h : E four h = (h O + h 1%nat + h 2%nat + h 3%nat) / 4.
Proof. unfold E. cbn. field. Qed.
Lemma independent_halves a : independent_sampling (halves a) four (sampled a).
Proof.
  split; [| split; [| split]].
  - intros [| [| i]]; cbn; lra.
  - intros o [| [| i]]; destruct o as [| [| [| o]]]; cbn; lra.
  - intros [| [| i]]; rewrite mean_of_four; cbn; lra.
  - intros [| [| i]] [| [| j]] ne; try easy; rewrite mean_of_four; cbn; lra.
Qed.
Lemma never_zero (a : nat) {V : space} (v : nat -> V) : proper (halves a) v.
Proof. intros [| [| i]] e; cbn in e; lra. Qed.
Lemma half_improves (U : nat -> nat -> line) : improvement two single U halves (1 / 2).
Proof.
  unfold improvement, spread2, sampling_error, sent. rewrite mean_of_single. cbn [size two uniform sum]. rewrite
    !mean_of_single.
  cbn [weight two uniform halves]. replace (sq (/ INR 2 * U 0%nat 0%nat)%V) with ((/ INR 2)^2 * sq (U 0%nat 0%nat)) by
    (ips; ring).
  replace (sq (/ INR 2 * U 1%nat 0%nat)%V) with ((/ INR 2)^2 * sq (U 1%nat 0%nat)) by (ips; ring). field. apply
    not_0_INR. lia.
Qed.
Lemma two_squares : 1 / 2 = sum (size two) (fun i => weight two i ^ 2).
Proof. cbn. field. Qed.
Lemma two_weights i : (i < size two)%nat -> weight two i <= 1 / 2.
Proof. intros _. cbn. lra. Qed.
Lemma mean_strongly : strongly_convex 1 (mean_loss two f) (mean_gradient two g).
Proof. apply mean_loss_lower. exact strongly_two. Qed.
Lemma sampled_round : dsgd_round two single g (fun _ _ => zero) origin halves (fun _ => four) sampled (1 / 2) 0 0.
Proof.
  split; [| split; [| split; [| split; [exact independent_halves | split; [intro a; apply never_zero | apply
    half_improves]]]]].
  - intros i z. apply zero_mean. intro. apply ip_zero.
  - intros i j _. apply zero_mean. intro. apply ip_zero.
  - intro i. rewrite zero_mean by (intro; apply ip_zero). lra.
Qed.
Definition optimal_client_sampling_dsgd_strongly_convex_instance := optimal_client_sampling_dsgd_strongly_convex two
  single f g _
  origin halves _ sampled (1 / 2) 0 0 (1 / 2) (1 / 2) 2 (1 / 8) sampled_round ltac:(lra) two_squares two_weights
    ltac:(lra) 1 low
  middle ltac:(lra) ltac:(lra) smooth_two mean_strongly middle_best lows_two.
Lemma sampled_local_round : local_round two single g origin (fun _ _ => eq) (fun _ => eq) (fun _ _ _ => zero) 2 (1 /
  64) 0 0 halves
  (fun _ => four) sampled (1 / 2).
Proof.
  split; [constructor | split; [exact independent_halves | split; [intro a; apply never_zero | apply half_improves]]];
    try easy.
  - intros i s Z _. apply zero_mean. intro. apply ip_zero.
  - intros i j s Z _ _. apply zero_mean. intro. apply ip_zero.
  - intros i s. rewrite zero_mean by (intro; apply ip_zero). lra.
Qed.
Lemma short_whole_step : step_conditions 2 (1 / 64) 1 0 2 (1 / 2) (1 / 2) (1 / 2).
Proof. unfold step_conditions, whole_step. cbn. repeat split; lra. Qed.
Definition optimal_client_sampling_fedavg_strongly_convex_instance := optimal_client_sampling_fedavg_strongly_convex
  two single f g
  origin _ _ _ 2 (1 / 64) 1 0 0 2 halves _ sampled (1 / 2) (1 / 2) (1 / 2) sampled_local_round two_pos ltac:(lra)
    ltac:(lra)
  smooth_two ltac:(lra) two_squares two_weights ltac:(lra) short_whole_step middle low middle_best lows_two 1 ltac:(lra)
  strongly_two.

(** *** Methods whose theorems assume something of the clients only *)
Definition scaffold_fixed_step_potential_instance := scaffold_fixed_step_potential two f g 1 2 (1 / 8) 2 middle
  one_below_two
  ltac:(lra) two_pos ltac:(cbn; lra) strongly_two smooth_two middle_best.
Lemma no_control (z : line) : E two (fun k => ip ((fun _ => zero) k) z) = 0.
Proof. apply zero_mean. intro. apply ip_zero. Qed.
Definition proxskip_fixed_step_potential_instance T := proxskip_fixed_step_potential two f g 1 2 (1 / 4) (1 / 2) middle
  one_below_two ltac:(lra) ltac:(lra) strongly_two smooth_two middle_best origin (fun _ => zero) T no_control
    ltac:(lra).
(** Half of a vector is sent. *)
Lemma half_sent (i : nat) : @contractive line (1 / 2) ((fun _ _ v => (1 / 2 * v)%V) i).
Proof.
  intros k v. replace (sq (1 / 2 * v - v)%V) with ((1 / 2)^2 * sq v) by (ips; field). lra.
Qed.
Definition error_feedback_ef21_gradient2_instance x d r := error_feedback_ef21_gradient2 two f g (1 / 2) (1 / 8) 1 2
  ltac:(lra)
  ltac:(lra) one_below_two strongly_two smooth_two (fun _ _ v => (1 / 2 * v)%V) x d r half_sent.
