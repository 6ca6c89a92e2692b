# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Tells of a run that takes too long: where its nodes are, and the state of the adapters."""

import glob
import os
import re
import subprocess
import time

# Seconds that a guest may take to show its tasks.
PATIENCE = 120
# Seconds until a guest counts as idle, and seconds of a processor that count as work.
WATCHED, WORK = 10, 0.2

_PROCESSOR = re.compile(r"CPU: \d+ .*Comm: \S+")
_PLACE = re.compile(r"RIP: \S+")


def adapters(session, say):
    names = [f"node{k}-{h}" for k in session.nodes
             for h in range(session.options.hcas[k - 1])]
    requests = [["status", "-v"], ["counters", "-v"]] + [["qps", name] for name in names]
    with open(session.path("stuck"), "w", encoding="utf-8") as file:
        for words in requests:
            try:
                text = session.vhcactl(words).stdout
            except subprocess.TimeoutExpired:
                text = "no answer\n"
            file.write(f"$ vhcactl {' '.join(words)}\n{text}")
            if words[0] == "qps":
                for line in text.splitlines()[-2:]:
                    say(f"{words[1]}: {line}")


def processor_time(process):
    """Seconds of CPU that each thread of a process has used: {(id, name): seconds}. Threads may end."""
    threads = {}
    for path in glob.glob(f"/proc/{process.pid}/task/*/stat"):
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                thread, _, rest = file.read().partition(" (")
        except OSError:
            continue
        name, _, fields = rest.rpartition(") ")
        ticks = sum(map(int, fields.split()[11:13]))
        threads[thread, name] = ticks / os.sysconf("SC_CLK_TCK")
    return threads


def busy(session, say):
    """Threads that use the CPU, though all should be waiting. On a busy host it takes more than a
    second until it is seen."""
    processes = {node.name: node.process for node in session.alive()}
    if session.daemon and session.daemon.poll() is None:
        processes["vhcad"] = session.daemon
    before = {name: processor_time(process) for name, process in processes.items()}
    began, found = time.monotonic(), []
    while not found and time.monotonic() - began < WATCHED:
        session.serve(time.monotonic() + 1)
        found = [(name, thread[1], seconds - before[name].get(thread, seconds))
                 for name, process in processes.items() if process.poll() is None
                 for thread, seconds in processor_time(process).items()
                 if seconds - before[name].get(thread, seconds) >= WORK]
    last = time.monotonic() - began
    for name, thread, had in found:
        say(f"{name}: thread {thread} worked for {had:.1f} s of the last {last:.1f}")


def processors(lines):
    """The lines of the kernel's log that say what each processor does, once each."""
    found, whose = {}, None
    for line in lines:
        whose = _PROCESSOR.search(line) or whose
        place = _PLACE.search(line)
        if whose and place:
            found[f"{whose[0]}, {place[0]}"] = True
            whose = None
    return found


def tell(session, say):
    """The adapters first: an NMI, by which a guest shows its tasks on its console, ends it."""
    if session.daemon and session.options.vhcactl:
        adapters(session, say)
    busy(session, say)
    nodes = session.alive()
    for node in nodes:
        barrier = session.control.waits_at(node.number)
        where = f"waits at barrier {barrier}" if barrier else "is at no barrier"
        say(f"{node.name} {where}; its last line: {node.last_line}")
        node.monitor.ask("inject-nmi", lambda wrong: None)
    session.serve(time.monotonic() + PATIENCE)
    for node in nodes:
        for each in processors(node.last_words):
            say(f"{node.name}: {each}")
