---- MODULE Peterson ----

\* Peterson; written by lawful.
\* TLC's number of distinct states is that of lawful check. A step that leaves the scope is
\* no action here, though it counts as enabled; deadlock and the steps that go wrong are
\* invariants, so TLC shall not look for deadlocks itself.

EXTENDS Integers, Sequences, FiniteSets, TLC

Done(self, value) == [out |-> "done", to |-> self, value |-> value]

Stop(out) == [out |-> out]

Cut(r) == [out |-> "cut", to |-> r.to]

Put(f, k, v) == [x \in (DOMAIN f) \cup {k} |-> IF x = k THEN v ELSE f[x]]

CONSTANTS None

VARIABLES pc, wants, turn

vars ==
  <<pc, wants, turn>>

now ==
  [pc |-> pc, wants |-> wants, turn |-> turn]

Peterson_in_scope(self) ==
  ((\A k \in DOMAIN self.pc : ((1 <= k /\ k <= 2))) /\ (\A k_1 \in DOMAIN self.wants : ((1 <= k_1 /\ k_1 <= 2))) /\ (1 <= self.turn /\ self.turn <= 2))

Peterson_in_bounds(self) ==
  ((\A k \in DOMAIN self.pc : ((1 <= k /\ k <= 2))) /\ (\A k_1 \in DOMAIN self.wants : ((1 <= k_1 /\ k_1 <= 2))) /\ (1 <= self.turn /\ self.turn <= 2))

Placed(r) ==
  IF r.out # "done" THEN r ELSE
  IF ~Peterson_in_bounds(r.to) THEN Stop("bounds") ELSE
  IF ~Peterson_in_scope(r.to) THEN Cut(r) ELSE
  r

Begins(r) ==
  /\ r.out = "done"
  /\ pc = r.to.pc
  /\ wants = r.to.wants
  /\ turn = r.to.turn

Becomes(r) ==
  /\ r.out = "done"
  /\ pc' = r.to.pc
  /\ wants' = r.to.wants
  /\ turn' = r.to.turn

Peterson_fresh ==
  [pc |-> [_key_1 \in (1..2) |-> "A0"], wants |-> [_key_3 \in (1..2) |-> FALSE], turn |-> 1]

Peterson_start(self, p) ==
  IF ~(p \in DOMAIN self.pc) THEN Stop("refused") ELSE
  IF ~(self.pc[p] \in {"A0"}) THEN Stop("refused") ELSE
  LET self_1 == [self EXCEPT !.pc = Put(self.pc, p, "A1")] IN
  Done(self_1, None)

start_gives(p) ==
  Placed(Peterson_start(now, p))

start(p) ==
  Becomes(start_gives(p))

Peterson_want(self, p) ==
  IF ~(p \in DOMAIN self.pc) THEN Stop("refused") ELSE
  IF ~(self.pc[p] \in {"A1"}) THEN Stop("refused") ELSE
  LET self_1 == [self EXCEPT !.wants = Put(self.wants, p, TRUE)] IN
  LET self_2 == [self_1 EXCEPT !.pc = Put(self_1.pc, p, "A2")] IN
  Done(self_2, None)

want_gives(p) ==
  Placed(Peterson_want(now, p))

want(p) ==
  Becomes(want_gives(p))

Peterson_give_way(self, p) ==
  IF ~(p \in DOMAIN self.pc) THEN Stop("refused") ELSE
  IF ~(self.pc[p] \in {"A2"}) THEN Stop("refused") ELSE
  LET self_1 == [self EXCEPT !.turn = (3 - p)] IN
  LET self_2 == [self_1 EXCEPT !.pc = Put(self_1.pc, p, "A3")] IN
  Done(self_2, None)

give_way_gives(p) ==
  Placed(Peterson_give_way(now, p))

give_way(p) ==
  Becomes(give_way_gives(p))

Peterson_enter(self, p) ==
  IF ~(p \in DOMAIN self.pc) THEN Stop("refused") ELSE
  IF ~(self.pc[p] \in {"A3"}) THEN Stop("refused") ELSE
  IF ~((3 - p) \in DOMAIN self.wants) THEN Stop("undefined") ELSE
  IF ~((~self.wants[(3 - p)]) \/ (self.turn = p)) THEN Stop("refused") ELSE
  LET self_1 == [self EXCEPT !.pc = Put(self.pc, p, "CS")] IN
  Done(self_1, None)

enter_gives(p) ==
  Placed(Peterson_enter(now, p))

enter(p) ==
  Becomes(enter_gives(p))

Peterson_leave(self, p) ==
  IF ~(p \in DOMAIN self.pc) THEN Stop("refused") ELSE
  IF ~(self.pc[p] \in {"CS"}) THEN Stop("refused") ELSE
  LET self_1 == [self EXCEPT !.pc = Put(self.pc, p, "A4")] IN
  Done(self_1, None)

