(** FedProx, Theorem 4: what a round does to the loss. *)

From FedTheory Require Export Clients Draws.

Section FedProx.
Context {V : space}.
Variables (clients draw : law) (K : nat) (hK : (0 < K)%nat) (c : nat -> nat -> nat).
Variables (f : nat -> V -> R) (g : nat -> V -> V) (y : nat -> V) (w : V).
Variables (L negative weight B gamma : R).
Local Notation F := (mean_loss clients f).
Local Notation gradF := (mean_gradient clients g).

Hypothesis smooth_clients : forall k, smooth L (f k) (g k).
(** Curvatures are at least - [negative]; [weight] is that of the proximal term. *)
Hypothesis curvatures : forall k, lower (- negative) (f k) (g k).
Hypothesis constants : 0 < L /\ 0 <= negative < weight /\ 0 <= B /\ 0 <= gamma.
(** The answer [y k] of client k is an inexact proximal point of w. *)
Hypothesis answers : forall k, sq (g k (y k) + weight * (y k - w)) <= gamma^2 * sq (g k w).
Hypothesis dissimilarity : E clients (fun k => sq (g k w)) <= B^2 * sq (gradF w).
Hypothesis draws : draws_with_replacement clients draw K c.

Let strength := weight - negative.
Let G := sqrt (sq (gradF w)).
Definition averaged_answer o : V := vE (uniform K hK) (fun i => y (c o i)).

Lemma answer_near k : strength^2 * sq (y k - w) <= (1 + gamma)^2 * sq (g k w).
Proof.
  destruct constants as (hL & hn & hB & hg). assert (hs : 0 < strength) by (unfold strength; lra).
  set (r := (g k (y k) + weight * (y k - w))%V). set (d := (y k - w)%V). set (q := (r - g k w)%V).
  pose proof (strongly_monotone (- negative) (f k) (g k) w (y k) (curvatures k)) as m. fold d in m.
  assert (h : strength * sq d <= ip q d).
  { unfold q, r, strength. rewrite ip_sub, ip_add, ip_scale. fold d. rewrite ip_sub in m. unfold sq in *. lra. }
  assert (h2 : strength^2 * sq d <= sq q).
  { pose proof (sq_pos (q - strength * d)%V) as p.
    assert (e : sq (q - strength * d) = sq q - 2 * strength * ip q d + strength^2 * sq d) by (ips; ring).
    apply (Rmult_le_compat_l strength) in h; [| lra]. nra. }
  apply Rle_trans with (1 := h2). set (s := sqrt (sq (g k w))).
  assert (es : s^2 = sq (g k w)) by (apply pow2_sqrt, sq_pos). assert (hs0 : 0 <= s) by apply sqrt_pos.
  rewrite <- es. replace ((1 + gamma)^2 * s^2) with ((gamma * s + s)^2) by ring.
  replace (sq q) with (sq (r + -1 * g k w)) by (unfold q; ips; ring).
  apply minkowski; [pos | easy | |].
  - rewrite Rpow_mult_distr, es. apply answers.
  - rewrite es. right. ips. ring.
Qed.

Lemma near_in_mean : E clients (fun k => sq (y k - w)) <= ((1 + gamma) / strength * B * G)^2.
Proof.
  destruct constants as (hL & hn & hB & hg). assert (hs : 0 < strength) by (unfold strength; lra).
  assert (eG : G^2 = sq (gradF w)) by (apply pow2_sqrt, sq_pos).
  replace (((1 + gamma) / strength * B * G)^2) with (((1 + gamma) / strength)^2 * (B^2 * G^2)) by (field; lra).
  rewrite eG. apply Rle_trans with (((1 + gamma) / strength)^2 * E clients (fun k => sq (g k w))).
  - rewrite <- E_scal. apply E_le. intro k. apply Rmult_le_reg_l with (strength^2); [pos |].
    replace (strength^2 * (((1 + gamma) / strength)^2 * sq (g k w))) with ((1 + gamma)^2 * sq (g k w)) by (field; lra).
    apply answer_near.
  - apply Rmult_le_compat_l; [apply pow2_ge_0 | easy].
