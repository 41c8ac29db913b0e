---- MODULE TwoPhase ----

\* TwoPhase with RM=3; written by lawful.
\* TLC's number of distinct states is that of lawful check. A step that leaves the scope is
\* no action here, though it counts as enabled; deadlock and the steps that go wrong are
\* invariants, so TLC shall not look for deadlocks itself.

EXTENDS Integers, Sequences, FiniteSets, TLC

Done(self, value) == [out |-> "done", to |-> self, value |-> value]

Stop(out) == [out |-> out]

CONSTANTS None, RM1, RM2, RM3

RM == {RM1, RM2, RM3}

VARIABLES state, rms, heard, messages

vars ==
  <<state, rms, heard, messages>>

now ==
  [state |-> state, rms |-> rms, heard |-> heard, messages |-> messages]

Placed(r) ==
  IF r.out # "done" THEN r ELSE
  r

Begins(r) ==
  /\ r.out = "done"
  /\ state = r.to.state
  /\ rms = r.to.rms
  /\ heard = r.to.heard
  /\ messages = r.to.messages

Becomes(r) ==
  /\ r.out = "done"
  /\ state' = r.to.state
  /\ rms' = r.to.rms
  /\ heard' = r.to.heard
  /\ messages' = r.to.messages

TwoPhase_fresh ==
  [state |-> "INIT", rms |-> [_key_1 \in RM |-> "WORKING"], heard |-> {}, messages |-> {}]

TwoPhase_hear_prepared(self, rm) ==
  IF ~(self.state \in {"INIT"}) THEN Stop("refused") ELSE
  IF ~([is |-> "Prepared", rm |-> rm] \in self.messages) THEN Stop("refused") ELSE
  LET self_1 == [self EXCEPT !.heard = (self.heard \cup {rm})] IN
  Done(self_1, None)

hear_prepared_gives(rm) ==
  Placed(TwoPhase_hear_prepared(now, rm))

hear_prepared(rm) ==
  Becomes(hear_prepared_gives(rm))

TwoPhase_commit(self) ==
  IF ~(self.state \in {"INIT"}) THEN Stop("refused") ELSE
  IF ~(\A rm_1 \in RM : (rm_1 \in self.heard)) THEN Stop("refused") ELSE
  LET self_1 == [self EXCEPT !.messages = (self.messages \cup {[is |-> "Commit"]})] IN
  LET self_2 == [self_1 EXCEPT !.state = "COMMITTED"] IN
  Done(self_2, None)

commit_gives ==
  Placed(TwoPhase_commit(now))

commit ==
  Becomes(commit_gives)

TwoPhase_abort(self) ==
  IF ~(self.state \in {"INIT"}) THEN Stop("refused") ELSE
  LET self_1 == [self EXCEPT !.messages = (self.messages \cup {[is |-> "Abort"]})] IN
  LET self_2 == [self_1 EXCEPT !.state = "ABORTED"] IN
  Done(self_2, None)

abort_gives ==
  Placed(TwoPhase_abort(now))

abort ==
  Becomes(abort_gives)

TwoPhase_prepare(self, rm) ==
  IF ~(self.rms[rm] \in {"WORKING"}) THEN Stop("refused") ELSE
  LET self_1 == [self EXCEPT !.messages = (self.messages \cup {[is |-> "Prepared", rm |-> rm]})] IN
  LET self_2 == [self_1 EXCEPT !.rms[rm] = "PREPARED"] IN
  Done(self_2, None)

prepare_gives(rm) ==
  Placed(TwoPhase_prepare(now, rm))

prepare(rm) ==
  Becomes(prepare_gives(rm))

TwoPhase_choose_to_abort(self, rm) ==
  IF ~(self.rms[rm] \in {"WORKING"}) THEN Stop("refused") ELSE
  LET self_1 == [self EXCEPT !.rms[rm] = "ABORTED"] IN
  Done(self_1, None)

choose_to_abort_gives(rm) ==
  Placed(TwoPhase_choose_to_abort(now, rm))

choose_to_abort(rm) ==
  Becomes(choose_to_abort_gives(rm))

TwoPhase_hear_commit(self, rm) ==
  IF ~([is |-> "Commit"] \in self.messages) THEN Stop("refused") ELSE
  LET self_1 == [self EXCEPT !.rms[rm] = "COMMITTED"] IN
  Done(self_1, None)

hear_commit_gives(rm) ==
  Placed(TwoPhase_hear_commit(now, rm))

hear_commit(rm) ==
  Becomes(hear_commit_gives(rm))

TwoPhase_hear_abort(self, rm) ==
  IF ~([is |-> "Abort"] \in self.messages) THEN Stop("refused") ELSE
  LET self_1 == [self EXCEPT !.rms[rm] = "ABORTED"] IN
  Done(self_1, None)

