---- MODULE Fifo ----

\* Fifo with Data=3, queue=4; written by lawful.
\* TLC's number of distinct states is that of lawful check. A step that leaves the scope is
\* no action here, though it counts as enabled; deadlock and the steps that go wrong are
\* invariants, so TLC shall not look for deadlocks itself.

EXTENDS Integers, Sequences, FiniteSets, TLC

Done(self, value) == [out |-> "done", to |-> self, value |-> value]

Stop(out) == [out |-> out]

Cut(r) == [out |-> "cut", to |-> r.to]

At(s, i) == IF i < 0 THEN (Len(s) + i) + 1 ELSE i + 1

HasAt(s, i) == (-Len(s) <= i) /\ (i < Len(s))

RemoveAt(s, i) == SubSeq(s, 1, At(s, i) - 1) \o SubSeq(s, At(s, i) + 1, Len(s))

CONSTANTS None, Data1, Data2, Data3

Data == {Data1, Data2, Data3}

VARIABLES into, out, queue

vars ==
  <<into, out, queue>>

now ==
  [into |-> into, out |-> out, queue |-> queue]

Channel_in_scope(self) ==
  ((0 <= self.ready /\ self.ready <= 1) /\ (0 <= self.acked /\ self.acked <= 1))

Fifo_in_scope(self) ==
  (Channel_in_scope(self.into) /\ Channel_in_scope(self.out) /\ ((Len(self.queue) <= 4)))

Channel_in_bounds(self) ==
  ((0 <= self.ready /\ self.ready <= 1) /\ (0 <= self.acked /\ self.acked <= 1))

Fifo_in_bounds(self) ==
  (Channel_in_bounds(self.into) /\ Channel_in_bounds(self.out))

Fifo_at_most_three(self) ==
  (Len(self.queue) <= 3)

Placed(r) ==
  IF r.out # "done" THEN r ELSE
  IF ~Fifo_in_bounds(r.to) THEN Stop("bounds") ELSE
  IF ~Fifo_in_scope(r.to) THEN Cut(r) ELSE
  IF ~Fifo_at_most_three(r.to) THEN Cut(r) ELSE
  r

Begins(r) ==
  /\ r.out = "done"
  /\ into = r.to.into
  /\ out = r.to.out
  /\ queue = r.to.queue

Becomes(r) ==
  /\ r.out = "done"
  /\ into' = r.to.into
  /\ out' = r.to.out
  /\ queue' = r.to.queue

Channel_fresh ==
  [value |-> None, ready |-> None, acked |-> None]

Fifo_fresh ==
  [into |-> Channel_fresh, out |-> Channel_fresh, queue |-> <<>>]

Channel_start(self, value, bit) ==
  LET self_1 == [self EXCEPT !.value = value] IN
  LET self_2 == [self_1 EXCEPT !.ready = bit] IN
  LET self_3 == [self_2 EXCEPT !.acked = bit] IN
  Done(self_3, None)

Fifo_start(self, first, second, a, b) ==
  LET step == Channel_start(self.into, first, a) IN
  IF step.out # "done" THEN step ELSE
  LET self_1 == [self EXCEPT !.into = step.to] IN
  LET step_1 == Channel_start(self_1.out, second, b) IN
  IF step_1.out # "done" THEN step_1 ELSE
  LET self_2 == [self_1 EXCEPT !.out = step_1.to] IN
  Done(self_2, None)

Channel_send(self, value) ==
  IF ~(self.ready = self.acked) THEN Stop("refused") ELSE
  LET self_1 == [self EXCEPT !.value = value] IN
  LET self_2 == [self_1 EXCEPT !.ready = (1 - self_1.ready)] IN
  Done(self_2, None)

Fifo_send(self, value) ==
  LET step == Channel_send(self.into, value) IN
  IF step.out # "done" THEN step ELSE
  LET self_1 == [self EXCEPT !.into = step.to] IN
  Done(self_1, None)

send_gives(value) ==
  Placed(Fifo_send(now, value))

send(value) ==
  Becomes(send_gives(value))

