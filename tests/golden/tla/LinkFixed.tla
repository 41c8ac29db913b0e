---- MODULE LinkFixed ----

\* LinkFixed with Nat=0..3, Payload=1, network=8, submitted=2, delivered=2; written by lawful.
\* TLC's number of distinct states is that of lawful check. A step that leaves the scope is
\* no action here, though it counts as enabled; deadlock and the steps that go wrong are
\* invariants, so TLC shall not look for deadlocks itself.
\* Left out: recoverable settled: no formula of TLA+ says it

EXTENDS Integers, Sequences, FiniteSets, TLC

Done(self, value) == [out |-> "done", to |-> self, value |-> value]

Stop(out) == [out |-> out]

Cut(r) == [out |-> "cut", to |-> r.to]

Range(s) == {s[i] : i \in DOMAIN s}

Put(f, k, v) == [x \in (DOMAIN f) \cup {k} |-> IF x = k THEN v ELSE f[x]]

Without(f, k) == [x \in (DOMAIN f) \ {k} |-> f[x]]

Count(b, x) == IF x \in DOMAIN b THEN b[x] ELSE 0

PutCount(b, x, n) == IF n = 0 THEN Without(b, x) ELSE Put(b, x, n)

At(s, i) == IF i < 0 THEN (Len(s) + i) + 1 ELSE i + 1

HasAt(s, i) == (-Len(s) <= i) /\ (i < Len(s))

