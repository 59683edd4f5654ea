(** Local steps with noise, on one finite probability space.

    The outcomes of the law [P] decide everything: the model [u o] at the round's start, the client [c o i] in slot
    i, and the noise [xi i s o] of slot i in step s. [past s o o'] says that the outcomes [o] and [o'] are not yet
    told apart before step s; what is known then has equal values in both ([adapted]). Noise is unbiased given the
    past if it is orthogonal to everything that is known. *)

From FedTheory Require Export Clients Averages Gradients.

Fixpoint local_model {V : space} (g : nat -> V -> V) (eta : nat -> R) (u : V) (c : nat -> nat) (xi : nat -> nat -> V)
    (i s : nat) : V :=
  match s with
  | O => u
  | S s => let y := local_model g eta u c xi i s in (y - eta s * (g (c i) y + xi i s))%V
  end.
Arguments local_model {V} g eta u%V c xi i%nat s%nat.

Definition adapted {A : Type} (past : nat -> nat -> nat -> Prop) (s : nat) (Z : nat -> A) :=
  forall o o', past s o o' -> Z o = Z o'.

Section Round.
Context {V : space}.
Variables (P : law) (past : nat -> nat -> nat -> Prop) (u : nat -> V) (c : nat -> nat -> nat)
  (xi : nat -> nat -> nat -> V).

Definition information :=
  (forall s o o', past (S s) o o' -> past s o o') /\ adapted past 0 u /\ (forall i, adapted past 0 (fun o => c o i)) /\
  (forall i s, adapted past (S s) (xi i s)).
Definition unbiased_noise := forall i s (Z : nat -> V), adapted past s Z -> E P (fun o => ip (xi i s o) (Z o)) = 0.
Definition uncorrelated_noise := forall i j s, i <> j -> E P (fun o => ip (xi i s o) (xi j s o)) = 0.

Variables (g : nat -> V -> V) (eta : nat -> R).
Definition path i s o : V := local_model g eta (u o) (c o) (fun i s => xi i s o) i s.

Lemma past_back s o o' : (forall s o o', past (S s) o o' -> past s o o') -> past s o o' -> past 0 o o'.
Proof. intro h. induction s as [| s IH]; auto. Qed.

Lemma path_adapted i s : information -> adapted past s (path i s).
Proof.
  intros (hp & hu & hc & hx). induction s as [| s IH]; intros o o' h; unfold path in *; cbn [local_model].
  - now apply hu.
  - rewrite (IH o o' (hp _ _ _ h)). f_equal. f_equal. f_equal; [| now apply hx].
    f_equal. apply (hc i). now apply (past_back (S s)).
Qed.
Lemma gradient_adapted i s : information -> adapted past s (fun o => g (c o i) (path i s o)).
Proof.
  intros h o o' k. rewrite (path_adapted i s h o o' k). f_equal. destruct h as (hp & hu & hc & hx). apply (hc i).
  now apply (past_back s).
Qed.
End Round.
Arguments path {V} u c xi g eta i%nat s%nat o%nat.