Channel_receive(self) ==
  IF ~(self.ready # self.acked) THEN Stop("refused") ELSE
  LET self_1 == [self EXCEPT !.acked = (1 - self.acked)] IN
  Done(self_1, self_1.value)

Fifo_take_in(self) ==
  LET step == Channel_receive(self.into) IN
  IF step.out # "done" THEN step ELSE
  LET self_1 == [self EXCEPT !.into = step.to] IN
  LET value == step.value IN
  LET self_2 == [self_1 EXCEPT !.queue = Append(self_1.queue, value)] IN
  Done(self_2, None)

take_in_gives ==
  Placed(Fifo_take_in(now))

take_in ==
  Becomes(take_in_gives)

Fifo_give_out(self) ==
  IF ~(0 < Len(self.queue)) THEN Stop("refused") ELSE
  IF ~HasAt(self.queue, 0) THEN Stop("undefined") ELSE
  LET given == self.queue[At(self.queue, 0)] IN
  LET self_1 == [self EXCEPT !.queue = RemoveAt(self.queue, 0)] IN
  LET x_1 == given IN
  LET step == Channel_send(self_1.out, x_1) IN
  IF step.out # "done" THEN step ELSE
  LET self_2 == [self_1 EXCEPT !.out = step.to] IN
  Done(self_2, None)

give_out_gives ==
  Placed(Fifo_give_out(now))

give_out ==
  Becomes(give_out_gives)

Fifo_receive(self) ==
  LET step == Channel_receive(self.out) IN
  IF step.out # "done" THEN step ELSE
  LET self_1 == [self EXCEPT !.out = step.to] IN
  LET x_1 == step.value IN
  Done(self_1, x_1)

receive_gives ==
  Placed(Fifo_receive(now))

receive ==
  Becomes(receive_gives)

Comes(outs) ==
  \/ (\E value \in Data : (send_gives(value).out \in outs))
  \/ (take_in_gives.out \in outs)
  \/ (give_out_gives.out \in outs)
  \/ (receive_gives.out \in outs)

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

Fifo_within(self) ==
  (Len(self.queue) <= 3)

within ==
  Fifo_within(now)

Fifo_all_full(self) ==
  LET waits == ((self.into.ready # self.into.acked) /\ (self.out.ready # self.out.acked)) IN
  (waits /\ (Len(self.queue) = 3))

never_all_full ==
  ~Fifo_all_full(now)

Channel_waiting_values_stay(self, after) ==
  ((self.ready = self.acked) \/ (after.value = self.value))

into_waiting_values_stay ==
  [][Channel_waiting_values_stay(now.into, now'.into)]_vars

into_waiting_values_stay_at_rest ==
  ((\E value \in Data : ((send_gives(value).out = "done") /\ (send_gives(value).to = now))) \/ ((take_in_gives.out = "done") /\ (take_in_gives.to = now)) \/ ((give_out_gives.out = "done") /\ (give_out_gives.to = now)) \/ ((receive_gives.out = "done") /\ (receive_gives.to = now))) => Channel_waiting_values_stay(now.into, now.into)

out_waiting_values_stay ==
  [][Channel_waiting_values_stay(now.out, now'.out)]_vars

out_waiting_values_stay_at_rest ==
  ((\E value \in Data : ((send_gives(value).out = "done") /\ (send_gives(value).to = now))) \/ ((take_in_gives.out = "done") /\ (take_in_gives.to = now)) \/ ((give_out_gives.out = "done") /\ (give_out_gives.to = now)) \/ ((receive_gives.out = "done") /\ (receive_gives.to = now))) => Channel_waiting_values_stay(now.out, now.out)

ASSUME ((\A first \in Data : (\A second \in Data : (\A a \in (0..1) : (\A b \in (0..1) : (Placed(Fifo_start(Fifo_fresh, first, second, a, b)).out \in {"done", "refused", "cut"}))))))

Init ==
  (((\E first \in Data : (\E second \in Data : (\E a \in (0..1) : (\E b \in (0..1) : Begins(Placed(Fifo_start(Fifo_fresh, first, second, a, b)))))))))

Next ==
  \/ (\E value \in Data : send(value))
  \/ take_in
  \/ give_out
  \/ receive

Safety ==
  /\ Init
  /\ [][Next]_vars

Spec ==
  /\ Safety

====
