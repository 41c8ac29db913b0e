---- MODULE Jugs ----

\* Jugs; written by lawful.
\* TLC's number of distinct states is that of lawful check. A step that leaves the scope is
\* no action here, though it counts as enabled; deadlock and the steps that go wrong are
\* invariants, so TLC shall not look for deadlocks itself.

EXTENDS Integers, Sequences, FiniteSets, TLC

Done(self, value) == [out |-> "done", to |-> self, value |-> value]

Stop(out) == [out |-> out]

Cut(r) == [out |-> "cut", to |-> r.to]

CONSTANTS None

VARIABLES small, big

vars ==
  <<small, big>>

now ==
  [small |-> small, big |-> big]

Jugs_in_scope(self) ==
  ((0 <= self.small /\ self.small <= 3) /\ (0 <= self.big /\ self.big <= 5))

Jugs_in_bounds(self) ==
  ((0 <= self.small /\ self.small <= 3) /\ (0 <= self.big /\ self.big <= 5))

Placed(r) ==
  IF r.out # "done" THEN r ELSE
  IF ~Jugs_in_bounds(r.to) THEN Stop("bounds") ELSE
  IF ~Jugs_in_scope(r.to) THEN Cut(r) ELSE
  r

Begins(r) ==
  /\ r.out = "done"
  /\ small = r.to.small
  /\ big = r.to.big

Becomes(r) ==
  /\ r.out = "done"
  /\ small' = r.to.small
  /\ big' = r.to.big

Jugs_fresh ==
  [small |-> 0, big |-> 0]

Jugs_fill_small(self) ==
  LET self_1 == [self EXCEPT !.small = 3] IN
  Done(self_1, None)

fill_small_gives ==
  Placed(Jugs_fill_small(now))

fill_small ==
  Becomes(fill_small_gives)

Jugs_fill_big(self) ==
  LET self_1 == [self EXCEPT !.big = 5] IN
  Done(self_1, None)

fill_big_gives ==
  Placed(Jugs_fill_big(now))

fill_big ==
  Becomes(fill_big_gives)

Jugs_empty_small(self) ==
  LET self_1 == [self EXCEPT !.small = 0] IN
  Done(self_1, None)

empty_small_gives ==
  Placed(Jugs_empty_small(now))

empty_small ==
  Becomes(empty_small_gives)

Jugs_empty_big(self) ==
  LET self_1 == [self EXCEPT !.big = 0] IN
  Done(self_1, None)

empty_big_gives ==
  Placed(Jugs_empty_big(now))

empty_big ==
  Becomes(empty_big_gives)

Jugs_small_to_big(self) ==
  LET poured == (IF (self.small <= (5 - self.big)) THEN self.small ELSE (5 - self.big)) IN
  LET self_1 == [self EXCEPT !.small = (self.small - poured)] IN
  LET self_2 == [self_1 EXCEPT !.big = (self_1.big + poured)] IN
  Done(self_2, None)

small_to_big_gives ==
  Placed(Jugs_small_to_big(now))

small_to_big ==
  Becomes(small_to_big_gives)

Jugs_big_to_small(self) ==
  LET poured == (IF (self.big <= (3 - self.small)) THEN self.big ELSE (3 - self.small)) IN
  LET self_1 == [self EXCEPT !.big = (self.big - poured)] IN
  LET self_2 == [self_1 EXCEPT !.small = (self_1.small + poured)] IN
  Done(self_2, None)

big_to_small_gives ==
  Placed(Jugs_big_to_small(now))

big_to_small ==
  Becomes(big_to_small_gives)

Comes(outs) ==
  \/ (fill_small_gives.out \in outs)
  \/ (fill_big_gives.out \in outs)
  \/ (empty_small_gives.out \in outs)
  \/ (empty_big_gives.out \in outs)
  \/ (small_to_big_gives.out \in outs)
  \/ (big_to_small_gives.out \in outs)

no_deadlock ==
  Comes({"done", "cut", "bounds", "asserts", "undefined", "ambiguous"})

within_bounds ==
  ~Comes({"bounds"})

asserts_hold ==
  ~Comes({"asserts"})

all_defined ==
  ~Comes({"undefined"})

unambiguous ==
  ~Comes({"ambiguous"})

Jugs_never_four(self) ==
  (self.big # 4)

never_four ==
  Jugs_never_four(now)

Jugs_one_is_full_or_empty(self) ==
  ((self.small \in {0, 3}) \/ (self.big \in {0, 5}))

one_is_full_or_empty ==
  Jugs_one_is_full_or_empty(now)

Jugs_one_in_the_small(self) ==
  (self.small = 1)

never_one_in_the_small ==
  ~Jugs_one_in_the_small(now)

ASSUME ((Placed(Done(Jugs_fresh, None)).out \in {"done", "refused", "cut"}))

Init ==
  ((Begins(Placed(Done(Jugs_fresh, None)))))

Next ==
  \/ fill_small
  \/ fill_big
  \/ empty_small
  \/ empty_big
  \/ small_to_big
  \/ big_to_small

Safety ==
  /\ Init
  /\ [][Next]_vars

Spec ==
  /\ Safety

====
