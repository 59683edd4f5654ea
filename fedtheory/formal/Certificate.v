(** A checker of dual certificates, proved sound, and run by [vm_compute].

    A worst case is proved by multipliers: the goal is a combination of the conditions, less squares. Conditions and
    goal are expressions in inner products of vectors, in real numbers such as function values, and in rational
    constants. The checker multiplies out, in rationals, and compares coefficients. *)

Require Import QArith Qreals List.
From FedTheory Require Export Space.
Import ListNotations.
Open Scope R_scope.

(** ** Expressions *)

Inductive vexpr := VZero | VVar (i : nat) | VAdd (a b : vexpr) | VSub (a b : vexpr) | VScale (q : Q) (a : vexpr).
Inductive expr :=
  | Ip (a b : vexpr) | Sq (a : vexpr) | Value (i : nat) | Const (q : Q)
  | Plus (a b : expr) | Minus (a b : expr) | Times (q : Q) (a : expr).

(** A rational as a real number, written as a person would: 2, or 1 / 2. *)
Definition real (q : Q) : R := match Qden q with xH => IZR (Qnum q) | d => IZR (Qnum q) / IZR (Zpos d) end.

Section Meaning.
Context {V : space}.
Variables (vec_of : nat -> V) (value_of : nat -> R).

Fixpoint vector (e : vexpr) : V :=
  match e with
  | VZero => zero
  | VVar i => vec_of i
  | VAdd a b => (vector a + vector b)%V
  | VSub a b => (vector a - vector b)%V
  | VScale q a => (real q * vector a)%V
  end.
Fixpoint number (e : expr) : R :=
  match e with
  | Ip a b => ip (vector a) (vector b)
  | Sq a => sq (vector a)
  | Value i => value_of i
  | Const q => real q
  | Plus a b => number a + number b
  | Minus a b => number a - number b
  | Times q a => real q * number a
  end.
End Meaning.

(** ** Coordinates: sums of lists, entry by entry; a list that ends is continued by zeros *)

(** Whole numbers and zeros, of which there are most, need no common divisor. *)
Definition qadd (a b : Q) : Q :=
  match Qnum a, Qnum b with
  | Z0, _ => b
  | _, Z0 => a
  | n, m => match Qden a, Qden b with xH, xH => (n + m)%Z # 1 | _, _ => Qred (a + b) end
  end.
Definition qmul (a b : Q) : Q :=
  match Qnum a, Qnum b with
  | Z0, _ | _, Z0 => 0
  | n, m => match Qden a, Qden b with xH, xH => (n * m)%Z # 1 | _, _ => Qred (a * b) end
  end.

Fixpoint ladd (a b : list Q) : list Q :=
  match a, b with
  | [], _ => b
  | _, [] => a
  | x :: a, y :: b => qadd x y :: ladd a b
  end.
Definition lscale (q : Q) (a : list Q) : list Q := map (qmul q) a.
Fixpoint unit (i : nat) : list Q := match i with O => [1%Q] | S i => 0%Q :: unit i end.
Fixpoint coords (e : vexpr) : list Q :=
  match e with
  | VZero => []
  | VVar i => unit i
  | VAdd a b => ladd (coords a) (coords b)
  | VSub a b => ladd (coords a) (lscale (-1) (coords b))
  | VScale q a => lscale q (coords a)
  end.

(** A quadratic form, a linear form and a constant. *)
Fixpoint madd (a b : list (list Q)) : list (list Q) :=
  match a, b with
  | [], _ => b
  | _, [] => a
  | x :: a, y :: b => ladd x y :: madd a b
  end.
Definition mscale (q : Q) (a : list (list Q)) := map (lscale q) a.
Definition outer (a b : list Q) : list (list Q) := map (fun x => lscale x b) a.

Record form := Form { gram : list (list Q); linear_part : list Q; constant : Q }.
Definition fadd (a b : form) :=
  Form (madd (gram a) (gram b)) (ladd (linear_part a) (linear_part b)) (qadd (constant a) (constant b)).