leave_gives(p) ==
  Placed(Peterson_leave(now, p))

leave(p) ==
  Becomes(leave_gives(p))

Peterson_give_up(self, p) ==
  IF ~(p \in DOMAIN self.pc) THEN Stop("refused") ELSE
  IF ~(self.pc[p] \in {"A4"}) THEN Stop("refused") ELSE
  LET self_1 == [self EXCEPT !.wants = Put(self.wants, p, FALSE)] IN
  LET self_2 == [self_1 EXCEPT !.pc = Put(self_1.pc, p, "A0")] IN
  Done(self_2, None)

give_up_gives(p) ==
  Placed(Peterson_give_up(now, p))

give_up(p) ==
  Becomes(give_up_gives(p))

Comes(outs) ==
  \/ (\E p \in (1..2) : (start_gives(p).out \in outs))
  \/ (\E p \in (1..2) : (want_gives(p).out \in outs))
  \/ (\E p \in (1..2) : (give_way_gives(p).out \in outs))
  \/ (\E p \in (1..2) : (enter_gives(p).out \in outs))
  \/ (\E p \in (1..2) : (leave_gives(p).out \in outs))
  \/ (\E p \in (1..2) : (give_up_gives(p).out \in outs))

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

Peterson_inside(self, p) ==
  IF ~(p \in DOMAIN self.pc) THEN Stop("undefined") ELSE
  Done(self, (self.pc[p] \in {"CS", "A4"}))

Peterson_mutual_exclusion(self) ==
  IF ~(Peterson_inside(self, 1).out # "undefined") THEN Stop("undefined") ELSE
  IF ~((Peterson_inside(self, 1).value) => (Peterson_inside(self, 2).out # "undefined")) THEN Stop("undefined") ELSE
  Done(self, (~(Peterson_inside(self, 1).value /\ Peterson_inside(self, 2).value)))

mutual_exclusion ==
  ((Peterson_mutual_exclusion(now).out = "done") /\ Peterson_mutual_exclusion(now).value)

Peterson_flag_tells_where(self, p) ==
  IF ~(p \in DOMAIN self.wants) THEN Stop("undefined") ELSE
  IF ~(p \in DOMAIN self.pc) THEN Stop("undefined") ELSE
  Done(self, (self.wants[p] = (self.pc[p] \notin {"A0", "A1"})))

flag_tells_where ==
  (\A p \in (1..2) : ((Peterson_flag_tells_where(now, p).out = "done") /\ Peterson_flag_tells_where(now, p).value))

Peterson_inside_by_turn_or_alone(self, p) ==
  IF ~((3 - p) \in DOMAIN self.pc) THEN Stop("undefined") ELSE
  LET alone == (self.pc[(3 - p)] \in {"A0", "A1", "A2"}) IN
  IF ~(Peterson_inside(self, p).out # "undefined") THEN Stop("undefined") ELSE
  Done(self, ((~Peterson_inside(self, p).value) \/ ((self.turn = p) \/ alone)))

inside_by_turn_or_alone ==
  (\A p \in (1..2) : ((Peterson_inside_by_turn_or_alone(now, p).out = "done") /\ Peterson_inside_by_turn_or_alone(now, p).value))

Peterson_enters(self, p) ==
  IF ~(p \in DOMAIN self.pc) THEN Stop("undefined") ELSE
  Done(self, (self.pc[p] = "CS"))

enters_has_a_value ==
  (\A p \in (1..2) : (Peterson_enters(now, p).out = "done"))

never_enters ==
  ~((Peterson_enters(now, 1).out = "done") /\ Peterson_enters(now, 1).value)

never_enters_1 ==
  ~((Peterson_enters(now, 2).out = "done") /\ Peterson_enters(now, 2).value)

Peterson_both_want(self) ==
  IF ~(1 \in DOMAIN self.pc) THEN Stop("undefined") ELSE
  IF ~(((self.pc[1] = "A3")) => (2 \in DOMAIN self.pc)) THEN Stop("undefined") ELSE
  Done(self, ((self.pc[1] = "A3") /\ (self.pc[2] = "A3")))

both_want_has_a_value ==
  (Peterson_both_want(now).out = "done")

never_both_want ==
  ~((Peterson_both_want(now).out = "done") /\ Peterson_both_want(now).value)

ASSUME ((Placed(Done(Peterson_fresh, None)).out \in {"done", "refused", "cut"}))

Init ==
  ((Begins(Placed(Done(Peterson_fresh, None)))))

Next ==
  \/ (\E p \in (1..2) : start(p))
  \/ (\E p \in (1..2) : want(p))
  \/ (\E p \in (1..2) : give_way(p))
  \/ (\E p \in (1..2) : enter(p))
  \/ (\E p \in (1..2) : leave(p))
  \/ (\E p \in (1..2) : give_up(p))

Safety ==
  /\ Init
  /\ [][Next]_vars

Spec ==
  /\ Safety

====
