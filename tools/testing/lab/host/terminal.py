# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The user's terminal on the guests' shells: one at a time, Ctrl-] and a digit
changes to another node, Ctrl-] q ends everything."""

import os
import shutil
import sys
import termios
import tty

ESCAPE = 0x1D


class Terminal:
    def __init__(self):
        self.session = None
        self.current = 1
        self.saved = None
        self.escaped = False
        self.held = {}

    @staticmethod
    def size():
        columns, rows = shutil.get_terminal_size()
        return f"{rows} {columns}\n"

    def start(self, session):
        self.session = session
        session.watch(sys.stdin.fileno(), self.typed)
        self.saved = termios.tcgetattr(sys.stdin)
        tty.setraw(sys.stdin)
        self.tell(f"{len(session.nodes)} guests are starting; Ctrl-] K changes to node K, "
                  "Ctrl-] q ends them all, exit ends one")

    def stop(self):
        if self.saved:
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, self.saved)
            self.saved = None

    @staticmethod
    def tell(text):
        os.write(2, f"\r\nlab: {text}\r\n".encode())

    def show(self, node, data):
        if node == self.current:
            os.write(1, data)
        else:
            self.held[node] = (self.held.get(node, b"") + data)[-8192:]

    def change(self, node):
        self.current = node
        self.tell(f"node{node}")
        os.write(1, self.held.pop(node, b""))

    def typed(self):
        data = os.read(sys.stdin.fileno(), 4096)
        if not data:
            self.session.selector.unregister(sys.stdin.fileno())
            data = b"\x04"
        plain = bytearray()
        for byte in data:
            if self.escaped:
                self.escaped = False
                if byte == ord("q"):
                    raise SystemExit(0)
                if byte - ord("0") in self.session.nodes:
                    self.send(plain)
                    plain = bytearray()
                    self.change(byte - ord("0"))
                    continue
            elif byte == ESCAPE:
                self.escaped = True
                continue
            plain.append(byte)
        self.send(plain)

    def send(self, data):
        if not data:
            return
        try:
            self.session.nodes[self.current].sockets["shell"].sendall(bytes(data))
        except OSError:
            self.tell(f"node{self.current} has ended")
