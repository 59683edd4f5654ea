(** A theorem about every space and every function, whose proof is a rational certificate. *)

From FedTheory Require Import Conditions.
Require Import QArith List.
Import ListNotations.
Open Scope R_scope.

(** Two steps of gradient descent on a convex function with L = 1 leave at most |x0 - xs|^2 / 10. *)
Theorem two_gradient_steps {V : space} (f : V -> R) (g : V -> V) (x0 xs : V) :
  convex f g -> smooth 1 f g -> minimizer f xs ->
  let x1 := (x0 - g x0)%V in
  let x2 := (x1 - g x1)%V in
  f x2 - f xs <= 1 / 10 * sq (x0 - xs).
Proof.
  intros cv [up _] best x1 x2.
  (* the conditions, each an instance of a class *)
  pose proof (cond_smooth_convex 1 (1 / 2) f g x1 x0 ltac:(lra) ltac:(lra) cv up) as h1.
  pose proof (cond_smooth_convex 1 (1 / 2) f g x2 x1 ltac:(lra) ltac:(lra) cv up) as h2.
  pose proof (cond_smooth_convex_minimizer 1 (1 / 2) f g x0 xs ltac:(lra) ltac:(lra) cv up best) as h3.
  pose proof (cond_smooth_convex_minimizer 1 (1 / 2) f g x1 xs ltac:(lra) ltac:(lra) cv up best) as h4.
  pose proof (cond_smooth_convex_minimizer 1 (1 / 2) f g x2 xs ltac:(lra) ltac:(lra) cv up best) as h5.
  apply Rminus_le.
  (* vectors 0 to 4 are x0, xs and the gradients; values 0 to 3 those of f *)
  pose (vec := fun i => nth i [x0; xs; g x0; g x1; g x2] zero). pose (val := fun i => nth i [f x0; f x1; f x2; f xs] 0).
  pose (X0 := VVar 0). pose (XS := VVar 1). pose (G0 := VVar 2). pose (G1 := VVar 3). pose (G2 := VVar 4).
  pose (X1 := VSub X0 G0). pose (X2 := VSub X1 G1).
  pose (step x gx gy y fx fy := AtMost (Plus (Plus (Minus (Value fx) (Value fy)) (Ip gx (VSub y x)))
    (Times (1 # 2) (Sq (VSub gy gx))))).
  pose (last x gx fx := AtMost (Plus (Plus (Minus (Value fx) (Value 3)) (Ip gx (VSub XS x))) (Times (1 # 2) (Sq gx)))).
  pose (goal := Minus (Minus (Value 2) (Value 3)) (Times (1 # 10) (Sq (VSub X0 XS)))).
  change (number vec val goal <= 0).
  apply (check_sound vec val [step X1 G1 G0 X0 1%nat 0%nat; step X2 G2 G1 X1 2%nat 1%nat; last X0 G0 0%nat;
    last X1 G1 1%nat; last X2 G2 2%nat] goal
    [1 # 4; 2 # 3; 1 # 4; 5 # 12; 1 # 3]
    [(1 # 2, [-1 # 3; 1 # 3; 1 # 3; 1 # 3; 1]); (11 # 18, [-1 # 4; 1 # 4; 1 # 4; 1]); (5 # 32, [-1 # 5; 1 # 5; 1])])%Q.
  - vm_compute. reflexivity.
  - repeat (apply Forall_cons; [first [exact h1 | exact h2 | exact h3 | exact h4 | exact h5] |]). apply Forall_nil.
Qed.