Qed.

(** The mean answer is a step along the gradient, but for an error [M]. *)
Let miss k : V := (g k (y k) - g k w - (g k (y k) + weight * (y k - w)))%V.

Lemma miss_le : sq (vE clients miss) <= ((L * (1 + gamma) / strength + gamma) * B * G)^2.
Proof.
  destruct constants as (hL & hn & hB & hg). assert (hs : 0 < strength) by (unfold strength; lra).
  assert (eG : G^2 = sq (gradF w)) by (apply pow2_sqrt, sq_pos). assert (hG : 0 <= G) by apply sqrt_pos.
  apply Rle_trans with (1 := jensen_zero clients miss).
  replace ((L * (1 + gamma) / strength + gamma) * B * G) with (L * ((1 + gamma) / strength * B * G) + gamma * B * G)
    by (field; lra).
  set (p := (fun k => g k (y k) - g k w)%V). set (q := (fun k => -1 * (g k (y k) + weight * (y k - w)))%V).
  apply Rle_trans with (E clients (fun k => sq (p k + q k)));
    [right; apply E_ext; intros; unfold miss, p, q; ips; ring |].
  apply (@minkowski (L2 clients V) p q).
  - assert (0 <= (1 + gamma) / strength) by pos. pos.
  - pos.
  - change (E clients (fun k => sq (p k)) <= (L * ((1 + gamma) / strength * B * G))^2).
    rewrite Rpow_mult_distr. apply Rle_trans with (L^2 * E clients (fun k => sq (y k - w))).
    + rewrite <- E_scal. apply E_le. intro k. apply (smooth_lipschitz L (f k)); [lra | apply smooth_clients].
    + apply Rmult_le_compat_l; [apply pow2_ge_0 | apply near_in_mean].
  - change (E clients (fun k => sq (q k)) <= (gamma * B * G)^2).
    replace ((gamma * B * G)^2) with (gamma^2 * (B^2 * G^2)) by ring. rewrite eG.
    apply Rle_trans with (gamma^2 * E clients (fun k => sq (g k w))).
    + rewrite <- E_scal. apply E_le. intro k. apply Rle_trans with (2 := answers k). right. unfold q. ips. ring.
    + apply Rmult_le_compat_l; [apply pow2_ge_0 | easy].
Qed.

Theorem fedprox_loss_change :
  E draw (fun o => F (averaged_answer o)) - F w
    <= - ((1 - gamma * B) / weight - L * B * (1 + gamma) / ((weight - negative) * weight)
          - L * (1 + gamma)^2 * B^2 / (2 * (weight - negative)^2)) * sq (gradF w).
