(** Real inner product spaces: the axioms, and what follows from them.

    No axiom says that only the zero vector has length zero, and none that sums of vectors may be reordered. Two
    vectors with the same inner products are as good as equal here ([same]). A theorem about every [space] is
    therefore a theorem about every real inner product space, and also about random vectors with the inner product E
    <X, Y> ([Laws.v]). *)

Require Export Reals Lra Lia.
Open Scope R_scope.

Record space := Space {
  vec :> Type;
  zero : vec;
  add : vec -> vec -> vec;
  scale : R -> vec -> vec;
  ip : vec -> vec -> R;
  ip_sym : forall x y, ip x y = ip y x;
  ip_add : forall x y z, ip (add x y) z = ip x z + ip y z;
  ip_scale : forall a x y, ip (scale a x) y = a * ip x y;
  ip_zero : forall x, ip zero x = 0;
  ip_pos : forall x, 0 <= ip x x
}.
Arguments zero {s}.
Arguments add {s} _ _.
Arguments scale {s} _%R _.
Arguments ip {s} _ _.
Arguments ip_sym {s}.
Arguments ip_add {s}.
Arguments ip_scale {s}.
Arguments ip_zero {s}.
Arguments ip_pos {s}.

Declare Scope V_scope.
Delimit Scope V_scope with V.
Bind Scope V_scope with vec.
Arguments ip {s} _%V _%V.
Arguments add {s} _%V _%V.
Arguments scale {s} _%R _%V.

Definition sub {V : space} (x y : V) : V := add x (scale (-1) y).
Definition sq {V : space} (x : V) : R := ip x x.
Arguments sub {V} _%V _%V.
Arguments sq {V} _%V.

Infix "+" := add : V_scope.
Infix "-" := sub : V_scope.
Infix "*" := scale : V_scope.

(** [pos] proves that a sum, product, power or quotient is positive or not negative. *)
Ltac pos := match goal with
  | |- _ => lra
  | |- 0 <= _ => solve [apply pow2_ge_0 | apply ip_pos]
  | |- 0 <= _ * _ => solve [apply Rmult_le_pos; pos]
  | |- 0 < _ * _ => solve [apply Rmult_lt_0_compat; pos]
  | |- 0 <= _ / _ => solve [apply Rmult_le_pos; pos]
  | |- 0 < _ / _ => solve [apply Rmult_lt_0_compat; pos]
  | |- 0 <= / _ => solve [left; apply Rinv_0_lt_compat; pos]
  | |- 0 < / _ => solve [apply Rinv_0_lt_compat; pos]
  | |- 0 <= _ ^ _ => solve [apply pow_le; pos]
  | |- 0 < _ ^ _ => solve [apply pow_lt; pos]
  | |- 0 <= _ + _ => solve [apply Rplus_le_le_0_compat; pos]
  | |- 0 < _ + _ => solve [apply Rplus_lt_le_0_compat; pos | apply Rplus_le_lt_0_compat; pos]
  | |- _ => nra
  end.

(** ** Expansion of inner products *)

Section Expansion.
Context {V : space}.
Implicit Types x y z : V.

Lemma ip_add_r x y z : ip x (y + z) = ip x y + ip x z.
Proof. now rewrite !(ip_sym x), ip_add. Qed.
Lemma ip_scale_r a x y : ip x (a * y) = a * ip x y.
Proof. now rewrite !(ip_sym x), ip_scale. Qed.
Lemma ip_zero_r x : ip x zero = 0.
Proof. now rewrite ip_sym, ip_zero. Qed.
Lemma ip_sub x y z : ip (x - y) z = ip x z - ip y z.
Proof. unfold sub. rewrite ip_add, ip_scale. ring. Qed.
Lemma ip_sub_r x y z : ip x (y - z) = ip x y - ip x z.
Proof. now rewrite !(ip_sym x), ip_sub. Qed.
Lemma sq_ip x : sq x = ip x x.
Proof. reflexivity. Qed.
Lemma sq_pos x : 0 <= sq x.
Proof. apply ip_pos. Qed.
End Expansion.

#[global] Hint Rewrite @ip_add @ip_add_r @ip_sub @ip_sub_r @ip_scale @ip_scale_r @ip_zero @ip_zero_r @sq_ip : ip.

(** [ips] writes the inner products of a goal out in those of its variables, each in one order. *)
Ltac ip_sort := repeat match goal with
  | |- context [ip ?x ?y] => assert_fails (constr_eq x y);
      match goal with |- context [ip y x] => rewrite (ip_sym y x) end
  end.
Ltac ips := autorewrite with ip; ip_sort.

(** [ipa] does the same with the hypotheses, in one order for all. *)
Ltac ip_sort_all := ip_sort; repeat match goal with
  | h : context [ip ?x ?y] |- _ => assert_fails (constr_eq x y);
      match goal with
      | |- context [ip y x] => rewrite (ip_sym y x)
      | k : context [ip y x] |- _ => rewrite (ip_sym y x) in k
      end
  end.
