/* Leader election of Chang and Roberts round a ring of FIFO channels, as benchmarks/_models.py. */

byte state[10]; /* 0 idle, 1 candidate, 2 lost, 3 leader */
chan to[10] = [10] of { byte };
hidden byte m;

#define NODE(i, next) \
  :: d_step { state[i] == 0 -> state[i] = 1; to[next] ! i } \
  :: d_step { nempty(to[i]) -> to[i] ? m; \
       if \
       :: m > i -> to[next] ! m; \
            if \
            :: state[i] == 0 || state[i] == 1 -> state[i] = 2 \
            :: else \
            fi \
       :: m == i -> state[i] = 3 \
       :: else \
       fi }

active proctype system()
{
end:
  do
  NODE(0, 9) NODE(1, 0) NODE(2, 1) NODE(3, 2) NODE(4, 3)
  NODE(5, 4) NODE(6, 5) NODE(7, 6) NODE(8, 7) NODE(9, 8)
  od
}