Proof.
  destruct constants as (hL & hn & hB & hg). fold strength. assert (hs : 0 < strength) by (unfold strength; lra).
  assert (eG : G^2 = sq (gradF w)) by (apply pow2_sqrt, sq_pos). assert (hG : 0 <= G) by apply sqrt_pos.
  destruct draws as [h1 _].
  assert (first : E draw (fun o => ip (gradF w) (averaged_answer o - w)) = ip (gradF w) (vE clients y - w)).
  { rewrite ip_sub_r, ip_vE_r. rewrite (E_ext draw _ (fun o => E (uniform K hK)
      (fun i => ip (gradF w) (y (c o i)) - ip (gradF w) w)))
      by (intros; unfold averaged_answer; rewrite ip_sub_r, ip_vE_r; now Es).
    rewrite E_swap, (E_ext _ _ (fun _ => E clients (fun k => ip (gradF w) (y k)) - ip (gradF w) w)); [apply E_const |].
    intros i hi. rewrite E_minus, (h1 i (fun k => ip (gradF w) (y k)) hi). now Es. }
  assert (second : E draw (fun o => sq (averaged_answer o - w)) <= E clients (fun k => sq (y k - w))).
  { apply Rle_trans with (E draw (fun o => E (uniform K hK) (fun i => sq (y (c o i) - w)))).
    - apply E_le. intro o. apply jensen.
    - rewrite E_swap. right. rewrite (E_ext _ _ (fun _ => E clients (fun k => sq (y k - w)))); [apply E_const |].
      intros i hi. apply (h1 i (fun k => sq (y k - w)) hi). }
  assert (up : E draw (fun o => F (averaged_answer o))
    <= F w + ip (gradF w) (vE clients y - w) + L / 2 * E clients (fun k => sq (y k - w))).
  { apply Rle_trans with (E draw (fun o => F w + ip (gradF w) (averaged_answer o - w)
      + L / 2 * sq (averaged_answer o - w))).
    - apply E_le. intro o. apply (mean_loss_upper clients f g L). intro. apply smooth_clients.
    - Es. rewrite first. apply Rplus_le_compat_l. apply Rmult_le_compat_l; [lra | easy]. }
  assert (dir : ip (gradF w) (vE clients y - w) = - / weight * (sq (gradF w) + ip (gradF w) (vE clients miss))).
  { rewrite ip_sub_r, !ip_vE_r. unfold sq at 1. unfold mean_gradient at 4. rewrite ip_vE_r, <- E_plus, <- E_scal.
    rewrite <- (E_const clients (ip (gradF w) w)) at 1. rewrite <- E_minus. apply E_ext. intros k _. unfold miss.
    rewrite !ip_sub_r, ip_add_r, ip_scale_r, ip_sub_r. field. lra. }
  pose proof (ip_le_opp (gradF w) (vE clients miss) G ((L * (1 + gamma) / strength + gamma) * B * G) hG) as cs.
  assert (hc : 0 <= (L * (1 + gamma) / strength + gamma) * B * G).
  { assert (0 <= L * (1 + gamma) / strength) by pos. pos. }
  specialize (cs hc ltac:(rewrite eG; lra) miss_le).
  pose proof near_in_mean as nm. apply (Rmult_le_compat_l (L / 2)) in nm; [| lra].
  apply (Rmult_le_compat_l (/ weight)) in cs; [| left; apply Rinv_0_lt_compat; lra].
  rewrite <- eG in *.
  match goal with |- _ <= ?r => replace r with (- / weight * G^2
    + / weight * (G * ((L * (1 + gamma) / strength + gamma) * B * G))
    + L / 2 * ((1 + gamma) / strength * B * G)^2) by (field; split; lra) end.
  lra.
Qed.

(** As published, with two more summands for the draws. *)
Theorem fedprox_loss_change_printed :
  let k := INR K in
  E draw (fun o => F (averaged_answer o)) - F w
    <= - ((1 - gamma * B) / weight - B * (1 + gamma) * sqrt 2 / ((weight - negative) * sqrt k)
          - L * B * (1 + gamma) / ((weight - negative) * weight)
          - L * (1 + gamma)^2 * B^2 / (2 * (weight - negative)^2)
          - L * B^2 * (1 + gamma)^2 * (2 * sqrt (2 * k) + 2) / ((weight - negative)^2 * k)) * sq (gradF w).
Proof.
  intro k. apply Rle_trans with (1 := fedprox_loss_change). apply Rmult_le_compat_r; [apply sq_pos |].
  destruct constants as (hL & hn & hB & hg). assert (hk : 0 < k) by now apply lt_0_INR.
  assert (0 < sqrt k) by now apply sqrt_lt_R0. assert (0 <= sqrt 2) by apply sqrt_pos.
  assert (0 <= sqrt (2 * k)) by apply sqrt_pos.
  assert (0 < weight - negative) by lra.
  assert (0 <= B * (1 + gamma) * sqrt 2 / ((weight - negative) * sqrt k)) by pos.
  assert (0 <= L * B^2 * (1 + gamma)^2 * (2 * sqrt (2 * k) + 2) / ((weight - negative)^2 * k)) by pos. lra.
Qed.
End FedProx.
