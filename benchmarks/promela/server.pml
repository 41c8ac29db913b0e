/* Read-only transactions of seven clients and two threads, as `Server` of benchmarks/_models.py. */

byte stage[7]; /* 0 none, 1 queued, 2 running, 3 answered, 4 invalid */
bool armed[7], retried[7];
byte answers[7];

#define BUSY ((stage[0] == 2) + (stage[1] == 2) + (stage[2] == 2) + (stage[3] == 2) + \
              (stage[4] == 2) + (stage[5] == 2) + (stage[6] == 2))

#define CLIENT(c) \
  :: d_step { stage[c] == 0 -> stage[c] = 1 } \
  :: d_step { stage[c] == 1 && BUSY < 2 -> stage[c] = 2; armed[c] = true } \
  :: d_step { stage[c] == 2 -> stage[c] = 3; armed[c] = false; answers[c]++ } \
  :: d_step { stage[c] == 2 && armed[c] -> stage[c] = 4; armed[c] = false; answers[c]++ } \
  :: d_step { stage[c] == 2 -> stage[c] = 1; armed[c] = false; retried[c] = true } \
  :: d_step { stage[c] >= 3 -> stage[c] = 0; answers[c] = 0; retried[c] = false }

active proctype system()
{
end:
  do
  CLIENT(0) CLIENT(1) CLIENT(2) CLIENT(3) CLIENT(4) CLIENT(5) CLIENT(6)
  od
}