Ltac ipa := autorewrite with ip in *; ip_sort_all.

(** ** Vectors that are as good as equal *)

Definition same {V : space} (x y : V) : Prop := forall v, ip x v = ip y v.
Arguments same {V} _%V _%V.

Section Inequalities.
Context {V : space}.
Implicit Types x y z : V.

Lemma same_refl x : same x x.
Proof. easy. Qed.
Lemma same_sym x y : same x y -> same y x.
Proof. intros h v. now rewrite h. Qed.
Lemma same_trans x y z : same x y -> same y z -> same x z.
Proof. intros h k v. now rewrite h, k. Qed.
Lemma same_r x y v : same x y -> ip v x = ip v y.
Proof. intro h. rewrite !(ip_sym v). apply h. Qed.
Lemma same_sq x y : same x y -> sq x = sq y.
Proof. intro h. unfold sq. now rewrite (h x), (same_r x y y h). Qed.

Lemma cauchy_schwarz x y : (ip x y)^2 <= sq x * sq y.
Proof.
  pose proof (sq_pos x); pose proof (sq_pos y).
  destruct (Req_dec (sq y) 0) as [hy | hy].
  - (* then ip x y is 0: 0 <= |x + t y|^2 = |x|^2 + 2 t ip x y for every t *)
    assert (h : forall t, 0 <= sq x + 2 * t * ip x y).
    { intro t. pose proof (sq_pos (x + t * y)%V) as k. revert k. ips. rewrite ?sq_ip in *. rewrite hy. lra. }
    pose proof (h (- (sq x + 1) / (2 * ip x y))) as k.
    destruct (Req_dec (ip x y) 0) as [e | e]; [rewrite e; nra |].
    replace (2 * (- (sq x + 1) / (2 * ip x y)) * ip x y) with (- (sq x + 1)) in k by (field; easy). lra.
  - pose proof (sq_pos (sq y * x - ip x y * y)%V) as k. revert k. ips. rewrite ?sq_ip in *. intro k. nra.
Qed.

(** A vector of length zero is as good as the zero vector. *)
Lemma sq_zero x : sq x <= 0 -> forall v, ip x v = 0.
Proof. intros h v. pose proof (cauchy_schwarz x v). pose proof (sq_pos x). replace (sq x) with 0 in * by lra. nra. Qed.

Lemma sq_zero_r x : sq x <= 0 -> forall v, ip v x = 0.
Proof. intros h v. rewrite ip_sym. now apply sq_zero. Qed.

(** ** Young's inequality, and Minkowski's *)

Lemma young a x y : 0 < a -> 2 * ip x y <= a * sq x + / a * sq y.
Proof.
  intro h. pose proof (sq_pos (a * x - y)%V) as k. revert k. ips. rewrite ?sq_ip in *. intro k.
  apply Rmult_le_reg_l with a; [easy |].
  replace (a * (a * ip x x + / a * ip y y)) with (a * a * ip x x + ip y y) by (field; lra). lra.
Qed.

Lemma sq_add_le x y : sq (x + y) <= 2 * sq x + 2 * sq y.
Proof. pose proof (sq_pos (x - y)%V) as k. revert k. ips. lra. Qed.

(** |x| <= a and |y| <= b give <x, y> <= a b. *)
Lemma ip_le x y a b : 0 <= a -> 0 <= b -> sq x <= a^2 -> sq y <= b^2 -> ip x y <= a * b.
Proof.
  intros ha hb hx hy. pose proof (cauchy_schwarz x y) as h. pose proof (sq_pos x); pose proof (sq_pos y).
  assert (sq x * sq y <= (a * b)^2) by (replace ((a * b)^2) with (a^2 * b^2) by ring; apply Rmult_le_compat; auto).
  assert (0 <= a * b) by nra.
  apply Rnot_lt_le. intro k. nra.
Qed.

Lemma ip_le_opp x y a b : 0 <= a -> 0 <= b -> sq x <= a^2 -> sq y <= b^2 -> - (a * b) <= ip x y.
Proof.
  intros ha hb hx hy. assert (k : sq (-1 * x)%V <= a^2) by (revert hx; ips; lra).
  pose proof (ip_le (-1 * x)%V y a b ha hb k hy) as h. revert h. ips. lra.
Qed.

Lemma minkowski x y a b : 0 <= a -> 0 <= b -> sq x <= a^2 -> sq y <= b^2 -> sq (x + y) <= (a + b)^2.
Proof. intros ha hb hx hy. pose proof (ip_le x y a b ha hb hx hy). ipa. nra. Qed.

Lemma minkowski_sqrt x y : sq (x + y) <= (sqrt (sq x) + sqrt (sq y))^2.
Proof. apply minkowski; try apply sqrt_pos; rewrite pow2_sqrt; auto using sq_pos; lra. Qed.
End Inequalities.
