"""The demands of `read-only-transactions.md`, and where each is met.

Each entry has the number of a demand, its meaning in a few words, and places where it is met: in
this package, like `declaration.Class.name`, or in its tests, like `tests.test_window.test_name`. If
there is no place, the package's docstring gives the reason.
"""

DEMANDS: dict[str, tuple[str, ...]] = {
    "L1": ("builds on read-only transactions that are executed single threaded",),
    "L2": ("RPCs that read are executed at once, all others may write", "requests.Kind"),
    "L3": (
        "the ways of get_info and send_transaction2 through the threads",
        "requests.way_of",
        "system.Node.post",
        "system.Node.respond",
    ),
    "L4": (
        "net messages that do not modify, and those that may",
        "requests.MODIFYING",
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
        "declaration.Window.writes_have_their_turn",
    ),
    "L12": ("in a read-write window transactions are queued", "declaration.Window.queue_it"),
    "L13": (
        "a task for each thread, until the queue is empty or it is time; then the window ends",
        "declaration.Window.post",
        "declaration.Window.take",
        "declaration.Window.leave",
        "declaration.Window.every_thread_has_a_task",
        "system.Node.take",
        "closing.Pool.the_pool_ends",
        "executing.Main.executed_in_the_end",
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
    "L17": ("read-write-window-time", "declaration.Window.read_write_window_time"),
    "L18": (
        "read-only-window-time, as long as a transaction may be",
        "declaration.Window.read_only_window_time",
        "declaration.Window.window_holds_a_transaction",
        "timing.AttemptsFixed.window_holds_what_starts_late",
    ),
    "L19": (
        "read-only-transaction-threshold, where 0 is none",
        "declaration.Window.begin_early",
    ),
    "L20": (
        "read-only-window-margin: nothing is started when less remains",
        "declaration.Window.stop_starting",
        "declaration.Window.started_in_time",
        "declaration.WindowFixed.margin_leaves_time",
        "timing.Attempts.take",
    ),
    "L21": (
        "max-read-only-transaction-time, then invalid",
        "transaction.Transaction.exceed",
        "transaction.Transaction.execution_is_limited",
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
