"""The demands of `read-only-transactions.md`, and where each is met.

Each entry has the number of a demand, its meaning in a few words, and places where it is met: in
this package, like `declaration.Class.name`, or in its tests, like `tests.test_window.test_name`. If
there is no place, the package's docstring gives the reason. `BREAKS` says how each demand is
broken, and which property notices it.
"""

from typing import NamedTuple

DEMANDS: dict[str, tuple[str, ...]] = {
    "L1": ("builds on read-only transactions that are executed single threaded",),
    "L2": (
        "RPCs that read are executed at once, all others may write",
        "requests.Kind",
        "requests.Request.reads_are_never_held",
    ),
    "L3": (
        "the ways of get_info and send_transaction2 through the threads",
        "requests.way_of",
        "system.Node.post",
        "system.Node.respond",
    ),
    "L4": (
        "net messages that do not modify, and those that may",
        "requests.MODIFYING",
        "requests.Request.reads_are_never_held",
        "declaration.Window.write",
        "declaration.Window.read",
    ),
    "L5": ("the ways of net messages that do not modify", "requests.way_of"),
    "L6": ("the ways of a transaction and a block", "requests.way_of", "system.Node.post"),
    "L7": (
        "read-write and read-only windows, and what is done in each",
        "declaration.Phase",
        "declaration.Window.queue_it",
        "declaration.Window.write",
        "system.Node.get",
        "system.Node.writes_and_transactions_exclude_each_other",
        "requests.Request.modifies_in_read_write_windows",
    ),
    "L8": (
        "both times and the threshold can be configured",
        "declaration.Window.window_ends",
        "declaration.Window.read_only_transaction_threshold",
    ),
    "L9": (
        "to the read-only window: by time if something is queued, or by the threshold",
        "declaration.Window.begin",
        "declaration.Window.begin_early",
        "system.Node.who_waits_gets_a_window",
        "system.NodeFixed.many_do_not_wait_for_the_windows_end",
    ),
    "L10": (
        "to the read-write window: by time, or as the queue is empty",
        "declaration.Window.run_out",
        "declaration.Window.drain",
        "declaration.Window.end",
        "system.Node.read_only_windows_end",
        "system.Node.ends_before_its_time",
    ),
    "L11": (
        "writes are held and not dropped, for ever neither; their order",
        "system.Node.writes_keep_their_order",
        "system.Node.executed_in_the_end",
        "system_as_seed.NodeAsSeed.post_again",
        "system_as_seed.NodePosted",
        "requests.Request.is_handled",
        "system.Node.writes_make_progress",
    ),
    "L12": (
        "in a read-write window transactions are queued",
        "declaration.Window.queue_it",
        "declaration.Window.everybody_is_let_in",
        "system.Node.only_shutdown_turns_away",
        "system.Node.nothing_is_lost",
        "tests.test_breaks.test_who_is_turned_away_from_a_window_is_noticed",
    ),
    "L13": (
        "a task for each thread, until the queue is empty or it is time; then the window ends",
        "declaration.Window.post",
        "declaration.Window.take",
        "declaration.Window.leave",
        "declaration.Window.every_thread_has_a_task",
        "declaration.Window.no_thread_leaves_early",
        "declaration.Window.tasks_are_done",
        "system.Node.take",
        "system.Node.only_shutdown_turns_away",
        "tests.test_breaks.test_who_is_let_in_and_not_queued_is_noticed",
        "closing.Pool.shutdown_ends",
    ),
    "L14": (
        "a queue of transactions and whom to answer",
        "system.Node.queue",
        "system.Node.nothing_is_lost",
        "transaction.Transaction.one_answer",
    ),
    "L15": (
        "who failed by the window's deadline alone is put back",
        "declaration.Window.put_back",
        "transaction.Transaction.put_back",
        "system.Node.requeue",
        "system.Node.put_back_at_most_once",
        "closing.Pool.one_has_the_mutex",
    ),
    "L16": (
        "without threads no windows, and execution single threaded",
        "declaration.Window.run_single_threaded",
        "declaration.Window.without_a_pool_nothing_changes",
        "system_as_seed.NodeSingleThreaded",
    ),
    "L17": (
        "read-write-window-time",
        "declaration.Window.read_write_window_time",
        "in_time.WindowInTime.windows_last_as_configured",
    ),
    "L18": (
        "read-only-window-time, as long as a transaction may be",
        "declaration.Window.read_only_window_time",
        "declaration.WindowFixed.window_holds_what_starts_late",
        "in_time.NodeInTime.read_only_windows_end_in_time",
    ),
    "L19": (
        "read-only-transaction-threshold, where 0 is none",
        "declaration.Window.begin_early",
        "in_time.WindowInTime.begins_by_time_or_threshold",
    ),
    "L20": (
        "read-only-window-margin: nothing is started when less remains",
        "declaration.Window.stop_starting",
        "declaration.Window.started_in_time",
        "declaration.WindowFixed.margin_leaves_time",
        "in_time.NodeInTime.started_with_the_margin",
    ),
    "L21": (
        "max-read-only-transaction-time, then invalid",
        "transaction.Transaction.exceed",
        "transaction.Transaction.execution_is_limited",
        "callers.TransactionCalled.executes_no_longer_than_allowed",
        "system.Node.exceed",
    ),
    "L22": (
        "no other thread modifies while transactions are executed",
        "requests.Request.modifies_in_read_write_windows",
        "system.Node.writes_and_transactions_exclude_each_other",
        "declaration.Window.reads_and_writes_exclude_each_other",
    ),
    "L23": (
        "transactions do not disturb one another: nothing is written",
        "system.Node.nothing_is_executed_twice",
    ),
    "L24": (
        "tests of each option, of few and many transactions, of one window and several",
        "tests.test_system.test_without_threads_there_are_no_windows",
        "tests.test_system.test_what_goes_wrong",
        "tests.test_window.test_the_windows_follow_one_another",
        "tests.test_window.test_a_transaction_goes_on_in_the_next_window",
        "tests.test_window.test_many_transactions_do_not_wait_for_the_windows_end",
        "system.NodeFixed.all_threads_are_busy",
        "system.Node.finishes_in_the_next_window",
        "system.Node.get_while_transactions_run",
    ),
}