hear_abort_gives(rm) ==
  Placed(TwoPhase_hear_abort(now, rm))

hear_abort(rm) ==
  Becomes(hear_abort_gives(rm))

Comes(outs) ==
  \/ (\E rm_1 \in {rm \in {_each_2.rm : _each_2 \in {_each_3 \in now.messages : ((_each_3.is = "Prepared"))}} : rm \in RM} : (hear_prepared_gives(rm_1).out \in outs))
  \/ (commit_gives.out \in outs)
  \/ (abort_gives.out \in outs)
  \/ (\E rm_1 \in {rm \in {_each_3 \in (DOMAIN now.rms) : ((now.rms[_each_3] = "WORKING"))} : rm \in RM} : (prepare_gives(rm_1).out \in outs))
  \/ (\E rm_1 \in {rm \in {_each_3 \in (DOMAIN now.rms) : ((now.rms[_each_3] = "WORKING"))} : rm \in RM} : (choose_to_abort_gives(rm_1).out \in outs))
  \/ (\E rm \in RM : (hear_commit_gives(rm).out \in outs))
  \/ (\E rm \in RM : (hear_abort_gives(rm).out \in outs))

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

TwoPhase_consistent(self, a, b) ==
  (~((self.rms[a] = "ABORTED") /\ (self.rms[b] = "COMMITTED")))

consistent ==
  (\A a \in RM : (\A b \in RM : TwoPhase_consistent(now, a, b)))

TwoPhase_decided_for_good(self, after, rm) ==
  LET decided == (self.rms[rm] \in {"COMMITTED", "ABORTED"}) IN
  ((~decided) \/ (after.rms[rm] = self.rms[rm]))

decided_for_good ==
  [][(\A rm \in RM : TwoPhase_decided_for_good(now, now', rm))]_vars

decided_for_good_at_rest ==
  ((\E rm_1 \in {rm \in {_each_2.rm : _each_2 \in {_each_3 \in now.messages : ((_each_3.is = "Prepared"))}} : rm \in RM} : ((hear_prepared_gives(rm_1).out = "done") /\ (hear_prepared_gives(rm_1).to = now))) \/ ((commit_gives.out = "done") /\ (commit_gives.to = now)) \/ ((abort_gives.out = "done") /\ (abort_gives.to = now)) \/ (\E rm_1 \in {rm \in {_each_3 \in (DOMAIN now.rms) : ((now.rms[_each_3] = "WORKING"))} : rm \in RM} : ((prepare_gives(rm_1).out = "done") /\ (prepare_gives(rm_1).to = now))) \/ (\E rm_1 \in {rm \in {_each_3 \in (DOMAIN now.rms) : ((now.rms[_each_3] = "WORKING"))} : rm \in RM} : ((choose_to_abort_gives(rm_1).out = "done") /\ (choose_to_abort_gives(rm_1).to = now))) \/ (\E rm \in RM : ((hear_commit_gives(rm).out = "done") /\ (hear_commit_gives(rm).to = now))) \/ (\E rm \in RM : ((hear_abort_gives(rm).out = "done") /\ (hear_abort_gives(rm).to = now)))) => (\A rm \in RM : TwoPhase_decided_for_good(now, now, rm))

TwoPhase_all_committed(self) ==
  (\A rm_1 \in RM : (self.rms[rm_1] = "COMMITTED"))

never_all_committed ==
  ~TwoPhase_all_committed(now)

TwoPhase_aborted_though_all_prepared(self) ==
  LET everyone == (\A rm_1 \in RM : (self.rms[rm_1] = "PREPARED")) IN
  (everyone /\ (self.state = "ABORTED"))

never_aborted_though_all_prepared ==
  ~TwoPhase_aborted_though_all_prepared(now)

ASSUME ((Placed(Done(TwoPhase_fresh, None)).out \in {"done", "refused", "cut"}))

Init ==
  ((Begins(Placed(Done(TwoPhase_fresh, None)))))

Next ==
  \/ (\E rm_1 \in {rm \in {_each_2.rm : _each_2 \in {_each_3 \in now.messages : ((_each_3.is = "Prepared"))}} : rm \in RM} : hear_prepared(rm_1))
  \/ commit
  \/ abort
  \/ (\E rm_1 \in {rm \in {_each_3 \in (DOMAIN now.rms) : ((now.rms[_each_3] = "WORKING"))} : rm \in RM} : prepare(rm_1))
  \/ (\E rm_1 \in {rm \in {_each_3 \in (DOMAIN now.rms) : ((now.rms[_each_3] = "WORKING"))} : rm \in RM} : choose_to_abort(rm_1))
  \/ (\E rm \in RM : hear_commit(rm))
  \/ (\E rm \in RM : hear_abort(rm))

Safety ==
  /\ Init
  /\ [][Next]_vars

Spec ==
  /\ Safety

====