Index(s, v) == (CHOOSE i \in DOMAIN s : (s[i] = v) /\ (\A j \in 1..(i - 1) : s[j] # v)) - 1

MapSeq(s, Op(_)) == [i \in DOMAIN s |-> Op(s[i])]

Sum(S, Op(_)) == LET RECURSIVE Go(_) Go(T) == IF T = {} THEN 0 ELSE LET x == CHOOSE y \in T : TRUE IN Op(x) + Go(T \ {x}) IN Go(S)

Upwards(low, high) == [i \in 1..(high - low) |-> low + (i - 1)]

Positive(f) == [x \in {y \in DOMAIN f : f[y] # 0} |-> f[x]]

CONSTANTS None, Payload_0

Payload == {Payload_0}

VARIABLES sender, receiver, network, submissions, failed, submitted, delivered, reported, messages, failures

vars ==
  <<sender, receiver, network, submissions, failed, submitted, delivered, reported, messages, failures>>

now ==
  [sender |-> sender, receiver |-> receiver, network |-> network, submissions |-> submissions, failed |-> failed, submitted |-> submitted, delivered |-> delivered, reported |-> reported, messages |-> messages, failures |-> failures]

SenderEntryFixed_in_scope(self) ==
  ((0 <= self.conn /\ self.conn <= 3) /\ (0 <= self.highest_sent /\ self.highest_sent <= 3) /\ (0 <= self.highest_acked /\ self.highest_acked <= 3) /\ (0 <= self.seen_sent /\ self.seen_sent <= 3) /\ (0 <= self.seen_acked /\ self.seen_acked <= 3) /\ (\A k \in DOMAIN self.window : ((0 <= k /\ k <= 3))) /\ (0 <= self.covered /\ self.covered <= 3))

ReceiverEntryFixed_in_scope(self) ==
  ((0 <= self.conn /\ self.conn <= 3) /\ (0 <= self.next /\ self.next <= 3) /\ (0 <= self.highest /\ self.highest <= 3) /\ (\A k \in DOMAIN self.buffer : ((0 <= k /\ k <= 3))) /\ (0 <= self.sync_due /\ self.sync_due <= 3))

LinkFixed_in_scope(self) ==
  (SenderEntryFixed_in_scope(self.sender) /\ ReceiverEntryFixed_in_scope(self.receiver) /\ ((\A x \in DOMAIN self.network : (self.network[x] >= 0)) /\ (Sum(DOMAIN self.network, LAMBDA x : self.network[x]) <= 8) /\ (\A x \in DOMAIN self.network : ((((x.is = "Data")) => ((0 <= x.seqno /\ x.seqno <= 3) /\ (0 <= x.conn /\ x.conn <= 3))) /\ (((x.is = "Ack")) => ((0 <= x.seqno /\ x.seqno <= 3) /\ (0 <= x.conn /\ x.conn <= 3))) /\ (((x.is = "SendFirst")) => ((0 <= x.conn /\ x.conn <= 3))) /\ (((x.is = "XmitReq")) => ((0 <= x.conn /\ x.conn <= 3) /\ (\A x_1 \in x.missing : (0 <= x_1 /\ x_1 <= 3)))) /\ (((x.is = "Close")) => ((0 <= x.conn /\ x.conn <= 3)))))) /\ (0 <= self.submissions /\ self.submissions <= 3) /\ (0 <= self.failed /\ self.failed <= 3) /\ ((Len(self.submitted) <= 2) /\ (\A i \in DOMAIN self.submitted : ((0 <= self.submitted[i][1] /\ self.submitted[i][1] <= 3) /\ (0 <= self.submitted[i][2] /\ self.submitted[i][2] <= 3)))) /\ ((Len(self.delivered) <= 2) /\ (\A i_1 \in DOMAIN self.delivered : ((0 <= self.delivered[i_1][1] /\ self.delivered[i_1][1] <= 3) /\ (0 <= self.delivered[i_1][2] /\ self.delivered[i_1][2] <= 3)))) /\ (\A x_2 \in self.reported : ((0 <= x_2[1] /\ x_2[1] <= 3) /\ (0 <= x_2[2] /\ x_2[2] <= 3))))

SenderEntryFixed_in_bounds(self) ==
  ((0 <= self.conn) /\ (0 <= self.highest_sent) /\ (0 <= self.highest_acked) /\ (0 <= self.seen_sent) /\ (0 <= self.seen_acked) /\ (\A k \in DOMAIN self.window : ((0 <= k))) /\ (0 <= self.covered))

ReceiverEntryFixed_in_bounds(self) ==
  ((0 <= self.conn) /\ (0 <= self.next) /\ (0 <= self.highest) /\ (\A k \in DOMAIN self.buffer : ((0 <= k))) /\ (0 <= self.sync_due) /\ (0 <= self.largest_window))

LinkFixed_in_bounds(self) ==
  (SenderEntryFixed_in_bounds(self.sender) /\ ReceiverEntryFixed_in_bounds(self.receiver) /\ ((\A x \in DOMAIN self.network : (self.network[x] >= 0)) /\ (\A x \in DOMAIN self.network : ((((x.is = "Data")) => ((0 <= x.seqno) /\ (0 <= x.conn))) /\ (((x.is = "Ack")) => ((0 <= x.seqno) /\ (0 <= x.conn))) /\ (((x.is = "SendFirst")) => ((0 <= x.conn))) /\ (((x.is = "XmitReq")) => ((0 <= x.conn) /\ (\A x_1 \in x.missing : (0 <= x_1)))) /\ (((x.is = "Close")) => ((0 <= x.conn)))))) /\ (0 <= self.submissions) /\ (0 <= self.failed) /\ ((\A i \in DOMAIN self.submitted : ((0 <= self.submitted[i][1]) /\ (0 <= self.submitted[i][2])))) /\ ((\A i_1 \in DOMAIN self.delivered : ((0 <= self.delivered[i_1][1]) /\ (0 <= self.delivered[i_1][2])))) /\ (\A x_2 \in self.reported : ((0 <= x_2[1]) /\ (0 <= x_2[2]))))

Placed(r) ==
  IF r.out # "done" THEN r ELSE
  IF ~LinkFixed_in_bounds(r.to) THEN Stop("bounds") ELSE
  IF ~LinkFixed_in_scope(r.to) THEN Cut(r) ELSE
  r

Begins(r) ==
  /\ r.out = "done"
  /\ sender = r.to.sender
  /\ receiver = r.to.receiver
  /\ network = r.to.network
  /\ submissions = r.to.submissions
  /\ failed = r.to.failed
  /\ submitted = r.to.submitted
  /\ delivered = r.to.delivered
  /\ reported = r.to.reported
  /\ messages = r.to.messages
  /\ failures = r.to.failures

Becomes(r) ==
  /\ r.out = "done"
  /\ sender' = r.to.sender
  /\ receiver' = r.to.receiver
  /\ network' = r.to.network
  /\ submissions' = r.to.submissions
  /\ failed' = r.to.failed
  /\ submitted' = r.to.submitted
  /\ delivered' = r.to.delivered
  /\ reported' = r.to.reported
  /\ messages' = r.to.messages
  /\ failures' = r.to.failures

SenderEntryFixed_fresh(conn_expiry_timeout, conn_close_timeout, reaping) ==
  [state |-> "CLOSED", conn |-> 0, idle |-> FALSE, highest_sent |-> 0, highest_acked |-> 0, seen_sent |-> 0, seen_acked |-> 0, window |-> <<>>, reported |-> FALSE, covered |-> 0, conn_expiry_timeout |-> conn_expiry_timeout, conn_close_timeout |-> conn_close_timeout, reaping |-> reaping]

ReceiverEntryFixed_fresh(conn_expiry_timeout, conn_close_timeout, reaping, ack_interval, largest_window) ==
  [state |-> "CLOSED", conn |-> 0, idle |-> FALSE, next |-> 1, highest |-> 0, buffer |-> <<>>, ack_delay |-> FALSE, sync_due |-> 0, conn_expiry_timeout |-> conn_expiry_timeout, conn_close_timeout |-> conn_close_timeout, reaping |-> reaping, ack_interval |-> ack_interval, largest_window |-> largest_window]

LinkFixed_fresh(messages_1, failures_1) ==
  [sender |-> SenderEntryFixed_fresh("120.0", "60.0", TRUE), receiver |-> ReceiverEntryFixed_fresh("120.0", "60.0", TRUE, "0.5", 4096), network |-> Positive(<<>>), submissions |-> 0, failed |-> 0, submitted |-> <<>>, delivered |-> <<>>, reported |-> {}, messages |-> messages_1, failures |-> failures_1]

LinkFixed_messages_are_few(self) ==
  (self.messages <= 3)

LinkFixed_take(self, m) ==
  IF ~(m \in (DOMAIN self.network)) THEN Stop("refused") ELSE
  LET self_1 == [self EXCEPT !.network = PutCount(self.network, m, (Count(self.network, m) - 1))] IN
  Done(self_1, None)

LinkFixed_lose(self, m) ==
  IF ~(self.failed < self.failures) THEN Stop("refused") ELSE
  LET step == LinkFixed_take(self, m) IN
  IF step.out # "done" THEN step ELSE
  LET self_1 == step.to IN
  LET self_2 == [self_1 EXCEPT !.failed = (self_1.failed + 1)] IN
  Done(self_2, None)

lose_gives(m) ==
  Placed(LinkFixed_lose(now, m))

lose(m) ==
  Becomes(lose_gives(m))

LinkFixed_duplicate(self, m) ==
  IF ~(m \in (DOMAIN self.network)) THEN Stop("refused") ELSE
  IF ~(self.failed < self.failures) THEN Stop("refused") ELSE
  LET self_1 == [self EXCEPT !.network = PutCount(self.network, m, (Count(self.network, m) + 1))] IN
  LET self_2 == [self_1 EXCEPT !.failed = (self_1.failed + 1)] IN
  Done(self_2, None)

duplicate_gives(m) ==
  Placed(LinkFixed_duplicate(now, m))

duplicate(m) ==
  Becomes(duplicate_gives(m))

SenderEntryFixed_touch(self) ==
  LET After(self_3) ==
      Done(self_3, None)
  IN
  IF self.reaping THEN
    LET self_1 == [self EXCEPT !.idle = TRUE] IN
    After(self_1)
  ELSE
  LET self_2 == [self EXCEPT !.idle = FALSE] IN
  After(self_2)

SenderEntryFixed_kept(self, seqno) ==
  IF ~(seqno \in DOMAIN self.window) THEN Stop("undefined") ELSE
  Done(self, [is |-> "Data", seqno |-> seqno, conn |-> self.conn, first |-> (seqno = 1), payload |-> self.window[seqno]])

SenderEntryFixed_send(self, payload) ==
  LET After(self_3) ==
      LET self_4 == [self_3 EXCEPT !.highest_sent = (self_3.highest_sent + 1)] IN
      LET self_5 == [self_4 EXCEPT !.window = Put(self_4.window, self_4.highest_sent, payload)] IN
      LET step == SenderEntryFixed_touch(self_5) IN
      IF step.out # "done" THEN step ELSE
      LET self_6 == step.to IN
      IF ~(SenderEntryFixed_kept(self_6, self_6.highest_sent).out # "undefined") THEN Stop("undefined") ELSE
      LET self_7 == [self_6 EXCEPT !.state = "OPEN"] IN
      Done(self_7, SenderEntryFixed_kept(self_6, self_6.highest_sent).value)
  IN
  IF (self.state = "CLOSED") THEN
    LET self_1 == [self EXCEPT !.conn = (self.conn + 1)] IN
    LET self_2 == [self_1 EXCEPT !.reported = FALSE] IN
    After(self_2)
  ELSE
  After(self)

LinkFixed_put(self, m) ==
  LET After(self_2) ==
      Done(self_2, None)
  IN
  IF (m \notin (DOMAIN self.network)) THEN
    LET self_1 == [self EXCEPT !.network = PutCount(self.network, m, (Count(self.network, m) + 1))] IN
    After(self_1)
  ELSE
  After(self)

SenderEntryFixed_unchanged(self) ==
  ((self.seen_acked = self.highest_acked) /\ (self.seen_sent = self.highest_sent))

SenderEntryFixed_task(self) ==
  LET again == (SenderEntryFixed_unchanged(self) /\ (self.highest_acked < self.highest_sent)) IN
  LET row == <<self.highest_sent, self.highest_acked>> IN
  LET self_1 == [self EXCEPT !.seen_sent = row[1]] IN
  LET self_2 == [self_1 EXCEPT !.seen_acked = row[2]] IN
  IF ~(again => (SenderEntryFixed_kept(self_2, self_2.highest_sent).out # "undefined")) THEN Stop("undefined") ELSE
  Done(self_2, (IF again THEN SenderEntryFixed_kept(self_2, self_2.highest_sent).value ELSE None))

LinkFixed_settle_watermark(self) ==
  LET After(self_2) ==
      Done(self_2, None)
  IN
  IF (~SenderEntryFixed_unchanged(self.sender)) THEN
    LET step == SenderEntryFixed_task(self.sender) IN
    IF step.out # "done" THEN step ELSE
    LET self_1 == [self EXCEPT !.sender = step.to] IN
    After(self_1)
  ELSE
  After(self)

LinkFixed_submit(self, payload) ==
  IF ~(self.submissions < self.messages) THEN Stop("refused") ELSE
  LET self_1 == [self EXCEPT !.submissions = (self.submissions + 1)] IN
  LET step == SenderEntryFixed_send(self_1.sender, payload) IN
  IF step.out # "done" THEN step ELSE
  LET self_2 == [self_1 EXCEPT !.sender = step.to] IN
  LET data == step.value IN
  LET step_1 == LinkFixed_put(self_2, data) IN
  IF step_1.out # "done" THEN step_1 ELSE
  LET self_3 == step_1.to IN
  LET self_4 == [self_3 EXCEPT !.submitted = Append(self_3.submitted, <<data.conn, data.seqno>>)] IN
  LET step_2 == LinkFixed_settle_watermark(self_4) IN
  IF step_2.out # "done" THEN step_2 ELSE
  LET self_5 == step_2.to IN
  Done(self_5, None)

submit_gives(payload) ==
  Placed(LinkFixed_submit(now, payload))

submit(payload) ==
  Becomes(submit_gives(payload))

ReceiverEntryFixed_ReceiverEntryu2ebelongs(self, m) ==
  (m.conn = self.conn)

ReceiverEntryFixed_is_beyond(self, m) ==
  LET far == ((self.next + self.largest_window) <= m.seqno) IN
  ((m.conn = self.conn) /\ far /\ (~m.first))

ReceiverEntryFixed_belongs(self, m) ==
  (ReceiverEntryFixed_ReceiverEntryu2ebelongs(self, m) /\ (~ReceiverEntryFixed_is_beyond(self, m)))

ReceiverEntryFixed_owe_ack(self) ==
  LET After(self_2) ==
      Done(self_2, None)
  IN
  IF (~self.ack_delay) THEN
    LET self_1 == [self EXCEPT !.ack_delay = TRUE] IN
    After(self_1)
  ELSE
  After(self)

ReceiverEntryFixed_touch(self) ==
  LET After(self_3) ==
      Done(self_3, None)
  IN
  IF self.reaping THEN
    LET self_1 == [self EXCEPT !.idle = TRUE] IN
    After(self_1)
  ELSE
  LET self_2 == [self EXCEPT !.idle = FALSE] IN
  After(self_2)

ReceiverEntryFixed_ReceiverEntryu2einsert(self, m) ==
  LET After(self_4) ==
      LET step_1 == ReceiverEntryFixed_touch(self_4) IN
      IF step_1.out # "done" THEN step_1 ELSE
      LET self_5 == step_1.to IN
      Done(self_5, None)
  IN
  IF (m.seqno < self.next) THEN
    LET step == ReceiverEntryFixed_owe_ack(self) IN
    IF step.out # "done" THEN step ELSE
    LET self_1 == step.to IN
    After(self_1)
  ELSE
  LET self_2 == [self EXCEPT !.buffer = Put(self.buffer, m.seqno, m.payload)] IN
  LET self_3 == [self_2 EXCEPT !.highest = (IF (m.seqno <= self_2.highest) THEN self_2.highest ELSE m.seqno)] IN
  After(self_3)

ReceiverEntryFixed_insert(self, m) ==
  LET After(self_3) ==
      LET step == ReceiverEntryFixed_ReceiverEntryu2einsert(self_3, m) IN
      IF step.out # "done" THEN step ELSE
      LET self_4 == step.to IN
      Done(self_4, None)
  IN
  IF m.first THEN
    LET self_1 == [self EXCEPT !.next = (IF (m.seqno <= self.next) THEN self.next ELSE m.seqno)] IN
    LET self_2 == [self_1 EXCEPT !.buffer = [k_2 \in {k_3 \in DOMAIN self_1.buffer : (self_1.next <= k_3)} |-> self_1.buffer[k_2]]] IN
    After(self_2)
  ELSE
  After(self)

ReceiverEntryFixed_accept(self, m) ==
  IF ~(self.state \in {"OPEN", "CLOSING"}) THEN Stop("refused") ELSE
  IF ~ReceiverEntryFixed_belongs(self, m) THEN Stop("refused") ELSE
  LET step == ReceiverEntryFixed_insert(self, m) IN
  IF step.out # "done" THEN step ELSE
  LET self_1 == step.to IN
  LET self_2 == [self_1 EXCEPT !.state = "OPEN"] IN
  Done(self_2, None)

ReceiverEntryFixed_resume(self, m) ==
  IF ~(self.state \in {"CLOSED"}) THEN Stop("refused") ELSE
  IF ~(0 < self.conn) THEN Stop("refused") ELSE
  IF ~ReceiverEntryFixed_belongs(self, m) THEN Stop("refused") ELSE
  LET step == ReceiverEntryFixed_insert(self, m) IN
  IF step.out # "done" THEN step ELSE
  LET self_1 == step.to IN
  LET self_2 == [self_1 EXCEPT !.state = "OPEN"] IN
  Done(self_2, None)

ReceiverEntryFixed_unknown(self, m) ==
  (self.conn < m.conn)

ReceiverEntryFixed_begin(self, m) ==
  LET self_1 == [self EXCEPT !.conn = m.conn] IN
  LET self_2 == [self_1 EXCEPT !.next = m.seqno] IN
  LET self_3 == [self_2 EXCEPT !.highest = m.seqno] IN
  LET self_4 == [self_3 EXCEPT !.buffer = Put(<<>>, m.seqno, m.payload)] IN
  LET self_5 == [self_4 EXCEPT !.ack_delay = FALSE] IN
  LET self_6 == [self_5 EXCEPT !.sync_due = 0] IN
  LET step == ReceiverEntryFixed_touch(self_6) IN
  IF step.out # "done" THEN step ELSE
  LET self_7 == step.to IN
  Done(self_7, None)

ReceiverEntryFixed_establish(self, m) ==
  IF ~(m.first /\ (0 < m.seqno)) THEN Stop("refused") ELSE
  IF ~ReceiverEntryFixed_unknown(self, m) THEN Stop("refused") ELSE
  LET step == ReceiverEntryFixed_begin(self, m) IN
  IF step.out # "done" THEN step ELSE
  LET self_1 == step.to IN
  LET self_2 == [self_1 EXCEPT !.state = "OPEN"] IN
  Done(self_2, None)

ReceiverEntryFixed_ask_first(self, m) ==
  IF ~(~m.first) THEN Stop("refused") ELSE
  IF ~ReceiverEntryFixed_unknown(self, m) THEN Stop("refused") ELSE
  LET self_1 == [self EXCEPT !.sync_due = m.conn] IN
  Done(self_1, None)

ReceiverEntryFixed_ask_again(self, m) ==
  IF ~ReceiverEntryFixed_is_beyond(self, m) THEN Stop("refused") ELSE
  LET self_1 == [self EXCEPT !.sync_due = (IF (m.conn <= self.sync_due) THEN self.sync_due ELSE m.conn)] IN
  Done(self_1, None)

ReceiverEntryFixed_data(self, m) ==
  LET try == ReceiverEntryFixed_accept(self, m) IN
  LET try_1 == ReceiverEntryFixed_resume(self, m) IN
  LET try_2 == ReceiverEntryFixed_establish(self, m) IN
  LET try_3 == ReceiverEntryFixed_ask_first(self, m) IN
  LET try_4 == ReceiverEntryFixed_ask_again(self, m) IN
  IF (try.out # "refused") /\ (try_1.out # "refused") THEN Stop("ambiguous") ELSE
  IF (try.out # "refused") /\ (try_2.out # "refused") THEN Stop("ambiguous") ELSE
  IF (try.out # "refused") /\ (try_3.out # "refused") THEN Stop("ambiguous") ELSE
  IF (try.out # "refused") /\ (try_4.out # "refused") THEN Stop("ambiguous") ELSE
  IF (try_1.out # "refused") /\ (try_2.out # "refused") THEN Stop("ambiguous") ELSE
  IF (try_1.out # "refused") /\ (try_3.out # "refused") THEN Stop("ambiguous") ELSE
  IF (try_1.out # "refused") /\ (try_4.out # "refused") THEN Stop("ambiguous") ELSE
  IF (try_2.out # "refused") /\ (try_3.out # "refused") THEN Stop("ambiguous") ELSE
  IF (try_2.out # "refused") /\ (try_4.out # "refused") THEN Stop("ambiguous") ELSE
  IF (try_3.out # "refused") /\ (try_4.out # "refused") THEN Stop("ambiguous") ELSE
  IF try.out # "refused" THEN try ELSE
  IF try_1.out # "refused" THEN try_1 ELSE
  IF try_2.out # "refused" THEN try_2 ELSE
  IF try_3.out # "refused" THEN try_3 ELSE
  IF try_4.out # "refused" THEN try_4 ELSE
  IF TRUE THEN Done(self, None) ELSE
  Stop("refused")

ReceiverEntryFixed_deliver(self) ==
  IF ~(self.next \in (DOMAIN self.buffer)) THEN Stop("refused") ELSE
  IF ~(self.next \in DOMAIN self.buffer) THEN Stop("undefined") ELSE
  LET payload == self.buffer[self.next] IN
  IF ~(self.next \in DOMAIN self.buffer) THEN Stop("undefined") ELSE
  LET self_1 == [self EXCEPT !.buffer = Without(self.buffer, self.next)] IN
  LET self_2 == [self_1 EXCEPT !.next = (self_1.next + 1)] IN
  LET step == ReceiverEntryFixed_owe_ack(self_2) IN
  IF step.out # "done" THEN step ELSE
  LET self_3 == step.to IN
  Done(self_3, payload)

LinkFixed_receive_data(self, m) ==
  LET step == LinkFixed_take(self, m) IN
  IF step.out # "done" THEN step ELSE
  LET self_1 == step.to IN
  LET step_1 == ReceiverEntryFixed_data(self_1.receiver, m) IN
  IF step_1.out # "done" THEN step_1 ELSE
  LET self_2 == [self_1 EXCEPT !.receiver = step_1.to] IN
  LET After_1(self_4) ==
      Done(self_4, None)
  IN
  LET RECURSIVE Round(_, _)
      Round(left, self_3) ==
      IF left = <<>> THEN After_1(self_3) ELSE
      LET one == Head(left) IN
      LET After_2(self_7) ==
          Round(Tail(left), self_7)
      IN
      IF (ReceiverEntryFixed_deliver(self_3.receiver).out # "refused") THEN
        LET self_5 == [self_3 EXCEPT !.delivered = Append(self_3.delivered, <<self_3.receiver.conn, self_3.receiver.next>>)] IN
        LET step_2 == ReceiverEntryFixed_deliver(self_5.receiver) IN
        IF step_2.out # "done" THEN step_2 ELSE
        LET self_6 == [self_5 EXCEPT !.receiver = step_2.to] IN
        After_2(self_6)
      ELSE
      After_2(self_3)
  IN
  Round(Upwards(0, 3), self_2)

receive_data_gives(m) ==
  Placed(LinkFixed_receive_data(now, m))

receive_data(m) ==
  Becomes(receive_data_gives(m))

ReceiverEntryFixed_send_ack(self) ==
  IF ~self.ack_delay THEN Stop("refused") ELSE
  LET self_1 == [self EXCEPT !.ack_delay = FALSE] IN
  Done(self_1, [is |-> "Ack", seqno |-> (self_1.next - 1), conn |-> self_1.conn])

LinkFixed_send_ack(self) ==
  LET step == ReceiverEntryFixed_send_ack(self.receiver) IN
  IF step.out # "done" THEN step ELSE
  LET self_1 == [self EXCEPT !.receiver = step.to] IN
  LET x_1 == step.value IN
  LET step_1 == LinkFixed_put(self_1, x_1) IN
  IF step_1.out # "done" THEN step_1 ELSE
  LET self_2 == step_1.to IN
  Done(self_2, None)

send_ack_gives ==
  Placed(LinkFixed_send_ack(now))

send_ack ==
  Becomes(send_ack_gives)

SenderEntryFixed_ack_1(self, m) ==
  IF ~(m.conn = self.conn) THEN Stop("refused") ELSE
  IF ~(self.highest_acked < m.seqno) THEN Stop("refused") ELSE
  IF ~(m.seqno <= self.highest_sent) THEN Stop("refused") ELSE
  LET self_1 == [self EXCEPT !.highest_acked = m.seqno] IN
  LET self_2 == [self_1 EXCEPT !.covered = m.seqno] IN
  LET self_3 == [self_2 EXCEPT !.window = [k_2 \in {k_3 \in DOMAIN self_2.window : (m.seqno < k_3)} |-> self_2.window[k_2]]] IN
  LET After(self_6) ==
      Done(self_6, None)
  IN
  IF (self_3.state = "CLOSING") THEN
    LET self_4 == [self_3 EXCEPT !.idle = TRUE] IN
    After(self_4)
  ELSE
  LET step == SenderEntryFixed_touch(self_3) IN
  IF step.out # "done" THEN step ELSE
  LET self_5 == step.to IN
  After(self_5)

SenderEntryFixed_ack(self, m) ==
  LET try == SenderEntryFixed_ack_1(self, m) IN
  IF try.out # "refused" THEN try ELSE
  IF TRUE THEN Done(self, None) ELSE
  Stop("refused")

LinkFixed_receive_ack(self, m) ==
  LET step == LinkFixed_take(self, m) IN
  IF step.out # "done" THEN step ELSE
  LET self_1 == step.to IN
  LET step_1 == SenderEntryFixed_ack(self_1.sender, m) IN
  IF step_1.out # "done" THEN step_1 ELSE
  LET self_2 == [self_1 EXCEPT !.sender = step_1.to] IN
  LET step_2 == LinkFixed_settle_watermark(self_2) IN
  IF step_2.out # "done" THEN step_2 ELSE
  LET self_3 == step_2.to IN
  Done(self_3, None)

receive_ack_gives(m) ==
  Placed(LinkFixed_receive_ack(now, m))

receive_ack(m) ==
  Becomes(receive_ack_gives(m))

LinkFixed_resend(self) ==
  LET step == SenderEntryFixed_task(self.sender) IN
  IF step.out # "done" THEN step ELSE
  LET self_1 == [self EXCEPT !.sender = step.to] IN
  LET data == step.value IN
  IF ~(data # None) THEN Stop("refused") ELSE
  LET step_1 == LinkFixed_put(self_1, data) IN
  IF step_1.out # "done" THEN step_1 ELSE
  LET self_2 == step_1.to IN
  Done(self_2, None)

resend_gives ==
  Placed(LinkFixed_resend(now))

resend ==
  Becomes(resend_gives)

ReceiverEntryFixed_request_missing(self) ==
  LET missing == {q_3 \in (self.next..(self.highest - 1)) : (q_3 \notin (DOMAIN self.buffer))} IN
  IF ~(\E q_4 \in (self.next..(self.highest - 1)) : (q_4 \notin (DOMAIN self.buffer))) THEN Stop("refused") ELSE
  Done(self, [is |-> "XmitReq", conn |-> self.conn, missing |-> missing])

LinkFixed_request_missing(self) ==
  LET step == ReceiverEntryFixed_request_missing(self.receiver) IN
  IF step.out # "done" THEN step ELSE
  LET self_1 == [self EXCEPT !.receiver = step.to] IN
  LET x_1 == step.value IN
  LET step_1 == LinkFixed_put(self_1, x_1) IN
  IF step_1.out # "done" THEN step_1 ELSE
  LET self_2 == step_1.to IN
  Done(self_2, None)

request_missing_gives ==
  Placed(LinkFixed_request_missing(now))

request_missing ==
  Becomes(request_missing_gives)

SenderEntryFixed_SenderEntryu2eretransmit(self, m) ==
  LET known == (m.conn = self.conn) IN
  IF ~(\A q \in m.missing : ((known /\ (q \in (DOMAIN self.window))) => (SenderEntryFixed_kept(self, q).out # "undefined"))) THEN Stop("undefined") ELSE
  Done(self, {SenderEntryFixed_kept(self, q_2).value : q_2 \in {q_3 \in m.missing : (known /\ (q_3 \in (DOMAIN self.window)))}})

SenderEntryFixed_retransmit(self, m) ==
  LET step == SenderEntryFixed_SenderEntryu2eretransmit(self, m) IN
  IF step.out # "done" THEN step ELSE
  LET self_1 == step.to IN
  LET again == step.value IN
  LET waits == ((m.conn = self_1.conn) /\ (self_1.highest_acked < self_1.highest_sent)) IN
  LET After(self_2, again_2) ==
      Done(self_2, again_2)
  IN
  IF (waits /\ (\E q_1 \in m.missing : ((0 < q_1) /\ (q_1 <= self_1.highest_acked)))) THEN
    IF ~(SenderEntryFixed_kept(self_1, (self_1.highest_acked + 1)).out # "undefined") THEN Stop("undefined") ELSE
    IF ~(SenderEntryFixed_kept(self_1, (self_1.highest_acked + 1)).out # "undefined") THEN Stop("undefined") ELSE
    IF ~(SenderEntryFixed_kept(self_1, (self_1.highest_acked + 1)).out # "undefined") THEN Stop("undefined") ELSE
    LET again_1 == (again \cup {[is |-> "Data", seqno |-> SenderEntryFixed_kept(self_1, (self_1.highest_acked + 1)).value.seqno, conn |-> SenderEntryFixed_kept(self_1, (self_1.highest_acked + 1)).value.conn, first |-> TRUE, payload |-> SenderEntryFixed_kept(self_1, (self_1.highest_acked + 1)).value.payload]}) IN
    After(self_1, again_1)
  ELSE
  After(self_1, again)

LinkFixed_put_all(self, messages_1) ==
  LET After_1(self_2) ==
      Done(self_2, None)
  IN
  LET RECURSIVE Round(_, _)
      Round(left, self_1) ==
      IF left = {} THEN After_1(self_1) ELSE
      LET one == CHOOSE any \in left : TRUE IN
      LET step == LinkFixed_put(self_1, one) IN
      IF step.out # "done" THEN step ELSE
      LET self_3 == step.to IN
      Round((left \ {one}), self_3)
  IN
  Round(messages_1, self)

LinkFixed_receive_request(self, m) ==
  LET step == LinkFixed_take(self, m) IN
  IF step.out # "done" THEN step ELSE
  LET self_1 == step.to IN
  LET step_1 == SenderEntryFixed_retransmit(self_1.sender, m) IN
  IF step_1.out # "done" THEN step_1 ELSE
  LET self_2 == [self_1 EXCEPT !.sender = step_1.to] IN
  LET x_1 == step_1.value IN
  LET step_2 == LinkFixed_put_all(self_2, x_1) IN
  IF step_2.out # "done" THEN step_2 ELSE
  LET self_3 == step_2.to IN
  Done(self_3, None)

receive_request_gives(m) ==
  Placed(LinkFixed_receive_request(now, m))

receive_request(m) ==
  Becomes(receive_request_gives(m))

ReceiverEntryFixed_send_sync(self) ==
  IF ~(0 < self.sync_due) THEN Stop("refused") ELSE
  LET conn == self.sync_due IN
  LET self_1 == [self EXCEPT !.sync_due = 0] IN
  Done(self_1, [is |-> "SendFirst", conn |-> conn])

LinkFixed_send_sync(self) ==
  LET step == ReceiverEntryFixed_send_sync(self.receiver) IN
  IF step.out # "done" THEN step ELSE
  LET self_1 == [self EXCEPT !.receiver = step.to] IN
  LET x_1 == step.value IN
  LET step_1 == LinkFixed_put(self_1, x_1) IN
  IF step_1.out # "done" THEN step_1 ELSE
  LET self_2 == step_1.to IN
  Done(self_2, None)

send_sync_gives ==
  Placed(LinkFixed_send_sync(now))

send_sync ==
  Becomes(send_sync_gives)

SenderEntryFixed_send_first_1(self, m) ==
  IF ~(m.conn = self.conn) THEN Stop("refused") ELSE
  IF ~(self.highest_acked < self.highest_sent) THEN Stop("refused") ELSE
  IF ~(SenderEntryFixed_kept(self, (self.highest_acked + 1)).out # "undefined") THEN Stop("undefined") ELSE
  IF ~(SenderEntryFixed_kept(self, (self.highest_acked + 1)).out # "undefined") THEN Stop("undefined") ELSE
  IF ~(SenderEntryFixed_kept(self, (self.highest_acked + 1)).out # "undefined") THEN Stop("undefined") ELSE
  Done(self, [is |-> "Data", seqno |-> SenderEntryFixed_kept(self, (self.highest_acked + 1)).value.seqno, conn |-> SenderEntryFixed_kept(self, (self.highest_acked + 1)).value.conn, first |-> TRUE, payload |-> SenderEntryFixed_kept(self, (self.highest_acked + 1)).value.payload])

SenderEntryFixed_send_first(self, m) ==
  LET try == SenderEntryFixed_send_first_1(self, m) IN
  IF try.out # "refused" THEN try ELSE
  IF TRUE THEN Done(self, None) ELSE
  Stop("refused")

LinkFixed_receive_sync(self, m) ==
  LET step == LinkFixed_take(self, m) IN
  IF step.out # "done" THEN step ELSE
  LET self_1 == step.to IN
  LET step_1 == SenderEntryFixed_send_first(self_1.sender, m) IN
  IF step_1.out # "done" THEN step_1 ELSE
  LET self_2 == [self_1 EXCEPT !.sender = step_1.to] IN
  LET answer == step_1.value IN
  LET After(self_4) ==
      Done(self_4, None)
  IN
  IF (~((answer = None))) THEN
    LET step_2 == LinkFixed_put(self_2, answer) IN
    IF step_2.out # "done" THEN step_2 ELSE
    LET self_3 == step_2.to IN
    After(self_3)
  ELSE
  After(self_2)

receive_sync_gives(m) ==
  Placed(LinkFixed_receive_sync(now, m))

receive_sync(m) ==
  Becomes(receive_sync_gives(m))

SenderEntryFixed_expire(self) ==
  IF ~(self.state \in {"OPEN"}) THEN Stop("refused") ELSE
  IF ~self.idle THEN Stop("refused") ELSE
  LET self_1 == [self EXCEPT !.idle = FALSE] IN
  LET self_2 == [self_1 EXCEPT !.idle = TRUE] IN
  LET self_3 == [self_2 EXCEPT !.state = "CLOSING"] IN
  Done(self_3, None)

LinkFixed_expire_sender(self) ==
  LET step == SenderEntryFixed_expire(self.sender) IN
  IF step.out # "done" THEN step ELSE
  LET self_1 == [self EXCEPT !.sender = step.to] IN
  Done(self_1, None)

expire_sender_gives ==
  Placed(LinkFixed_expire_sender(now))

expire_sender ==
  Becomes(expire_sender_gives)

SenderEntryFixed_forget(self) ==
  LET row == <<0, 0>> IN
  LET self_1 == [self EXCEPT !.highest_sent = row[1]] IN
  LET self_2 == [self_1 EXCEPT !.highest_acked = row[2]] IN
  LET row_1 == <<0, 0>> IN
  LET self_3 == [self_2 EXCEPT !.seen_sent = row_1[1]] IN
  LET self_4 == [self_3 EXCEPT !.seen_acked = row_1[2]] IN
  LET self_5 == [self_4 EXCEPT !.covered = 0] IN
  LET self_6 == [self_5 EXCEPT !.window = <<>>] IN
  Done(self_6, None)

SenderEntryFixed_remove(self) ==
  IF ~(self.state \in {"CLOSING"}) THEN Stop("refused") ELSE
  IF ~self.idle THEN Stop("refused") ELSE
  LET self_1 == [self EXCEPT !.idle = FALSE] IN
  IF ~(self_1.highest_acked = self_1.highest_sent) THEN Stop("refused") ELSE
  LET step == SenderEntryFixed_forget(self_1) IN
  IF step.out # "done" THEN step ELSE
  LET self_2 == step.to IN
  LET self_3 == [self_2 EXCEPT !.state = "CLOSED"] IN
  Done(self_3, [is |-> "Close", conn |-> self_2.conn])

LinkFixed_remove_sender(self) ==
  LET step == SenderEntryFixed_remove(self.sender) IN
  IF step.out # "done" THEN step ELSE
  LET self_1 == [self EXCEPT !.sender = step.to] IN
  LET x_1 == step.value IN
  LET step_1 == LinkFixed_put(self_1, x_1) IN
  IF step_1.out # "done" THEN step_1 ELSE
  LET self_2 == step_1.to IN
  Done(self_2, None)

remove_sender_gives ==
  Placed(LinkFixed_remove_sender(now))

remove_sender ==
  Becomes(remove_sender_gives)

ReceiverEntryFixed_remember(self) ==
  LET self_1 == [self EXCEPT !.highest = (self.next - 1)] IN
  Done(self_1, None)

ReceiverEntryFixed_leave(self) ==
  LET self_1 == [self EXCEPT !.buffer = <<>>] IN
  LET self_2 == [self_1 EXCEPT !.ack_delay = FALSE] IN
  LET self_3 == [self_2 EXCEPT !.idle = FALSE] IN
  LET self_4 == [self_3 EXCEPT !.sync_due = 0] IN
  LET step == ReceiverEntryFixed_remember(self_4) IN
  IF step.out # "done" THEN step ELSE
  LET self_5 == step.to IN
  Done(self_5, None)

ReceiverEntryFixed_close_received_1(self, m) ==
  IF ~(self.state \in {"OPEN", "CLOSING"}) THEN Stop("refused") ELSE
  IF ~(m.conn = self.conn) THEN Stop("refused") ELSE
  LET step == ReceiverEntryFixed_leave(self) IN
  IF step.out # "done" THEN step ELSE
  LET self_1 == step.to IN
  LET self_2 == [self_1 EXCEPT !.state = "CLOSED"] IN
  Done(self_2, None)

ReceiverEntryFixed_close_received(self, m) ==
  LET try == ReceiverEntryFixed_close_received_1(self, m) IN
  IF try.out # "refused" THEN try ELSE
  IF TRUE THEN Done(self, None) ELSE
  Stop("refused")

LinkFixed_receive_close(self, m) ==
  LET step == LinkFixed_take(self, m) IN
  IF step.out # "done" THEN step ELSE
  LET self_1 == step.to IN
  LET step_1 == ReceiverEntryFixed_close_received(self_1.receiver, m) IN
  IF step_1.out # "done" THEN step_1 ELSE
  LET self_2 == [self_1 EXCEPT !.receiver = step_1.to] IN
  Done(self_2, None)

receive_close_gives(m) ==
  Placed(LinkFixed_receive_close(now, m))

receive_close(m) ==
  Becomes(receive_close_gives(m))

ReceiverEntryFixed_expire(self) ==
  IF ~(self.state \in {"OPEN"}) THEN Stop("refused") ELSE
  IF ~self.idle THEN Stop("refused") ELSE
  LET self_1 == [self EXCEPT !.idle = FALSE] IN
  LET self_2 == [self_1 EXCEPT !.idle = TRUE] IN
  LET self_3 == [self_2 EXCEPT !.state = "CLOSING"] IN
  Done(self_3, None)

LinkFixed_expire_receiver(self) ==
  LET step == ReceiverEntryFixed_expire(self.receiver) IN
  IF step.out # "done" THEN step ELSE
  LET self_1 == [self EXCEPT !.receiver = step.to] IN
  Done(self_1, None)

expire_receiver_gives ==
  Placed(LinkFixed_expire_receiver(now))

expire_receiver ==
  Becomes(expire_receiver_gives)

ReceiverEntryFixed_remove(self) ==
  IF ~(self.state \in {"CLOSING"}) THEN Stop("refused") ELSE
  IF ~self.idle THEN Stop("refused") ELSE
  LET self_1 == [self EXCEPT !.idle = FALSE] IN
  LET step == ReceiverEntryFixed_leave(self_1) IN
  IF step.out # "done" THEN step ELSE
  LET self_2 == step.to IN
  LET self_3 == [self_2 EXCEPT !.state = "CLOSED"] IN
  Done(self_3, None)

LinkFixed_remove_receiver(self) ==
  LET step == ReceiverEntryFixed_remove(self.receiver) IN
  IF step.out # "done" THEN step ELSE
  LET self_1 == [self EXCEPT !.receiver = step.to] IN
  Done(self_1, None)

remove_receiver_gives ==
  Placed(LinkFixed_remove_receiver(now))

remove_receiver ==
  Becomes(remove_receiver_gives)

SenderEntryFixed_give_up(self) ==
  IF ~(self.state \in {"CLOSING"}) THEN Stop("refused") ELSE
  IF ~self.idle THEN Stop("refused") ELSE
  LET self_1 == [self EXCEPT !.idle = FALSE] IN
  IF ~(self_1.highest_acked < self_1.highest_sent) THEN Stop("refused") ELSE
  IF ~(\A q \in (DOMAIN self_1.window) : (SenderEntryFixed_kept(self_1, q).out # "undefined")) THEN Stop("undefined") ELSE
  LET row == <<self_1.highest_acked, {SenderEntryFixed_kept(self_1, q_1).value : q_1 \in (DOMAIN self_1.window)}>> IN
  LET acked == row[1] IN
  LET in_doubt == row[2] IN
  LET step == SenderEntryFixed_forget(self_1) IN
  IF step.out # "done" THEN step ELSE
  LET self_2 == step.to IN
  LET self_3 == [self_2 EXCEPT !.reported = TRUE] IN
  LET self_4 == [self_3 EXCEPT !.state = "CLOSED"] IN
  Done(self_4, [is |-> "Dropped", conn |-> self_3.conn, acked |-> acked, in_doubt |-> in_doubt])

LinkFixed_give_up(self) ==
  LET row == <<self.sender.conn, (DOMAIN self.sender.window)>> IN
  LET conn == row[1] IN
  LET kept == row[2] IN
  LET step == SenderEntryFixed_give_up(self.sender) IN
  IF step.out # "done" THEN step ELSE
  LET self_1 == [self EXCEPT !.sender = step.to] IN
  LET dropped == step.value IN
  IF ~(\A m_1 \in dropped.in_doubt : ((m_1.conn = conn) /\ (m_1.seqno \in kept))) THEN Stop("asserts") ELSE
  LET step_1 == LinkFixed_put(self_1, [is |-> "Close", conn |-> conn]) IN
  IF step_1.out # "done" THEN step_1 ELSE
  LET self_2 == step_1.to IN
  LET self_3 == [self_2 EXCEPT !.reported = (self_2.reported \cup {<<conn, q_1>> : q_1 \in kept})] IN
  Done(self_3, None)

give_up_gives ==
  Placed(LinkFixed_give_up(now))

give_up ==
  Becomes(give_up_gives)

Comes(outs) ==
  \/ (\E m_1 \in {m \in (DOMAIN now.network) : m \in ([is : {"Data"}, seqno : (0..3), conn : (0..3), first : BOOLEAN, payload : Payload] \cup [is : {"Ack"}, seqno : (0..3), conn : (0..3)] \cup [is : {"SendFirst"}, conn : (0..3)] \cup [is : {"XmitReq"}, conn : (0..3), missing : (SUBSET (0..3))] \cup [is : {"Close"}, conn : (0..3)])} : (lose_gives(m_1).out \in outs))
  \/ (\E m_1 \in {m \in (DOMAIN now.network) : m \in [is : {"Data"}, seqno : (0..3), conn : (0..3), first : BOOLEAN, payload : Payload]} : (duplicate_gives(m_1).out \in outs))
  \/ (\E payload \in Payload : (submit_gives(payload).out \in outs))
  \/ (\E m_1 \in {m \in (DOMAIN now.network) : m \in [is : {"Data"}, seqno : (0..3), conn : (0..3), first : BOOLEAN, payload : Payload]} : (receive_data_gives(m_1).out \in outs))
  \/ (send_ack_gives.out \in outs)
  \/ (\E m_1 \in {m \in (DOMAIN now.network) : m \in [is : {"Ack"}, seqno : (0..3), conn : (0..3)]} : (receive_ack_gives(m_1).out \in outs))
  \/ (resend_gives.out \in outs)
  \/ (request_missing_gives.out \in outs)
  \/ (\E m_1 \in {m \in (DOMAIN now.network) : m \in [is : {"XmitReq"}, conn : (0..3), missing : (SUBSET (0..3))]} : (receive_request_gives(m_1).out \in outs))
  \/ (send_sync_gives.out \in outs)
  \/ (\E m_1 \in {m \in (DOMAIN now.network) : m \in [is : {"SendFirst"}, conn : (0..3)]} : (receive_sync_gives(m_1).out \in outs))
  \/ (expire_sender_gives.out \in outs)
  \/ (remove_sender_gives.out \in outs)
  \/ (\E m_1 \in {m \in (DOMAIN now.network) : m \in [is : {"Close"}, conn : (0..3)]} : (receive_close_gives(m_1).out \in outs))
  \/ (expire_receiver_gives.out \in outs)
  \/ (remove_receiver_gives.out \in outs)
  \/ (give_up_gives.out \in outs)

LinkFixed_over(self) ==
  ((self.sender.state = "CLOSED") /\ (self.receiver.state = "CLOSED"))

no_deadlock ==
  Comes({"done", "cut", "bounds", "asserts", "undefined", "ambiguous"}) \/ LinkFixed_over(now)

within_bounds ==
  ~Comes({"bounds"})

asserts_hold ==
  ~Comes({"asserts"})

all_defined ==
  ~Comes({"undefined"})

unambiguous ==
  ~Comes({"ambiguous"})

LinkFixed_no_duplicate(self) ==
  (\A p \in Range(self.delivered) : (Cardinality({n_1 \in DOMAIN self.delivered : self.delivered[n_1] = p}) = 1))

no_duplicate ==
  LinkFixed_no_duplicate(now)

LinkFixed_in_order(self) ==
  IF ~(\A p \in Range(self.delivered) : (p \in Range(self.submitted))) THEN Stop("undefined") ELSE
  LET places == MapSeq(self.delivered, LAMBDA p_1 : Index(self.submitted, p_1)) IN
  IF ~(\A i \in DOMAIN Upwards(0, (Len(places) - 1)) : ((\A i_1 \in 1..(i - 1) : ~(~(places[At(places, Upwards(0, (Len(places) - 1))[i_1])] <= places[At(places, (Upwards(0, (Len(places) - 1))[i_1] + 1))]))) => HasAt(places, Upwards(0, (Len(places) - 1))[i]))) THEN Stop("undefined") ELSE
  IF ~(\A i \in DOMAIN Upwards(0, (Len(places) - 1)) : ((\A i_1 \in 1..(i - 1) : ~(~(places[At(places, Upwards(0, (Len(places) - 1))[i_1])] <= places[At(places, (Upwards(0, (Len(places) - 1))[i_1] + 1))]))) => HasAt(places, (Upwards(0, (Len(places) - 1))[i] + 1)))) THEN Stop("undefined") ELSE
  Done(self, (\A i_2 \in (0..((Len(places) - 1) - 1)) : (places[At(places, i_2)] <= places[At(places, (i_2 + 1))])))

in_order ==
  ((LinkFixed_in_order(now).out = "done") /\ LinkFixed_in_order(now).value)

LinkFixed_is_delivered(self, p) ==
  (p \in Range(self.delivered))

LinkFixed_no_loss(self) ==
  (\A sent \in Range(self.submitted) : (LinkFixed_is_delivered(self, sent) \/ (sent \in self.reported) \/ ((sent[1] = self.sender.conn) /\ (sent[2] \in (DOMAIN self.sender.window))) \/ (\E m_3 \in (DOMAIN self.network) : (((m_3.is = "Data")) /\ (<<m_3.conn, m_3.seqno>> = sent)))))

no_loss ==
  LinkFixed_no_loss(now)

LinkFixed_acked_is_delivered(self) ==
  (\A sent \in Range(self.submitted) : (((sent[1] = self.sender.conn) /\ (sent[2] <= self.sender.highest_acked)) => LinkFixed_is_delivered(self, sent)))

acked_is_delivered ==
  LinkFixed_acked_is_delivered(now)

LinkFixed_acks_are_true(self) ==
  (\A m_2 \in (DOMAIN self.network) : ((((m_2.is = "Ack")) /\ (m_2.conn = self.receiver.conn)) => (m_2.seqno < self.receiver.next)))

acks_are_true ==
  LinkFixed_acks_are_true(now)

LinkFixed_purged_is_not_awaited(self) ==
  ((self.sender.conn # self.receiver.conn) \/ (self.sender.highest_acked < self.receiver.next))

purged_is_not_awaited ==
  LinkFixed_purged_is_not_awaited(now)

LinkFixed_received_was_sent(self) ==
  ((self.sender.state = "CLOSED") \/ (self.sender.conn # self.receiver.conn) \/ (self.receiver.next <= (self.sender.highest_sent + 1)))

received_was_sent ==
  LinkFixed_received_was_sent(now)

LinkFixed_settled(self) ==
  (\A p \in Range(self.submitted) : (LinkFixed_is_delivered(self, p) \/ (p \in self.reported)))

LinkFixed_sent_is_delivered(self) ==
  <<(~LinkFixed_settled(self)), LinkFixed_settled(self)>>

sent_is_delivered ==
  ((LinkFixed_sent_is_delivered(now)[1]) ~> (LinkFixed_sent_is_delivered(now)[2]))

LinkFixed_sent_is_purged(self) ==
  LET done == (LinkFixed_settled(self) /\ (self.sender.highest_acked = self.sender.highest_sent)) IN
  <<(~done), done>>

sent_is_purged ==
  ((LinkFixed_sent_is_purged(now)[1]) ~> (LinkFixed_sent_is_purged(now)[2]))

LinkFixed_gaps_are_filled(self) ==
  LET gap == (self.receiver.next <= self.receiver.highest) IN
  <<gap, (~gap)>>

gaps_are_filled ==
  ((LinkFixed_gaps_are_filled(now)[1]) ~> (LinkFixed_gaps_are_filled(now)[2]))

LinkFixed_idle_is_removed(self) ==
  ((self.sender.state = "CLOSED") /\ (self.receiver.state = "CLOSED"))

idle_is_removed ==
  <>[]LinkFixed_idle_is_removed(now)

LinkFixed_silence_follows(self) ==
  (self.network = Positive(<<>>))

silence_follows ==
  <>[]LinkFixed_silence_follows(now)

LinkFixed_all_arrived(self) ==
  ((Len(self.delivered) = 2) /\ (self.sender.highest_acked = 2))

never_all_arrived ==
  ~LinkFixed_all_arrived(now)

LinkFixed_first_is_missing(self) ==
  ((self.receiver.state = "CLOSED") /\ (0 < self.receiver.sync_due))

never_first_is_missing ==
  ~LinkFixed_first_is_missing(now)

LinkFixed_receiver_is_reaped_and_sender_goes_on(self) ==
  LET gone == ((self.receiver.state = "CLOSED") /\ (Len(self.delivered) = 1)) IN
  (gone /\ (self.sender.state = "OPEN") /\ (self.sender.highest_sent = 2))

never_receiver_is_reaped_and_sender_goes_on ==
  ~LinkFixed_receiver_is_reaped_and_sender_goes_on(now)

LinkFixed_both_are_closing(self) ==
  ((self.sender.state = "CLOSING") /\ (self.receiver.state = "CLOSING"))

never_both_are_closing ==
  ~LinkFixed_both_are_closing(now)

LinkFixed_second_connection_replaces_first(self) ==
  ((self.receiver.state = "OPEN") /\ (self.receiver.conn = 2))

never_second_connection_replaces_first ==
  ~LinkFixed_second_connection_replaces_first(now)

LinkFixed_close_is_overtaken(self) ==
  (\E m_1 \in (DOMAIN self.network) : (((m_1.is = "Close")) /\ (m_1.conn < self.receiver.conn)))

never_close_is_overtaken ==
  ~LinkFixed_close_is_overtaken(now)

LinkFixed_closes_its_own_connection(self, after) ==
  LET other == (\E m_1 \in (DOMAIN self.network) : (((m_1.is = "Close")) /\ (m_1.conn # self.receiver.conn) /\ (m_1 \notin (DOMAIN after.network)))) IN
  ((~other) \/ (after.receiver.state = self.receiver.state))

closes_its_own_connection ==
  [][LinkFixed_closes_its_own_connection(now, now')]_vars

closes_its_own_connection_at_rest ==
  ((\E m_1 \in {m \in (DOMAIN now.network) : m \in ([is : {"Data"}, seqno : (0..3), conn : (0..3), first : BOOLEAN, payload : Payload] \cup [is : {"Ack"}, seqno : (0..3), conn : (0..3)] \cup [is : {"SendFirst"}, conn : (0..3)] \cup [is : {"XmitReq"}, conn : (0..3), missing : (SUBSET (0..3))] \cup [is : {"Close"}, conn : (0..3)])} : ((lose_gives(m_1).out = "done") /\ (lose_gives(m_1).to = now))) \/ (\E m_1 \in {m \in (DOMAIN now.network) : m \in [is : {"Data"}, seqno : (0..3), conn : (0..3), first : BOOLEAN, payload : Payload]} : ((duplicate_gives(m_1).out = "done") /\ (duplicate_gives(m_1).to = now))) \/ (\E payload \in Payload : ((submit_gives(payload).out = "done") /\ (submit_gives(payload).to = now))) \/ (\E m_1 \in {m \in (DOMAIN now.network) : m \in [is : {"Data"}, seqno : (0..3), conn : (0..3), first : BOOLEAN, payload : Payload]} : ((receive_data_gives(m_1).out = "done") /\ (receive_data_gives(m_1).to = now))) \/ ((send_ack_gives.out = "done") /\ (send_ack_gives.to = now)) \/ (\E m_1 \in {m \in (DOMAIN now.network) : m \in [is : {"Ack"}, seqno : (0..3), conn : (0..3)]} : ((receive_ack_gives(m_1).out = "done") /\ (receive_ack_gives(m_1).to = now))) \/ ((resend_gives.out = "done") /\ (resend_gives.to = now)) \/ ((request_missing_gives.out = "done") /\ (request_missing_gives.to = now)) \/ (\E m_1 \in {m \in (DOMAIN now.network) : m \in [is : {"XmitReq"}, conn : (0..3), missing : (SUBSET (0..3))]} : ((receive_request_gives(m_1).out = "done") /\ (receive_request_gives(m_1).to = now))) \/ ((send_sync_gives.out = "done") /\ (send_sync_gives.to = now)) \/ (\E m_1 \in {m \in (DOMAIN now.network) : m \in [is : {"SendFirst"}, conn : (0..3)]} : ((receive_sync_gives(m_1).out = "done") /\ (receive_sync_gives(m_1).to = now))) \/ ((expire_sender_gives.out = "done") /\ (expire_sender_gives.to = now)) \/ ((remove_sender_gives.out = "done") /\ (remove_sender_gives.to = now)) \/ (\E m_1 \in {m \in (DOMAIN now.network) : m \in [is : {"Close"}, conn : (0..3)]} : ((receive_close_gives(m_1).out = "done") /\ (receive_close_gives(m_1).to = now))) \/ ((expire_receiver_gives.out = "done") /\ (expire_receiver_gives.to = now)) \/ ((remove_receiver_gives.out = "done") /\ (remove_receiver_gives.to = now)) \/ ((give_up_gives.out = "done") /\ (give_up_gives.to = now))) => LinkFixed_closes_its_own_connection(now, now)

LinkFixed_no_request_is_empty(self) ==
  (\A m_2 \in (DOMAIN self.network) : (((m_2.is = "XmitReq")) => (m_2.missing # {})))

no_request_is_empty ==
  LinkFixed_no_request_is_empty(now)

LinkFixed_is_late_first(self, m) ==
  (m.first /\ (m.seqno # 1) /\ (self.receiver.conn < m.conn))

LinkFixed_connections_begin_at_the_sender(self) ==
  LET row == <<self.sender.conn, self.receiver.conn>> IN
  LET sent == row[1] IN
  LET known == row[2] IN
  LET data == {m_3 \in (DOMAIN self.network) : ((m_3.is = "Data"))} IN
  ((known <= sent) /\ (\A m_5 \in data : ((m_5.conn <= sent) /\ (~LinkFixed_is_late_first(self, m_5)))) /\ (\A m_8 \in (DOMAIN self.network) : (((m_8.is = "Ack")) => (m_8.conn <= known))) /\ ((self.sender.highest_acked = 0) \/ (sent = known)))

connections_begin_at_the_sender ==
  LinkFixed_connections_begin_at_the_sender(now)

LinkFixed_marked_is_not_ahead(self) ==
  (\A m_2 \in (DOMAIN self.network) : ((((m_2.is = "Data")) /\ m_2.first /\ (m_2.conn = self.receiver.conn)) => (m_2.seqno <= self.receiver.next)))

marked_is_not_ahead ==
  LinkFixed_marked_is_not_ahead(now)

LinkFixed_ascend(self, ids) ==
  IF ~(\A i \in DOMAIN Upwards(0, (Len(ids) - 1)) : ((\A i_1 \in 1..(i - 1) : ~(~((ids[At(ids, Upwards(0, (Len(ids) - 1))[i_1])][1] < ids[At(ids, (Upwards(0, (Len(ids) - 1))[i_1] + 1))][1]) \/ ((ids[At(ids, Upwards(0, (Len(ids) - 1))[i_1])][1] = ids[At(ids, (Upwards(0, (Len(ids) - 1))[i_1] + 1))][1]) /\ ((ids[At(ids, Upwards(0, (Len(ids) - 1))[i_1])][2] < ids[At(ids, (Upwards(0, (Len(ids) - 1))[i_1] + 1))][2]) \/ ((ids[At(ids, Upwards(0, (Len(ids) - 1))[i_1])][2] = ids[At(ids, (Upwards(0, (Len(ids) - 1))[i_1] + 1))][2]) /\ FALSE)))))) => HasAt(ids, Upwards(0, (Len(ids) - 1))[i]))) THEN Stop("undefined") ELSE
  IF ~(\A i \in DOMAIN Upwards(0, (Len(ids) - 1)) : ((\A i_1 \in 1..(i - 1) : ~(~((ids[At(ids, Upwards(0, (Len(ids) - 1))[i_1])][1] < ids[At(ids, (Upwards(0, (Len(ids) - 1))[i_1] + 1))][1]) \/ ((ids[At(ids, Upwards(0, (Len(ids) - 1))[i_1])][1] = ids[At(ids, (Upwards(0, (Len(ids) - 1))[i_1] + 1))][1]) /\ ((ids[At(ids, Upwards(0, (Len(ids) - 1))[i_1])][2] < ids[At(ids, (Upwards(0, (Len(ids) - 1))[i_1] + 1))][2]) \/ ((ids[At(ids, Upwards(0, (Len(ids) - 1))[i_1])][2] = ids[At(ids, (Upwards(0, (Len(ids) - 1))[i_1] + 1))][2]) /\ FALSE)))))) => HasAt(ids, (Upwards(0, (Len(ids) - 1))[i] + 1)))) THEN Stop("undefined") ELSE
  Done(self, (\A i_2 \in (0..((Len(ids) - 1) - 1)) : ((ids[At(ids, i_2)][1] < ids[At(ids, (i_2 + 1))][1]) \/ ((ids[At(ids, i_2)][1] = ids[At(ids, (i_2 + 1))][1]) /\ ((ids[At(ids, i_2)][2] < ids[At(ids, (i_2 + 1))][2]) \/ ((ids[At(ids, i_2)][2] = ids[At(ids, (i_2 + 1))][2]) /\ FALSE))))))

LinkFixed_submitted_in_order(self) ==
  LET last == <<self.sender.conn, self.sender.highest_sent>> IN
  LET closed == (self.sender.state = "CLOSED") IN
  IF ~(LinkFixed_ascend(self, self.submitted).out # "undefined") THEN Stop("undefined") ELSE
  Done(self, (LinkFixed_ascend(self, self.submitted).value /\ (\A p \in Range(self.submitted) : ((0 < p[2]) /\ (((p[1] < last[1]) \/ ((p[1] = last[1]) /\ ((p[2] < last[2]) \/ ((p[2] = last[2]) /\ TRUE)))) \/ (closed /\ (p[1] = last[1])))))))

submitted_in_order ==
  ((LinkFixed_submitted_in_order(now).out = "done") /\ LinkFixed_submitted_in_order(now).value)

LinkFixed_delivered_up_to_the_next(self) ==
  LET row == <<self.receiver.conn, self.receiver.next>> IN
  LET conn == row[1] IN
  LET following == row[2] IN
  IF ~(LinkFixed_ascend(self, self.delivered).out # "undefined") THEN Stop("undefined") ELSE
  Done(self, (LinkFixed_ascend(self, self.delivered).value /\ (\A p \in Range(self.delivered) : ((p[1] < <<conn, following>>[1]) \/ ((p[1] = <<conn, following>>[1]) /\ ((p[2] < <<conn, following>>[2]) \/ ((p[2] = <<conn, following>>[2]) /\ FALSE))))) /\ (\A p_1 \in Range(self.submitted) : ((((<<conn, 0>>[1] < p_1[1]) \/ ((<<conn, 0>>[1] = p_1[1]) /\ ((<<conn, 0>>[2] < p_1[2]) \/ ((<<conn, 0>>[2] = p_1[2]) /\ FALSE)))) /\ ((p_1[1] < <<conn, following>>[1]) \/ ((p_1[1] = <<conn, following>>[1]) /\ ((p_1[2] < <<conn, following>>[2]) \/ ((p_1[2] = <<conn, following>>[2]) /\ FALSE))))) => (p_1 \in Range(self.delivered))))))

delivered_up_to_the_next ==
  ((LinkFixed_delivered_up_to_the_next(now).out = "done") /\ LinkFixed_delivered_up_to_the_next(now).value)

LinkFixed_what_there_is_was_submitted(self) ==
  ((\A m_2 \in (DOMAIN self.network) : (((m_2.is = "Data")) => (<<m_2.conn, m_2.seqno>> \in Range(self.submitted)))) /\ (\A q_1 \in (DOMAIN self.sender.window) : (<<self.sender.conn, q_1>> \in Range(self.submitted))) /\ (\A q_3 \in (DOMAIN self.receiver.buffer) : (<<self.receiver.conn, q_3>> \in Range(self.submitted))))

what_there_is_was_submitted ==
  LinkFixed_what_there_is_was_submitted(now)

LinkFixed_delivered_was_submitted(self) ==
  (\A p \in Range(self.delivered) : (p \in Range(self.submitted)))

delivered_was_submitted ==
  LinkFixed_delivered_was_submitted(now)

LinkFixed_is_kept(self, p) ==
  ((p[1] = self.sender.conn) /\ (p[2] \in (DOMAIN self.sender.window)))

LinkFixed_kept_until_delivered(self) ==
  (\A p \in Range(self.submitted) : ((p \in Range(self.delivered)) \/ (p \in self.reported) \/ LinkFixed_is_kept(self, p)))

kept_until_delivered ==
  LinkFixed_kept_until_delivered(now)

LinkFixed_two_copies_are_under_way(self) ==
  (\E m_1 \in (DOMAIN self.network) : (1 < Count(self.network, m_1)))

never_two_copies_are_under_way ==
  ~LinkFixed_two_copies_are_under_way(now)

SenderEntryFixed_idle_is_reaped(self) ==
  LET closing == (self.state = "CLOSING") IN
  (self.idle = (closing \/ ((self.state = "OPEN") /\ self.reaping)))

sender_idle_is_reaped ==
  SenderEntryFixed_idle_is_reaped(now.sender)

SenderEntryFixed_window_is_what_is_unacked(self) ==
  LET row == <<self.highest_acked, self.highest_sent>> IN
  LET low == row[1] IN
  LET high == row[2] IN
  ((\A q_1 \in (DOMAIN self.window) : ((low < q_1) /\ (q_1 <= high))) /\ (\A q_2 \in ((low + 1)..((high + 1) - 1)) : (q_2 \in (DOMAIN self.window))))

sender_window_is_what_is_unacked ==
  SenderEntryFixed_window_is_what_is_unacked(now.sender)

SenderEntryFixed_only_acks_acknowledge(self) ==
  (self.highest_acked = self.covered)

sender_only_acks_acknowledge ==
  SenderEntryFixed_only_acks_acknowledge(now.sender)

SenderEntryFixed_numbers_are_ordered(self) ==
  ((self.seen_acked <= self.highest_acked) /\ (self.highest_acked <= self.highest_sent) /\ (self.seen_sent <= self.highest_sent))

sender_numbers_are_ordered ==
  SenderEntryFixed_numbers_are_ordered(now.sender)

SenderEntryFixed_closed_counts_as_none(self) ==
  LET live == (self.state # "CLOSED") IN
  ((live = (0 < self.highest_sent)) /\ ((~live) \/ (0 < self.conn)))

sender_closed_counts_as_none ==
  SenderEntryFixed_closed_counts_as_none(now.sender)

SenderEntryFixed_connections_only_grow(self, after) ==
  LET again == ((self.state = "CLOSED") /\ (after.state # "CLOSED")) IN
  (IF again THEN (self.conn < after.conn) ELSE (after.conn = self.conn))

sender_connections_only_grow ==
  [][SenderEntryFixed_connections_only_grow(now.sender, now'.sender)]_vars

sender_connections_only_grow_at_rest ==
  ((\E m_1 \in {m \in (DOMAIN now.network) : m \in ([is : {"Data"}, seqno : (0..3), conn : (0..3), first : BOOLEAN, payload : Payload] \cup [is : {"Ack"}, seqno : (0..3), conn : (0..3)] \cup [is : {"SendFirst"}, conn : (0..3)] \cup [is : {"XmitReq"}, conn : (0..3), missing : (SUBSET (0..3))] \cup [is : {"Close"}, conn : (0..3)])} : ((lose_gives(m_1).out = "done") /\ (lose_gives(m_1).to = now))) \/ (\E m_1 \in {m \in (DOMAIN now.network) : m \in [is : {"Data"}, seqno : (0..3), conn : (0..3), first : BOOLEAN, payload : Payload]} : ((duplicate_gives(m_1).out = "done") /\ (duplicate_gives(m_1).to = now))) \/ (\E payload \in Payload : ((submit_gives(payload).out = "done") /\ (submit_gives(payload).to = now))) \/ (\E m_1 \in {m \in (DOMAIN now.network) : m \in [is : {"Data"}, seqno : (0..3), conn : (0..3), first : BOOLEAN, payload : Payload]} : ((receive_data_gives(m_1).out = "done") /\ (receive_data_gives(m_1).to = now))) \/ ((send_ack_gives.out = "done") /\ (send_ack_gives.to = now)) \/ (\E m_1 \in {m \in (DOMAIN now.network) : m \in [is : {"Ack"}, seqno : (0..3), conn : (0..3)]} : ((receive_ack_gives(m_1).out = "done") /\ (receive_ack_gives(m_1).to = now))) \/ ((resend_gives.out = "done") /\ (resend_gives.to = now)) \/ ((request_missing_gives.out = "done") /\ (request_missing_gives.to = now)) \/ (\E m_1 \in {m \in (DOMAIN now.network) : m \in [is : {"XmitReq"}, conn : (0..3), missing : (SUBSET (0..3))]} : ((receive_request_gives(m_1).out = "done") /\ (receive_request_gives(m_1).to = now))) \/ ((send_sync_gives.out = "done") /\ (send_sync_gives.to = now)) \/ (\E m_1 \in {m \in (DOMAIN now.network) : m \in [is : {"SendFirst"}, conn : (0..3)]} : ((receive_sync_gives(m_1).out = "done") /\ (receive_sync_gives(m_1).to = now))) \/ ((expire_sender_gives.out = "done") /\ (expire_sender_gives.to = now)) \/ ((remove_sender_gives.out = "done") /\ (remove_sender_gives.to = now)) \/ (\E m_1 \in {m \in (DOMAIN now.network) : m \in [is : {"Close"}, conn : (0..3)]} : ((receive_close_gives(m_1).out = "done") /\ (receive_close_gives(m_1).to = now))) \/ ((expire_receiver_gives.out = "done") /\ (expire_receiver_gives.to = now)) \/ ((remove_receiver_gives.out = "done") /\ (remove_receiver_gives.to = now)) \/ ((give_up_gives.out = "done") /\ (give_up_gives.to = now))) => SenderEntryFixed_connections_only_grow(now.sender, now.sender)

SenderEntryFixed_only_acked_is_purged(self, after) ==
  ((~(after.state # "CLOSED")) \/ ((self.highest_sent <= after.highest_sent) /\ (self.highest_acked <= after.highest_acked) /\ (\A q_1 \in (DOMAIN self.window) : ((q_1 \in (DOMAIN after.window)) \/ (q_1 <= after.highest_acked)))))

sender_only_acked_is_purged ==
  [][SenderEntryFixed_only_acked_is_purged(now.sender, now'.sender)]_vars

sender_only_acked_is_purged_at_rest ==
  ((\E m_1 \in {m \in (DOMAIN now.network) : m \in ([is : {"Data"}, seqno : (0..3), conn : (0..3), first : BOOLEAN, payload : Payload] \cup [is : {"Ack"}, seqno : (0..3), conn : (0..3)] \cup [is : {"SendFirst"}, conn : (0..3)] \cup [is : {"XmitReq"}, conn : (0..3), missing : (SUBSET (0..3))] \cup [is : {"Close"}, conn : (0..3)])} : ((lose_gives(m_1).out = "done") /\ (lose_gives(m_1).to = now))) \/ (\E m_1 \in {m \in (DOMAIN now.network) : m \in [is : {"Data"}, seqno : (0..3), conn : (0..3), first : BOOLEAN, payload : Payload]} : ((duplicate_gives(m_1).out = "done") /\ (duplicate_gives(m_1).to = now))) \/ (\E payload \in Payload : ((submit_gives(payload).out = "done") /\ (submit_gives(payload).to = now))) \/ (\E m_1 \in {m \in (DOMAIN now.network) : m \in [is : {"Data"}, seqno : (0..3), conn : (0..3), first : BOOLEAN, payload : Payload]} : ((receive_data_gives(m_1).out = "done") /\ (receive_data_gives(m_1).to = now))) \/ ((send_ack_gives.out = "done") /\ (send_ack_gives.to = now)) \/ (\E m_1 \in {m \in (DOMAIN now.network) : m \in [is : {"Ack"}, seqno : (0..3), conn : (0..3)]} : ((receive_ack_gives(m_1).out = "done") /\ (receive_ack_gives(m_1).to = now))) \/ ((resend_gives.out = "done") /\ (resend_gives.to = now)) \/ ((request_missing_gives.out = "done") /\ (request_missing_gives.to = now)) \/ (\E m_1 \in {m \in (DOMAIN now.network) : m \in [is : {"XmitReq"}, conn : (0..3), missing : (SUBSET (0..3))]} : ((receive_request_gives(m_1).out = "done") /\ (receive_request_gives(m_1).to = now))) \/ ((send_sync_gives.out = "done") /\ (send_sync_gives.to = now)) \/ (\E m_1 \in {m \in (DOMAIN now.network) : m \in [is : {"SendFirst"}, conn : (0..3)]} : ((receive_sync_gives(m_1).out = "done") /\ (receive_sync_gives(m_1).to = now))) \/ ((expire_sender_gives.out = "done") /\ (expire_sender_gives.to = now)) \/ ((remove_sender_gives.out = "done") /\ (remove_sender_gives.to = now)) \/ (\E m_1 \in {m \in (DOMAIN now.network) : m \in [is : {"Close"}, conn : (0..3)]} : ((receive_close_gives(m_1).out = "done") /\ (receive_close_gives(m_1).to = now))) \/ ((expire_receiver_gives.out = "done") /\ (expire_receiver_gives.to = now)) \/ ((remove_receiver_gives.out = "done") /\ (remove_receiver_gives.to = now)) \/ ((give_up_gives.out = "done") /\ (give_up_gives.to = now))) => SenderEntryFixed_only_acked_is_purged(now.sender, now.sender)

SenderEntryFixed_reports_are_of_the_closed(self) ==
  ((~self.reported) \/ (self.state = "CLOSED"))

sender_reports_are_of_the_closed ==
  SenderEntryFixed_reports_are_of_the_closed(now.sender)

SenderEntryFixed_no_silent_loss(self, after) ==
  LET lost == ((after.state = "CLOSED") /\ (self.highest_acked < self.highest_sent)) IN
  ((~lost) \/ after.reported)

sender_no_silent_loss ==
  [][SenderEntryFixed_no_silent_loss(now.sender, now'.sender)]_vars

sender_no_silent_loss_at_rest ==
  ((\E m_1 \in {m \in (DOMAIN now.network) : m \in ([is : {"Data"}, seqno : (0..3), conn : (0..3), first : BOOLEAN, payload : Payload] \cup [is : {"Ack"}, seqno : (0..3), conn : (0..3)] \cup [is : {"SendFirst"}, conn : (0..3)] \cup [is : {"XmitReq"}, conn : (0..3), missing : (SUBSET (0..3))] \cup [is : {"Close"}, conn : (0..3)])} : ((lose_gives(m_1).out = "done") /\ (lose_gives(m_1).to = now))) \/ (\E m_1 \in {m \in (DOMAIN now.network) : m \in [is : {"Data"}, seqno : (0..3), conn : (0..3), first : BOOLEAN, payload : Payload]} : ((duplicate_gives(m_1).out = "done") /\ (duplicate_gives(m_1).to = now))) \/ (\E payload \in Payload : ((submit_gives(payload).out = "done") /\ (submit_gives(payload).to = now))) \/ (\E m_1 \in {m \in (DOMAIN now.network) : m \in [is : {"Data"}, seqno : (0..3), conn : (0..3), first : BOOLEAN, payload : Payload]} : ((receive_data_gives(m_1).out = "done") /\ (receive_data_gives(m_1).to = now))) \/ ((send_ack_gives.out = "done") /\ (send_ack_gives.to = now)) \/ (\E m_1 \in {m \in (DOMAIN now.network) : m \in [is : {"Ack"}, seqno : (0..3), conn : (0..3)]} : ((receive_ack_gives(m_1).out = "done") /\ (receive_ack_gives(m_1).to = now))) \/ ((resend_gives.out = "done") /\ (resend_gives.to = now)) \/ ((request_missing_gives.out = "done") /\ (request_missing_gives.to = now)) \/ (\E m_1 \in {m \in (DOMAIN now.network) : m \in [is : {"XmitReq"}, conn : (0..3), missing : (SUBSET (0..3))]} : ((receive_request_gives(m_1).out = "done") /\ (receive_request_gives(m_1).to = now))) \/ ((send_sync_gives.out = "done") /\ (send_sync_gives.to = now)) \/ (\E m_1 \in {m \in (DOMAIN now.network) : m \in [is : {"SendFirst"}, conn : (0..3)]} : ((receive_sync_gives(m_1).out = "done") /\ (receive_sync_gives(m_1).to = now))) \/ ((expire_sender_gives.out = "done") /\ (expire_sender_gives.to = now)) \/ ((remove_sender_gives.out = "done") /\ (remove_sender_gives.to = now)) \/ (\E m_1 \in {m \in (DOMAIN now.network) : m \in [is : {"Close"}, conn : (0..3)]} : ((receive_close_gives(m_1).out = "done") /\ (receive_close_gives(m_1).to = now))) \/ ((expire_receiver_gives.out = "done") /\ (expire_receiver_gives.to = now)) \/ ((remove_receiver_gives.out = "done") /\ (remove_receiver_gives.to = now)) \/ ((give_up_gives.out = "done") /\ (give_up_gives.to = now))) => SenderEntryFixed_no_silent_loss(now.sender, now.sender)

SenderEntryFixed_no_false_alarm(self, after) ==
  LET told == (after.reported /\ (~self.reported)) IN
  ((~told) \/ (self.highest_acked < self.highest_sent))

sender_no_false_alarm ==
  [][SenderEntryFixed_no_false_alarm(now.sender, now'.sender)]_vars

sender_no_false_alarm_at_rest ==
  ((\E m_1 \in {m \in (DOMAIN now.network) : m \in ([is : {"Data"}, seqno : (0..3), conn : (0..3), first : BOOLEAN, payload : Payload] \cup [is : {"Ack"}, seqno : (0..3), conn : (0..3)] \cup [is : {"SendFirst"}, conn : (0..3)] \cup [is : {"XmitReq"}, conn : (0..3), missing : (SUBSET (0..3))] \cup [is : {"Close"}, conn : (0..3)])} : ((lose_gives(m_1).out = "done") /\ (lose_gives(m_1).to = now))) \/ (\E m_1 \in {m \in (DOMAIN now.network) : m \in [is : {"Data"}, seqno : (0..3), conn : (0..3), first : BOOLEAN, payload : Payload]} : ((duplicate_gives(m_1).out = "done") /\ (duplicate_gives(m_1).to = now))) \/ (\E payload \in Payload : ((submit_gives(payload).out = "done") /\ (submit_gives(payload).to = now))) \/ (\E m_1 \in {m \in (DOMAIN now.network) : m \in [is : {"Data"}, seqno : (0..3), conn : (0..3), first : BOOLEAN, payload : Payload]} : ((receive_data_gives(m_1).out = "done") /\ (receive_data_gives(m_1).to = now))) \/ ((send_ack_gives.out = "done") /\ (send_ack_gives.to = now)) \/ (\E m_1 \in {m \in (DOMAIN now.network) : m \in [is : {"Ack"}, seqno : (0..3), conn : (0..3)]} : ((receive_ack_gives(m_1).out = "done") /\ (receive_ack_gives(m_1).to = now))) \/ ((resend_gives.out = "done") /\ (resend_gives.to = now)) \/ ((request_missing_gives.out = "done") /\ (request_missing_gives.to = now)) \/ (\E m_1 \in {m \in (DOMAIN now.network) : m \in [is : {"XmitReq"}, conn : (0..3), missing : (SUBSET (0..3))]} : ((receive_request_gives(m_1).out = "done") /\ (receive_request_gives(m_1).to = now))) \/ ((send_sync_gives.out = "done") /\ (send_sync_gives.to = now)) \/ (\E m_1 \in {m \in (DOMAIN now.network) : m \in [is : {"SendFirst"}, conn : (0..3)]} : ((receive_sync_gives(m_1).out = "done") /\ (receive_sync_gives(m_1).to = now))) \/ ((expire_sender_gives.out = "done") /\ (expire_sender_gives.to = now)) \/ ((remove_sender_gives.out = "done") /\ (remove_sender_gives.to = now)) \/ (\E m_1 \in {m \in (DOMAIN now.network) : m \in [is : {"Close"}, conn : (0..3)]} : ((receive_close_gives(m_1).out = "done") /\ (receive_close_gives(m_1).to = now))) \/ ((expire_receiver_gives.out = "done") /\ (expire_receiver_gives.to = now)) \/ ((remove_receiver_gives.out = "done") /\ (remove_receiver_gives.to = now)) \/ ((give_up_gives.out = "done") /\ (give_up_gives.to = now))) => SenderEntryFixed_no_false_alarm(now.sender, now.sender)

ReceiverEntryFixed_idle_is_reaped(self) ==
  LET closing == (self.state = "CLOSING") IN
  (self.idle = (closing \/ ((self.state = "OPEN") /\ self.reaping)))

receiver_idle_is_reaped ==
  ReceiverEntryFixed_idle_is_reaped(now.receiver)

ReceiverEntryFixed_next_is_at_most_one_ahead(self) ==
  ((1 <= self.next) /\ (self.next <= (self.highest + 1)))

receiver_next_is_at_most_one_ahead ==
  ReceiverEntryFixed_next_is_at_most_one_ahead(now.receiver)

ReceiverEntryFixed_buffer_is_ahead(self) ==
  LET inside == (\A q_1 \in (DOMAIN self.buffer) : ((self.next <= q_1) /\ (q_1 <= self.highest))) IN
  (inside /\ ((~(self.next <= self.highest)) \/ (self.highest \in (DOMAIN self.buffer))))

receiver_buffer_is_ahead ==
  ReceiverEntryFixed_buffer_is_ahead(now.receiver)

ReceiverEntryFixed_closed_counts_as_none(self) ==
  LET nothing == ((self.highest < self.next) /\ (~self.ack_delay)) IN
  (nothing \/ (self.state # "CLOSED"))

receiver_closed_counts_as_none ==
  ReceiverEntryFixed_closed_counts_as_none(now.receiver)

ReceiverEntryFixed_never_goes_back(self, after) ==
  ((self.conn < after.conn) \/ ((after.conn = self.conn) /\ (self.next <= after.next)))

receiver_never_goes_back ==
  [][ReceiverEntryFixed_never_goes_back(now.receiver, now'.receiver)]_vars

receiver_never_goes_back_at_rest ==
  ((\E m_1 \in {m \in (DOMAIN now.network) : m \in ([is : {"Data"}, seqno : (0..3), conn : (0..3), first : BOOLEAN, payload : Payload] \cup [is : {"Ack"}, seqno : (0..3), conn : (0..3)] \cup [is : {"SendFirst"}, conn : (0..3)] \cup [is : {"XmitReq"}, conn : (0..3), missing : (SUBSET (0..3))] \cup [is : {"Close"}, conn : (0..3)])} : ((lose_gives(m_1).out = "done") /\ (lose_gives(m_1).to = now))) \/ (\E m_1 \in {m \in (DOMAIN now.network) : m \in [is : {"Data"}, seqno : (0..3), conn : (0..3), first : BOOLEAN, payload : Payload]} : ((duplicate_gives(m_1).out = "done") /\ (duplicate_gives(m_1).to = now))) \/ (\E payload \in Payload : ((submit_gives(payload).out = "done") /\ (submit_gives(payload).to = now))) \/ (\E m_1 \in {m \in (DOMAIN now.network) : m \in [is : {"Data"}, seqno : (0..3), conn : (0..3), first : BOOLEAN, payload : Payload]} : ((receive_data_gives(m_1).out = "done") /\ (receive_data_gives(m_1).to = now))) \/ ((send_ack_gives.out = "done") /\ (send_ack_gives.to = now)) \/ (\E m_1 \in {m \in (DOMAIN now.network) : m \in [is : {"Ack"}, seqno : (0..3), conn : (0..3)]} : ((receive_ack_gives(m_1).out = "done") /\ (receive_ack_gives(m_1).to = now))) \/ ((resend_gives.out = "done") /\ (resend_gives.to = now)) \/ ((request_missing_gives.out = "done") /\ (request_missing_gives.to = now)) \/ (\E m_1 \in {m \in (DOMAIN now.network) : m \in [is : {"XmitReq"}, conn : (0..3), missing : (SUBSET (0..3))]} : ((receive_request_gives(m_1).out = "done") /\ (receive_request_gives(m_1).to = now))) \/ ((send_sync_gives.out = "done") /\ (send_sync_gives.to = now)) \/ (\E m_1 \in {m \in (DOMAIN now.network) : m \in [is : {"SendFirst"}, conn : (0..3)]} : ((receive_sync_gives(m_1).out = "done") /\ (receive_sync_gives(m_1).to = now))) \/ ((expire_sender_gives.out = "done") /\ (expire_sender_gives.to = now)) \/ ((remove_sender_gives.out = "done") /\ (remove_sender_gives.to = now)) \/ (\E m_1 \in {m \in (DOMAIN now.network) : m \in [is : {"Close"}, conn : (0..3)]} : ((receive_close_gives(m_1).out = "done") /\ (receive_close_gives(m_1).to = now))) \/ ((expire_receiver_gives.out = "done") /\ (expire_receiver_gives.to = now)) \/ ((remove_receiver_gives.out = "done") /\ (remove_receiver_gives.to = now)) \/ ((give_up_gives.out = "done") /\ (give_up_gives.to = now))) => ReceiverEntryFixed_never_goes_back(now.receiver, now.receiver)

ReceiverEntryFixed_belongs_to_a_connection(self) ==
  ((~(self.state # "CLOSED")) \/ (0 < self.conn))

receiver_belongs_to_a_connection ==
  ReceiverEntryFixed_belongs_to_a_connection(now.receiver)

ReceiverEntryFixed_asks_no_older_one_where_to_begin(self) ==
  LET asks == (0 < self.sync_due) IN
  (((ReceiverEntryFixed_send_sync(self).out # "refused") = asks) /\ ((~asks) \/ (self.conn <= self.sync_due)))

receiver_asks_no_older_one_where_to_begin ==
  ReceiverEntryFixed_asks_no_older_one_where_to_begin(now.receiver)

Leaves(r) ==
  /\ r.out \in {"done", "cut"}
  /\ sender' = r.to.sender
  /\ receiver' = r.to.receiver
  /\ network' = r.to.network
  /\ submissions' = r.to.submissions
  /\ failed' = r.to.failed
  /\ submitted' = r.to.submitted
  /\ delivered' = r.to.delivered
  /\ reported' = r.to.reported
  /\ messages' = r.to.messages
  /\ failures' = r.to.failures

receive_data_or_leaves(m) ==
  Leaves(receive_data_gives(m))

receive_ack_or_leaves(m) ==
  Leaves(receive_ack_gives(m))

receive_request_or_leaves(m) ==
  Leaves(receive_request_gives(m))

receive_sync_or_leaves(m) ==
  Leaves(receive_sync_gives(m))

receive_close_or_leaves(m) ==
  Leaves(receive_close_gives(m))

resend_or_leaves ==
  Leaves(resend_gives)

send_ack_or_leaves ==
  Leaves(send_ack_gives)

send_sync_or_leaves ==
  Leaves(send_sync_gives)

request_missing_or_leaves ==
  Leaves(request_missing_gives)

expire_sender_or_leaves ==
  Leaves(expire_sender_gives)

remove_sender_or_leaves ==
  Leaves(remove_sender_gives)

expire_receiver_or_leaves ==
  Leaves(expire_receiver_gives)

remove_receiver_or_leaves ==
  Leaves(remove_receiver_gives)

ASSUME (\A messages_1 \in {2} : (\A failures_1 \in {1} : ((LinkFixed_messages_are_few([messages |-> messages_1, failures |-> failures_1])) => ((Placed(Done(LinkFixed_fresh(messages_1, failures_1), None)).out \in {"done", "refused", "cut"})))))

Init ==
  (\E messages_1 \in {2} : (\E failures_1 \in {1} : ((LinkFixed_messages_are_few([messages |-> messages_1, failures |-> failures_1])) /\ (Begins(Placed(Done(LinkFixed_fresh(messages_1, failures_1), None)))))))

Next ==
  \/ (\E m_1 \in {m \in (DOMAIN now.network) : m \in ([is : {"Data"}, seqno : (0..3), conn : (0..3), first : BOOLEAN, payload : Payload] \cup [is : {"Ack"}, seqno : (0..3), conn : (0..3)] \cup [is : {"SendFirst"}, conn : (0..3)] \cup [is : {"XmitReq"}, conn : (0..3), missing : (SUBSET (0..3))] \cup [is : {"Close"}, conn : (0..3)])} : lose(m_1))
  \/ (\E m_1 \in {m \in (DOMAIN now.network) : m \in [is : {"Data"}, seqno : (0..3), conn : (0..3), first : BOOLEAN, payload : Payload]} : duplicate(m_1))
  \/ (\E payload \in Payload : submit(payload))
  \/ (\E m_1 \in {m \in (DOMAIN now.network) : m \in [is : {"Data"}, seqno : (0..3), conn : (0..3), first : BOOLEAN, payload : Payload]} : receive_data(m_1))
  \/ send_ack
  \/ (\E m_1 \in {m \in (DOMAIN now.network) : m \in [is : {"Ack"}, seqno : (0..3), conn : (0..3)]} : receive_ack(m_1))
  \/ resend
  \/ request_missing
  \/ (\E m_1 \in {m \in (DOMAIN now.network) : m \in [is : {"XmitReq"}, conn : (0..3), missing : (SUBSET (0..3))]} : receive_request(m_1))
  \/ send_sync
  \/ (\E m_1 \in {m \in (DOMAIN now.network) : m \in [is : {"SendFirst"}, conn : (0..3)]} : receive_sync(m_1))
  \/ expire_sender
  \/ remove_sender
  \/ (\E m_1 \in {m \in (DOMAIN now.network) : m \in [is : {"Close"}, conn : (0..3)]} : receive_close(m_1))
  \/ expire_receiver
  \/ remove_receiver
  \/ give_up

Safety ==
  /\ Init
  /\ [][Next]_vars

Spec ==
  /\ Safety
  /\ (\A each_m \in [is : {"Data"}, seqno : (0..3), conn : (0..3), first : BOOLEAN, payload : Payload] : SF_vars(receive_data_or_leaves(each_m)))
  /\ (\A each_m \in [is : {"Ack"}, seqno : (0..3), conn : (0..3)] : SF_vars(receive_ack_or_leaves(each_m)))
  /\ (\A each_m \in [is : {"XmitReq"}, conn : (0..3), missing : (SUBSET (0..3))] : SF_vars(receive_request_or_leaves(each_m)))
  /\ (\A each_m \in [is : {"SendFirst"}, conn : (0..3)] : SF_vars(receive_sync_or_leaves(each_m)))
  /\ (\A each_m \in [is : {"Close"}, conn : (0..3)] : SF_vars(receive_close_or_leaves(each_m)))
  /\ WF_vars(resend_or_leaves)
  /\ SF_vars(send_ack_or_leaves)
  /\ SF_vars(send_sync_or_leaves)
  /\ SF_vars(request_missing_or_leaves)
  /\ WF_vars(expire_sender_or_leaves)
  /\ WF_vars(remove_sender_or_leaves)
  /\ WF_vars(expire_receiver_or_leaves)
  /\ WF_vars(remove_receiver_or_leaves)

====