Definition fscale (q : Q) (a : form) := Form (mscale q (gram a)) (lscale q (linear_part a)) (qmul q (constant a)).
(** The symmetric form of <a, b>. *)
Definition product (a b : list Q) : form := Form (mscale (1 # 2) (madd (outer a b) (outer b a))) [] 0.

Fixpoint expand (e : expr) : form :=
  match e with
  | Ip a b => product (coords a) (coords b)
  | Sq a => product (coords a) (coords a)
  | Value i => Form [] (unit i) 0
  | Const q => Form [] [] q
  | Plus a b => fadd (expand a) (expand b)
  | Minus a b => fadd (expand a) (fscale (-1) (expand b))
  | Times q a => fscale q (expand a)
  end.

(** ** The checker *)

(** A condition says that an expression is at most zero, or zero. *)
Inductive condition := AtMost (e : expr) | Zero (e : expr).
Definition body (c : condition) : expr := match c with AtMost e => e | Zero e => e end.
Definition admits (c : condition) (multiplier : Q) : bool :=
  match c with AtMost _ => Qle_bool 0 multiplier | Zero _ => true end.

Fixpoint combine (cs : list condition) (ms : list Q) : form :=
  match cs, ms with
  | c :: cs, m :: ms => fadd (fscale m (expand (body c))) (combine cs ms)
  | _, _ => Form [] [] 0
  end.
Fixpoint admissible (cs : list condition) (ms : list Q) : bool :=
  match cs, ms with c :: cs, m :: ms => admits c m && admissible cs ms | _, _ => true end.
(** Squares d |l_1 b_1 + l_2 b_2 + ...|^2. *)
Fixpoint squares (ss : list (Q * list Q)) : form :=
  match ss with [] => Form [] [] 0 | (d, l) :: ss => fadd (fscale d (product l l)) (squares ss) end.

Definition is_zero (q : Q) : bool := Qeq_bool q 0.
(** The goal is the combination of the conditions, less squares and a constant that is not negative. *)
Definition check (cs : list condition) (goal : expr) (ms : list Q) (ss : list (Q * list Q)) : bool :=
  let rest := fadd (fadd (combine cs ms) (fscale (-1) (squares ss))) (fscale (-1) (expand goal)) in
  admissible cs ms && forallb (fun s => Qle_bool 0 (fst s)) ss
  && forallb (forallb is_zero) (gram rest) && forallb is_zero (linear_part rest) && Qle_bool 0 (constant rest).

(** ** Soundness *)

Lemma real_Q2R q : real q = Q2R q.
Proof. unfold real, Q2R. destruct (Qden q); unfold Rdiv; try reflexivity. now rewrite Rinv_1, Rmult_1_r. Qed.
Lemma qadd_correct a b : (qadd a b == a + b)%Q.
Proof.
  destruct a as [n d], b as [m e]. unfold qadd. cbn [Qnum Qden].
  destruct n, m, d, e; try apply Qred_correct; unfold Qeq, Qplus; cbn [Qnum Qden]; lia.
Qed.
Lemma qmul_correct a b : (qmul a b == a * b)%Q.
Proof.
  destruct a as [n d], b as [m e]. unfold qmul. cbn [Qnum Qden].
  destruct n, m, d, e; try apply Qred_correct; unfold Qeq, Qmult; cbn [Qnum Qden]; lia.
Qed.
Lemma Q2R_qadd a b : Q2R (qadd a b) = Q2R a + Q2R b.
Proof. rewrite (Qeq_eqR _ _ (qadd_correct a b)). apply Q2R_plus. Qed.
Lemma Q2R_qmul a b : Q2R (qmul a b) = Q2R a * Q2R b.
Proof. rewrite (Qeq_eqR _ _ (qmul_correct a b)). apply Q2R_mult. Qed.
Lemma Q2R_zero : Q2R 0 = 0.
Proof. unfold Q2R. cbn. lra. Qed.
Lemma Q2R_one : Q2R 1 = 1.
Proof. unfold Q2R. cbn. lra. Qed.
Lemma Q2R_minus_one : Q2R (-1) = -1.
Proof. unfold Q2R. cbn. lra. Qed.
Lemma Q2R_half : Q2R (1 # 2) = / 2.
Proof. unfold Q2R. cbn. lra. Qed.
Lemma Q2R_pos q : Qle_bool 0 q = true -> 0 <= Q2R q.
Proof. intro h. apply Qle_bool_iff in h. apply Qle_Rle in h. now rewrite Q2R_zero in h. Qed.
Lemma Q2R_is_zero q : is_zero q = true -> Q2R q = 0.
Proof. intro h. apply Qeq_bool_iff in h. rewrite (Qeq_eqR _ _ h). apply Q2R_zero. Qed.
Opaque Q2R.

Section Soundness.
Context {V : space}.
Variables (vec_of : nat -> V) (value_of : nat -> R).

(** Linear combinations of the vectors from the k-th on, and of the values. *)
Fixpoint lin (k : nat) (l : list Q) : V := match l with [] => zero | q :: l => (Q2R q * vec_of k + lin (S k) l)%V end.
Fixpoint vals (k : nat) (l : list Q) : R := match l with [] => 0 | q :: l => Q2R q * value_of k + vals (S k) l end.
Fixpoint quad (k : nat) (m : list (list Q)) : R :=
  match m with [] => 0 | row :: m => ip (vec_of k) (lin 0 row) + quad (S k) m end.
Definition eval (a : form) : R := quad 0 (gram a) + vals 0 (linear_part a) + Q2R (constant a).

Lemma lin_add l l' k : same (lin k (ladd l l')) (lin k l + lin k l').
Proof.
  revert l' k. induction l as [| q l IH]; intros [| q' l'] k v; cbn [ladd lin]; rewrite ?ip_add, ?ip_zero; try ring.
  rewrite ip_scale, Q2R_qadd, (IH l' (S k) v), ip_add, !ip_scale. ring.
Qed.
Lemma lin_scale q l k : same (lin k (lscale q l)) (Q2R q * lin k l).
Proof.
  revert k. induction l as [| p l IH]; intros k v; cbn [lscale map lin]; rewrite ?ip_scale, ?ip_add, ?ip_zero; [ring |].
  unfold lscale in IH. rewrite (IH (S k) v), !ip_scale, Q2R_qmul. ring.
Qed.
Lemma lin_unit i k : same (lin k (unit i)) (vec_of (k + i)).
Proof.
  revert k. induction i as [| i IH]; intros k v; cbn [unit lin]; rewrite ip_add, ip_scale.
  - rewrite Q2R_one, ip_zero, Nat.add_0_r. ring.
  - rewrite (IH (S k) v), Q2R_zero. replace (S k + i)%nat with (k + S i)%nat by lia. ring.
Qed.
Lemma coords_sound e : same (vector vec_of e) (lin 0 (coords e)).
Proof.
  induction e as [| i | a IHa b IHb | a IHa b IHb | q a IHa]; intro v; cbn [vector coords].
  - reflexivity.
  - symmetry. apply (lin_unit i 0).
  - rewrite (lin_add _ _ 0 v), !ip_add, (IHa v), (IHb v). reflexivity.
  - rewrite (lin_add _ _ 0 v), ip_add, (lin_scale _ _ 0 v), ip_scale, ip_sub, (IHa v), (IHb v), Q2R_minus_one. ring.
  - rewrite (lin_scale _ _ 0 v), !ip_scale, (IHa v), real_Q2R. reflexivity.
Qed.

Lemma vals_add l l' k : vals k (ladd l l') = vals k l + vals k l'.
Proof. revert l' k. induction l as [| q l IH]; intros [| q' l'] k; cbn [ladd vals]; rewrite ?Q2R_qadd, ?IH; ring. Qed.
Lemma vals_scale q l k : vals k (lscale q l) = Q2R q * vals k l.
Proof. revert k. induction l as [| p l IH]; intro k; cbn [lscale map vals]; [ring |]. unfold lscale in IH.
rewrite IH, Q2R_qmul. ring. Qed.
Lemma vals_unit i k : vals k (unit i) = value_of (k + i).
Proof.
  revert k. induction i as [| i IH]; intro k; cbn [unit vals].
  - rewrite Q2R_one, Nat.add_0_r. ring.
  - rewrite IH, Q2R_zero. replace (S k + i)%nat with (k + S i)%nat by lia. ring.
Qed.
Lemma quad_add m m' k : quad k (madd m m') = quad k m + quad k m'.
Proof.
  revert m' k. induction m as [| r m IH]; intros [| r' m'] k; cbn [madd quad]; try ring.
  rewrite IH, (same_r _ _ (vec_of k) (lin_add r r' 0)), ip_add_r. ring.
Qed.
Lemma quad_scale q m k : quad k (mscale q m) = Q2R q * quad k m.
Proof.
  revert k. induction m as [| r m IH]; intro k; cbn [mscale map quad]; [ring |]. unfold mscale in IH.
  rewrite IH, (same_r _ _ (vec_of k) (lin_scale q r 0)), ip_scale_r. ring.
Qed.
Lemma quad_outer a b k : quad k (outer a b) = ip (lin k a) (lin 0 b).
Proof.
  revert k. induction a as [| q a IH]; intro k; cbn [outer map quad lin]; [now rewrite ip_zero |]. unfold outer in IH.
  rewrite IH, (same_r _ _ (vec_of k) (lin_scale q b 0)), ip_scale_r, ip_add, ip_scale. reflexivity.
Qed.

Lemma eval_add a b : eval (fadd a b) = eval a + eval b.
Proof. unfold eval, fadd. cbn [gram linear_part constant]. rewrite quad_add, vals_add, Q2R_qadd. ring. Qed.
Lemma eval_scale q a : eval (fscale q a) = Q2R q * eval a.
Proof. unfold eval, fscale. cbn [gram linear_part constant]. rewrite quad_scale, vals_scale, Q2R_qmul. ring. Qed.
Lemma eval_product a b : eval (product a b) = ip (lin 0 a) (lin 0 b).
Proof.
  unfold eval, product. cbn [gram linear_part constant vals].
  rewrite quad_scale, quad_add, !quad_outer, Q2R_half, Q2R_zero, (ip_sym (lin 0 b)).
  field.
Qed.
Lemma eval_nothing : eval (Form [] [] 0) = 0.
Proof. unfold eval. cbn. rewrite Q2R_zero. ring. Qed.

Lemma expand_sound e : number vec_of value_of e = eval (expand e).
Proof.
  induction e as [a b | a | i | q | a IHa b IHb | a IHa b IHb | q a IHa]; cbn [number expand].
  - rewrite eval_product, (coords_sound a), (same_r _ _ _ (coords_sound b)). reflexivity.
  - rewrite eval_product. apply (same_sq _ _ (coords_sound a)).
  - unfold eval. cbn [gram linear_part constant quad]. rewrite (vals_unit i 0), Q2R_zero. cbn [Nat.add]. ring.
  - unfold eval. cbn. rewrite real_Q2R. ring.
  - now rewrite eval_add, IHa, IHb.
  - rewrite eval_add, eval_scale, IHa, IHb, Q2R_minus_one. ring.
  - now rewrite eval_scale, IHa, real_Q2R.
Qed.

Definition holds (c : condition) : Prop :=
  match c with AtMost e => number vec_of value_of e <= 0 | Zero e => number vec_of value_of e = 0 end.

Lemma combine_sound cs ms : Forall holds cs -> admissible cs ms = true -> eval (combine cs ms) <= 0.
Proof.
  revert ms. induction cs as [| c cs IH]; intros [| m ms] h a; cbn [combine]; try (rewrite eval_nothing; lra).
  inversion_clear h. cbn [admissible] in a. apply andb_prop in a. destruct a as [a1 a2].
  rewrite eval_add, eval_scale, <- expand_sound. pose proof (IH ms H0 a2).
  destruct c as [e | e]; cbn [holds body admits] in *.
  - pose proof (Q2R_pos m a1). nra.
  - rewrite H. lra.
Qed.
Lemma squares_sound ss : forallb (fun s => Qle_bool 0 (fst s)) ss = true -> 0 <= eval (squares ss).
Proof.
  induction ss as [| [d l] ss IH]; intro h; cbn [squares]; [rewrite eval_nothing; lra |].
  cbn [forallb fst] in h. apply andb_prop in h. destruct h as [h1 h2]. rewrite eval_add, eval_scale, eval_product.
  pose proof (IH h2). pose proof (Q2R_pos d h1). pose proof (ip_pos (lin 0 l)). nra.
Qed.
Lemma zero_list l k v : forallb is_zero l = true -> ip (lin k l) v = 0.
Proof.
  revert k. induction l as [| q l IH]; intros k h; cbn [lin]; [apply ip_zero |].
  cbn [forallb] in h. apply andb_prop in h. destruct h as [h1 h2].
  rewrite ip_add, ip_scale, (Q2R_is_zero q h1), IH by easy. ring.
Qed.
Lemma zero_vals l k : forallb is_zero l = true -> vals k l = 0.
Proof.
  revert k. induction l as [| q l IH]; intros k h; cbn [vals]; [easy |].
  cbn [forallb] in h. apply andb_prop in h. destruct h as [h1 h2]. rewrite (Q2R_is_zero q h1), IH by easy. ring.
Qed.
Lemma zero_quad m k : forallb (forallb is_zero) m = true -> quad k m = 0.
Proof.
  revert k. induction m as [| r m IH]; intros k h; cbn [quad]; [easy |].
  cbn [forallb] in h. apply andb_prop in h. destruct h as [h1 h2]. rewrite ip_sym, zero_list, IH by easy. ring.
Qed.

(** If the check computes to true, then the conditions imply the goal. *)
Theorem check_sound cs goal ms ss :
  check cs goal ms ss = true -> Forall holds cs -> number vec_of value_of goal <= 0.
Proof.
  intros h conditions. unfold check in h. repeat (apply andb_prop in h; destruct h as [h ?]).
  rewrite expand_sound. pose proof (combine_sound cs ms conditions h) as c. pose proof (squares_sound ss H2) as s.
  set (rest := fadd (fadd (combine cs ms) (fscale (-1) (squares ss))) (fscale (-1) (expand goal))) in *.
  assert (e : eval rest = eval (combine cs ms) - eval (squares ss) - eval (expand goal)).
  { unfold rest. rewrite !eval_add, !eval_scale, Q2R_minus_one. ring. }
  assert (r : 0 <= eval rest).
  { unfold eval. rewrite zero_quad, zero_vals by easy. pose proof (Q2R_pos _ H). lra. }
  lra.
Qed.

(** The same for a multiple of the goal, so that all multipliers may be whole numbers. *)
Corollary check_sound_scaled (unit : positive) cs goal ms ss :
  check cs (Times (Zpos unit # 1) goal) ms ss = true -> Forall holds cs -> number vec_of value_of goal <= 0.
Proof.
  intros h conditions. pose proof (check_sound cs _ ms ss h conditions) as c. cbn [number] in c.
  change (real (Zpos unit # 1)) with (IZR (Zpos unit)) in c. pose proof (IZR_lt 0 (Zpos unit) eq_refl). nra.
Qed.
End Soundness.
Transparent Q2R.
