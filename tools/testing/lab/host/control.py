# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Serves the requests of guests: barriers, faults, the end of their script."""

import base64
import contextlib
import subprocess


class Control:
    """Answers the request lines of all nodes. A node is 1..nodes; send(node, line)
    carries an answer; vhcactl(words) runs the daemon's control program; pause(ms) stops the daemon
    for so long; daemon_has() tells its memory and descriptors; plug(node, index, done) puts an HCA into
    the node, and unplug() takes it out; on_met() is called when all nodes have come to a barrier."""

    def __init__(self, nodes, send, vhcactl, pause, daemon_has, plug, unplug, size, on_ready, on_next,
                 on_met):
        self.nodes = nodes
        self.send = send
        self.vhcactl = vhcactl
        self.pause = pause
        self.daemon_has = daemon_has
        self.plug = plug
        self.unplug = unplug
        self.size = size
        self.on_ready = on_ready
        self.on_next = on_next
        self.on_met = on_met
        self.status = {}            # node: exit status of its script
        self.kill = set()           # nodes that asked to be killed
        self.gone = set()
        self.over = {}              # node that has ended its run on one core: request id
        self.between = False        # whether its script has ended, too, and another is to come
        self.failed = False         # whether a script has
        self.barriers = {}          # name: {node: request id}

    def request(self, node, line):
        number, _, rest = line.partition(" ")
        verb, _, argument = rest.partition(" ")
        if verb == "barrier":
            self._barrier(node, number, argument)
        elif verb == "ready":
            self.on_ready(node)
            self._answer(node, number, 0)
        elif verb == "next":
            self._next(node, number, argument)
        elif verb == "size":
            self._answer(node, number, 0, self.size())
        elif verb == "vhcactl":
            self._vhcactl(node, number, argument)
        elif verb == "pause":
            self._daemon(node, number, lambda: self.pause(int(argument)))
        elif verb == "daemon":
            self._daemon(node, number, self.daemon_has)
        elif verb in ("plug", "unplug"):
            act = self.plug if verb == "plug" else self.unplug
            act(node, int(argument), lambda wrong: self._answer(node, number, 2 if wrong else 0, wrong))
        elif verb in ("exit", "end"):
            self.status[node] = int(argument)
            self._answer(node, number, 0)
            self.left(node)
        elif verb == "kill":
            self.status[node] = int(argument)
            self.kill.add(node)
            self.left(node)
        else:
            self._answer(node, number, 2, f"the lab does not know the request {verb!r}\n")

    def left(self, node):
        """The node has ended and will reach no barrier any more."""
        self.gone.add(node)
        self._fail_all()
        if self.over:
            self._go_on()

    def _next(self, node, number, argument):
        """The node has run its script on one core, and waits for its peers to go on to the next; or to
        the next script, which comes only if none has failed and nobody has gone."""
        core, _, status = argument.partition(" ")
        self.over[node] = number
        self.between = bool(status)
        self.failed = self.failed or status not in ("", "0")
        self.on_next(node, core)
        self._fail_all()
        self._go_on()

    def _go_on(self):
        if len(self.gone | set(self.over)) == self.nodes:
            ended = self.between and (self.failed or bool(self.gone))
            if self.between and not ended:
                with contextlib.suppress(OSError, subprocess.TimeoutExpired):   # there may be no daemon
                    self.vhcactl(["fault", "clear", "all"])
            for peer, request in self.over.items():
                self._answer(peer, request, int(ended))
            self.over = {}

    def _barrier(self, node, number, name):
        waiting = self.barriers.setdefault(name, {})
        waiting[node] = number
        if len(waiting) == self.nodes:
            del self.barriers[name]
            self.on_met()
            for peer, request in waiting.items():
                self._answer(peer, request, 0)
        elif self.gone or self.over:
            self._fail(name)

    def waits_at(self, node):
        """The name of the barrier at which the node waits for others, or None."""
        return next((name for name, waiting in self.barriers.items() if node in waiting), None)

    def _fail_all(self):
        for name in list(self.barriers):
            self._fail(name)

    def _fail(self, name):
        ended = self.gone | set(self.over)
        text = f"lab-barrier {name}: node{min(ended)} has ended and cannot reach it\n"
        for peer, request in self.barriers.pop(name).items():
            if peer not in ended:
                self._answer(peer, request, 1, text)

    def _vhcactl(self, node, number, argument):
        try:
            done = self.vhcactl(argument.split())
        except (OSError, subprocess.TimeoutExpired) as error:
            self._answer(node, number, 125, f"{error}\n")
            return
        self._answer(node, number, done.returncode, done.stdout)

    def _daemon(self, node, number, do):
        try:
            self._answer(node, number, 0, do() or "")
        except (OSError, ValueError) as error:
            self._answer(node, number, 2, f"{error}\n")

    def _answer(self, node, number, status, text=""):
        encoded = base64.b64encode(text.encode()).decode()
        self.send(node, f"{number} {status} {encoded}\n".encode())
