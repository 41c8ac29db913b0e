/* Two-phase commit, as tests/classics/two_phase.py: one process, whose every step is atomic. */

#define WORKING 0
#define PREPARED 1
#define COMMITTED 2
#define ABORTED 3

byte rms[8];
byte manager; /* 0 init, 1 committed, 2 aborted */
bool heard[8], prepared[8], commit, abort;

#define RM(i) \
  :: d_step { manager == 0 && prepared[i] -> heard[i] = true } \
  :: d_step { rms[i] == WORKING -> rms[i] = PREPARED; prepared[i] = true } \
  :: d_step { rms[i] == WORKING -> rms[i] = ABORTED } \
  :: d_step { commit -> rms[i] = COMMITTED } \
  :: d_step { abort -> rms[i] = ABORTED }

#define ALL (heard[0] && heard[1] && heard[2] && heard[3] && heard[4] && heard[5] && heard[6] && heard[7])

active proctype system()
{
end:
  do
  RM(0) RM(1) RM(2) RM(3) RM(4) RM(5) RM(6) RM(7)
  :: d_step { manager == 0 && ALL -> manager = 1; commit = true }
  :: d_step { manager == 0 -> manager = 2; abort = true }
  od
}