class Break(NamedTuple):
    """A small change of a machine that breaks a demand, and the property that then fails.

    `machine` is explored; `owner` is the machine whose text is changed, itself or a part, in the
    row of that name; `change` is in the words of `lawful lint --mutants`.
    """

    machine: str
    owner: str
    row: str
    change: str
    fails: str


NODE, WINDOW = "system.NodeFixed", "declaration.WindowFixed"
IN_TIME, REQUEST = "in_time.WindowInTime", "requests.Request"

# L3, L5 and L6 are lists of threads: `tests.test_demands` compares them. L1, L23 and L24 are no
# behaviour of a machine.
BREAKS: dict[str, Break] = {
    "L2": Break(
        REQUEST,
        "Request",
        "execute",
        "Kind.HANDSHAKE for Kind.OTHER",
        "reads_are_never_held",
    ),
    "L4": Break(
        REQUEST,
        "Request",
        "execute",
        "Kind.PACKED_TRANSACTION for Kind.SIGNED_BLOCK",
        "modifies_in_read_write_windows",
    ),
    "L7": Break(
        NODE,
        "WindowFixed",
        "write",
        "from any state",
        "writes_and_transactions_exclude_each_other",
    ),
    "L8": Break(
        IN_TIME,
        "WindowInTime",
        "Window.start",
        "self.read_write_window_time + 1 for self.read_write_window_time",
        "time_ends_a_read_write_window",
    ),
    "L9": Break(
        WINDOW,
        "WindowFixed",
        "begin",
        "without require(self.queued > 0)",
        "begins_for_a_transaction",
    ),
    "L10": Break(
        IN_TIME,
        "WindowInTime",
        "drain",
        "without require(self.queued == 0)",
        "stops_by_margin_or_empty_queue",
    ),
    "L11": Break(
        NODE,
        "NodeFixed",
        "execute",
        "self.main[-1] for self.main[0]",
        "writes_keep_their_order",
    ),
    "L12": Break(WINDOW, "WindowFixed", "queue_it", "not from WRITE", "everybody_is_let_in"),
    "L13": Break(
        WINDOW,
        "WindowFixed",
        "leave",
        "without require(self.state != Phase.READ)",
        "no_thread_leaves_early",
    ),
    "L14": Break(NODE, "NodeFixed", "arrive", "without self.queue.append(t)", "nothing_is_lost"),
    "L15": Break(
        WINDOW,
        "WindowFixed",
        "put_back",
        "without require(self.state == Phase.OVER)",
        "put_back_by_the_windows_deadline",
    ),
    "L16": Break(
        WINDOW,
        "WindowFixed",
        "start",
        "True for self.read_only_transaction_num_threads > 0",
        "window_ends",
    ),
    "L17": Break(
        IN_TIME,
        "WindowInTime",
        "Window.prolong",
        "self.read_write_window_time + 1 for self.read_write_window_time",
        "time_ends_a_read_write_window",
    ),
    "L18": Break(
        IN_TIME,
        "WindowInTime",
        "Window.begin",
        "self.read_only_window_time + 1 for self.read_only_window_time",
        "windows_last_as_configured",
    ),
    "L19": Break(
        IN_TIME,
        "WindowInTime",
        "Window.begin_early",
        "without require(self.queued >= self.read_only_transaction_threshold)",
        "begins_by_time_or_threshold",
    ),
    "L20": Break(
        WINDOW,
        "WindowFixed",
        "take",
        "without require(self.state == Phase.READ)",
        "started_in_time",
    ),
    "L21": Break(
        "transaction.Transaction",
        "Transaction",
        "take",
        "without self.limit.start(self.max_read_only_transaction_time)",
        "execution_is_limited",
    ),
    "L22": Break(
        WINDOW,
        "WindowFixed",
        "end",
        "without require(all(t == Task.DONE for t in self.tasks.values()))",
        "tasks_are_done",
    ),
}
